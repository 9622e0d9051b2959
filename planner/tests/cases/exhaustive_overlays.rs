//! Small inputs by the hundred against a computation that tries every offering: prices and
//! capacity under NodeOverlays, of equal weights too, over several pools.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::exhaustive::{INPUTS, Random};
use crate::world::*;

const RESOURCES: [&str; 2] = ["example.com/gpu", "example.com/fpga"];
const POOL: &str = "karpenter.sh/nodepool";
const POOLS: [&str; 2] = ["p", "q"];

/// A type of one pool as the test knows it: prices in micro-dollars by (zone, capacity type).
#[derive(Clone)]
struct Machine {
    pool: &'static str,
    name: String,
    cpu: u64,
    gib: u64,
    /// Of each of `RESOURCES`.
    extra: [u64; 2],
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
    extra: [u64; 2],
    /// Pools, zones and capacity types that the pods select.
    pools: Vec<String>,
    zones: Vec<String>,
    kinds: Vec<String>,
}

impl Asked {
    fn sum<'a>(rows: impl IntoIterator<Item = &'a Self>) -> Self {
        rows.into_iter().fold(Self::default(), |mut sum, row| {
            sum.cpu += row.cpu;
            sum.gib += row.gib;
            sum.extra = [0, 1].map(|i| sum.extra[i] + row.extra[i]);
            sum.pools.extend(row.pools.iter().cloned());
            sum.zones.extend(row.zones.iter().cloned());
            sum.kinds.extend(row.kinds.iter().cloned());
            sum
        })
    }

    /// The least price at which the type hosts this, if it can.
    fn price_on(&self, m: &Machine) -> Option<i64> {
        let is_large = self.cpu <= m.cpu
            && self.gib <= m.gib
            && (0..2).all(|i| self.extra[i] <= m.extra[i])
            && self.pools.iter().all(|pool| pool == m.pool);
        let offers = m.prices.iter().filter(|((z, c), _)| {
            is_large && self.zones.iter().all(|a| a == z) && self.kinds.iter().all(|a| a == c)
        });
        offers.map(|(_, price)| *price).min()
    }
}

/// The same types in each pool.
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
        POOLS.map(|pool| {
            let prices = prices.clone();
            Machine { pool, name: format!("t{i}"), cpu, gib, extra: [0; 2], prices }
        })
    };
    (0..3 + random.below(4) as usize).flat_map(|i| of(i, random)).collect()
}

