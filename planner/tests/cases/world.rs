//! Small clusters in JSON, and what was planned for them.
//!
//! Types S = 2 cpu / 8 Gi at 0.10 $/h, M = 4/16 at 0.20, L = 8/32 at 0.40, XL = 16/64 at 0.80,
//! spot at 0.35 of that, in zones a, b and c, without overhead.

use dunnage_planner::options::{Options, Strategy};
use serde_json::{Value, json};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const HOST: &str = "kubernetes.io/hostname";
pub const CAPACITY: &str = "karpenter.sh/capacity-type";
pub const ARCH: &str = "kubernetes.io/arch";
pub const TYPE: &str = "node.kubernetes.io/instance-type";

/// A cluster under construction.
#[derive(Clone)]
pub struct World(pub Value);

pub fn world() -> World {
    World(
        json!({ "nodePools": [], "nodes": [], "pods": [], "daemonSets": [], "instanceTypes": standard_types() }),
    )
}

/// S, M, L and XL.
pub fn standard_types() -> Vec<Value> {
    [("S", 2, 8, 0.1), ("M", 4, 16, 0.2), ("L", 8, 32, 0.4), ("XL", 16, 64, 0.8)]
        .map(|(name, cpu, gib, price)| machine(name, cpu, gib, price))
        .to_vec()
}

/// A type in zones a, b and c, on demand and as spot.
pub fn machine(name: &str, cpu: u32, gib: u32, price: f64) -> Value {
    let offerings: Vec<Value> = ["a", "b", "c"]
        .iter()
        .flat_map(|zone| [offering(zone, "on-demand", price), offering(zone, "spot", price * 0.35)])
        .collect();
    json!({
        "name": name,
        "requirements": [{ "key": TYPE, "operator": "In", "values": [name] },
            { "key": ARCH, "operator": "In", "values": ["amd64"] },
            { "key": "kubernetes.io/os", "operator": "In", "values": ["linux"] },
            { "key": ZONE, "operator": "In", "values": ["a", "b", "c"] },
            { "key": CAPACITY, "operator": "In", "values": ["on-demand", "spot"] }],
        "capacity": { "cpu": cpu.to_string(), "memory": format!("{gib}Gi"), "pods": "110", "ephemeral-storage": "100Gi" },
        "overhead": {},
        "offerings": offerings,
    })
}

pub fn offering(zone: &str, capacity_type: &str, price: f64) -> Value {
    json!({ "zone": zone, "capacityType": capacity_type, "price": price, "available": true })
}

pub fn req(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({ "key": key, "operator": operator, "values": values })
}

/// A pool with on-demand capacity and the given further requirements.
pub fn pool(name: &str, requirements: Vec<Value>) -> Value {
    let mut all = vec![req(CAPACITY, "In", &["on-demand"])];
    all.extend(requirements);
    bare_pool(name, all)
}

/// A pool with exactly these requirements.
pub fn bare_pool(name: &str, requirements: Vec<Value>) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": name },
        "spec": { "template": { "spec": {
            "requirements": requirements,
            "nodeClassRef": { "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default" },
        } } },
    })
}

/// A pending pod.
pub fn pod(name: &str, cpu: &str, memory: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "default", "labels": {} },
        "spec": { "containers": [{ "name": "c", "image": "pause",
            "resources": { "requests": { "cpu": cpu, "memory": memory } } }] },
    })
}

/// A node of S, M, L or XL in a zone, of pool `p` when managed.
pub fn node(name: &str, of_type: &str, zone: &str) -> Value {
    let (cpu, gib) = match of_type {
        "S" => (2, 8),
        "M" => (4, 16),
        "L" => (8, 32),
        _ => (16, 64),
    };
    let size = json!({ "cpu": cpu.to_string(), "memory": format!("{gib}Gi"), "pods": "110" });
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "labels": {
            HOST: name, ZONE: zone, TYPE: of_type, CAPACITY: "on-demand", ARCH: "amd64",
            "kubernetes.io/os": "linux", "karpenter.sh/nodepool": "p",
            "karpenter.k8s.aws/ec2nodeclass": "default" } },
        "spec": {},
        "status": { "capacity": size, "allocatable": size },
    })
}

/// Sets `value` at a JSON pointer, making objects on the way.
pub fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let mut at = &mut object;
    for part in pointer.split('/').skip(1) {
        let part = part.replace("~1", "/");
        at = match at {
            Value::Array(rows) => &mut rows[part.parse::<usize>().expect("an index")],
            other => {
                if other.is_null() {
                    *other = json!({});
                }
                &mut other[part]
            }
        };
    }
    *at = value;
    object
}

pub fn bound(pod: Value, node: &str) -> Value {
    with(pod, "/spec/nodeName", json!(node))
}

pub fn labelled(pod: Value, key: &str, value: &str) -> Value {
    with(pod, &format!("/metadata/labels/{}", key.replace('/', "~1")), json!(value))
}

/// A topology spread over `key` of pods with `app=<app>`.
pub fn spread(key: &str, app: &str, skew: u32, when: &str) -> Value {
    json!({ "maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": when,
        "labelSelector": { "matchLabels": { "app": app } } })
}

