//! Volumes: zones they fix, claims that are not there, attach limits.

use serde_json::{Value, json};

use crate::world::*;

pub fn claim(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": name, "namespace": "default" }, "spec": spec })
}

pub fn bound_claim(name: &str, volume: &str) -> Value {
    with(
        claim(name, json!({ "volumeName": volume })),
        "/metadata/annotations",
        json!({ "pv.kubernetes.io/bind-completed": "yes" }),
    )
}

pub fn volume(name: &str, terms: Vec<Vec<Value>>) -> Value {
    let terms: Vec<Value> = terms.into_iter().map(|t| json!({ "matchExpressions": t })).collect();
    json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": name }, "spec": {
        "csi": { "driver": "ebs.csi.aws.com", "volumeHandle": name },
        "nodeAffinity": { "required": { "nodeSelectorTerms": terms } } } })
}

pub fn using(pod: Value, claims: &[&str]) -> Value {
    let volumes: Vec<Value> = claims
        .iter()
        .map(|c| json!({ "name": c, "persistentVolumeClaim": { "claimName": c } }))
        .collect();
    with(pod, "/spec/volumes", json!(volumes))
}

// CASE: C22
#[test]
fn a_driver_s_own_zone_label_is_read_as_the_zone() {
    let w = world()
        .pools([pool("p", vec![])])
        .add(
            "persistentVolumes",
            [volume("pv", vec![vec![req("topology.ebs.csi.aws.com/zone", "In", &["c"])]])],
        )
        .add("persistentVolumeClaims", [bound_claim("data", "pv")])
        .pods([using(pod("x", "1", "64Mi"), &["data"])]);
    let planned = w.plan();
    assert_eq!(planned.shapes(), [("p".into(), "S".into(), "c".into(), 1)]);
    assert_eq!(planned.price(), 100_000);
}

// CASE: C23
#[test]
fn allowed_topologies_of_the_class_fix_the_zone() {
    let class = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "late" },
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": [{ "matchLabelExpressions": [{ "key": ZONE, "values": ["c"] }] }] });
    let w = world()
        .pools([pool("p", vec![])])
        .add("storageClasses", [class])
        .add("persistentVolumeClaims", [claim("data", json!({ "storageClassName": "late" }))])
        .pods([using(pod("x", "1", "64Mi"), &["data"])]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("p".into(), "S".into(), "c".into(), 1)]);
        assert_eq!(planned.price(), 100_000);
    }
}

// CASE: C25
#[test]
fn a_pod_with_a_missing_claim_stops_nobody_else() {
    let w = world()
        .pools([pool("p", vec![])])
        .pods([using(pod("lost", "1", "64Mi"), &["absent"]), pod("plain", "1", "64Mi")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
        assert_eq!(planned.only_reason(), ["claimNotFound"]);
        assert!(planned.messages().contains("absent"));
    }
}

// CASE: C26
#[test]
fn a_claim_that_can_never_bind_opens_no_node() {
    let ephemeral = with(
        pod("e", "1", "64Mi"),
        "/spec/volumes",
        json!([{ "name": "scratch", "ephemeral": {
        "volumeClaimTemplate": { "spec": { "storageClassName": "none" } } } }]),
    );
    let unknown_class = claim("e-scratch", json!({ "storageClassName": "none" }));
    let missing_volume = bound_claim("gone", "pv-gone");
    let w = world()
        .pools([pool("p", vec![])])
        .add("persistentVolumeClaims", [unknown_class, missing_volume])
        .pods([ephemeral, using(pod("g", "1", "64Mi"), &["gone"])]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.launches().len(), 0);
        let codes: Vec<_> = planned.unplaced().into_iter().flat_map(|(_, c)| c).collect();
        assert_eq!(codes, ["storageClassNotFound", "volumeNotFound"]);
    }
}

// CASE: 14.4.6
#[test]
fn a_volume_of_two_zones_leaves_the_spread_a_choice() {
    let zones = vec![vec![req(ZONE, "In", &["a"])], vec![req(ZONE, "In", &["b"])]];
    let fill = [node("n-a", "S", "a"), bound(pod("fill", "2", "64Mi"), "n-a")];
    let [n, full] = fill;
    let old = bound(labelled(pod("old", "10m", "16Mi"), "app", "web"), "n-a");
    let p = spread_pod("x", "1", "web", vec![spread(ZONE, "web", 1, "DoNotSchedule")]);
    let w = world()
        .pools([pool("p", vec![])])
        .nodes([n])
        .add("persistentVolumes", [volume("pv", zones)])
        .add("persistentVolumeClaims", [bound_claim("data", "pv")])
        .pods([full, old, using(p, &["data"])]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.pods_by_zone(), [("b".to_owned(), 1)]);
    }
}

// CASE: 14.4.6
#[test]
fn a_claim_in_use_on_the_node_takes_no_further_slot() {
    let csi = json!({ "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": { "name": "n1" },
        "spec": { "drivers": [{ "name": "ebs.csi.aws.com", "nodeID": "n1", "allocatable": { "count": 1 } }] } });
    let pvs = ["shared", "other"].map(|v| volume(v, vec![vec![req(ZONE, "In", &["a"])]]));
    let w = world()
        .pools([pool("p", vec![])])
        .nodes([node("n1", "XL", "a")])
        .add("csiNodes", [csi])
        .add("persistentVolumes", pvs)
        .add("persistentVolumeClaims", ["shared", "other"].map(|c| bound_claim(c, c)))
        .pods([
            bound(using(pod("first", "1", "64Mi"), &["shared"]), "n1"),
            using(pod("second", "1", "64Mi"), &["shared"]),
            using(pod("third", "1", "64Mi"), &["other"]),
        ]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.bound_to("n1"), 1, "only the shared claim fits: {planned:?}");
        assert_eq!(planned.shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
    }
}
