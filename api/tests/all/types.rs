//! The Rust types: nothing of a full object is lost, defaults are the CRD's, reading is lenient.

use dunnage_api::{
    AKSNodeClass, CapacityBuffer, EC2NodeClass, Kind, NodeClaim, NodeOverlay, NodePool, labels,
    validate,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::table::{full_objects, rows, yaml};

fn through<T: DeserializeOwned + Serialize>(object: &Value, defaults: fn(&mut T)) -> Value {
    let mut typed: T = serde_json::from_value(object.clone()).unwrap_or_else(|error| {
        panic!("{error}: {object}");
    });
    defaults(&mut typed);
    serde_json::to_value(typed).expect("types can be written")
}

fn typed(kind: Kind, object: &Value, with_defaults: bool) -> Value {
    match (kind, with_defaults) {
        (Kind::NodePool, true) => through(object, NodePool::apply_defaults),
        (Kind::NodeClaim, true) => through(object, NodeClaim::apply_defaults),
        (Kind::CapacityBuffer, true) => through(object, CapacityBuffer::apply_defaults),
        (Kind::EC2NodeClass, true) => through(object, EC2NodeClass::apply_defaults),
        (Kind::AKSNodeClass, true) => through(object, AKSNodeClass::apply_defaults),
        (Kind::NodePool, false) => through(object, |_: &mut NodePool| ()),
        (Kind::NodeClaim, false) => through(object, |_: &mut NodeClaim| ()),
        (Kind::NodeOverlay, _) => through(object, |_: &mut NodeOverlay| ()),
        (Kind::CapacityBuffer, false) => through(object, |_: &mut CapacityBuffer| ()),
        (Kind::EC2NodeClass, false) => through(object, |_: &mut EC2NodeClass| ()),
        (Kind::AKSNodeClass, false) => through(object, |_: &mut AKSNodeClass| ()),
    }
}

#[test]
fn a_full_object_is_written_as_it_was_read() {
    for (kind, object) in full_objects() {
        assert_eq!(typed(kind, &object, false)["spec"], object["spec"], "{kind:?}");
    }
}

#[test]
fn defaults_of_the_types_are_those_of_the_definitions() {
    let accepted = rows().into_iter().map(|row| (row.kind, row.accepted));
    for (kind, object) in full_objects().into_iter().chain(accepted) {
        let by_schema = validate::with_defaults(kind, &object);
        // An AKSNodeClass without spec is valid; its defaults are filled in before it is read.
        let object = if object.get("spec").is_some() { object } else { by_schema.clone() };
        let by_type = typed(kind, &object, true);
        // Quantities written as numbers become strings in the types.
        let texts = |value: &Value| numbers_as_text(value);
        // The types write lists that are required even when they are empty, and nothing else.
        assert_eq!(
            texts(&by_type["spec"]),
            texts(&without_empty(&by_schema["spec"], &by_type["spec"]))
        );
    }
}

fn numbers_as_text(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.to_string()),
        Value::Array(list) => list.iter().map(numbers_as_text).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(k, v)| (k.clone(), numbers_as_text(v)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

/// Drops empty lists and maps that the type leaves out.
fn without_empty(value: &Value, kept: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let is_empty = |v: &Value| {
                v.as_array().is_some_and(Vec::is_empty)
                    || v.as_object().is_some_and(|map| map.is_empty())
            };
            let entries =
                map.iter().filter(|(k, v)| !is_empty(v) || kept.get(k.as_str()).is_some());
            let entries = entries.map(|(k, v)| (k.clone(), without_empty(v, &kept[k.as_str()])));
            entries.collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(list) => {
            list.iter().enumerate().map(|(i, v)| without_empty(v, &kept[i])).collect()
        }
        other => other.clone(),
    }
}

#[test]
fn defaults_of_an_almost_empty_pool() {
    let mut pool: NodePool = serde_json::from_value(yaml(
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {}}",
    ))
    .expect("a pool with nothing in it can be read");
    assert_eq!((pool.weight(), pool.is_static(), pool.expire_after()), (0, false, "720h"));
    pool.apply_defaults();
    let spec = serde_json::to_value(&pool.spec).expect("types can be written");
    assert_eq!(
        spec["disruption"],
        json!({
            "consolidateAfter": "0s",
            "consolidationPolicy": "WhenEmptyOrUnderutilized",
            "budgets": [{"nodes": "10%"}],
        })
    );
    assert_eq!(spec["template"]["spec"]["expireAfter"], "720h");
}

