//! What machines cost and why: worlds small enough to work each figure out by hand.

use dunnage_planner::explain::{explain_launch, explain_pod};
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::exhaustive::Random;
use crate::shuffled::{drawn, mixed};
use crate::world::*;

fn snapshot(world: &World) -> Snapshot {
    crate::snapshot(&world.0.to_string()).expect("a good input")
}

fn launch(world: &World, number: usize) -> Value {
    let said = explain_launch(&snapshot(world), &Options::default(), number).expect("a launch");
    serde_json::to_value(said).expect("JSON")
}

/// Two pods of 1.5 cpu on one M: S is too small, L and XL are dearer.
fn pair() -> World {
    world().pools([pool("p", vec![])]).pods([pod("a", "1500m", "1Gi"), pod("b", "1500m", "1Gi")])
}

#[test]
fn the_next_best_machines_and_what_is_too_small() {
    let said = launch(&pair(), 1);
    assert_eq!(
        said["chosen"],
        json!({ "instanceType": "M", "zone": "a", "capacityType": "on-demand", "pricePerHour": 0.2 })
    );
    assert_eq!((&said["launch"], &said["pods"]), (&json!(1), &json!(2)));
    assert_eq!(said["holding"], json!({ "types": 3, "offerings": 9 }));
    let next = |ty: &str, zones: &[&str], price: f64, more: f64, percent: f64| {
        json!({ "instanceType": ty, "zones": zones, "capacityType": "on-demand",
            "pricePerHour": price, "morePerHour": more, "morePercent": percent })
    };
    assert_eq!(
        said["next"],
        json!([
            next("M", &["b", "c"], 0.2, 0.0, 0.0),
            next("L", &["a", "b", "c"], 0.4, 0.2, 100.0),
            next("XL", &["a", "b", "c"], 0.8, 0.6, 300.0),
        ])
    );
    let machine = |ty: &str, kind: &str, price: f64, message: &str| {
        json!({ "instanceType": ty, "zone": "a", "capacityType": kind, "pricePerHour": price,
            "message": message })
    };
    let spot = "its `karpenter.sh/capacity-type` is `spot`, the node must have In [on-demand]";
    assert_eq!(
        said["cheaper"],
        json!([
            { "test": "size", "subject": "cpu", "types": 1, "nearest": [
                machine("S", "spot", 0.035, "needs 3 cpu, has 2: short by 1")] },
            { "test": "label", "subject": CAPACITY, "types": 2, "nearest": [
                machine("L", "spot", 0.14, spot), machine("M", "spot", 0.07, spot)] },
        ])
    );
}

/// The rows of `cheaper` as (test, subject, types by name).
fn refused(said: &Value) -> Vec<(String, String, Vec<String>)> {
    let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
    let rows = said["cheaper"].as_array().expect("rows").iter();
    rows.map(|row| {
        let nearest = row["nearest"].as_array().expect("machines").iter();
        let names = nearest.map(|m| text(&m["instanceType"])).collect();
        (text(&row["test"]), text(&row["subject"]), names)
    })
    .collect()
}

fn row(test: &str, subject: &str, types: &[&str]) -> (String, String, Vec<String>) {
    (test.into(), subject.into(), types.iter().map(|&name| name.to_owned()).collect())
}

#[test]
fn what_is_sold_out_or_another_type_is_said() {
    let mut types = standard_types();
    for offering in types[1]["offerings"].as_array_mut().expect("offerings") {
        offering["available"] = json!(false);
    }
    let spot = bare_pool("p", vec![req(CAPACITY, "In", &["spot"])]);
    let mut pods = vec![pod("a", "3", "1Gi")];
    let sold_out = world().types(types).pools([spot.clone()]).pods(pods.clone());
    let said = launch(&sold_out, 1);
    assert_eq!(said["chosen"]["instanceType"], "L");
    assert_eq!(refused(&said), [row("size", "cpu", &["S"]), row("soldOut", "", &["M"])]);

    pods[0]["spec"]["nodeSelector"][TYPE] = json!("XL");
    let said = launch(&world().pools([spot]).pods(pods), 1);
    assert_eq!(said["chosen"]["instanceType"], "XL");
    assert_eq!(said["next"].as_array().map(Vec::len), Some(1), "the other zones: {said}");
    assert_eq!(refused(&said), [row("label", TYPE, &["L", "M", "S"])]);
}

#[test]
fn what_daemon_sets_take_counts() {
    let daemons = json!({ "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": { "name": "log", "namespace": "default" },
        "spec": { "selector": { "matchLabels": { "d": "log" } },
            "template": { "metadata": { "labels": { "d": "log" } }, "spec": { "containers": [
                { "name": "c", "image": "log", "resources": { "requests": { "cpu": "600m" } } }] } } } });
    let said = launch(
        &world()
            .pools([bare_pool("p", vec![req(CAPACITY, "In", &["spot"])])])
            .add("daemonSets", [daemons])
            .pods([pod("a", "1500m", "1Gi")]),
        1,
    );
    assert_eq!(said["chosen"]["instanceType"], "M");
    assert_eq!(said["cheaper"][0]["nearest"][0]["message"], "needs 2.1 cpu, has 2: short by 0.1");
}

#[test]
fn a_pod_tells_the_same_of_its_launch_and_a_wrong_number_is_named() {
    let world = pair();
    let pod = explain_pod(&snapshot(&world), &Options::default(), "b").expect("a pod");
    let own = serde_json::to_value(pod.choice).expect("JSON");
    assert_eq!(own, launch(&world, 1));
    for (number, pods, want) in [
        (0, true, "no launch has number 0: the plan has one launch, number 1"),
        (2, true, "no launch has number 2: the plan has one launch, number 1"),
        (1, false, "no launch has number 1: the plan launches nothing"),
    ] {
        let mut world = world.clone();
        if !pods {
            world.0["pods"] = json!([]);
        }
        let error = explain_launch(&snapshot(&world), &Options::default(), number);
        assert_eq!(error.expect_err("no such launch").to_string(), want);
    }
}

/// In worlds with spreads, volumes, overlays, limits and twins, the machine that the plan names
/// is the first of those that are said to hold the pods, under every strategy.
#[test]
fn the_chosen_machine_is_the_first_of_those_that_hold_the_pods() {
    let mut launches = 0;
    for seed in 0..30 {
        let mut random = Random(seed);
        let world = drawn(&mut random);
        for (_, strategy) in Strategy::ALL {
            let options = Options { strategy, ..Options::default() };
            for number in 1.. {
                let Ok(said) = explain_launch(&snapshot(&world), &options, number) else { break };
                launches += 1;
                assert!(said.holding.offerings > 0, "{seed} {strategy:?} {number}: {said}");
                for next in &said.next {
                    assert!(next.more_per_hour.0 >= Some(0), "{seed} {strategy:?}: {said}");
                }
                let listed: usize = said.next.iter().map(|next| next.zones.len()).sum();
                let all_shown = said.next.len() < 5;
                assert!(
                    !all_shown || listed + 1 == said.holding.offerings,
                    "the chosen one is among those that hold the pods: {seed} {strategy:?} {said}"
                );
            }
        }
        let turned = World(mixed(&world, &mut random));
        for number in 1..4 {
            let text = |world: &World| {
                explain_launch(&snapshot(world), &Options::default(), number)
                    .map_or_else(|e| e.to_string(), |said| said.to_string())
            };
            assert_eq!(text(&world), text(&turned), "{seed}");
        }
    }
    assert!(launches > 100, "{launches}");
}
