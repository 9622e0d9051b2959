//! What restrictions cost and where money is wasted: worlds small enough to work out by hand.

use dunnage_planner::explain::{ExplainError, explain_pool, explain_waste};
use dunnage_planner::options::Options;
use dunnage_planner::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::world::*;

fn snapshot(world: &World) -> Snapshot {
    crate::snapshot(&world.0.to_string()).expect("a good input")
}

fn pool_report(world: &World, name: &str) -> Value {
    let said = explain_pool(&snapshot(world), &Options::default(), name).expect("a report");
    serde_json::to_value(said).expect("JSON")
}

fn waste(world: &World) -> Value {
    let said = explain_waste(&snapshot(world), &Options::default()).expect("a report");
    serde_json::to_value(said).expect("JSON")
}

/// (restriction, cost per hour, pods more) of each row.
fn rows(report: &Value, list: &str) -> Vec<(String, Option<f64>, u64)> {
    let rows = report[list].as_array().expect("rows").iter();
    rows.map(|row| {
        let text = row["restriction"].as_str().unwrap_or_default().to_owned();
        (text, row["costsPerHour"].as_f64(), row["placesMore"].as_u64().unwrap_or(0))
    })
    .collect()
}

/// Two pods of 1.5 cpu take two S of 0.10 each. On-demand costs 0.20, spot 0.07; type L alone
/// costs 0.40 on demand, 0.14 as spot.
fn narrow() -> World {
    let requirements = vec![req(TYPE, "In", &["L"]), req(ZONE, "In", &["a"])];
    let own = with(pool("p", requirements), "/spec/limits", json!({ "cpu": "100" }));
    world().pools([own]).pods([pod("a", "1500m", "1Gi"), pod("b", "1500m", "1Gi")])
}

#[test]
fn each_restriction_costs_what_the_plan_without_it_saves() {
    let said = pool_report(&narrow(), "p");
    assert_eq!(said["now"], json!({ "launchPerHour": 0.4, "launches": 1, "unplaced": 0 }));
    assert_eq!(
        rows(&said, "restrictions"),
        [
            (format!("{CAPACITY} In [on-demand]"), Some(0.26), 0),
            (format!("{TYPE} In [L]"), Some(0.2), 0),
            ("limit cpu 100".to_owned(), Some(0.0), 0),
            (format!("{ZONE} In [a]"), Some(0.0), 0),
        ]
    );
    // Spot S: 0.035 each.
    assert_eq!(said["together"]["without"]["launchPerHour"], json!(0.07));
    assert_eq!(said["together"]["costsPerHour"], json!(0.33));
    assert_eq!(said["restrictions"][0]["costsPercent"], json!(65.0));
}

#[test]
fn a_restriction_that_leaves_pods_over_comes_first() {
    let own = with(pool("p", vec![]), "/spec/limits", json!({ "cpu": "2" }));
    let pods = (0..3).map(|i| pod(&format!("w-{i}"), "1500m", "1Gi"));
    let said = pool_report(&world().pools([own]).pods(pods), "p");
    let first = &rows(&said, "restrictions")[0];
    assert_eq!(first, &("limit cpu 2".to_owned(), None, 2));
}

#[test]
fn minimum_values_weights_and_taints_are_restrictions_too() {
    let least = with(req(TYPE, "Exists", &[]), "/minValues", json!(3));
    let own = with(pool("p", vec![least]), "/spec/weight", json!(10));
    let taint = json!([{ "key": "team", "value": "x", "effect": "NoSchedule" }]);
    let own = with(own, "/spec/template/spec/taints", taint);
    let said =
        pool_report(&world().pools([own, pool("q", vec![])]).pods([pod("a", "1", "1Gi")]), "p");
    let kinds: Vec<&str> = said["restrictions"]
        .as_array()
        .expect("rows")
        .iter()
        .filter_map(|row| row["kind"].as_str())
        .collect();
    for kind in ["minValues", "requirement", "weight", "taints"] {
        assert!(kinds.contains(&kind), "{kinds:?}");
    }
    // The pod tolerates no taint: the pool launches nothing.
    assert_eq!(said["launches"], json!(0));
}

