//! Instance types of one input: some of the catalogue's, a few sold out here and there, and
//! reservations when asked for.

use serde_json::{Value, json};

use super::{CAPACITY_TYPE, Rng, Wanted, ZONES};

/// Largest machine that takes part, in cores: with larger ones every input is one node.
const MAX_CORES: u64 = 48;

/// Picks 5 to 60 types.
pub fn types(rng: &mut Rng, wanted: &Wanted, all: &[Value]) -> Vec<Value> {
    let has_arm = rng.chance(30);
    let fits: Vec<&Value> =
        all.iter().filter(|t| cores(t) <= MAX_CORES && (has_arm || !is_arm(t))).collect();
    let n = if rng.chance(75) { rng.range(5, 25) } else { rng.range(26, 60) };
    let mut out: Vec<Value> = rng.some(&fits, n).into_iter().cloned().collect();
    if rng.chance(35) {
        sell_out(rng, &mut out);
    }
    if wanted.contains("reservations") {
        reserve(rng, &mut out);
    }
    out
}

fn cores(instance_type: &Value) -> u64 {
    instance_type["capacity"]["cpu"].as_str().and_then(|c| c.parse().ok()).unwrap_or(u64::MAX)
}

fn is_arm(instance_type: &Value) -> bool {
    label(instance_type, "kubernetes.io/arch") == Some("arm64")
}

/// The one value that a type's requirement gives a label.
pub fn label<'t>(instance_type: &'t Value, key: &str) -> Option<&'t str> {
    let requirements = instance_type["requirements"].as_array()?;
    let found = requirements.iter().find(|r| r["key"] == key && r["operator"] == "In")?;
    let values = found["values"].as_array()?;
    if values.len() == 1 { values[0].as_str() } else { None }
}

fn sell_out(rng: &mut Rng, types: &mut [Value]) {
    // now and then one zone has nothing left of one kind, which no single type shows
    let gone = rng.chance(30).then(|| (rng.word(&ZONES), rng.word(&["spot", "on-demand"])));
    for instance_type in types {
        let Some(offerings) = instance_type["offerings"].as_array_mut() else { continue };
        if rng.chance(15) && offerings.len() > 2 {
            let at = rng.range(0, offerings.len() - 1);
            offerings.remove(at);
        }
        for offering in offerings {
            let is_gone =
                gone.is_some_and(|(z, c)| offering["zone"] == z && offering["capacityType"] == c);
            if is_gone || rng.chance(20) {
                offering["available"] = json!(false);
            }
        }
    }
}

/// One or two reservations on one or two types each.
fn reserve(rng: &mut Rng, types: &mut [Value]) {
    for id in 1..=rng.range(1, 2) {
        let units = rng.range(1, 3);
        for _ in 0..rng.range(1, 2) {
            let at = rng.range(0, types.len() - 1);
            let zone = rng.word(&ZONES);
            let instance_type = &mut types[at];
            for requirement in instance_type["requirements"].as_array_mut().into_iter().flatten() {
                if requirement["key"] == CAPACITY_TYPE {
                    requirement["values"] = json!(["on-demand", "reserved", "spot"]);
                }
            }
            let Some(offerings) = instance_type["offerings"].as_array_mut() else { continue };
            let id = format!("cr-{id}");
            let is_there = |o: &Value| o["reservationID"] == id && o["zone"] == zone;
            if !offerings.iter().any(is_there) {
                // what a reservation costs is sunk: a token price keeps the order of the types
                let list = offerings[0]["price"].as_f64().unwrap_or(0.1);
                let price = (list * 1000.0).ceil() / 1e6;
                offerings.push(json!({"zone": zone, "capacityType": "reserved", "price": price,
                    "available": true, "reservationID": id, "reservationCapacity": units}));
            }
        }
    }
}
