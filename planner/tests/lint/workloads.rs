//! Workloads: what containers lack, replicas without protection, stuck pods.

use dunnage_planner::lint::Severity::{Info, Warning};
use serde_json::{Value, json};

use crate::world::*;

/// The three names by which rightsizing tools know what is missing, and the fourth.
#[test]
fn what_a_container_lacks_is_told_with_the_field() {
    let resources = format!("{PODS}/containers/0/resources");
    let field = "spec.template.spec.containers[0].resources";
    let none = with(clean(), &resources, json!({}));
    for (code, severity, says, at, value) in [
        (
            "MissingCpuRequest",
            Warning,
            "missing CPU request: container `main`",
            "requests.cpu",
            "250m",
        ),
        (
            "MissingMemoryRequest",
            Warning,
            "missing memory request: container `main`",
            "requests.memory",
            "256Mi",
        ),
        (
            "MissingMemoryLimit",
            Warning,
            "missing memory limit: container `main`",
            "limits.memory",
            "512Mi",
        ),
        ("MissingCpuLimit", Info, "missing CPU limit: container `main`", "limits.cpu", "1"),
    ] {
        let fix = format!("set `{field}.{at}` ");
        let want = Want { code, severity, object: "Deployment shop/web", says, fix: &fix };
        let (list, name) = at.split_once('.').expect("two parts");
        let good = with(none.clone(), &resources, json!({ list: { name: value } }));
        found_and_fixed(&want, &none, &good);
    }
}

#[test]
fn the_memory_limit_to_set_is_the_request() {
    let limits = format!("{PODS}/containers/0/resources/limits");
    let want = Want {
        code: "MissingMemoryLimit",
        severity: Warning,
        object: "Deployment shop/web",
        says: "container `main`",
        fix: "set `spec.template.spec.containers[0].resources.limits.memory` to `256Mi`, its request",
    };
    let bad = with(clean(), &limits, json!({ "cpu": "1" }));
    let good = with(bad.clone(), &limits, json!({ "cpu": "1", "memory": "256Mi" }));
    found_and_fixed(&want, &bad, &good);
}

#[test]
fn defaults_of_the_namespace_and_of_the_pod_count() {
    let resources = format!("{PODS}/containers/0/resources");
    let none = with(clean(), &resources, json!({}));
    let range = json!({ "apiVersion": "v1", "kind": "LimitRange",
        "metadata": { "name": "d", "namespace": "shop" },
        "spec": { "limits": [{ "type": "Container",
            "default": { "cpu": "1", "memory": "1Gi" },
            "defaultRequest": { "cpu": "100m", "memory": "128Mi" } }] } });
    assert_eq!(report(&with(none.clone(), "/limitRanges", json!([range]))).findings, []);
    let pod = json!({ "requests": { "cpu": "1", "memory": "1Gi" },
        "limits": { "cpu": "1", "memory": "1Gi" } });
    assert_eq!(report(&with(none, &format!("{PODS}/resources"), pod)).findings, []);
}

#[test]
fn one_finding_for_each_workload_whatever_the_input_has_of_it() {
    let bare = |kind: &str, name: &str, owner: Option<(&str, &str)>| {
        let mut object = json!({
            "apiVersion": if kind == "Pod" { "v1" } else { "apps/v1" }, "kind": kind,
            "metadata": { "name": name, "namespace": "shop", "labels": { "app": "x" } } });
        if let Some((kind, name)) = owner {
            object["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1",
                "kind": kind, "name": name, "uid": "1", "controller": true }]);
        }
        let pods = json!({ "containers": [{ "name": "c", "image": "x" }] });
        object["spec"] = match kind {
            "Pod" => pods,
            _ => json!({ "replicas": 2, "selector": { "matchLabels": { "app": "x" } },
                "template": { "metadata": { "labels": { "app": "x" } }, "spec": pods } }),
        };
        object
    };
    let objects = |list: Vec<Value>| {
        let input = json!({ "apiVersion": "v1", "kind": "List", "items": list });
        let found = report(&input).findings;
        let own = found.iter().filter(|f| f.code == "MissingCpuRequest");
        own.map(|f| f.object.clone()).collect::<Vec<_>>()
    };
    let set = bare("ReplicaSet", "x-7d4b9c", Some(("Deployment", "x")));
    let pods = || {
        ["x-7d4b9c-1", "x-7d4b9c-2"].map(|pod| bare("Pod", pod, Some(("ReplicaSet", "x-7d4b9c"))))
    };
    let all: Vec<Value> =
        [bare("Deployment", "x", None), set.clone()].into_iter().chain(pods()).collect();
    assert_eq!(objects(all), ["Deployment shop/x"]);
    assert_eq!(
        objects([bare("Deployment", "x", None)].into_iter().chain(pods()).collect()),
        ["Deployment shop/x"]
    );
    assert_eq!(objects([set].into_iter().chain(pods()).collect()), ["ReplicaSet shop/x-7d4b9c"]);
    assert_eq!(objects(pods().to_vec()), ["ReplicaSet shop/x-7d4b9c"]);
    assert_eq!(objects(vec![bare("Pod", "solo", None)]), ["Pod shop/solo"]);
}

