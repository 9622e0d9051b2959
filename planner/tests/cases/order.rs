//! The same input, twice and in another order, gives the same bytes; and an anti-affinity that
//! a leaving node serves is served again.

use serde_json::{Value, json};

use crate::world::*;

/// A bit of everything whose order could matter.
fn rich() -> World {
    let disruptive = |i: usize| {
        let p = spread_pod(
            &format!("web-{i}"),
            ["1", "500m", "1500m"][i % 3],
            ["web", "api"][i % 2],
            vec![spread(ZONE, "web", 1, "DoNotSchedule"), spread(HOST, "api", 2, "ScheduleAnyway")],
        );
        if i.is_multiple_of(4) { affine(p, "podAntiAffinity", HOST, "web") } else { p }
    };
    let huge = pod("huge", "100", "1Gi");
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "agent", "namespace": "kube-system" },
        "spec": { "selector": { "matchLabels": { "d": "x" } }, "template": {
            "metadata": { "labels": { "d": "x" } },
            "spec": { "containers": [{ "name": "c", "image": "x", "resources": { "requests": { "cpu": "100m" } } }] } } },
    });
    let mut types = standard_types();
    types.push(machine("twin-a", 4, 16, 0.2));
    types.push(machine("twin-b", 4, 16, 0.2));
    let weighted = with(pool("q", vec![req(ZONE, "In", &["b", "c"])]), "/spec/weight", json!(5));
    world()
        .types(types)
        .pools([pool("p", vec![]), weighted, pool("r", vec![])])
        .nodes(["n1", "n2", "n3"].map(|n| node(n, "L", "a")))
        .add("daemonSets", [agent])
        .pods([bound(labelled(pod("old", "1", "64Mi"), "app", "web"), "n1"), huge])
        .pods((0..17).map(disruptive))
}

fn reordered(mut w: World, by: usize, reverses: bool) -> World {
    let turn = |rows: &mut Vec<Value>| {
        if !rows.is_empty() {
            let by = by % rows.len();
            rows.rotate_left(by);
        }
        if reverses {
            rows.reverse();
        }
    };
    for list in ["nodePools", "nodes", "pods", "instanceTypes"] {
        turn(w.0[list].as_array_mut().expect("a list"));
    }
    for of_type in w.0["instanceTypes"].as_array_mut().expect("types") {
        turn(of_type["offerings"].as_array_mut().expect("offerings"));
        turn(of_type["requirements"].as_array_mut().expect("requirements"));
    }
    w
}

// CASE: 14.4.20
#[test]
fn the_same_input_twice_and_shuffled_gives_the_same_bytes() {
    let both = |w: &World| [w.plan().0.to_string(), w.karpenter().0.to_string()];
    let first = both(&rich());
    assert!(first[0].contains("\"launch\":[{") && first[0].contains("\"node\":\"n1\""));
    assert_eq!(both(&rich()), first);
    for (by, reverses) in [(1, false), (2, true), (5, true), (9, false), (0, true)] {
        assert_eq!(both(&reordered(rich(), by, reverses)), first, "{by} {reverses}");
    }
}

/// The half that a plan shows: what stood alone needs a node of its own again, so that taking
/// its node away would gain nothing.
// CASE: C19
#[test]
fn a_pod_that_must_stand_alone_does_not_join_others_when_its_node_leaves() {
    let apart = |i: usize| {
        let p = labelled(pod(&format!("db-{i}"), "100m", "64Mi"), "app", "db");
        bound(affine(p, "podAntiAffinity", HOST, "db"), &format!("n{i}"))
    };
    let leaving =
        with(node("n0", "S", "a"), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    let w = world()
        .pools([pool("p", vec![])])
        .nodes([leaving, node("n1", "S", "a"), node("n2", "S", "a")])
        .pods((0..3).map(apart));
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!((planned.bound_to("n1"), planned.bound_to("n2")), (0, 0));
        assert_eq!(planned.shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
        assert_eq!(planned.launches()[0]["pods"], json!(["default/db-0"]));
    }
}
