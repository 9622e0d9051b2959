//! Kubernetes objects around pods of given shapes: workloads or bare pods, the pool that they
//! open nodes of, and what runs on every node.

use serde_json::{Value, json};

use super::Class;

pub(super) const ZONE: &str = "topology.kubernetes.io/zone";
pub(super) const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
pub(super) const GPU: &str = "nvidia.com/gpu";

/// How pods are written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One Deployment for each kind of pod.
    Workloads,
    /// Every pod by itself, for programs that read no workloads.
    Pods,
}

/// The pods and the name of their list in a Snapshot.
pub fn workloads(classes: &[Class], form: Form) -> (&'static str, Vec<Value>) {
    let classes = classes.iter().enumerate();
    match form {
        Form::Workloads => {
            ("deployments", classes.map(|(i, class)| deployment(i, class)).collect())
        }
        Form::Pods => ("pods", classes.flat_map(|(i, class)| pods(i, class)).collect()),
    }
}

fn deployment(i: usize, class: &Class) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": format!("d{i}"), "namespace": "default" },
        "spec": {
            "replicas": class.count,
            "selector": { "matchLabels": { "app": format!("a{i}") } },
            "template": { "metadata": { "labels": labels(i, class) }, "spec": spec(class) },
        },
    })
}

fn pods(i: usize, class: &Class) -> impl Iterator<Item = Value> {
    let (labels, spec) = (labels(i, class), spec(class));
    (0..class.count).map(move |number| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": format!("d{i}-{number}"), "namespace": "default", "labels": labels },
            "spec": spec,
        })
    })
}

fn labels(i: usize, class: &Class) -> Value {
    let mut labels = json!({ "app": format!("a{i}") });
    if let Some(group) = class.group {
        labels["grp"] = json!(format!("g{group}"));
    }
    labels
}

fn spec(class: &Class) -> Value {
    let mut resources = json!({ "requests": {
        "cpu": format!("{}m", class.cpu_milli), "memory": format!("{}Mi", class.memory_mib),
    } });
    if class.gpu > 0 {
        let gpus = json!(class.gpu.to_string());
        resources["requests"][GPU] = gpus.clone();
        resources["limits"] = json!({ GPU: gpus });
    }
    let mut spec = json!({ "containers": [{ "name": "c", "image": "x", "resources": resources }] });
    if let Some(zone) = class.zone {
        spec["nodeSelector"] = json!({ ZONE: format!("z{zone}") });
    }
    if let Some(group) = class.group {
        let own = json!({
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": { "matchLabels": { "grp": format!("g{group}") } },
        });
        spec["affinity"] = json!({
            "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [own] },
        });
    }
    spec
}

/// A pool that takes whatever is sold.
pub fn pool() -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": "default" },
        "spec": { "template": { "spec": {
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default" },
            "requirements": [
                { "key": CAPACITY_TYPE, "operator": "In", "values": ["spot", "on-demand"] },
            ],
        } } },
    })
}

/// 200m and 300Mi on every node, in two pods.
pub fn daemon_sets() -> Vec<Value> {
    let one = |name: &str| {
        json!({
            "apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": { "name": name, "namespace": "kube-system" },
            "spec": {
                "selector": { "matchLabels": { "app": "ds" } },
                "template": {
                    "metadata": { "labels": { "app": "ds" } },
                    "spec": { "containers": [{ "name": "c", "image": "x", "resources": {
                        "requests": { "cpu": "100m", "memory": "150Mi" },
                    } }] },
                },
            },
        })
    };
    ["ds", "ds2"].map(one).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_hold_the_same_pods() {
        let class = Class {
            cpu_milli: 1500,
            memory_mib: 512,
            gpu: 2,
            zone: Some(1),
            group: Some(4),
            count: 3,
        };
        let (field, rows) = workloads(&[class], Form::Workloads);
        assert_eq!((field, rows.len()), ("deployments", 1));
        let template = &rows[0]["spec"]["template"];
        assert_eq!(rows[0]["spec"]["replicas"], 3);
        assert_eq!(template["spec"]["containers"][0]["resources"]["limits"][GPU], "2");
        assert_eq!(template["spec"]["nodeSelector"][ZONE], "z1");
        let (field, rows) = workloads(&[class], Form::Pods);
        assert_eq!((field, rows.len()), ("pods", 3));
        for pod in &rows {
            assert_eq!(pod["spec"], template["spec"]);
            assert_eq!(pod["metadata"]["labels"], template["metadata"]["labels"]);
        }
    }
}
