//! Worlds by the dozen, each in many orders: which row stands first in the input, in which list
//! and in which file, changes no byte of the answer.

use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::read::{Source, read};
use serde_json::{Value, json};

use crate::exhaustive::Random;
use crate::volumes::{bound_claim, using, volume};
use crate::world::*;

const WORLDS: u64 = 40;
const ORDERS: u64 = 4;

/// A random order.
fn shuffle<T>(rows: &mut [T], random: &mut Random) {
    for i in (1..rows.len()).rev() {
        rows.swap(i, random.below(i as u64 + 1) as usize);
    }
}

/// Pods of a few shapes, so that many are equal and many classes are of one size.
fn pods(random: &mut Random) -> Vec<Value> {
    let count = 4 + random.below(16);
    let one = |i: u64, random: &mut Random| {
        let app = random.pick(&["web", "db", "job"]);
        let cpu = random.pick(&["500m", "1", "1", "1500m", "40"]);
        let mut row = labelled(pod(&format!("{app}-{i}"), cpu, "512Mi"), "app", app);
        match random.below(8) {
            0 => row["spec"]["nodeSelector"][ZONE] = json!(random.pick(&["a", "b"])),
            1 => row = affine(row, "podAntiAffinity", HOST, app),
            2 => row = affine(row, "podAffinity", ZONE, "db"),
            3 => {
                let when = random.pick(&["DoNotSchedule", "ScheduleAnyway"]);
                let rules = json!([spread(ZONE, app, 1, when), spread(HOST, app, 2, when)]);
                row = with(row, "/spec/topologySpreadConstraints", rules);
            }
            4 => {
                let port = json!([{ "containerPort": 80, "hostPort": 80 + random.below(2) }]);
                row = with(row, "/spec/containers/0/ports", port);
            }
            5 => row = using(row, &[random.pick(&["data-0", "data-1"])]),
            6 => {
                let tolerated = json!([{ "key": "team", "operator": "Exists" },
                    { "key": "gpu", "operator": "Exists" }]);
                row = with(row, "/spec/tolerations", tolerated);
            }
            _ => {}
        }
        match random.below(4) {
            0 => bound(row, &format!("n{}", random.below(3))),
            1 => with(row, "/metadata/creationTimestamp", json!("2026-01-01T00:00:00Z")),
            _ => row,
        }
    };
    (0..count).map(|i| one(i, random)).collect()
}

/// A world with equal types, equal nodes, pools of equal weight and equal overlays.
pub fn drawn(random: &mut Random) -> World {
    let mut types = standard_types();
    types.extend(["twin-a", "twin-b"].map(|name| machine(name, 4, 16, 0.2)));
    let tainted = with(
        pool("r", vec![req(ZONE, "In", &["c", "b"])]),
        "/spec/template/spec/taints",
        json!([{ "key": "team", "value": "x", "effect": "NoSchedule" },
            { "key": "gpu", "effect": "PreferNoSchedule" }]),
    );
    let limited = with(pool("q", vec![]), "/spec/limits", json!({ "cpu": "12", "nodes": "3" }));
    let overlay = |name: &str, price: &str| {
        json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
            "metadata": { "name": name }, "spec": { "priceAdjustment": price,
                "requirements": [req(TYPE, "In", &["M", "twin-a"])] } })
    };
    let agent = |name: &str, cpu: &str| {
        json!({ "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": name, "namespace": "kube-system" },
            "spec": { "selector": { "matchLabels": { "d": name } }, "template": { "metadata": { "labels": { "d": name } },
                "spec": { "containers": [{ "name": "c", "image": "x", "resources": { "requests": { "cpu": cpu } } }] } } } })
    };
    let places = |zones: &[&str]| zones.iter().map(|z| vec![req(ZONE, "In", &[z])]).collect();
    let mut w = world()
        .types(types)
        .pools([pool("p", vec![req(ZONE, "In", &["a", "b", "c"])]), limited, tainted])
        .nodes((0..3).map(|i| node(&format!("n{i}"), "M", ["a", "a", "b"][i])))
        .add("daemonSets", [agent("log", "100m"), agent("net", "50m")])
        .add("nodeOverlays", [overlay("dear", "+10%"), overlay("cheap", "-10%")])
        .add("persistentVolumes", [volume("v0", places(&["b", "a"])), volume("v1", places(&["c"]))])
        .add("persistentVolumeClaims", [bound_claim("data-0", "v0"), bound_claim("data-1", "v1")])
        .pods(pods(random))
        .setting("featureGates", json!("NodeOverlay=true"));
    if random.below(2) == 0 {
        w.0["nodePools"][0]["spec"]["weight"] = json!(7);
    }
    w
}