/// Requirements of an overlay as (key, whether In, values).
type Rule = (&'static str, bool, Vec<String>);

fn rules(random: &mut Random) -> Vec<Rule> {
    let mut rules = Vec::new();
    let choices: [(&'static str, &[&str]); 4] = [
        (CAPACITY, &["on-demand", "spot"]),
        (ZONE, &["a", "b", "c"]),
        (TYPE, &["t0", "t1", "t2"]),
        (POOL, &POOLS),
    ];
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

/// What an overlay makes of a base price.
type Priced = Box<dyn Fn(i64) -> i64>;

/// An overlay's price: the field, its text, and what it makes of a base price.
fn price(random: &mut Random) -> (&'static str, String, Priced) {
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

/// An overlay, as an object and as the test reads it.
struct Overlay {
    name: String,
    weight: u64,
    rules: Vec<Rule>,
    price: Option<Priced>,
    /// By position in `RESOURCES`.
    capacity: BTreeMap<usize, u64>,
    row: Value,
}

impl Overlay {
    fn drawn(random: &mut Random, at: u64) -> Self {
        let rules = rules(random);
        let requirements: Vec<Value> = rules
            .iter()
            .map(|(key, is_in, values)| {
                let values: Vec<&str> = values.iter().map(String::as_str).collect();
                req(key, if *is_in { "In" } else { "NotIn" }, &values)
            })
            .collect();
        let mut spec = json!({ "requirements": requirements });
        let weight = random.below(3);
        if weight > 0 {
            spec["weight"] = json!(weight);
        }
        // Prices alone, capacity alone (most often: three of one weight must meet), or both.
        let sets = [0, 1, 1, 1, 2][random.below(5) as usize];
        let (field, text, applied) = price(random);
        if sets != 1 {
            spec[field] = json!(text);
        }
        let mut capacity = BTreeMap::new();
        if sets != 0 {
            let first = random.below(3) as usize;
            for i in (0..2).filter(|i| first == 2 || first == *i) {
                capacity.insert(i, random.below(4));
                spec["capacity"][RESOURCES[i]] = json!(capacity[&i].to_string());
            }
        }
        let name = format!("o{}", random.below(1000) * 10 + at);
        let row = json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
            "metadata": { "name": name }, "spec": spec });
        Self { name, weight, rules, price: (sets != 1).then_some(applied), capacity, row }
    }

    /// The offerings of a type that it touches.
    fn touched(&self, m: &Machine) -> Vec<(String, String)> {
        let holds = |(zone, kind): &&(String, String)| {
            self.rules.iter().all(|(key, is_in, values)| {
                let own = match *key {
                    ZONE => zone,
                    CAPACITY => kind,
                    POOL => m.pool,
                    _ => &m.name,
                };
                values.iter().any(|value| value == own) == *is_in
            })
        };
        m.prices.keys().filter(holds).cloned().collect()
    }
}

/// What was set at one place by overlays applied before.
#[derive(Default)]
struct Before {
    /// Weights of all that named the price of an offering.
    prices: BTreeMap<(String, String), BTreeSet<u64>>,
    /// (weight, resources) of all that named capacity, in order.
    sizes: Vec<(u64, BTreeSet<usize>)>,
}

/// Applies overlays to the types of all pools; the names of those that conflict. Heaviest
/// first, of equal weight the last name first; one that conflicts anywhere counts nowhere.
fn apply(overlays: &[Overlay], machines: &mut [Machine], is_mended: bool) -> BTreeSet<String> {
    let bases = machines.to_vec();
    let mut before: Vec<Before> = machines.iter().map(|_| Before::default()).collect();
    let mut order: Vec<&Overlay> = overlays.iter().collect();
    order.sort_by(|a, b| (b.weight, &b.name).cmp(&(a.weight, &a.name)));
    let mut conflicting = BTreeSet::new();
    for overlay in order {
        let clashes = machines.iter().zip(&before).any(|(m, before)| {
            let touched = overlay.touched(m);
            let is_equal = |id| before.prices.get(id).is_some_and(|w| w.contains(&overlay.weight));
            let price = overlay.price.is_some() && touched.iter().any(is_equal);
            // Karpenter compares with the last one alone.
            let looked = if is_mended { before.sizes.len() } else { 1 };
            let capacity = before.sizes.iter().rev().take(looked).any(|(weight, names)| {
                *weight == overlay.weight && overlay.capacity.keys().any(|n| names.contains(n))
            });
            price || (!touched.is_empty() && capacity)
        });
        if clashes {
            conflicting.insert(overlay.name.clone());
            continue;
        }
        for ((m, base), before) in machines.iter_mut().zip(&bases).zip(&mut before) {
            let touched = overlay.touched(m);
            for id in touched.iter().filter(|_| overlay.price.is_some()) {
                let weights = before.prices.entry(id.clone()).or_default();
                if weights.is_empty()
                    && let Some(applied) = &overlay.price
                {
                    m.prices.insert(id.clone(), applied(base.prices[id]));
                }
                weights.insert(overlay.weight);
            }
            if touched.is_empty() || overlay.capacity.is_empty() {
                continue;
            }
            for (i, amount) in &overlay.capacity {
                if !before.sizes.iter().any(|(_, names)| names.contains(i)) {
                    m.extra[*i] = *amount;
                }
            }
            before.sizes.push((overlay.weight, overlay.capacity.keys().copied().collect()));
        }
    }
    conflicting
}

fn pods(random: &mut Random) -> BTreeMap<String, (Value, Asked)> {
    let one = |i: u64, random: &mut Random| {
        let mut asked =
            Asked { cpu: 1 + random.below(6), gib: 1 + random.below(8), ..Asked::default() };
        let mut row = pod(&format!("p{i}"), &asked.cpu.to_string(), &format!("{}Gi", asked.gib));
        for (at, name) in RESOURCES.into_iter().enumerate() {
            if random.below(4) == 0 {
                asked.extra[at] = 1 + random.below(2);
                let amount = json!(asked.extra[at].to_string());
                row["spec"]["containers"][0]["resources"]["limits"][name] = amount.clone();
                row["spec"]["containers"][0]["resources"]["requests"][name] = amount;
            }
        }
        let choices: [(_, &[&str], _, &mut Vec<String>); 3] = [
            (ZONE, &["a", "b", "c"], 3, &mut asked.zones),
            (CAPACITY, &["on-demand", "spot"], 5, &mut asked.kinds),
            (POOL, &POOLS, 2, &mut asked.pools),
        ];
        for (key, values, one_in, kept) in choices {
            if random.below(one_in) == 0 {
                kept.push(random.pick(values).to_owned());
                row["spec"]["nodeSelector"][key] = json!(kept[0]);
            }
        }
        (format!("default/p{i}"), (row, asked))
    };
    (0..1 + random.below(6)).map(|i| one(i, random)).collect()
}

/// Compares every launch and every pod that is left with all types; counts launches by pool.
fn compare(
    planned: &Planned,
    machines: &[Machine],
    pods: &BTreeMap<String, (Value, Asked)>,
    case: &str,
) -> BTreeMap<String, usize> {
    let mut total = 0;
    let mut seen: Vec<String> = Vec::new();
    let mut launches = BTreeMap::new();
    for launch in planned.launches() {
        let names = launch["pods"].as_array().expect("pods").iter();
        let names: Vec<String> = names.map(|n| n.as_str().expect("a name").to_owned()).collect();
        let asked = Asked::sum(names.iter().map(|n| &pods[n].1));
        seen.extend(names);
        let pool = launch["nodePool"].as_str().expect("a pool");
        *launches.entry(pool.to_owned()).or_default() += 1;
        let own: Vec<&Machine> = machines.iter().filter(|m| m.pool == pool).collect();
        let hosts = own.iter().filter_map(|m| Some((asked.price_on(m)?, m.name.as_str())));
        let mut hosts: Vec<_> = hosts.collect();
        hosts.sort_unstable();
        let types: Vec<&str> = hosts.iter().map(|(_, name)| *name).collect();
        assert_eq!(launch["instanceTypes"], json!(types), "{case}: {launch} of {hosts:?}");
        let named = &launch["cheapest"];
        let text = |key: &str| named[key].as_str().expect("text").to_owned();
        let of_type = own.iter().find(|m| m.name == text("instanceType")).expect("a type");
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
    launches
}

/// Names of the overlays that the plan says conflict.
fn told(planned: &Planned) -> BTreeSet<String> {
    let rows = planned.0["warnings"].as_array().expect("warnings").iter();
    let rows = rows.filter(|row| row["code"] == "OverlayConflict");
    let name =
        |row: &Value| row["object"].as_str()?.strip_prefix("NodeOverlay ").map(str::to_owned);
    rows.map(|row| name(row).expect("an overlay")).collect()
}

// RULE: 7.4
#[test]
fn overlaid_prices_and_capacity_are_those_of_trying_every_offering() {
    let mut launches: BTreeMap<String, usize> = BTreeMap::new();
    let (mut conflicts, mut differs) = (0, 0);
    for seed in 0..2 * INPUTS {
        let mut random = Random(seed);
        let base = machines(&mut random);
        let types = base.iter().filter(|m| m.pool == "p").map(Machine::json).collect();
        let drawn = 1 + random.below(8);
        let overlays: Vec<_> = (0..drawn).map(|at| Overlay::drawn(&mut random, at)).collect();
        let pods = pods(&mut random);
        let both = |name| bare_pool(name, vec![req(CAPACITY, "In", &["on-demand", "spot"])]);
        let rows: Vec<Value> = overlays.iter().map(|overlay| overlay.row.clone()).collect();
        let w = world()
            .types(types)
            .pools([with(both("p"), "/spec/weight", json!(9)), both("q")])
            .add("nodeOverlays", rows.clone())
            .pods(pods.values().map(|(row, _)| row.clone()))
            .setting("featureGates", json!("NodeOverlay=true"));
        let mut answers = Vec::new();
        for (planned, is_mended) in [(w.plan(), true), (w.karpenter(), false)] {
            let case = format!("seed {seed}, mended {is_mended}, {}", json!(rows));
            let mut own = base.clone();
            let refused = apply(&overlays, &mut own, is_mended);
            assert_eq!(told(&planned), refused, "{case}: conflicts");
            conflicts += refused.len();
            answers.push(refused);
            for (pool, count) in compare(&planned, &own, &pods, &case) {
                *launches.entry(pool).or_default() += count;
            }
        }
        differs += usize::from(answers[0] != answers[1]);
    }
    assert!(launches.values().all(|count| *count > 200), "both pools launch: {launches:?}");
    assert!(conflicts > 200 && differs > 0, "{conflicts} conflicts, {differs} by one rule only");
}
