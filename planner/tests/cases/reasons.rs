//! For every reason a fix: an input that yields the code, a message that says what is needed,
//! what there is and what to change, and the changed input in which the pod is placed.

use serde_json::{Value, json};

use crate::volumes::{bound_claim, claim, using, volume};
use crate::world::*;

/// The input has one pod left, for the last code, with the words in its message; the mended
/// input has none.
pub fn mended(code: &str, words: &[&str], broken: World, fixed: World) {
    let planned = broken.plan();
    assert_eq!(planned.only_reason(), [code], "{planned:?}");
    let message = planned.0["unplaced"][0]["because"][0]["message"].as_str().expect("a message");
    for word in words {
        assert!(message.contains(word), "{code}: `{word}` is not in: {message}");
    }
    let planned = fixed.plan();
    assert_eq!(planned.unplaced(), [], "{code}: the fix does not help");
}

pub fn one(pool: Value, pod: Value) -> World {
    world().pools([pool]).pods([pod])
}

pub fn open() -> Value {
    pool("p", vec![])
}

pub fn x(cpu: &str) -> Value {
    pod("x", cpu, "64Mi")
}

pub fn selecting(pod: Value, key: &str, value: &str) -> Value {
    with(pod, "/spec/nodeSelector", json!({ key: value }))
}

/// The standard types, those named sold out in zone b.
pub fn sold_out(names: &[&str]) -> Vec<Value> {
    let mut types = standard_types();
    for of_type in types.iter_mut().filter(|t| names.contains(&t["name"].as_str().expect("name"))) {
        let offerings = of_type["offerings"].as_array_mut().expect("offerings");
        for o in offerings.iter_mut().filter(|o| o["zone"] == "b") {
            o["available"] = json!(false);
        }
    }
    types
}

const ALL: [&str; 4] = ["S", "M", "L", "XL"];

#[test]
fn pools() {
    mended(
        "noPools",
        &["no node pool", "add a NodePool"],
        world().pods([x("1")]),
        one(open(), x("1")),
    );
    let closed = pool("p", vec![req(TYPE, "In", &["none"])]);
    mended(
        "noTypesInPools",
        &["leave no instance type", "widen"],
        one(closed, x("1")),
        one(open(), x("1")),
    );
    let taints = json!([{ "key": "x", "value": "y", "effect": "NoSchedule" }]);
    let tainted = with(open(), "/spec/template/spec/taints", taints);
    let tolerant = with(x("1"), "/spec/tolerations", json!([{ "key": "x", "operator": "Exists" }]));
    mended(
        "taint",
        &["`p`", "x=y:NoSchedule", "add the toleration"],
        one(tainted.clone(), x("1")),
        one(tainted, tolerant),
    );
    let limited = |cpu: &str| {
        with(pool("p", vec![req(TYPE, "NotIn", &["S"])]), "/spec/limits", json!({ "cpu": cpu }))
    };
    mended(
        "limit",
        &["has 4", "leave 2", "raise `limits.cpu`"],
        one(limited("2"), x("1")),
        one(limited("4"), x("1")),
    );
    let nodes = |n: &str| with(open(), "/spec/limits", json!({ "nodes": n }));
    mended(
        "nodeLimit",
        &["would have 1 nodes", "limit is 0", "raise `limits.nodes`"],
        one(nodes("0"), x("1")),
        one(nodes("1"), x("1")),
    );
    let least =
        |n: u32| pool("p", vec![json!({ "key": TYPE, "operator": "Exists", "minValues": n })]);
    mended(
        "minValues",
        &["asks for 3", "have 1", "lower minValues"],
        one(least(3), selecting(x("1"), TYPE, "M")),
        one(least(1), selecting(x("1"), TYPE, "M")),
    );
}