pub fn spread_pod(name: &str, cpu: &str, app: &str, spreads: Vec<Value>) -> Value {
    let pod = labelled(pod(name, cpu, "64Mi"), "app", app);
    with(pod, "/spec/topologySpreadConstraints", json!(spreads))
}

/// Required (anti-)affinity to pods with `app=<app>` over `key`.
pub fn affine(pod: Value, kind: &str, key: &str, app: &str) -> Value {
    let path = format!("/spec/affinity/{kind}/requiredDuringSchedulingIgnoredDuringExecution");
    with(
        pod,
        &path,
        json!([{ "topologyKey": key, "labelSelector": { "matchLabels": { "app": app } } }]),
    )
}

impl World {
    pub fn add(mut self, list: &str, rows: impl IntoIterator<Item = Value>) -> Self {
        if self.0[list].is_null() {
            self.0[list] = json!([]);
        }
        self.0[list].as_array_mut().expect("a list").extend(rows);
        self
    }

    pub fn pools(self, rows: impl IntoIterator<Item = Value>) -> Self {
        self.add("nodePools", rows)
    }

    pub fn pods(self, rows: impl IntoIterator<Item = Value>) -> Self {
        self.add("pods", rows)
    }

    pub fn nodes(self, rows: impl IntoIterator<Item = Value>) -> Self {
        self.add("nodes", rows)
    }

    pub fn types(mut self, rows: Vec<Value>) -> Self {
        self.0["instanceTypes"] = json!(rows);
        self
    }

    pub fn setting(mut self, name: &str, value: Value) -> Self {
        if self.0["settings"].is_null() {
            self.0["settings"] = json!({});
        }
        self.0["settings"][name] = value;
        self
    }

    /// Plans under the mended rules.
    pub fn plan(&self) -> Planned {
        self.plan_with(Strategy::Greedy)
    }

    /// Plans by search.
    pub fn cheapest(&self) -> Planned {
        self.plan_with(Strategy::Cheapest)
    }

    /// Plans under Karpenter's rules.
    pub fn karpenter(&self) -> Planned {
        self.plan_with(Strategy::Karpenter)
    }

    fn plan_with(&self, strategy: Strategy) -> Planned {
        let options = Options { strategy, ..Options::default() };
        let snapshot = crate::snapshot(&self.0.to_string()).expect("a good input");
        let plan = dunnage_planner::plan::plan(&snapshot, &options).expect("a plan");
        Planned(serde_json::to_value(plan).expect("JSON"))
    }
}

/// A plan as users see it.
#[derive(Debug)]
pub struct Planned(pub Value);

impl Planned {
    pub fn launches(&self) -> &Vec<Value> {
        self.0["launch"].as_array().expect("launch")
    }

    /// (pool, cheapest type, zone, number of pods) of each launch, sorted.
    pub fn shapes(&self) -> Vec<(String, String, String, usize)> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let mut rows: Vec<_> = self
            .launches()
            .iter()
            .map(|l| {
                let c = &l["cheapest"];
                let pods = l["pods"].as_array().map_or(0, Vec::len);
                (text(&l["nodePool"]), text(&c["instanceType"]), text(&c["zone"]), pods)
            })
            .collect();
        rows.sort();
        rows
    }

    /// Pods of each launch by zone, ascending by zone.
    pub fn pods_by_zone(&self) -> Vec<(String, usize)> {
        let mut zones = std::collections::BTreeMap::new();
        for (_, _, zone, pods) in self.shapes() {
            *zones.entry(zone).or_insert(0) += pods;
        }
        zones.into_iter().collect()
    }

    /// Launch price in micro-dollars per hour.
    pub fn price(&self) -> i64 {
        let usd = self.0["cost"]["launchPerHour"].as_f64().expect("a price");
        (usd * 1e6).round() as i64
    }

    /// Pods bound to a node that exists.
    pub fn bound_to(&self, node: &str) -> usize {
        let rows = self.0["bind"].as_array().expect("bind");
        rows.iter()
            .filter(|b| b["node"] == node)
            .map(|b| b["pods"].as_array().map_or(0, Vec::len))
            .sum()
    }

    /// Unplaced pods with the codes of their reasons.
    /// Codes of the warnings.
    pub fn warnings(&self) -> Vec<String> {
        let rows = self.0["warnings"].as_array().into_iter().flatten();
        rows.filter_map(|row| row["code"].as_str().map(str::to_owned)).collect()
    }

    pub fn unplaced(&self) -> Vec<(String, Vec<String>)> {
        let rows = self.0["unplaced"].as_array().expect("unplaced");
        rows.iter()
            .map(|u| {
                let codes = u["because"].as_array().expect("because").iter();
                let codes = codes.map(|b| b["code"].as_str().expect("code").to_owned());
                (u["pod"].as_str().expect("pod").to_owned(), codes.collect())
            })
            .collect()
    }

    /// The codes of the one pod that is unplaced.
    pub fn only_reason(&self) -> Vec<String> {
        let rows = self.unplaced();
        assert_eq!(rows.len(), 1, "one pod should be left: {rows:?}");
        rows.into_iter().next().map(|(_, codes)| codes).unwrap_or_default()
    }

    /// Every message of unplaced pods, joined.
    pub fn messages(&self) -> String {
        self.0["unplaced"].to_string()
    }
}
