//! Claims, volumes and storage classes of one input, and the attach limits of its nodes.

use serde_json::{Value, json};

use super::apps::App;
use super::nodes::Nodes;
use super::pools::{need, push};
use super::{Rng, Wanted, ZONE, ZONES};

const DRIVER: &str = "ebs.csi.aws.com";

/// Storage objects.
#[derive(Default)]
pub struct Volumes {
    pub claims: Vec<Value>,
    pub volumes: Vec<Value>,
    pub classes: Vec<Value>,
    pub csi_nodes: Vec<Value>,
}

/// Gives volumes to pods of some apps and to bound pods, as wanted. `pods` are the pending
/// ones, in the order of their apps.
pub fn volumes(
    rng: &mut Rng,
    wanted: &Wanted,
    apps: &[App],
    pods: &mut [Value],
    nodes: &mut Nodes,
) -> Volumes {
    let kinds = ["volume in a zone", "volume allowedTopologies", "volume missing", "volume shared"];
    let mut out = Volumes::default();
    if kinds.iter().chain(&["attach limits"]).any(|k| wanted.contains(k)) {
        out.classes = classes(rng);
    }
    for kind in kinds.into_iter().filter(|k| wanted.contains(k)) {
        let app = rng.pick(apps);
        let home = rng.word(&ZONES);
        let mine: Vec<usize> =
            (0..pods.len()).filter(|i| pods[*i]["metadata"]["labels"]["app"] == app.name).collect();
        for (n, i) in mine.into_iter().enumerate() {
            let place = if rng.chance(70) { home } else { rng.word(&ZONES) };
            let claim = out.claim_for(rng, kind, app, n, place);
            mount(&mut pods[i], &claim);
        }
    }
    if wanted.contains("attach limits") {
        attach_limits(rng, apps, pods, nodes, &mut out);
    }
    out
}

fn classes(rng: &mut Rng) -> Vec<Value> {
    let class = |name: &str, mode: &str| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
            "provisioner": DRIVER, "volumeBindingMode": mode})
    };
    let mut pinned = class("pinned", "WaitForFirstConsumer");
    let zones =
        |values: &[&str]| json!({"matchLabelExpressions": [{"key": ZONE, "values": values}]});
    pinned["allowedTopologies"] = if rng.chance(60) {
        let n = rng.range(1, 2);
        json!([zones(&rng.some(&ZONES, n))])
    } else {
        json!([zones(&[ZONES[2]]), zones(&[ZONES[0]])])
    };
    vec![class("late", "WaitForFirstConsumer"), class("early", "Immediate"), pinned]
}

impl Volumes {
    /// Name of the claim that replica `n` mounts, made when it is to exist.
    fn claim_for(&mut self, rng: &mut Rng, kind: &str, app: &App, n: usize, zone: &str) -> String {
        let own = format!("{}-{}-{n}", kind.replace(' ', "-").to_lowercase(), app.name);
        let namespace = app.namespace;
        match kind {
            "volume in a zone" => self.bound(&own, namespace, zone),
            "volume allowedTopologies" => self.unbound(&own, namespace, "pinned"),
            // the first replica's claim is not there; later ones have other faults
            "volume missing" if n == 0 => {}
            "volume missing" => match rng.range(0, 5) {
                0 => self.unbound(&own, namespace, "early"),
                1 => self.unbound(&own, namespace, "no-such-class"),
                2 => {
                    self.bound(&own, namespace, zone);
                    self.volumes.pop();
                }
                _ => self.unbound(&own, namespace, "late"),
            },
            _ => {
                let shared = format!("shared-{}", app.name);
                if self.claims.iter().all(|c| c["metadata"]["name"] != shared) {
                    if rng.chance(50) {
                        self.bound(&shared, namespace, zone);
                    } else {
                        self.unbound(&shared, namespace, "late");
                    }
                }
                return shared;
            }
        }
        own
    }

    fn unbound(&mut self, name: &str, namespace: &str, class: &str) {
        self.claims.push(json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": name, "namespace": namespace, "uid": name},
            "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class,
                "resources": {"requests": {"storage": "10Gi"}}},
            "status": {"phase": "Pending"}}));
    }

    fn bound(&mut self, name: &str, namespace: &str, zone: &str) {
        self.unbound(name, namespace, "late");
        let volume = format!("pv-{name}");
        if let Some(claim) = self.claims.last_mut() {
            claim["metadata"]["annotations"] = json!({"pv.kubernetes.io/bind-completed": "yes"});
            claim["spec"]["volumeName"] = json!(volume);
            claim["status"]["phase"] = json!("Bound");
        }
        let term = json!({"matchExpressions": [need(ZONE, "In", &[zone])]});
        self.volumes.push(
            json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
            "spec": {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"],
                "storageClassName": "late", "csi": {"driver": DRIVER, "volumeHandle": volume},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}}}}),
        );
    }
}

fn mount(pod: &mut Value, claim: &str) {
    let at = pod["spec"]["volumes"].as_array().map_or(0, Vec::len);
    let row = json!({"name": format!("v{at}"), "persistentVolumeClaim": {"claimName": claim}});
    push(&mut pod["spec"]["volumes"], row);
}

/// A few attachments on each node; what is bound uses some, one app wants more.
fn attach_limits(
    rng: &mut Rng,
    apps: &[App],
    pods: &mut [Value],
    nodes: &mut Nodes,
    out: &mut Volumes,
) {
    for node in &nodes.nodes {
        let name = &node["metadata"]["name"];
        out.csi_nodes.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {"drivers": [{"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE],
                "allocatable": {"count": rng.range(1, 3)}}]}}));
    }
    for pod in &mut nodes.pods {
        if rng.chance(40) {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let namespace = pod["metadata"]["namespace"].as_str().unwrap_or("default").to_owned();
            let home =
                nodes.nodes.iter().find(|n| n["metadata"]["name"] == pod["spec"]["nodeName"]);
            let zone =
                home.and_then(|n| n["metadata"]["labels"][ZONE].as_str()).unwrap_or(ZONES[0]);
            out.bound(&format!("data-{name}"), &namespace, zone);
            mount(pod, &format!("data-{name}"));
        }
    }
    let app = rng.pick(apps);
    for pod in pods.iter_mut().filter(|p| p["metadata"]["labels"]["app"] == app.name) {
        let name = pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        out.unbound(&format!("data-{name}"), app.namespace, "late");
        mount(pod, &format!("data-{name}"));
    }
}