#[test]
fn what_pods_ask_of_their_nodes_has_a_price() {
    let asks =
        |name: &str| with(pod(name, "1500m", "1Gi"), "/spec/nodeSelector", json!({ TYPE: "L" }));
    let term =
        json!([{ "matchExpressions": [{ "key": TYPE, "operator": "In", "values": ["L"] }] }]);
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms";
    let affine = with(pod("b", "1500m", "1Gi"), path, term);
    let said = pool_report(&world().pools([pool("p", vec![])]).pods([asks("a"), affine]), "p");
    // One L at 0.40 against two S at 0.10 each.
    assert_eq!(rows(&said, "pods"), [(format!("{TYPE} of 2 pod(s)"), Some(0.2), 0)]);
}

#[test]
fn an_unknown_pool_is_named_with_a_similar_one() {
    let why = explain_pool(&snapshot(&narrow()), &Options::default(), "pp").expect_err("no pool");
    assert!(matches!(why, ExplainError::Name(_)));
    assert!(why.to_string().contains("`pp`") && why.to_string().contains("`p`"), "{why}");
}

/// Each pod of 1.2 cpu has an S to itself, and 0.8 cpu of each is lost; with 1 cpu two share one.
fn wasteful() -> World {
    let own = pool("p", vec![req(TYPE, "In", &["S"])]);
    world().pools([own]).pods((0..4).map(|i| pod(&format!("w-{i}"), "1200m", "1Gi")))
}

#[test]
fn a_shape_that_strands_room_is_told_with_the_request_that_would_fit() {
    let said = waste(&wasteful());
    assert_eq!(said["launchPerHour"], json!(0.4));
    let cpu = &said["resources"][0];
    assert_eq!((&cpu["resource"], &cpu["unused"]), (&json!("cpu"), &json!("3200m")));
    let shape = &said["shapes"][0];
    assert_eq!((&shape["pod"], &shape["count"]), (&json!("default/w-0"), &json!(4)));
    let smaller = &shape["smaller"];
    assert_eq!((&smaller["from"], &smaller["to"]), (&json!("1200m"), &json!("1")));
    assert_eq!(smaller["savesPerHour"], json!(0.2));
    assert_eq!(smaller["savesPercent"], json!(50.0));
}

#[test]
fn waste_adds_up_to_what_the_plan_costs_beyond_the_bound() {
    let drawn = (0..40).map(|seed| {
        let cpu = |i: usize| format!("{}m", 300 + 170 * ((seed * 7 + i * 5) % 11));
        let memory = |i: usize| format!("{}Mi", 200 + 900 * ((seed * 3 + i * 7) % 13));
        let pods = (0..5 + seed).map(|i| pod(&format!("w-{i}"), &cpu(i), &memory(i)));
        world().pools([pool("p", vec![])]).pods(pods)
    });
    for (seed, world) in drawn.chain([narrow(), wasteful()]).enumerate() {
        let said = waste(&world);
        let usd = |value: &Value| (value.as_f64().expect("money") * 1e6).round() as i64;
        let listed = said["launches"].as_array().expect("launches").iter();
        let launches: i64 = listed.map(|row| usd(&row["wastePerHour"])).sum();
        let all = launches + usd(&said["furtherLaunches"]["wastePerHour"]);
        let beyond = usd(&said["launchPerHour"]) - usd(&said["lowerBoundPerHour"]);
        assert_eq!(usd(&said["wastePerHour"]), beyond, "world {seed}");
        assert_eq!(all - usd(&said["boundAboveValues"]), beyond, "world {seed}: {said}");
        // Ten shapes are listed at most; with no more, they share all of it.
        let shapes = said["shapes"].as_array().expect("shapes");
        if shapes.len() < 10 {
            let shared: i64 = shapes.iter().map(|row| usd(&row["wastePerHour"])).sum();
            assert_eq!(shared, all, "world {seed}");
        }
    }
}

#[test]
fn nothing_is_wasted_where_nothing_is_launched() {
    let said = waste(&world().pools([pool("p", vec![])]));
    assert_eq!((&said["wastePerHour"], &said["launches"]), (&json!(0.0), &json!([])));
}
