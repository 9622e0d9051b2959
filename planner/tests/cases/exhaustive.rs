//! Small inputs by the hundred against a computation that tries everything: sizes of capacity
//! buffers, and what pools with replicas launch. NodeOverlays: `exhaustive_overlays`.

use serde_json::{Value, json};

use crate::world::*;

pub const INPUTS: u64 = 200;
const GPU: &str = "example.com/gpu";

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    pub fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

// RULE: 7.6.2
#[test]
fn buffers_are_as_large_as_their_arithmetic_and_every_unit_is_answered() {
    let mut left = 0;
    for seed in 0..INPUTS {
        let random = &mut Random(seed);
        // 20 cpu are more than any type has.
        let cpu = [1, 2, 3, 20][random.below(4) as usize];
        let (percent, replicas) = (random.below(130), random.below(5));
        let is_scalable = random.below(2) == 0;
        let containers = json!([{ "name": "c", "image": "x",
            "resources": { "requests": { "cpu": cpu.to_string(), "memory": "1Gi" } } }]);
        let template = json!({ "metadata": { "labels": { "app": "web" } }, "spec": { "containers": containers } });
        let mut spec = if is_scalable {
            json!({ "scalableRef": { "apiGroup": "apps", "kind": "Deployment", "name": "web" }, "percentage": percent })
        } else {
            json!({ "podTemplateRef": { "name": "unit" } })
        };
        let own = (random.below(2) == 0).then(|| random.below(7));
        let mut cap: Option<u64> = None;
        if let Some(own) = own {
            spec["replicas"] = json!(own);
        }
        for (name, unit, each) in [("cpu", "", cpu), ("memory", "Gi", 1), (GPU, "", 0)] {
            let is_needed = name == "cpu" && own.is_none() && !is_scalable;
            if is_needed || random.below(3) == 0 {
                let limit = random.below(6 * each.max(1) + 1);
                spec["limits"][name] = json!(format!("{limit}{unit}"));
                if let Some(fits) = limit.checked_div(each) {
                    cap = Some(cap.map_or(fits, |c| c.min(fits)));
                }
            }
        }
        let mut part = None;
        if is_scalable && replicas > 0 {
            part = Some((percent * replicas).div_ceil(100));
        }
        let desired = own.max(part);
        let size = match (desired, cap) {
            (Some(desired), Some(cap)) => desired.min(cap),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => 0,
        };
        let planned = world()
            .pools([pool("p", vec![])])
            .add("podTemplates", [json!({ "apiVersion": "v1", "kind": "PodTemplate",
                "metadata": { "name": "unit", "namespace": "default" }, "template": template })])
            .add("deployments", [json!({ "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": { "name": "web", "namespace": "default" }, "spec": { "replicas": replicas,
                    "selector": { "matchLabels": { "app": "web" } }, "template": template } })])
            .add("capacityBuffers", [json!({ "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
                "metadata": { "name": "b", "namespace": "default" }, "spec": spec })])
            .setting("featureGates", json!("CapacityBuffer=true"))
            .plan();
        let launched = planned.launches().iter().flat_map(|l| l["pods"].as_array().expect("pods"));
        let name = |p: &Value| p.as_str().expect("a name").to_owned();
        let mut units: Vec<String> = launched.map(name).collect();
        let unplaced = planned.unplaced();
        assert!(unplaced.iter().all(|(_, codes)| !codes.is_empty()), "seed {seed}: {unplaced:?}");
        left += unplaced.len();
        units.extend(unplaced.into_iter().map(|(pod, _)| pod));
        units.retain(|unit| unit.contains("capacity-buffer-"));
        units.sort();
        let want: Vec<String> =
            (0..size).map(|i| format!("default/capacity-buffer-b-{i}")).collect();
        assert_eq!(units, want, "seed {seed}: {spec} of {replicas}");
    }
    assert!(left > 20, "some units should fit no type: {left}");
}

/// Requirements of a pool, and whether they hold for an offering: (type, zone, capacity type).
type Wanted = (Vec<Value>, Box<dyn Fn(&str, &str, &str) -> bool>);

fn wanted(random: &mut Random) -> Wanted {
    let kinds = [&["on-demand"][..], &["spot"], &["on-demand", "spot"]][random.below(3) as usize];
    let zone = random.pick(&["a", "b", "c"]).to_owned();
    let of_type = random.pick(&["S", "M", "none"]).to_owned();
    let (only_zone, only_type) = (random.below(2) == 0, random.below(4) == 0);
    let rows = vec![
        req(CAPACITY, "In", kinds),
        req(ZONE, if only_zone { "In" } else { "NotIn" }, &[&zone]),
        req(TYPE, if only_type { "In" } else { "NotIn" }, &[&of_type]),
    ];
    let holds = move |name: &str, place: &str, kind: &str| {
        kinds.contains(&kind) && (place == zone) == only_zone && (name == of_type) == only_type
    };
    (rows, Box::new(holds))
}

