//! Existing nodes of one input: managed, unmanaged, tainted, leaving, with pods on them.

use serde_json::{Map, Value, json};

use super::apps::App;
use super::catalogue::label;
use super::{CAPACITY_TYPE, HOST, Rng, Wanted, ZONE, ZONES};

const MIB: u64 = 1 << 20;

/// Nodes and what belongs to them.
#[derive(Default)]
pub struct Nodes {
    pub nodes: Vec<Value>,
    pub claims: Vec<Value>,
    /// Bound pods.
    pub pods: Vec<Value>,
}

/// Nodes as wanted; none when no feature asks for any.
pub fn nodes(
    rng: &mut Rng,
    wanted: &Wanted,
    types: &[Value],
    pools: &[Value],
    apps: &[App],
) -> Nodes {
    let mut kinds: Vec<&str> =
        ["nodes managed", "nodes unmanaged", "nodes tainted", "nodes deleting"]
            .into_iter()
            .filter(|k| wanted.contains(k))
            .collect();
    if wanted.contains("attach limits") && kinds.iter().all(|k| *k == "nodes deleting") {
        kinds.push("nodes managed");
    }
    let mut out = Nodes::default();
    let all = kinds.len();
    for i in 0..if all == 0 { 0 } else { all + rng.range(0, 2) } {
        let kind = kinds[i % all];
        let name = format!("node-{i}");
        let instance_type = rng.pick(types).clone();
        let pool = (kind != "nodes unmanaged" && (kind != "nodes tainted" || rng.chance(60)))
            .then(|| rng.pick(pools).clone());
        let mut node = node(rng, &name, &instance_type, pool.as_ref());
        if kind == "nodes tainted" {
            let effect = rng.word(&["NoSchedule", "NoSchedule", "PreferNoSchedule"]);
            node["spec"]["taints"] =
                json!([{"key": "dedicated", "value": "batch", "effect": effect}]);
        }
        if kind == "nodes deleting" {
            out.claims.push(leaving_claim(&mut node));
        }
        bind(rng, &name, &instance_type, apps, &mut out.pods);
        out.nodes.push(node);
    }
    out
}

fn node(rng: &mut Rng, name: &str, instance_type: &Value, pool: Option<&Value>) -> Value {
    let mut labels = Map::new();
    for requirement in instance_type["requirements"].as_array().into_iter().flatten() {
        let key = requirement["key"].as_str().unwrap_or_default();
        if let Some(value) = label(instance_type, key) {
            labels.insert(key.to_owned(), json!(value));
        }
    }
    labels.insert(ZONE.to_owned(), json!(rng.word(&ZONES)));
    labels.insert(HOST.to_owned(), json!(name));
    if let Some(pool) = pool {
        labels.insert(CAPACITY_TYPE.to_owned(), json!(rng.word(&["spot", "on-demand"])));
        labels.insert("karpenter.sh/nodepool".to_owned(), pool["metadata"]["name"].clone());
        labels.insert("karpenter.k8s.aws/ec2nodeclass".to_owned(), json!("default"));
        if let Value::Object(own) = &pool["spec"]["template"]["metadata"]["labels"] {
            labels.extend(own.clone());
        }
    }
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {},
        "status": {"capacity": instance_type["capacity"], "allocatable": allocatable(instance_type)}})
}

/// Capacity less overhead, in the units in which the catalogue is written.
fn allocatable(instance_type: &Value) -> Value {
    let (capacity, overhead) = (&instance_type["capacity"], &instance_type["overhead"]);
    let left = |key: &str, read: fn(&Value) -> u64| {
        read(&capacity[key]).saturating_sub(read(&overhead[key]))
    };
    json!({"cpu": format!("{}m", left("cpu", milli)), "pods": capacity["pods"],
        "memory": format!("{}Mi", left("memory", mebi)),
        "ephemeral-storage": format!("{}Mi", left("ephemeral-storage", mebi))})
}

fn milli(quantity: &Value) -> u64 {
    let text = quantity.as_str().unwrap_or("0");
    let whole = |t: &str| t.parse::<u64>().unwrap_or(0);
    text.strip_suffix('m').map_or_else(|| whole(text) * 1000, whole)
}

fn mebi(quantity: &Value) -> u64 {
    let text = quantity.as_str().unwrap_or("0");
    let whole = |t: &str| t.parse::<u64>().unwrap_or(0);
    match (text.strip_suffix("Mi"), text.strip_suffix("Gi")) {
        (Some(mi), _) => whole(mi),
        (_, Some(gi)) => whole(gi) * 1024,
        _ => whole(text) / MIB,
    }
}

/// The claim of a node that is on its way out; its pods must find another place.
fn leaving_claim(node: &mut Value) -> Value {
    let name = node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let id = format!("aws:///{name}");
    node["spec"]["providerID"] = json!(id);
    for done in ["karpenter.sh/registered", "karpenter.sh/initialized"] {
        node["metadata"]["labels"][done] = json!("true");
    }
    let conditions: Vec<Value> = ["Launched", "Registered", "Initialized"]
        .iter()
        .map(|c| {
            json!({"type": c, "status": "True", "reason": c, "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z"})
        })
        .collect();
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": format!("{name}-claim"), "labels": node["metadata"]["labels"],
            "creationTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["karpenter.sh/termination"],
            "deletionTimestamp": "2026-01-02T00:00:00Z"},
        "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
        "status": {"nodeName": name, "providerID": id, "capacity": node["status"]["capacity"],
            "allocatable": node["status"]["allocatable"], "conditions": conditions},
    })
}

/// Up to four pods on a node, as long as they fit; half of them look like one of the
/// pending apps, so that topology has something to count.
fn bind(rng: &mut Rng, node: &str, instance_type: &Value, apps: &[App], pods: &mut Vec<Value>) {
    let mut free_milli = milli(&allocatable(instance_type)["cpu"]);
    for i in 0..rng.range(0, 4) {
        let ask = *rng.pick(&[100, 250, 500, 1000]);
        if ask > free_milli {
            break;
        }
        free_milli -= ask;
        let (name, namespace, labels) = if rng.chance(50) {
            let app = rng.pick(apps);
            (format!("{}-on-{node}-{i}", app.name), app.namespace, app.labels(i))
        } else {
            (format!("old-on-{node}-{i}"), "default", json!({"app": "old"}))
        };
        let mut spec = json!({"nodeName": node, "containers": [{"name": "main", "image": "pause",
            "resources": {"requests": {"cpu": format!("{ask}m"), "memory": "128Mi"}}}]});
        if rng.chance(10) {
            // seen from the other side: what is bound keeps an app away
            let other = &rng.pick(apps).name;
            spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = json!([{"topologyKey": rng.word(&[HOST, ZONE]), "labelSelector": {"matchLabels": {"app": other}}}]);
        }
        pods.push(json!({"apiVersion": "v1", "kind": "Pod", "spec": spec,
            "metadata": {"name": name, "namespace": namespace, "labels": labels,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs",
                    "uid": "rs", "controller": true}]}}));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocatable_is_capacity_less_overhead() {
        let t = json!({"capacity": {"cpu": "8", "memory": "15156Mi", "ephemeral-storage": "20Gi", "pods": "58"},
            "overhead": {"cpu": "90m", "memory": "993Mi", "ephemeral-storage": "3Gi"}});
        let want = json!({"cpu": "7910m", "memory": "14163Mi", "ephemeral-storage": "17408Mi", "pods": "58"});
        assert_eq!(allocatable(&t), want);
    }
}
