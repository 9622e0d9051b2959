//! Requirements, taints, preferences and their order of giving up.

use serde_json::{Value, json};

use crate::world::*;

fn preferring(pod: Value, weight: u32, terms: Vec<Value>) -> Value {
    let path = "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
    with(pod, path, json!([{ "weight": weight, "preference": { "matchExpressions": terms } }]))
}

fn requiring(pod: Value, terms: Vec<Vec<Value>>) -> Value {
    let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let terms: Vec<Value> = terms.into_iter().map(|t| json!({ "matchExpressions": t })).collect();
    with(pod, path, json!({ "nodeSelectorTerms": terms }))
}

// CASE: C01
#[test]
fn a_preference_against_our_nodes_is_given_up_and_a_requirement_is_not() {
    let never = || vec![json!({ "key": "karpenter.sh/nodepool", "operator": "DoesNotExist" })];
    let soft = preferring(pod("soft", "1", "64Mi"), 1, never());
    let planned = world().pools([pool("p", vec![])]).pods([soft]).plan();
    assert_eq!(planned.shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
    assert_eq!(planned.price(), 100_000);
    let hard = requiring(pod("hard", "1", "64Mi"), vec![never()]);
    let planned = world().pools([pool("p", vec![])]).pods([hard]).plan();
    assert_eq!(planned.launches().len(), 0);
    assert_eq!(planned.only_reason(), ["notForManagedNodes"]);
}

// CASE: C02
#[test]
fn an_existing_node_is_judged_by_its_real_labels() {
    let size = "karpenter.k8s.aws/instance-size";
    let mut types = standard_types();
    for (of_type, value) in types.iter_mut().zip(["large", "xlarge", "2xlarge", "24xlarge"]) {
        of_type["requirements"].as_array_mut().unwrap().push(req(size, "In", &[value]));
    }
    let wants = with(pod("big", "1", "64Mi"), "/spec/nodeSelector", json!({ size: "24xlarge" }));
    let w =
        world().types(types).pools([pool("p", vec![])]).nodes([node("n1", "L", "a")]).pods([wants]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.bound_to("n1"), 0);
        assert_eq!(planned.shapes(), [("p".into(), "XL".into(), "a".into(), 1)]);
        assert_eq!(planned.price(), 800_000);
    }
}

// CASE: C05
#[test]
fn each_pool_is_tried_on_its_own() {
    let types =
        vec![machine("c8", 8, 16, 0.3), machine("m8", 8, 32, 0.4), machine("r8", 8, 64, 0.5)];
    let weighted = |name: &str, of_type: &str, weight: u32| {
        with(pool(name, vec![req(TYPE, "In", &[of_type])]), "/spec/weight", json!(weight))
    };
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "agent", "namespace": "kube-system" },
        "spec": { "selector": { "matchLabels": { "d": "x" } }, "template": {
            "metadata": { "labels": { "d": "x" } },
            "spec": { "containers": [{ "name": "c", "image": "x", "resources": { "requests": { "memory": "1Gi" } } }] } } },
    });
    let w = world()
        .types(types)
        .pools([weighted("w30", "c8", 30), weighted("w20", "m8", 20), weighted("w10", "r8", 10)])
        .add("daemonSets", [agent])
        .pods([pod("wants", "1", "15872Mi")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("w20".into(), "m8".into(), "a".into(), 1)]);
        assert_eq!(planned.price(), 400_000);
    }
    // Too large for every pool: one reason for each, none of which speaks of another pool.
    let planned = w.pods([pod("huge", "1", "100Gi")]).plan();
    assert_eq!(planned.only_reason(), ["size", "size", "size"]);
    let because = planned.0["unplaced"][0]["because"].as_array().unwrap().clone();
    let pools: Vec<&str> = because.iter().filter_map(|b| b["nodePool"].as_str()).collect();
    assert_eq!(pools, ["w30", "w20", "w10"]);
    for (reason, pool) in because.iter().zip(&pools) {
        for other in pools.iter().filter(|other| *other != pool) {
            assert!(!reason["message"].as_str().unwrap().contains(other), "{reason}");
        }
    }
}

fn tainted(effect: &str) -> World {
    let taints = json!([{ "key": "x", "value": "y", "effect": effect }]);
    world()
        .pools([with(pool("p", vec![]), "/spec/template/spec/taints", taints)])
        .pods([pod("a", "1", "64Mi")])
}

// CASE: C07
#[test]
fn a_soft_taint_is_tolerated_last_and_a_hard_one_never() {
    for planned in [tainted("PreferNoSchedule").plan(), tainted("PreferNoSchedule").karpenter()] {
        assert_eq!((planned.launches().len(), planned.price()), (1, 100_000));
    }
    for effect in ["NoSchedule", "NoExecute"] {
        let planned = tainted(effect).plan();
        assert_eq!(planned.only_reason(), ["taint"]);
        assert!(planned.messages().contains("x=y"), "{}", planned.messages());
    }
}

