//! Plans run through the model of kube-scheduler.

use dunnage_planner::options::Options;
use dunnage_planner::replay::{Replay, Scoring};
use serde_json::{Value, json};

use crate::world::*;

fn replayed(world: &World, scoring: Scoring) -> Replay {
    let options = Options { replay: Some(scoring), ..Options::default() };
    let snapshot = crate::snapshot(&world.0.to_string()).expect("a good input");
    dunnage_planner::plan::plan(&snapshot, &options).expect("a plan").replay.expect("a replay")
}

const BOTH: [Scoring; 2] = [Scoring::LeastAllocated, Scoring::MostAllocated];

/// Two nodes full to the brim: each holds one large pod and one that fills it up.
fn tight() -> World {
    let types = vec![machine("eight", 8, 32, 0.4)];
    let all = [("a", "5", "20Gi"), ("b", "5", "20Gi"), ("c", "3", "12Gi"), ("d", "3", "12Gi")];
    world()
        .types(types)
        .pools([pool("p", vec![])])
        .pods(all.map(|(name, cpu, memory)| pod(name, cpu, memory)))
}

#[test]
fn nominated_pods_go_where_they_were_planned() {
    for scoring in BOTH {
        let replay = replayed(&tight(), scoring);
        assert_eq!((replay.nominated.pending_pods, replay.nominated.bought_again), (0, 0));
        assert_eq!(replay.nominated.share, 0.0);
    }
}

#[test]
fn small_pods_that_come_first_spoil_a_tight_plan() {
    // The small ones are older, so the scheduler takes them first.
    let mut small_first = tight();
    for (row, own) in small_first.0["pods"].as_array_mut().expect("pods").iter_mut().enumerate() {
        own["metadata"]["creationTimestamp"] = json!(format!("2026-11-30T12:00:0{}Z", 9 - row));
    }
    let replay = replayed(&small_first, Scoring::MostAllocated);
    // Packed onto one node they leave no room there for a large one.
    assert_eq!((replay.scored.pending_pods, replay.scored.bought_again), (1, 1), "{replay:?}");
    assert_eq!(replay.scored.bought_again_per_hour.0, Some(400_000));
    assert_eq!(replay.scored.share, 0.5);
    assert_eq!(replay.nominated.pending_pods, 0);
    // Spread they take one node each.
    let replay = replayed(&small_first, Scoring::LeastAllocated);
    assert_eq!(replay.scored.pending_pods, 0, "{replay:?}");
}

#[test]
fn priority_goes_before_age() {
    let mut world = tight();
    for (row, own) in world.0["pods"].as_array_mut().expect("pods").iter_mut().enumerate() {
        own["metadata"]["creationTimestamp"] = json!(format!("2026-11-30T12:00:0{}Z", 9 - row));
        own["spec"]["priority"] = json!(if row < 2 { 1000 } else { 0 });
    }
    let replay = replayed(&world, Scoring::MostAllocated);
    assert_eq!(replay.scored.pending_pods, 0, "large ones first: {replay:?}");
}

#[test]
fn pods_that_the_plan_leaves_are_not_counted_again() {
    let mut all: Vec<Value> = vec![pod("x", "1", "64Mi")];
    all.push(pod("huge", "900", "64Mi"));
    let world = world().pools([pool("p", vec![])]).pods(all);
    for scoring in BOTH {
        let replay = replayed(&world, scoring);
        assert_eq!((replay.nominated.pending_pods, replay.scored.pending_pods), (0, 0));
    }
}

#[test]
fn spreads_taints_and_existing_nodes_are_respected() {
    let zones =
        |name: &str| spread_pod(name, "1", "web", vec![spread(ZONE, "web", 1, "DoNotSchedule")]);
    let mut tainted = pool("t", vec![]);
    tainted["spec"]["template"]["spec"]["taints"] =
        json!([{"key": "team", "value": "a", "effect": "NoSchedule"}]);
    let pods: Vec<Value> = (0..9).map(|i| zones(&format!("w{i}"))).collect();
    let world =
        world().pools([pool("p", vec![]), tainted]).nodes([node("old", "M", "a")]).pods(pods);
    for scoring in BOTH {
        let replay = replayed(&world, scoring);
        assert_eq!(replay.nominated.pending_pods, 0, "{replay:?}");
        assert_eq!(replay.nominated.bought_again, 0);
    }
}