#[test]
fn labels() {
    let in_a = || pool("p", vec![req(ZONE, "In", &["a"])]);
    mended(
        "requirement",
        &[ZONE, "[b]", "[a]", "let the pool allow it"],
        one(in_a(), selecting(x("1"), ZONE, "b")),
        one(open(), selecting(x("1"), ZONE, "b")),
    );
    let rack = || selecting(x("1"), "example.com/rack", "7");
    let labelled_pool =
        with(open(), "/spec/template/metadata/labels", json!({ "example.com/rack": "7" }));
    mended(
        "unknownLabel",
        &["example.com/rack", "7", "will not have", "add it to the pool"],
        one(open(), rack()),
        one(labelled_pool, rack()),
    );
    let pv = || volume("pv", vec![vec![req(ZONE, "In", &["b"])]]);
    let stored = |w: World| {
        w.add("persistentVolumes", [pv()])
            .add("persistentVolumeClaims", [bound_claim("data", "pv")])
    };
    let user = || using(x("1"), &["data"]);
    mended(
        "volume",
        &["its volume needs", ZONE, "[a]", "let the pool allow"],
        stored(one(in_a(), user())),
        stored(one(open(), user())),
    );
    mended(
        "labels",
        &[TYPE, "[none]", "0 of 4", "widen"],
        one(open(), selecting(x("1"), TYPE, "none")),
        one(open(), selecting(x("1"), TYPE, "M")),
    );
}

#[test]
fn sizes_and_offerings() {
    let named = |cpu: &str, of_type: &str| selecting(x(cpu), TYPE, of_type);
    let sold = |names: &[&str], pod: Value| {
        one(open(), with(pod, "/spec/nodeSelector/topology.kubernetes.io~1zone", json!("b")))
            .types(sold_out(names))
    };
    mended(
        "size",
        &["needs 100", "16", "lower the request"],
        one(open(), x("100")),
        one(open(), x("10")),
    );
    mended(
        "offering",
        &["can be bought", "0 can be bought", "allow further zones"],
        sold(&ALL, x("1")),
        one(open(), x("1")),
    );
    mended(
        "labelsAndSize",
        &["0 have fitting labels", "0 are large enough", "lower the requests"],
        one(open(), named("100", "none")),
        one(open(), named("10", "XL")),
    );
    mended(
        "labelsAndOffering",
        &["0 have fitting labels", "0 can be bought", "widen labels"],
        sold(&ALL, named("1", "none")),
        one(open(), named("1", "S")),
    );
    mended(
        "sizeAndOffering",
        &["0 are large enough", "0 can be bought", "lower the requests"],
        sold(&ALL, x("100")),
        one(open(), x("1")),
    );
    mended(
        "nothingFits",
        &["passes any test", "of 4 types 0", "widen the pool"],
        sold(&ALL, named("100", "none")),
        one(open(), named("1", "S")),
    );
    mended(
        "fittingNotOffered",
        &["1 types", "none of them can be bought", "allow further zones"],
        sold(&["XL"], x("10")),
        one(open(), x("10")),
    );
    mended(
        "offeredNotFitting",
        &["1 types", "none of them has fitting labels", "widen the labels"],
        one(open(), named("10", "S")),
        one(open(), named("10", "XL")),
    );
    mended(
        "offeredTooSmall",
        &["needs 10", "has 2", "lower the request"],
        sold(&["XL"], named("10", "S")),
        one(open(), named("2", "S")),
    );
}

#[test]
fn topology() {
    let web = |least: u32| {
        (0..3).map(move |i| {
            let p = spread_pod(
                &format!("web-{i}"),
                "1",
                "web",
                vec![spread(ZONE, "web", 1, "DoNotSchedule")],
            );
            with(p, "/spec/topologySpreadConstraints/0/minDomains", json!(least))
        })
    };
    let two = || pool("p", vec![req(ZONE, "In", &["a", "b"])]);
    mended(
        "spread",
        &["skew of 1", "skew of 2", "raise maxSkew"],
        world().pools([two()]).pods(web(3)),
        world().pools([open()]).pods(web(3)),
    );
    let lost = || affine(x("1"), "podAffinity", ZONE, "db");
    mended(
        "affinity",
        &["app=db", "there is none anywhere", "place those pods first"],
        one(open(), lost()),
        one(open(), lost()).pods([labelled(pod("db", "1", "64Mi"), "app", "db")]),
    );
    let guard =
        || bound(affine(pod("guard", "10m", "16Mi"), "podAntiAffinity", ZONE, "web"), "n-a");
    let kept = |p: Value| {
        one(p, labelled(x("1"), "app", "web")).nodes([node("n-a", "S", "a")]).pods([guard()])
    };
    mended(
        "antiAffinity",
        &["app=web", "open further domains"],
        kept(pool("p", vec![req(ZONE, "In", &["a"])])),
        kept(open()),
    );
}