// CASE: C10
#[test]
fn the_template_of_today_counts_and_not_the_nodes_of_yesterday() {
    let yesterday = with(
        node("n1", "S", "a"),
        "/spec/taints",
        json!([{ "key": "t", "value": "", "effect": "NoSchedule" }]),
    );
    let w = world().pools([pool("p", vec![])]).nodes([yesterday]).pods([pod("a", "1", "64Mi")]);
    let planned = w.plan();
    assert_eq!((planned.bound_to("n1"), planned.launches().len()), (0, 1));
    assert_eq!(planned.price(), 100_000);
}

// CASE: 14.4.2
#[test]
fn a_missing_well_known_label_is_fine_on_a_new_node_and_not_on_one_that_exists() {
    let unzoned = {
        let mut n = node("n1", "L", "a");
        n["metadata"]["labels"].as_object_mut().unwrap().remove(ZONE);
        n
    };
    let wants = with(pod("z", "1", "64Mi"), "/spec/nodeSelector", json!({ ZONE: "b" }));
    let unknown =
        with(pod("u", "1", "64Mi"), "/spec/nodeSelector", json!({ "example.com/rack": "7" }));
    let w = world().pools([pool("p", vec![])]).nodes([unzoned]).pods([wants, unknown]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("p".into(), "S".into(), "b".into(), 1)]);
        assert_eq!(planned.only_reason(), ["unknownLabel"]);
    }
}

// RULE: 13.3
#[test]
fn a_required_term_without_its_preference_is_tried() {
    // Term 1 (zone a) is possible, term 2 is not; the preference never is.
    let impossible = vec![req(TYPE, "In", &["none"])];
    let p = preferring(pod("x", "1", "64Mi"), 10, impossible.clone());
    let w = world()
        .pools([pool("p", vec![])])
        .pods([requiring(p, vec![vec![req(ZONE, "In", &["a"])], impossible])]);
    assert_eq!(w.plan().shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
    assert_eq!(w.karpenter().unplaced().len(), 1, "1.14 skips term 1 without the preference");
}

// CASE: 14.4.3
#[test]
fn preferences_are_given_up_until_the_pod_fits() {
    let soft = |key: &str| spread(key, "web", 1, "ScheduleAnyway");
    let p = spread_pod("x", "1", "web", vec![soft(ZONE), soft(HOST)]);
    let path = "/spec/affinity/nodeAffinity/preferredDuringSchedulingIgnoredDuringExecution";
    let term = |weight: u32, key: &str, value: &str| json!({ "weight": weight, "preference": { "matchExpressions": [req(key, "In", &[value])] } });
    let p = with(p, path, json!([term(10, ZONE, "z"), term(1, ZONE, "b")]));
    let p = requiring(p, vec![vec![req(ZONE, "In", &["y"])], vec![req(ZONE, "In", &["b", "c"])]]);
    let taints = json!([{ "key": "x", "value": "y", "effect": "PreferNoSchedule" }]);
    let w =
        world().pools([with(pool("p", vec![]), "/spec/template/spec/taints", taints)]).pods([p]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes().len(), 1, "{planned:?}");
        assert_eq!(planned.price(), 100_000);
    }
    // Only as much is given up as must be: zone b is preferred to c.
    let taintless = World({
        let mut v = w.0.clone();
        v["nodePools"][0]["spec"]["template"]["spec"]["taints"] = json!([]);
        v
    });
    assert_eq!(taintless.plan().pods_by_zone(), [("b".to_owned(), 1)]);
}

// RULE: 7.1 preferencePolicy
#[test]
fn preferences_can_be_ignored() {
    let p = preferring(pod("x", "1", "64Mi"), 10, vec![req(ZONE, "In", &["c"])]);
    let w = world().pools([pool("p", vec![])]).pods([p]);
    assert_eq!(w.plan().pods_by_zone(), [("c".to_owned(), 1)]);
    let ignoring = w.setting("preferencePolicy", json!("Ignore"));
    assert_eq!(ignoring.plan().pods_by_zone(), [("a".to_owned(), 1)]);
}

// RULE: 1.1 bounds
#[test]
fn comparisons_select_by_number() {
    let cpu = "example.com/cpu";
    let mut types = standard_types();
    for (of_type, value) in types.iter_mut().zip(["2", "4", "8", "16"]) {
        of_type["requirements"].as_array_mut().unwrap().push(req(cpu, "In", &[value]));
    }
    for (operator, value, expected) in
        [("Gt", "2", "M"), ("Gte", "8", "L"), ("Lt", "4", "S"), ("Lte", "2", "S")]
    {
        let w = world()
            .types(types.clone())
            .pools([pool("p", vec![req(cpu, operator, &[value])])])
            .pods([pod("x", "1", "64Mi")]);
        assert_eq!(
            w.plan().shapes(),
            [("p".into(), expected.into(), "a".into(), 1)],
            "{operator} {value}"
        );
    }
}
