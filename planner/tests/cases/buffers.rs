//! Capacity buffers: how many pods' worth of room they keep.

use serde_json::{Value, json};

use crate::world::*;

fn template(cpu: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "PodTemplate", "metadata": { "name": "unit", "namespace": "default" },
        "template": { "spec": { "containers": [{ "name": "c", "image": "x",
            "resources": { "requests": { "cpu": cpu, "memory": "64Mi" } } }] } } })
}

fn deployment(replicas: u32) -> Value {
    json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "default" },
        "spec": { "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": {
            "metadata": { "labels": { "app": "web" } },
            "spec": { "containers": [{ "name": "c", "image": "x", "resources": { "requests": { "cpu": "1" } } }] } } } })
}

/// Virtual pods of the plan with a buffer of this spec over a Deployment of `replicas`.
fn size(spec: Value, replicas: u32) -> usize {
    let buffer = json!({ "apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer",
        "metadata": { "name": "b", "namespace": "default" }, "spec": spec });
    let planned = world()
        .pools([pool("p", vec![])])
        .add("podTemplates", [template("1")])
        .add("deployments", [deployment(replicas)])
        .add("capacityBuffers", [buffer])
        .setting("featureGates", json!("CapacityBuffer=true"))
        .plan();
    let pods = planned.launches().iter().flat_map(|l| l["pods"].as_array().expect("pods"));
    pods.filter(|p| p.as_str().is_some_and(|p| p.contains("capacity-buffer-b-"))).count()
}

// CASE: 14.4.19
#[test]
fn a_buffer_is_as_large_as_replicas_percentage_and_limits_say() {
    let template = |more: Value| {
        let mut spec = json!({ "podTemplateRef": { "name": "unit" } });
        more.as_object().expect("fields").iter().for_each(|(k, v)| spec[k] = v.clone());
        spec
    };
    let scalable = |more: Value| {
        let mut spec =
            json!({ "scalableRef": { "apiGroup": "apps", "kind": "Deployment", "name": "web" } });
        more.as_object().expect("fields").iter().for_each(|(k, v)| spec[k] = v.clone());
        spec
    };
    for (spec, replicas, want) in [
        (template(json!({ "replicas": 3 })), 0, 3),
        // The limit caps the replicas, rounded down; alone it is the size.
        (template(json!({ "replicas": 3, "limits": { "cpu": "2500m" } })), 0, 2),
        (template(json!({ "limits": { "cpu": "4500m" } })), 0, 4),
        (template(json!({ "limits": { "cpu": "4", "memory": "128Mi" } })), 0, 2),
        // A limit that the template does not ask for restricts nothing.
        (template(json!({ "replicas": 3, "limits": { "nvidia.com/gpu": "1" } })), 0, 3),
        // The percentage is rounded up, at least 1.
        (scalable(json!({ "percentage": 20 })), 7, 2),
        (scalable(json!({ "percentage": 1 })), 7, 1),
        (scalable(json!({ "percentage": 0 })), 7, 0),
        (scalable(json!({ "percentage": 150 })), 2, 3),
        // The greater of both counts.
        (scalable(json!({ "percentage": 50, "replicas": 1 })), 6, 3),
        (scalable(json!({ "percentage": 10, "replicas": 4 })), 6, 4),
        // A percentage of nothing is no number: nothing, or what the limits hold.
        (scalable(json!({ "percentage": 50 })), 0, 0),
        (scalable(json!({ "percentage": 50, "limits": { "cpu": "3" } })), 0, 3),
    ] {
        assert_eq!(size(spec.clone(), replicas), want, "{spec} of {replicas}");
    }
}
