//! Small inputs by the hundred against a computation that tries everything: prices and capacity
//! under NodeOverlays, sizes of capacity buffers, and what pools with replicas lack.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::world::*;

const INPUTS: u64 = 200;
const GPU: &str = "example.com/gpu";

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A type as the test knows it: prices in micro-dollars by (zone, capacity type).
struct Machine {
    name: String,
    cpu: u64,
    gib: u64,
    gpus: u64,
    prices: BTreeMap<(String, String), i64>,
}

impl Machine {
    fn json(&self) -> Value {
        let offers = self.prices.iter().map(|((z, c), p)| offering(z, c, *p as f64 / 1e6));
        let row = machine(&self.name, self.cpu as u32, self.gib as u32, 1.0);
        with(row, "/offerings", offers.collect())
    }
}

/// What some pods ask of one node together.
#[derive(Clone, Default)]
struct Asked {
    cpu: u64,
    gib: u64,
    gpus: u64,
    /// Zones and capacity types that the pods select.
    zones: Vec<String>,
    kinds: Vec<String>,
}

impl Asked {
    fn sum<'a>(rows: impl IntoIterator<Item = &'a Self>) -> Self {
        rows.into_iter().fold(Self::default(), |mut sum, row| {
            sum.cpu += row.cpu;
            sum.gib += row.gib;
            sum.gpus += row.gpus;
            sum.zones.extend(row.zones.iter().cloned());
            sum.kinds.extend(row.kinds.iter().cloned());
            sum
        })
    }

    /// The least price at which the type hosts this, if it can.
    fn price_on(&self, m: &Machine) -> Option<i64> {
        let is_large = self.cpu <= m.cpu && self.gib <= m.gib && self.gpus <= m.gpus;
        let offers = m.prices.iter().filter(|((z, c), _)| {
            is_large && self.zones.iter().all(|a| a == z) && self.kinds.iter().all(|a| a == c)
        });
        offers.map(|(_, price)| *price).min()
    }
}

fn machines(random: &mut Random) -> Vec<Machine> {
    let of = |i: usize, random: &mut Random| {
        let mut prices = BTreeMap::new();
        for zone in ["a", "b", "c"] {
            for kind in ["on-demand", "spot"] {
                if prices.is_empty() || random.below(4) > 0 {
                    let price = 1000 * (20 + random.below(500)) as i64;
                    prices.insert((zone.to_owned(), kind.to_owned()), price);
                }
            }
        }
        let (cpu, gib) = (1 << (1 + random.below(4)), 1 << (2 + random.below(4)));
        Machine { name: format!("t{i}"), cpu, gib, gpus: 0, prices }
    };
    (0..3 + random.below(4) as usize).map(|i| of(i, random)).collect()
}

