//! The order of the input changes no byte of the findings.

use serde_json::{Value, json};

use crate::world::*;

/// A rich input: most of what can be found is in it.
fn rich() -> Value {
    let mut input = clean();
    let hasty = with(pool("hasty"), "/spec/disruption/consolidateAfter", json!("0s"));
    let frozen = with(pool("frozen"), "/spec/disruption/budgets", json!([{ "nodes": "0" }]));
    let gaps = json!([{ "nodes": "1", "reasons": ["Empty"] }]);
    let gappy = with(pool("gappy"), "/spec/disruption/budgets", gaps);
    let zone = json!({ "key": ZONE, "operator": "In", "values": ["zone-aa", "moon", "zone-b"] });
    let typo = with(pool("typo"), "/spec/template/spec/requirements/-", zone);
    let broken = with(pool("broken"), "/spec/template/spec/nodeClassRef", json!({ "name": "x" }));
    let odd = with(pool("odd"), "/spec/unknown", json!(1));
    input["nodePools"] = json!([
        pool("p"),
        hasty,
        frozen,
        gappy,
        typo,
        broken,
        odd,
        pool("twice"),
        with(pool("twice"), "/spec/weight", json!(7))
    ]);
    let bare = with(
        deployment("bare", 2),
        "/spec/template/spec",
        json!({
        "containers": [{ "name": "b", "image": "x" }, { "name": "a", "image": "x" }] }),
    );
    input["deployments"] = json!([deployment("web", 3), bare, deployment("other", 2)]);
    let pod = |name: &str| {
        json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "shop" },
        "spec": { "containers": [{ "name": "c", "image": "x" }], "nodeName": "gone" } })
    };
    input["pods"] = json!([pod("one"), pod("two"), pod("three"), pod("four")]);
    input
}

/// Every list of the top level turned by `by`, and the fields in another order.
fn turned(input: &Value, by: usize) -> Value {
    let mut turned = input.clone();
    for list in turned.as_object_mut().expect("a mapping").values_mut() {
        if let Value::Array(rows) = list {
            let by = by % rows.len().max(1);
            rows.rotate_left(by);
            if by % 2 == 1 {
                rows.reverse();
            }
        }
    }
    turned
}

#[test]
fn the_order_of_the_input_changes_no_byte() {
    let input = rich();
    let bytes = |input: &Value| serde_json::to_string(&report(input)).expect("JSON");
    let first = bytes(&input);
    let codes = [
        "DuplicateObject",
        "IncompleteNodeClassRef",
        "UnknownZone",
        "BudgetGap",
        "BudgetNeverAllows",
        "UnlistedZone",
        "UnknownNode",
        "IgnoredField",
        "ReplicasWithoutPdb",
    ];
    for code in codes {
        assert!(first.contains(code), "{code}: {first}");
    }
    for by in 1..9 {
        assert_eq!(bytes(&turned(&input, by)), first, "{by}");
    }
}

#[test]
fn findings_stand_by_severity_code_and_object() {
    let findings = report(&rich()).findings;
    let keys: Vec<_> = findings
        .iter()
        .map(|f| (f.severity, f.code, f.object.clone(), f.message.clone()))
        .collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted);
    assert!(findings.iter().all(|f| !f.fix.is_empty() && !f.message.is_empty()));
    let shown = serde_json::to_value(&findings[0]).expect("JSON");
    let fields: Vec<&String> = shown.as_object().expect("a mapping").keys().collect();
    assert_eq!(fields, ["code", "fix", "message", "object", "severity"]);
    assert_eq!(shown["severity"], "error");
}