#[test]
fn ports_and_devices() {
    let port = |n: u32| json!([{ "containerPort": n, "hostPort": n }]);
    let agent = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": "agent", "namespace": "kube-system" },
        "spec": { "selector": { "matchLabels": { "d": "x" } }, "template": { "metadata": { "labels": { "d": "x" } },
            "spec": { "containers": [{ "name": "c", "image": "x", "ports": port(80) }] } } },
    });
    let w = |n: u32| {
        one(open(), with(x("1"), "/spec/containers/0/ports", port(n)))
            .add("daemonSets", [agent.clone()])
    };
    mended("hostPort", &["DaemonSet", "`p`", "change the host port"], w(80), w(81));
    let claims = json!([{ "name": "gpu", "resourceClaimName": "gpu" }]);
    mended(
        "deviceClaims",
        &["claims devices", "ask for them as extended resources"],
        one(open(), with(x("1"), "/spec/resourceClaims", claims)),
        one(open(), x("1")),
    );
}

#[test]
fn pods_refused_before_placing() {
    let requiring = |terms: Value| {
        let path = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution";
        with(x("1"), path, json!({ "nodeSelectorTerms": [terms] }))
    };
    let never = json!({ "matchExpressions": [{ "key": "karpenter.sh/nodepool", "operator": "DoesNotExist" }] });
    let fine = || one(open(), x("1"));
    mended(
        "notForManagedNodes",
        &["karpenter.sh/nodepool", "drop that requirement"],
        one(open(), requiring(never)),
        fine(),
    );
    mended(
        "restrictedLabel",
        &[HOST, "change spec.nodeSelector"],
        one(open(), selecting(x("1"), HOST, "n1")),
        fine(),
    );
    let fields =
        json!({ "matchFields": [{ "key": "metadata.name", "operator": "In", "values": ["n1"] }] });
    mended(
        "matchFieldsNotSupported",
        &["matchFields", "use matchExpressions"],
        one(open(), requiring(fields)),
        fine(),
    );
}

#[test]
fn volumes_refused_before_placing() {
    let user = || one(open(), using(x("1"), &["data"]));
    let pv = || volume("pv", vec![vec![req(ZONE, "In", &["b"])]]);
    let class = |mode: &str| {
        json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": "late" },
        "provisioner": "ebs.csi.aws.com", "volumeBindingMode": mode })
    };
    let claims = |w: World, row: Value| w.add("persistentVolumeClaims", [row]);
    let waiting = || claims(user(), claim("data", json!({ "storageClassName": "late" })));
    let late = || waiting().add("storageClasses", [class("WaitForFirstConsumer")]);
    mended("claimNotFound", &["data", "create"], user(), late());
    mended("storageClassNotFound", &["late", "create"], waiting(), late());
    mended("noStorageClass", &["data", "name"], claims(user(), claim("data", json!({}))), late());
    mended(
        "claimNotBoundYet",
        &["data", "WaitForFirstConsumer"],
        waiting().add("storageClasses", [class("Immediate")]),
        late(),
    );
    let bound = || claims(user(), bound_claim("data", "pv"));
    mended("volumeNotFound", &["pv"], bound(), bound().add("persistentVolumes", [pv()]));
    let going = with(
        bound_claim("data", "pv"),
        "/metadata/deletionTimestamp",
        json!("2026-01-01T00:00:00Z"),
    );
    mended(
        "claimBeingDeleted",
        &["data", "another claim"],
        claims(user(), going),
        bound().add("persistentVolumes", [pv()]),
    );
    let lost = with(claim("data", json!({})), "/status/phase", json!("Lost"));
    mended(
        "claimLost",
        &["default/data", "a volume that is gone", "create the claim anew"],
        claims(user(), lost),
        late(),
    );
    let leaving = with(pv(), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    mended(
        "volumeBeingDeleted",
        &["volume `pv`", "default/data", "being deleted", "create the claim anew"],
        bound().add("persistentVolumes", [leaving]),
        late(),
    );
}
