//! The search against what it promises: every answer holds, none is behind placing one by one,
//! none is below its bound, and small ones are the best there are.

use dunnage_benches::draw::Draw;
use dunnage_benches::problems::{self, Size};
use dunnage_engine_core::problem::{Problem, Rules};
use dunnage_engine_core::search::Settings;
use dunnage_engine_core::stop::Stop;
use dunnage_planner::lower::{Lowered, TypeLists, lower};
use dunnage_planner::options::Options;
use dunnage_planner::read::{Source, read};
use dunnage_planner::solve::{How, OwnedDecision, search, solve, verify};
use serde_json::{Value, json};

const RANDOM: u64 = 4000;
const SMALL: u64 = 500;

/// Searches and holds the answer against every promise that needs no second opinion.
fn searched(problem: &Problem, settings: &Settings, what: &str) -> OwnedDecision {
    let how = How { search: *settings, ..How::default() };
    let found = search(problem, &how).unwrap_or_else(|e| panic!("{what}: {e}"));
    if let Err(violation) = verify(problem, &found.decision()) {
        panic!("{what}: {violation:?}");
    }
    let bound = found.bound.expect("a search has a bound").price_microusd;
    assert!(i128::from(bound) <= found.rank().1, "{what}: bound {bound} above {:?}", found.rank());
    found
}

#[test]
fn answers_on_random_problems_hold_and_are_not_behind_placing_one_by_one() {
    let (mut cheaper, mut opened) = (0, 0);
    for seed in 0..RANDOM {
        let mut draw = Draw::seeded(seed);
        let tables = problems::problem(&mut draw, Size::SMALL);
        let problem = tables.problem(Rules::MENDED);
        let what = format!("seed {seed}");
        let found = searched(&problem, &Settings::DEFAULT, &what);
        let single = solve(&problem, Stop::NEVER).expect("a decision");
        let rank = |decision| How::default().rank(&problem, decision);
        assert!(rank(&found) <= rank(&single), "{what}: {:?} {:?}", found.rank(), single.rank());
        cheaper += u32::from(found.rank().1 < single.rank().1);
        opened += u32::from(!single.new_nodes.is_empty());
        if seed % 10 == 0 {
            assert_eq!(search(&problem, &How::default()).expect("again"), found, "{what}");
        }
    }
    // Mostly there is nothing to gain in so small a problem, but not never.
    assert!(cheaper * 20 > opened, "{cheaper} of {opened} are cheaper");
}

/// A cluster's worth of tables.
fn lowered(input: &Value) -> Lowered {
    let source = Source { name: "small".to_owned(), text: input.to_string() };
    let mut snapshot = read(&[source]).expect("a good input");
    let types = snapshot.instance_types.take().expect("types");
    let lists = TypeLists::shared(types, &snapshot);
    lower(&snapshot, &lists, &Options::default()).expect("tables")
}

/// A few machine types and at most eight pods, in quarters of a cpu and of a GiB.
struct Small {
    types: Vec<(u32, u32, u32)>,
    pods: Vec<(u32, u32)>,
}

impl Small {
    fn draw(draw: &mut Draw) -> Self {
        let types = (0..draw.between(2, 5))
            .map(|_| {
                let (cpu, memory) = (draw.between(4, 32), draw.between(4, 32));
                // About in line with size, so that no type is always best.
                (cpu, memory, 1000 * (2 * cpu + memory) + draw.below(20_000) + 50_000)
            })
            .collect();
        let pods = (0..draw.between(1, 8)).map(|_| (draw.between(1, 12), draw.between(1, 12)));
        Self { types, pods: pods.collect() }
    }

    fn snapshot(&self) -> Value {
        let quarter = |n: u32, unit: &str, each: u32| format!("{}{unit}", n * each);
        let types = self.types.iter().enumerate().map(|(i, &(cpu, memory, price))| {
            let requirement = |key: &str, value: &str| {
                json!({ "key": key, "operator": "In", "values": [value] })
            };
            json!({
                "name": format!("t{i}"),
                "requirements": [
                    requirement("node.kubernetes.io/instance-type", &format!("t{i}")),
                    requirement("kubernetes.io/arch", "amd64"),
                    requirement("kubernetes.io/os", "linux"),
                    requirement("topology.kubernetes.io/zone", "z"),
                    requirement("karpenter.sh/capacity-type", "on-demand"),
                ],
                "capacity": { "cpu": quarter(cpu, "m", 250), "memory": quarter(memory, "Mi", 256), "pods": "110" },
                "overhead": {},
                "offerings": [{ "zone": "z", "capacityType": "on-demand",
                    "price": f64::from(price) / 1e6, "available": true }],
            })
        });
        let pods = self.pods.iter().enumerate().map(|(i, &(cpu, memory))| {
            json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": format!("p{i}"), "namespace": "default" },
                "spec": { "containers": [{ "name": "c", "image": "x", "resources": { "requests":
                    { "cpu": quarter(cpu, "m", 250), "memory": quarter(memory, "Mi", 256) } } }] },
            })
        });
        let pool = json!({
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "default" },
            "spec": { "template": { "spec": {
                "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "d" },
                "requirements": [] } } },
        });
        json!({
            "nodePools": [pool],
            "instanceTypes": types.collect::<Vec<_>>(),
            "pods": pods.collect::<Vec<_>>(),
        })
    }

    /// The least price of nodes for all pods that fit some type, by trying every way to
    /// divide them.
    fn optimum(&self) -> i128 {
        let fits =
            |&(cpu, memory): &(u32, u32)| self.types.iter().any(|t| cpu <= t.0 && memory <= t.1);
        let pods: Vec<_> = self.pods.iter().copied().filter(fits).collect();
        let all = (1usize << pods.len()) - 1;
        let alone = |set: usize| {
            let on = pods.iter().enumerate().filter(|(i, _)| set >> i & 1 != 0);
            let (cpu, memory) = on.fold((0, 0), |sum, (_, p)| (sum.0 + p.0, sum.1 + p.1));
            let fitting = self.types.iter().filter(|t| cpu <= t.0 && memory <= t.1);
            fitting.map(|t| i128::from(t.2)).min()
        };
        let mut best = vec![i128::MAX; all + 1];
        best[0] = 0;
        for set in 1..=all {
            let mut part = set;
            while part > 0 {
                if let Some(price) = alone(part) {
                    best[set] = best[set].min(best[set & !part].saturating_add(price));
                }
                part = (part - 1) & set;
            }
        }
        best[all]
    }
}

#[test]
fn small_answers_are_the_best_there_are() {
    let settings = Settings { surcharge_microusd: 0, gap: 0.0, ..Settings::DEFAULT };
    let mut best = 0;
    for seed in 0..SMALL {
        let small = Small::draw(&mut Draw::seeded(seed));
        let lowered = lowered(&small.snapshot());
        let problem = lowered.tables.problem();
        let what = format!("seed {seed}");
        let found = searched(&problem, &settings, &what);
        let optimum = small.optimum();
        let bound = i128::from(found.bound.expect("a bound").price_microusd);
        assert!(bound <= optimum, "{what}: bound {bound} above the optimum {optimum}");
        assert!(found.rank().1 >= optimum, "{what}: {} below {optimum}", found.rank().1);
        best += u64::from(found.rank().1 == optimum);
    }
    println!("{best} of {SMALL} are optimal");
    assert!(best * 100 >= SMALL * 95, "{best} of {SMALL} are optimal");
}