/// Every offering that a pool may buy, cheapest first, as (micro-dollars, type, zone, kind).
fn offers(holds: &dyn Fn(&str, &str, &str) -> bool) -> Vec<(i64, String, String, String)> {
    let mut all = Vec::new();
    for of_type in standard_types() {
        for o in of_type["offerings"].as_array().expect("offerings") {
            let text = |row: &Value| row.as_str().expect("text").to_owned();
            let (name, zone, kind) =
                (text(&of_type["name"]), text(&o["zone"]), text(&o["capacityType"]));
            if holds(&name, &zone, &kind) {
                let price = (o["price"].as_f64().expect("a price") * 1e6).round() as i64;
                all.push((price, name, zone, kind));
            }
        }
    }
    all.sort();
    all
}

// RULE: static pools
#[test]
fn a_pool_with_replicas_launches_what_it_lacks_at_the_least_price() {
    let mut launched = 0;
    for seed in 0..INPUTS {
        let random = &mut Random(seed);
        let (replicas, count) = (random.below(6), random.below(6));
        let leaving = random.below(count + 1);
        let limit = (random.below(2) == 0).then(|| random.below(7));
        let (rows, holds) = wanted(random);
        let mut own = with(bare_pool("p", rows), "/spec/replicas", json!(replicas));
        if let Some(limit) = limit {
            own["spec"]["limits"] = json!({ "nodes": limit.to_string() });
        }
        let nodes = (0..count).map(|i| {
            let row = node(&format!("n{i}"), "S", "a");
            if i >= leaving {
                return row;
            }
            with(row, "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"))
        });
        let w = world()
            .pools([own])
            .nodes(nodes)
            .pods([pod("x", "20", "1Gi")])
            .setting("featureGates", json!("StaticCapacity=true"));
        let planned = w.karpenter();
        assert_eq!(planned.0["staticLaunch"], w.plan().0["staticLaunch"], "seed {seed}");
        let want = replicas.saturating_sub(count - leaving);
        let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(count));
        let case = format!("seed {seed}: {replicas} of {count}, {leaving} leave, limit {limit:?}");
        assert_eq!(planned.launches().len(), 0, "{case}: a static pool takes no pending pods");
        let warnings = planned.0["warnings"].as_array().expect("warnings").iter();
        let found: Vec<_> = warnings.filter(|w| w["code"] == "StaticPoolLacksNodes").collect();
        assert_eq!(found.len(), usize::from(want > 0), "{case}: {found:?}");
        let offers = offers(&*holds);
        let held = want - want.min(room);
        let buys = if offers.is_empty() { 0 } else { want.min(room) };
        for warning in found {
            let text = warning.to_string();
            let says = format!("launches {} node(s)", want.min(room));
            assert!(text.contains(&says), "{case}: {text}");
            let says = format!("keeps {held} more from");
            assert_eq!(text.contains(&says), held > 0, "{case}: {text}");
            assert_eq!(text.contains("can be bought"), buys < want.min(room), "{case}: {text}");
        }
        let none = Vec::new();
        let launches = planned.0["staticLaunch"].as_array().unwrap_or(&none);
        assert_eq!(launches.len() as u64, buys, "{case}");
        let mut types: Vec<&str> = Vec::new();
        for (_, name, _, _) in &offers {
            if !types.contains(&name.as_str()) {
                types.push(name);
            }
        }
        for launch in launches {
            let (price, name, zone, kind) = &offers[0];
            let usd = *price as f64 / 1e6;
            let best = json!({ "instanceType": name, "zone": zone, "capacityType": kind, "pricePerHour": usd });
            assert_eq!(launch["cheapest"], best, "{case}");
            assert_eq!(launch["instanceTypes"], json!(types), "{case}");
            assert_eq!((&launch["pods"], &launch["requests"]), (&json!([]), &json!({})), "{case}");
            assert_eq!(launch["because"][0]["code"], "replicasLacking");
            launched += 1;
        }
        let sum = planned.0["cost"]["staticPerHour"].as_f64().map(|usd| (usd * 1e6).round() as i64);
        assert_eq!(sum, (buys > 0).then(|| buys as i64 * offers[0].0), "{case}");
    }
    assert!(launched > 100, "most pools should lack something: {launched}");
}

#[test]
fn static_nodes_share_the_units_of_a_reservation() {
    let mut own = machine("M", 4, 16, 0.2);
    own["requirements"][4]["values"] = json!(["on-demand", "reserved"]);
    own["offerings"].as_array_mut().expect("offerings").push(json!({ "zone": "b",
        "capacityType": "reserved", "price": 0.0001, "available": true, "reservationID": "cr-1",
        "reservationCapacity": 3 }));
    let fixed = |name: &str| {
        let wants = vec![req(CAPACITY, "In", &["on-demand", "reserved"])];
        with(bare_pool(name, wants), "/spec/replicas", json!(2))
    };
    let planned = world()
        .types(vec![own])
        .pools([fixed("q"), fixed("p")])
        .setting("featureGates", json!("StaticCapacity=true"))
        .plan();
    let kinds: Vec<_> = planned.0["staticLaunch"]
        .as_array()
        .expect("launches")
        .iter()
        .map(|l| format!("{} {}", l["nodePool"], l["cheapest"]["capacityType"]).replace('"', ""))
        .collect();
    assert_eq!(kinds, ["p reserved", "p reserved", "q reserved", "q on-demand"]);
}