/// Requirements of an overlay as (key, whether In, values).
type Rule = (&'static str, bool, Vec<String>);

fn rules(random: &mut Random) -> Vec<Rule> {
    let mut rules = Vec::new();
    let choices: [(&'static str, &[&str]); 3] =
        [(CAPACITY, &["on-demand", "spot"]), (ZONE, &["a", "b", "c"]), (TYPE, &["t0", "t1", "t2"])];
    for (key, values) in choices {
        if random.below(2) == 0 {
            let mut values = vec![random.pick(values).to_owned(), random.pick(values).to_owned()];
            values.sort();
            values.dedup();
            rules.push((key, random.below(3) > 0, values));
        }
    }
    rules
}

/// An overlay's price: what it says, and the price it makes of a base price.
fn price(random: &mut Random) -> (&'static str, String, Box<dyn Fn(i64) -> i64>) {
    let amount = 1000 * random.below(300) as i64;
    let usd = format!("{}.{:03}", amount / 1_000_000, amount / 1000 % 1000);
    let percent = random.below(101) as i64;
    match random.below(5) {
        0 => ("price", usd, Box::new(move |_| amount)),
        1 => ("priceAdjustment", format!("+{usd}"), Box::new(move |b| b + amount)),
        2 => ("priceAdjustment", format!("-{usd}"), Box::new(move |b| (b - amount).max(0))),
        3 => ("priceAdjustment", format!("+{percent}%"), Box::new(move |b| b + b / 100 * percent)),
        _ => (
            "priceAdjustment",
            format!("-{percent}%"),
            Box::new(move |b| (b - b / 100 * percent).max(0)),
        ),
    }
}

/// Overlays of distinct weights, in a shuffled order, applied to `machines`.
fn overlays(random: &mut Random, machines: &mut [Machine]) -> Vec<Value> {
    let bases: Vec<_> = machines.iter().map(|m| m.prices.clone()).collect();
    let mut sized = vec![false; machines.len()];
    let mut priced: Vec<Vec<_>> = vec![Vec::new(); machines.len()];
    let mut rows = Vec::new();
    // The heaviest first, so the first to set a value wins; the last has no weight.
    for i in (0..1 + random.below(5)).rev() {
        let rules = rules(random);
        let requirements: Vec<Value> = rules
            .iter()
            .map(|(key, is_in, values)| {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                req(key, if *is_in { "In" } else { "NotIn" }, &values)
            })
            .collect();
        let mut spec = json!({ "requirements": requirements });
        if i > 0 {
            spec["weight"] = json!(i);
        }
        let sets = random.below(3);
        let (field, text, applied) = price(random);
        let gpus = random.below(4);
        if sets != 1 {
            spec[field] = json!(text);
        }
        if sets != 0 {
            spec["capacity"] = json!({ GPU: gpus.to_string() });
        }
        for (at, m) in machines.iter_mut().enumerate() {
            let mut is_touched = false;
            for ((zone, kind), now) in &mut m.prices {
                let holds = rules.iter().all(|(key, is_in, values)| {
                    let own = match *key {
                        ZONE => &*zone,
                        CAPACITY => &*kind,
                        _ => &m.name,
                    };
                    values.contains(own) == *is_in
                });
                let id = (zone.clone(), kind.clone());
                is_touched |= holds;
                if holds && sets != 1 && !priced[at].contains(&id) {
                    *now = applied(bases[at][&id]);
                    priced[at].push(id);
                }
            }
            if is_touched && sets != 0 && !sized[at] {
                (m.gpus, sized[at]) = (gpus, true);
            }
        }
        rows.push(json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
            "metadata": { "name": format!("o{}", random.below(1000) * 10 + i) }, "spec": spec }));
    }
    let turn = random.below(rows.len() as u64) as usize;
    rows.rotate_left(turn);
    rows
}

fn pods(random: &mut Random) -> BTreeMap<String, (Value, Asked)> {
    let one = |i: u64, random: &mut Random| {
        let mut asked =
            Asked { cpu: 1 + random.below(6), gib: 1 + random.below(8), ..Asked::default() };
        let mut row = pod(&format!("p{i}"), &asked.cpu.to_string(), &format!("{}Gi", asked.gib));
        if random.below(3) == 0 {
            asked.gpus = 1 + random.below(2);
            let amount = json!({ GPU: asked.gpus.to_string() });
            row["spec"]["containers"][0]["resources"]["limits"] = amount.clone();
            row["spec"]["containers"][0]["resources"]["requests"][GPU] = amount[GPU].clone();
        }
        if random.below(3) == 0 {
            asked.zones.push(random.pick(&["a", "b", "c"]).to_owned());
            row["spec"]["nodeSelector"][ZONE] = json!(asked.zones[0]);
        }
        if random.below(5) == 0 {
            asked.kinds.push(random.pick(&["on-demand", "spot"]).to_owned());
            row["spec"]["nodeSelector"][CAPACITY] = json!(asked.kinds[0]);
        }
        (format!("default/p{i}"), (row, asked))
    };
    (0..1 + random.below(6)).map(|i| one(i, random)).collect()
}

/// Compares every launch and every pod that is left with all types; counts launches.
fn compare(
    planned: &Planned,
    machines: &[Machine],
    pods: &BTreeMap<String, (Value, Asked)>,
    case: &str,
) -> usize {
    let mut total = 0;
    let mut seen: Vec<String> = Vec::new();
    for launch in planned.launches() {
        let names = launch["pods"].as_array().expect("pods").iter();
        let names: Vec<String> = names.map(|n| n.as_str().expect("a name").to_owned()).collect();
        let asked = Asked::sum(names.iter().map(|n| &pods[n].1));
        seen.extend(names);
        let hosts = machines.iter().filter_map(|m| Some((asked.price_on(m)?, m.name.as_str())));
        let mut hosts: Vec<_> = hosts.collect();
        hosts.sort_unstable();
        let types: Vec<&str> = hosts.iter().map(|(_, name)| *name).collect();
        assert_eq!(launch["instanceTypes"], json!(types), "{case}: {launch} of {hosts:?}");
        let named = &launch["cheapest"];
        let text = |key: &str| named[key].as_str().expect("text").to_owned();
        let of_type = machines.iter().find(|m| m.name == text("instanceType")).expect("a type");
        let (zone, kind) = (text("zone"), text("capacityType"));
        let selected =
            asked.zones.iter().all(|z| *z == zone) && asked.kinds.iter().all(|k| *k == kind);
        assert!(selected, "{case}: {named} is not what the pods select");
        assert_eq!(of_type.prices[&(zone, kind)], hosts[0].0, "{case}: {named} of {hosts:?}");
        total += hosts[0].0;
    }
    assert_eq!(planned.price(), total, "{case}: the sum");
    for (name, _) in planned.unplaced() {
        let asked = &pods[&name].1;
        let host = machines.iter().find(|m| asked.price_on(m).is_some()).map(|m| &m.name);
        assert_eq!(host, None, "{case}: {name} is left");
        seen.push(name);
    }
    seen.sort();
    assert!(seen.iter().eq(pods.keys()), "{case}: each pod once: {seen:?}");
    planned.launches().len()
}

// RULE: 7.4
#[test]
fn overlaid_prices_and_capacity_are_those_of_trying_every_offering() {
    let mut launches = 0;
    for seed in 0..INPUTS {
        let mut random = Random(seed);
        let mut machines = machines(&mut random);
        let types = machines.iter().map(Machine::json).collect();
        let overlays = overlays(&mut random, &mut machines);
        let pods = pods(&mut random);
        let both = bare_pool("p", vec![req(CAPACITY, "In", &["on-demand", "spot"])]);
        let w = world()
            .types(types)
            .pools([both])
            .add("nodeOverlays", overlays.clone())
            .pods(pods.values().map(|(row, _)| row.clone()))
            .setting("featureGates", json!("NodeOverlay=true"));
        for (planned, rules) in [(w.plan(), "greedy"), (w.karpenter(), "karpenter")] {
            let case = format!("seed {seed}, {rules}, {}", json!(overlays));
            launches += compare(&planned, &machines, &pods, &case);
        }
    }
    assert!(launches > 400, "most inputs should launch something: {launches}");
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

// RULE: static pools
#[test]
fn a_pool_with_replicas_says_how_many_nodes_it_lacks() {
    for seed in 0..INPUTS {
        let random = &mut Random(seed);
        let (replicas, count) = (random.below(6), random.below(6));
        let leaving = random.below(count + 1);
        let limit = (random.below(2) == 0).then(|| random.below(7));
        let mut own = with(pool("p", vec![]), "/spec/replicas", json!(replicas));
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
        let planned = world()
            .pools([own])
            .nodes(nodes)
            .setting("featureGates", json!("StaticCapacity=true"))
            .karpenter();
        let want = replicas.saturating_sub(count - leaving);
        let room = limit.map_or(u64::MAX, |limit| limit.saturating_sub(count));
        let warnings = planned.0["warnings"].as_array().expect("warnings").iter();
        let found: Vec<_> = warnings.filter(|w| w["code"] == "StaticPoolLacksNodes").collect();
        let case = format!("seed {seed}: {replicas} of {count}, {leaving} leave, limit {limit:?}");
        assert_eq!(found.len(), usize::from(want > 0), "{case}: {found:?}");
        for warning in found {
            let text = warning.to_string();
            let says = format!("launches {} node(s)", want.min(room));
            assert!(text.contains(&says), "{case}: {text}");
            let held = want - want.min(room);
            let says = format!("keeps {held} more from");
            assert_eq!(text.contains(&says), held > 0, "{case}: {text}");
        }
    }
}