/// The lists of an object whose order means nothing. Soft spreads are not among them: the later
/// one is given up first.
const FREE_LISTS: [&str; 6] = [
    "/spec/template/spec/requirements",
    "/spec/template/spec/taints",
    "/spec/requirements",
    "/spec/tolerations",
    "/requirements",
    "/offerings",
];

/// Mixes every list, and the fields of lists whose order means nothing.
pub fn mixed(w: &World, random: &mut Random) -> Value {
    let mut all = w.0.clone();
    for list in all.as_object_mut().expect("a mapping").values_mut() {
        let Value::Array(rows) = list else { continue };
        shuffle(rows, random);
        for row in rows {
            for pointer in FREE_LISTS {
                if let Some(Value::Array(inner)) = row.pointer_mut(pointer) {
                    shuffle(inner, random);
                    for one in inner {
                        if let Some(Value::Array(values)) = one.get_mut("values") {
                            shuffle(values, random);
                        }
                    }
                }
            }
        }
    }
    all
}

/// The answer of each strategy to the lists in two files.
fn answers(all: &Value, cut: u64) -> [String; 2] {
    let (mut first, mut second) = (all.clone(), json!({}));
    // A part of each list of objects goes into the other file.
    for (name, list) in first.as_object_mut().expect("a mapping") {
        if let Value::Array(rows) = list
            && name != "instanceTypes"
        {
            let at = (cut as usize).min(rows.len());
            second[name.as_str()] = json!(rows.split_off(at));
        }
    }
    let source =
        |name: &str, text: &Value| Source { name: name.to_owned(), text: text.to_string() };
    let snapshot = read(&[source("x.json", &second), source("y.json", &first)]);
    let snapshot = snapshot.expect("a good input");
    [Strategy::Greedy, Strategy::Karpenter].map(|strategy| {
        let options = Options { strategy, ..Options::default() };
        let plan = dunnage_planner::plan::plan(&snapshot, &options).expect("a plan");
        serde_json::to_string(&plan).expect("JSON")
    })
}

// CASE: 14.4.20
#[test]
fn the_order_of_rows_changes_no_byte() {
    let (mut launches, mut binds, mut left) = (0, 0, 0);
    for seed in 0..WORLDS {
        let random = &mut Random(seed);
        let w = drawn(random);
        let want = answers(&w.0, 1000);
        launches += usize::from(want[0].contains("\"launch\":[{"));
        binds += usize::from(want[0].contains("\"bind\":[{"));
        left += usize::from(want[0].contains("\"unplaced\":[{"));
        for order in 0..ORDERS {
            let got = answers(&mixed(&w, random), random.below(9));
            for (got, want) in got.iter().zip(&want) {
                let at = got.bytes().zip(want.bytes()).position(|(a, b)| a != b);
                let near = |text: &str| {
                    text.chars()
                        .skip(at.unwrap_or(0).saturating_sub(80))
                        .take(200)
                        .collect::<String>()
                };
                assert!(got == want, "seed {seed}, order {order}:\n{}\n{}", near(got), near(want));
            }
        }
    }
    let least = WORLDS as usize / 2;
    assert!(launches.min(binds).min(left) >= least, "{launches} {binds} {left}");
}