#[test]
fn absent_and_empty_budgets_and_reasons_stay_different() {
    let read = |disruption: &str| -> NodePool {
        let text = format!("{{metadata: {{}}, spec: {{disruption: {disruption}}}}}");
        let mut object = yaml(&text);
        object["apiVersion"] = "karpenter.sh/v1".into();
        object["kind"] = "NodePool".into();
        serde_json::from_value(object).expect("a pool")
    };
    assert_eq!(read("{budgets: []}").disruption().budgets.map(|list| list.len()), Some(0));
    assert_eq!(read("{}").disruption().budgets.map(|list| list.len()), Some(1));
    let budgets = read("{budgets: [{reasons: []}, {}]}").disruption().budgets.expect("two budgets");
    assert_eq!(budgets[0].reasons.as_deref(), Some(&[][..]));
    assert_eq!(budgets[1].reasons, None);
}

#[test]
fn nulls_numbers_and_unknown_fields_can_be_read() {
    let object = yaml(
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {
            unknown: 1, weight: null, limits: {cpu: 1000, memory: 1.5, nodes: null},
            template: {metadata: null, spec: {taints: null, requirements: null, nodeClassRef: null}}}}",
    );
    let pool: NodePool = serde_json::from_value(object).expect("a pool");
    let limits = pool.spec.limits.expect("limits");
    let limits: Vec<_> = limits.iter().map(|(k, v)| (k.as_str(), v.0.as_str())).collect();
    assert_eq!(limits, [("cpu", "1000"), ("memory", "1.5")]);
    assert_eq!(pool.spec.template.spec.node_class_ref.group, "");
}

#[test]
fn nonsense_can_be_read_so_that_a_verdict_can_be_given() {
    let object = yaml(
        "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {weight: 5000000000,
            disruption: {consolidateAfter: soon, consolidationPolicy: Perhaps},
            template: {spec: {expireAfter: 30d, requirements: [{key: a, operator: Is}],
                taints: [{key: a, effect: Maybe}], nodeClassRef: {name: default}}}}}",
    );
    let _: NodePool = serde_json::from_value(object.clone()).expect("a pool");
    let paths: Vec<String> =
        validate::validate_node_pool(&object).into_iter().map(|violation| violation.path).collect();
    assert_eq!(
        paths,
        [
            "spec.disruption.consolidateAfter",
            "spec.disruption.consolidationPolicy",
            "spec.template.spec.expireAfter",
            "spec.template.spec.nodeClassRef.group",
            "spec.template.spec.nodeClassRef.kind",
            "spec.template.spec.requirements[0].operator",
            "spec.template.spec.taints[0].effect",
            "spec.weight",
        ]
    );
}

#[test]
fn image_family_and_kubelet_numbers_of_a_class() {
    let classes: Vec<EC2NodeClass> = full_objects()
        .into_iter()
        .filter(|(kind, _)| *kind == Kind::EC2NodeClass)
        .map(|(_, object)| serde_json::from_value(object).expect("a class"))
        .collect();
    assert_eq!(classes[0].ami_family(), "AL2023");
    assert_eq!(labels::class_label("karpenter.k8s.aws", "EC2NodeClass"), labels::EC2_NODE_CLASS);
    assert_eq!(classes[1].ami_family(), "Bottlerocket");
    let kubelet = classes[0].kubelet_settings();
    assert_eq!((kubelet.max_pods, kubelet.pods_per_core), (Some(110), Some(10)));
    assert_eq!(kubelet.system_reserved["memory"], "100Mi");
    assert_eq!(kubelet.kube_reserved["cpu"], "100m");
    assert_eq!(kubelet.eviction_hard["memory.available"], "5%");
    assert_eq!(classes[1].kubelet_settings(), Default::default());
}
