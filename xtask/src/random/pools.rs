//! NodePools of one input.

use serde_json::{Value, json};

use super::{CAPACITY_TYPE, Rng, Wanted, ZONE, ZONES};

const NAMES: [&str; 4] = ["alder", "birch", "cedar", "dogwood"];
pub const FAMILY: &str = "karpenter.k8s.aws/instance-family";
pub const CORES: &str = "karpenter.k8s.aws/instance-cpu";
pub const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
const GENERATION: &str = "karpenter.k8s.aws/instance-generation";
const HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
const TYPE: &str = "node.kubernetes.io/instance-type";
/// A label that no provider knows.
pub const RACK: &str = "example.com/rack";

/// A requirement in JSON.
pub fn need(key: &str, operator: &str, values: &[&str]) -> Value {
    if values.is_empty() {
        json!({"key": key, "operator": operator})
    } else {
        json!({"key": key, "operator": operator, "values": values})
    }
}

/// One to four pools that carry the wanted features between them.
pub fn pools(rng: &mut Rng, wanted: &Wanted) -> Vec<Value> {
    let mut out: Vec<Value> =
        NAMES.iter().take(rng.range(1, 4)).map(|name| plain(rng, wanted, name)).collect();
    weights(rng, wanted, &mut out);
    for feature in wanted {
        let at = rng.range(0, out.len() - 1);
        change(rng, feature, &mut out[at]);
    }
    out
}

fn plain(rng: &mut Rng, wanted: &Wanted, name: &str) -> Value {
    let mut needs = vec![need("kubernetes.io/os", "In", &["linux"])];
    if rng.chance(60) {
        needs.push(need("kubernetes.io/arch", "In", &["amd64"]));
    }
    if rng.chance(25) {
        needs.push(need(CATEGORY, "In", &["c", "m", "r"]));
    }
    if rng.chance(10) {
        needs.push(need(ZONE, "In", &rng.some(&ZONES, 2)));
    }
    let mut sold: Vec<&str> = Vec::new();
    if wanted.contains("spot") && rng.chance(80) {
        sold.push("spot");
    }
    if sold.is_empty() || wanted.contains("on-demand") || rng.chance(40) {
        sold.push("on-demand");
    }
    if wanted.contains("reservations") && rng.chance(80) {
        sold.push("reserved");
    }
    if rng.chance(92) {
        needs.push(need(CAPACITY_TYPE, "In", &sold));
    }
    let mut labels = json!({});
    if rng.chance(30) {
        labels["team"] = json!(name);
    }
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
        "spec": {
            "template": {"metadata": {"labels": labels}, "spec": {
                "requirements": needs, "expireAfter": "720h",
                "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}},
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s"},
        }
    })
}

fn weights(rng: &mut Rng, wanted: &Wanted, pools: &mut [Value]) {
    if !wanted.contains("weights") {
        return;
    }
    let same = rng.range(1, 100);
    let is_tied = rng.chance(25);
    for (i, pool) in pools.iter_mut().enumerate() {
        if i == 0 || rng.chance(70) {
            pool["spec"]["weight"] = json!(if is_tied { same } else { rng.range(1, 100) });
        }
    }
}

fn change(rng: &mut Rng, feature: &str, pool: &mut Value) {
    let template = &mut pool["spec"]["template"]["spec"];
    let mut add = |requirement: Value| {
        if let Some(list) = template["requirements"].as_array_mut() {
            // a key once: NodePools may repeat keys, people do not
            list.retain(|r| r["key"] != requirement["key"]);
            list.push(requirement);
        }
    };
    match feature {
        "limits" => {
            pool["spec"]["limits"]["cpu"] = json!(rng.range(4, 60).to_string());
            if rng.chance(40) {
                pool["spec"]["limits"]["memory"] = json!(format!("{}Gi", rng.range(16, 200)));
            }
        }
        "limits on nodes" => {
            pool["spec"]["limits"]["nodes"] = json!(rng.range(1, 5).to_string());
        }
        "taints" => {
            let effect = rng.word(&["NoSchedule", "NoSchedule", "NoExecute"]);
            push(
                &mut template["taints"],
                json!({"key": "dedicated", "value": "batch", "effect": effect}),
            );
        }
        "soft taints" => {
            let taint = json!({"key": "prefer-not", "value": "here", "effect": "PreferNoSchedule"});
            push(&mut template["taints"], taint);
        }
        "minValues Strict" | "minValues BestEffort" => {
            let key = rng.word(&[FAMILY, FAMILY, TYPE, ZONE, CORES]);
            let mut requirement = need(key, "Exists", &[]);
            requirement["minValues"] = json!(rng.range(2, if key == ZONE { 3 } else { 5 }));
            add(requirement);
        }
        "operator Gt" if rng.chance(50) => {
            add(need(GENERATION, "Gt", &[rng.word(&["2", "3", "4"])]));
        }
        "operator Lt" if rng.chance(50) => add(need(CORES, "Lt", &[rng.word(&["9", "17", "33"])])),
        "operator NotIn" if rng.chance(50) => {
            let (key, values): (&str, &[&str]) = *rng.pick(&[
                (ZONE, &["us-east-1b"] as &[&str]),
                (CATEGORY, &["t", "i"]),
                (FAMILY, &["m5", "c5"]),
            ]);
            add(need(key, "NotIn", values));
        }
        "operator Exists" if rng.chance(50) => {
            add(need(rng.word(&[HYPERVISOR, GENERATION, RACK]), "Exists", &[]));
        }
        "operator DoesNotExist" if rng.chance(20) => {
            add(need("example.com/never", "DoesNotExist", &[]));
        }
        _ => {}
    }
}

/// Appends to a list that may not be there yet.
pub fn push(list: &mut Value, row: Value) {
    if let Some(rows) = list.as_array_mut() {
        rows.push(row);
    } else {
        *list = json!([row]);
    }
}
