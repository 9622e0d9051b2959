//! Puts one input together.

use serde_json::{Value, json};

use super::apps::{self, BLUE};
use super::nodes::{self, Nodes};
use super::pools::need;
use super::{Rng, Wanted, catalogue, pools, volumes};

/// An input with the wanted features, as far as chance lets them stand together.
pub fn build(rng: &mut Rng, wanted: &Wanted, all_types: &[Value]) -> Value {
    let types = catalogue::types(rng, wanted, all_types);
    let pools = pools::pools(rng, wanted);
    let apps = apps::apps(rng, wanted);
    let mut nodes = nodes::nodes(rng, wanted, &types, &pools, &apps);
    let mut pending: Vec<Value> =
        apps.iter().flat_map(|a| (0..a.replicas).map(|i| a.pod(i))).collect();
    let volumes = volumes::volumes(rng, wanted, &apps, &mut pending, &mut nodes);
    let daemons = daemons(rng, wanted, &mut nodes);
    let mut pods = nodes.pods;
    pods.extend(pending);
    let mut settings = json!({});
    if wanted.contains("preferences ignored") {
        settings["preferencePolicy"] = json!("Ignore");
    }
    if wanted.contains("minValues BestEffort") {
        settings["minValuesPolicy"] = json!("BestEffort");
    }
    let mut namespaces = Vec::new();
    if pods.iter().any(|p| p["metadata"]["namespace"] == BLUE)
        || wanted.contains("affinity and namespaces")
    {
        namespaces.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": BLUE,
            "labels": {"kubernetes.io/metadata.name": BLUE, "team": "blue"}}}));
    }
    json!({
        "nodePools": pools, "instanceTypes": types, "pods": pods, "daemonSets": daemons,
        "nodes": nodes.nodes, "nodeClaims": nodes.claims, "namespaces": namespaces,
        "pvcs": volumes.claims, "pvs": volumes.volumes, "storageClasses": volumes.classes,
        "csiNodes": volumes.csi_nodes, "settings": settings,
    })
}

/// One or two DaemonSets, with a pod on some nodes already.
fn daemons(rng: &mut Rng, wanted: &Wanted, nodes: &mut Nodes) -> Vec<Value> {
    if !wanted.contains("daemons") {
        return Vec::new();
    }
    let mut out = Vec::new();
    for i in 0..rng.range(1, 2) {
        let name = format!("agent-{i}");
        let mut spec = json!({"containers": [{"name": "main", "image": "pause", "resources":
            {"requests": {"cpu": rng.word(&["50m", "200m", "500m"]), "memory": rng.word(&["64Mi", "256Mi"])}}}]});
        if rng.chance(70) {
            spec["tolerations"] = json!([{"operator": "Exists"}]);
        }
        match rng.range(0, 5) {
            0 => spec["nodeSelector"] = json!({"kubernetes.io/arch": "amd64"}),
            1 => {
                let only = need(pools::CATEGORY, "In", &["c", "m"]);
                spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                    json!({"nodeSelectorTerms": [{"matchExpressions": [only]}]});
            }
            2 if wanted.contains("host ports") => {
                spec["containers"][0]["ports"] = json!([{"containerPort": 80, "hostPort": 8080}]);
            }
            _ => {}
        }
        for node in &nodes.nodes {
            if rng.chance(50) {
                let node = node["metadata"]["name"].as_str().unwrap_or_default();
                let mut bound = spec.clone();
                bound["nodeName"] = json!(node);
                nodes.pods.push(json!({"apiVersion": "v1", "kind": "Pod", "spec": bound,
                    "metadata": {"name": format!("{name}-{node}"), "namespace": "kube-system", "labels": {"ds": name},
                        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name,
                            "uid": name, "controller": true}]}}));
            }
        }
        out.push(json!({"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": name, "namespace": "kube-system", "uid": name},
            "spec": {"selector": {"matchLabels": {"ds": name}},
                "template": {"metadata": {"labels": {"ds": name}}, "spec": spec}}}));
    }
    out
}