#[test]
fn replicas_without_a_budget_or_a_spread_are_told() {
    let want = Want {
        code: "ReplicasWithoutPdb",
        severity: Warning,
        object: "Deployment shop/web",
        says: "3 replicas and no PodDisruptionBudget: consolidation by NodePool p may evict all",
        fix: "add a PodDisruptionBudget in namespace `shop` with `spec.maxUnavailable: 1` and \
              `spec.selector.matchLabels: {app: web}`",
    };
    let bad = with(clean(), "/podDisruptionBudgets", Value::Null);
    found_and_fixed(&want, &bad, &clean());
    // One replica, a pool that does not consolidate, another namespace.
    let after = "/nodePools/0/spec/disruption/consolidateAfter";
    found_and_fixed(&want, &bad, &with(bad.clone(), "/deployments/0/spec/replicas", json!(1)));
    found_and_fixed(&want, &bad, &with(bad.clone(), after, json!("Never")));
    let elsewhere = with(clean(), "/podDisruptionBudgets/0/metadata/namespace", json!("default"));
    found_and_fixed(&want, &elsewhere, &clean());

    let want = Want {
        code: "ReplicasWithoutSpread",
        severity: Info,
        object: "Deployment shop/web",
        says: "3 replicas and no topology spread",
        fix: "add to `spec.template.spec.topologySpreadConstraints`: `{maxSkew: 1, topologyKey: \
              topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: \
              {matchLabels: {app: web}}}`",
    };
    let bad = with(clean(), &format!("{PODS}/topologySpreadConstraints"), Value::Null);
    found_and_fixed(&want, &bad, &clean());
    let apart = json!({ "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "app": "web" } } }] } });
    found_and_fixed(&want, &bad, &with(bad.clone(), &format!("{PODS}/affinity"), apart));
    // No pool takes it: nothing is consolidated.
    let picky = with(bad.clone(), &format!("{PODS}/nodeSelector"), json!({ "no": "where" }));
    found_and_fixed(&want, &bad, &picky);
}

// CASE: C46
#[test]
fn a_stuck_pod_that_may_not_be_disrupted_holds_its_node() {
    let size = json!({ "cpu": "4", "memory": "16Gi", "pods": "110" });
    let node = json!({ "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n1", "creationTimestamp": "2026-11-29T12:00:00Z",
            "labels": { "karpenter.sh/nodepool": "p" } },
        "status": { "capacity": size, "allocatable": size } });
    let spec = clean()["deployments"][0]["spec"]["template"]["spec"].clone();
    let pod = with(
        json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": "stuck", "namespace": "shop",
                "annotations": { "karpenter.sh/do-not-disrupt": "true" } },
            "spec": spec,
            "status": { "phase": "Pending", "containerStatuses": [{
                "name": "main", "image": "x", "imageID": "", "ready": false, "restartCount": 0,
                "state": { "waiting": { "reason": "CreateContainerError" } } }] } }),
        "/spec/nodeName",
        json!("n1"),
    );
    let bad = with(with(clean(), "/nodes", json!([node])), "/pods", json!([pod]));
    let want = Want {
        code: "StuckPodHoldsNode",
        severity: Warning,
        object: "Pod shop/stuck",
        says: "waits with CreateContainerError, and its annotation `karpenter.sh/do-not-disrupt` \
               keeps node n1 (48 h old)",
        fix: "`kubectl annotate pod stuck -n shop karpenter.sh/do-not-disrupt-`",
    };
    let fixed = with(bad.clone(), "/pods/0/metadata/annotations", json!({}));
    found_and_fixed(&want, &bad, &fixed);
    // A finished pod holds nothing.
    found_and_fixed(&want, &bad, &with(bad.clone(), "/pods/0/status/phase", json!("Failed")));
}
