//! The machine types of the study as `instanceTypes`: which of them an input sees, in which
//! zones, and at what price.

use serde_json::{Value, json};

use super::{number, rows};

const TYPES: &str = include_str!("../../data/study/types.csv");

/// What an input may buy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selling {
    /// Families c, m and r on demand, in one zone.
    Plain,
    /// Types with and without GPUs on demand, in one zone.
    Gpu,
    /// Families c, m and r as spot in three zones, 25 to 65 percent of the price on demand;
    /// type and zone determine how much. These prices are made up.
    ZonalSpot,
}

impl Selling {
    fn set(self) -> &'static str {
        match self {
            Self::Plain | Self::ZonalSpot => "cmr",
            Self::Gpu => "gpu",
        }
    }
}

/// The types as a Snapshot has them, by name.
pub fn types(selling: Selling) -> Vec<Value> {
    let all = rows(TYPES).skip(1);
    let own = all.filter(|row| row[6].split(' ').any(|set| set == selling.set()));
    own.map(|row| one(&row, selling)).collect()
}

fn one(row: &[&str], selling: Selling) -> Value {
    let (name, gpu) = (row[0], number(row[4]));
    let usd = f64::from(number(row[5])) / 1e6;
    let offering = |zone: u8, kind: &str, usd: f64| json!({ "zone": format!("z{zone}"), "capacityType": kind, "price": usd, "available": true });
    let (kind, offerings): (_, Vec<Value>) = match selling {
        Selling::Plain | Selling::Gpu => ("on-demand", vec![offering(0, "on-demand", usd)]),
        Selling::ZonalSpot => {
            let one = |zone| offering(zone, "spot", spot_usd(usd, name, zone));
            ("spot", (0..3).map(one).collect())
        }
    };
    let zones: Vec<&Value> = offerings.iter().map(|offering| &offering["zone"]).collect();
    let requirement =
        |key: &str, values: Value| json!({ "key": key, "operator": "In", "values": values });
    let mut capacity = json!({
        "cpu": format!("{}m", row[1]), "memory": format!("{}Mi", row[2]), "pods": row[3],
    });
    if gpu > 0 {
        capacity[super::objects::GPU] = json!(gpu.to_string());
    }
    json!({
        "name": name,
        "requirements": [
            requirement("kubernetes.io/arch", json!(["amd64"])),
            requirement("kubernetes.io/os", json!(["linux"])),
            requirement("node.kubernetes.io/instance-type", json!([name])),
            requirement(super::objects::ZONE, json!(zones)),
            requirement(super::objects::CAPACITY_TYPE, json!([kind])),
        ],
        // what pods can use: nothing is taken off again
        "capacity": capacity,
        "overhead": {},
        "offerings": offerings,
    })
}

/// The made-up price of a spot machine, to a hundredth of a cent.
fn spot_usd(usd: f64, name: &str, zone: u8) -> f64 {
    let usd = usd * (1.0 - (0.35 + 0.40 * share(name, zone)));
    (usd * 1e4).round() / 1e4
}

/// A number from 0 to 1 that type and zone determine.
fn share(name: &str, zone: u8) -> f64 {
    let bytes = name.bytes().chain([zone]);
    let mut hash = bytes.fold(1_469_598_103_934_665_603_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    hash = (hash ^ hash >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    hash ^= hash >> 33;
    (hash >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sets_are_those_of_the_study() {
        assert_eq!(types(Selling::Plain).len(), 714);
        assert_eq!(types(Selling::Gpu).len(), 658);
        let offerings = |t: &Value| t["offerings"].as_array().map_or(0, Vec::len);
        assert_eq!(types(Selling::ZonalSpot).iter().map(offerings).sum::<usize>(), 2142);
    }

    #[test]
    fn spot_costs_a_quarter_to_two_thirds_and_differs_by_zone() {
        let mut is_spread = false;
        for zone in 0..3 {
            let usd = spot_usd(1.0, "m5.large", zone);
            assert!((0.25..=0.65).contains(&usd), "{usd}");
            is_spread |= usd != spot_usd(1.0, "m5.large", 0);
        }
        assert!(is_spread);
    }
}
