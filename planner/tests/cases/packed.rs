//! What the search makes of pods with rules over zones: rules that leave room for a good packing
//! cost no more than the packing.

use serde_json::{Value, json};

use crate::world::*;

/// Pods of two shapes that together fill machines, in apps that each keep to one zone, to all
/// zones evenly, or to zones that even spreads of other apps leave open.
fn pods(rule: impl Fn(Value, &str) -> Value) -> Vec<Value> {
    let shapes = [("1500m", "1Gi", 24), ("500m", "6Gi", 24), ("2500m", "3Gi", 12)];
    let apps = shapes.iter().enumerate().flat_map(|(app, &(cpu, memory, count))| {
        (0..count).map(move |i| {
            let app = format!("app{app}");
            let pod = pod(&format!("{app}-{i}"), cpu, memory);
            (labelled(pod, "app", &app), app)
        })
    });
    apps.map(|(pod, app)| rule(pod, &app)).collect()
}

fn planned(pods: Vec<Value>) -> Planned {
    let planned = world().pools([pool("p", vec![])]).pods(pods).cheapest();
    assert!(planned.unplaced().is_empty(), "{planned:?}");
    planned
}

fn spreads(pod: Value, app: &str) -> Value {
    with(pod, "/spec/topologySpreadConstraints", json!([spread(ZONE, app, 1, "DoNotSchedule")]))
}

#[test]
fn pods_that_keep_to_one_zone_are_packed_as_if_they_were_sent_there() {
    let sent = planned(pods(|pod, _| with(pod, "/spec/nodeSelector", json!({ ZONE: "a" }))));
    let kept = planned(pods(|pod, app| affine(pod, "podAffinity", ZONE, app)));
    assert_eq!(kept.price(), sent.price());
    for app in ["app0", "app1", "app2"] {
        let zones = zones_of(&kept, app);
        assert_eq!(zones.len(), 1, "{app} is in {zones:?}");
    }
}

#[test]
fn pods_that_keep_to_the_zone_of_a_running_one_join_it() {
    let running = bound(labelled(pod("old", "100m", "64Mi"), "app", "app0"), "n");
    let full = bound(pod("full", "1800m", "64Mi"), "n");
    let world = world().pools([pool("p", vec![])]).nodes([node("n", "S", "c")]);
    let all = pods(|pod, app| affine(pod, "podAffinity", ZONE, app));
    let planned = world.pods([running, full]).pods(all).cheapest();
    assert!(planned.unplaced().is_empty(), "{planned:?}");
    assert_eq!(zones_of(&planned, "app0"), ["c"]);
}

#[test]
fn two_shapes_of_one_spread_are_divided_together() {
    // Each shape alone would put its odd pod into the cheapest zone.
    let odd = |name: &str, cpu: &str| spreads(labelled(pod(name, cpu, "1Gi"), "app", "x"), "x");
    let all = ["500m", "600m", "700m", "800m"].map(|cpu| odd(&format!("x-{cpu}"), cpu));
    let planned = planned(all.to_vec());
    let zones: Vec<usize> = planned.pods_by_zone().into_iter().map(|(_, n)| n).collect();
    assert_eq!(zones.iter().sum::<usize>(), 4);
    assert!(zones.len() == 3 && zones.iter().all(|n| *n <= 2), "{zones:?}");
}

/// A spread whose selector misses the pod itself, as a mistyped label does, restricts nothing
/// while the pods that it counts are even.
#[test]
fn pods_whose_spread_counts_others_are_packed_with_the_rest() {
    let plain = planned(pods(|pod, _| pod));
    let mistyped = planned(pods(|pod, _| spreads(pod, "nobody")));
    assert_eq!(mistyped.price(), plain.price());
}

fn zones_of(planned: &Planned, app: &str) -> Vec<String> {
    let mut zones: Vec<String> = Vec::new();
    for launch in planned.launches() {
        let pods = launch["pods"].as_array().expect("pods");
        let is_own = |pod: &Value| {
            pod.as_str().is_some_and(|name| name.starts_with(&format!("default/{app}-")))
        };
        if pods.iter().any(is_own) {
            zones.push(launch["cheapest"]["zone"].as_str().expect("a zone").to_owned());
        }
    }
    zones.sort_unstable();
    zones.dedup();
    zones
}
