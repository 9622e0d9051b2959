//! A small clean input in JSON, and what is found in it.

use dunnage_planner::lint::{Report, Severity, lint};
use dunnage_planner::options::Options;
use dunnage_planner::read::{ReadOptions, Source, read_with_refused};
use serde_json::{Value, json};

pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const CAPACITY: &str = "karpenter.sh/capacity-type";
pub const TYPE: &str = "node.kubernetes.io/instance-type";

/// 2026-12-01T12:00:00Z, a Tuesday.
pub const NOON: &str = "2026-12-01T12:00:00Z";

/// A pool, its class, twenty types in two zones, and a Deployment that lacks nothing: nothing
/// is found in it.
pub fn clean() -> Value {
    json!({
        "now": NOON,
        "nodePools": [pool("p")],
        "nodeClasses": [class()],
        "instanceTypes": (1..=20).map(machine).collect::<Vec<_>>(),
        "deployments": [deployment("web", 3)],
        "podDisruptionBudgets": [budget("web")],
    })
}

pub fn pool(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": { "name": name },
        "spec": {
            "template": { "spec": {
                "requirements": [
                    { "key": CAPACITY, "operator": "In", "values": ["on-demand"] }],
                "nodeClassRef": {
                    "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default" },
            } },
            "disruption": {
                "consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "15m" },
        },
    })
}

pub fn class() -> Value {
    json!({
        "apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass",
        "metadata": { "name": "default" },
        "spec": {
            "role": "node",
            "amiSelectorTerms": [{ "alias": "al2023@v20261115" }],
            "subnetSelectorTerms": [{ "id": "subnet-1" }],
            "securityGroupSelectorTerms": [{ "id": "sg-1" }],
        },
    })
}

/// A type with that many cores, at 0.05 USD for each; every second of family `even`.
pub fn machine(cores: u32) -> Value {
    let offering = |zone: &str, kind: &str, price: f64| json!({ "zone": zone, "capacityType": kind, "price": price });
    let price = f64::from(cores) * 0.05;
    let family = if cores.is_multiple_of(2) { "even" } else { "odd" };
    json!({
        "name": format!("m{cores}"),
        "requirements": [
            { "key": "example.com/family", "operator": "In", "values": [family] }],
        "capacity": {
            "cpu": cores.to_string(), "memory": format!("{}Gi", cores * 4), "pods": "110" },
        "offerings": [
            offering("zone-a", "on-demand", price), offering("zone-b", "on-demand", price),
            offering("zone-a", "spot", price / 2.0)],
    })
}

pub fn deployment(name: &str, replicas: u32) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": { "name": name, "namespace": "shop" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": {
                    "containers": [{
                        "name": "main", "image": "x",
                        "resources": {
                            "requests": { "cpu": "250m", "memory": "256Mi" },
                            "limits": { "cpu": "1", "memory": "256Mi" } },
                    }],
                    "topologySpreadConstraints": [{
                        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway",
                        "labelSelector": { "matchLabels": { "app": name } } }],
                },
            },
        },
    })
}

pub fn budget(app: &str) -> Value {
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": { "name": app, "namespace": "shop" },
        "spec": { "maxUnavailable": 1, "selector": { "matchLabels": { "app": app } } },
    })
}

/// The input with `value` at a JSON pointer; `null` removes. A part `-` appends.
pub fn with(mut input: Value, pointer: &str, value: Value) -> Value {
    let (parents, last) = pointer.rsplit_once('/').expect("a pointer");
    let mut at = &mut input;
    for part in parents.split('/').skip(1) {
        let part = part.replace("~1", "/");
        at = match at {
            Value::Array(rows) => &mut rows[part.parse::<usize>().expect("an index")],
            other => &mut other[part],
        };
    }
    let last = last.replace("~1", "/");
    if last == "-" {
        if at.is_null() {
            *at = json!([]);
        }
        at.as_array_mut().expect("a list").push(value);
    } else if value.is_null() {
        at.as_object_mut().expect("a mapping").remove(&last);
    } else {
        match at {
            Value::Array(rows) => rows[last.parse::<usize>().expect("an index")] = value,
            other => other[last] = value,
        }
    }
    input
}

pub const SPEC: &str = "/nodePools/0/spec/template/spec";
pub const PODS: &str = "/deployments/0/spec/template/spec";

pub fn report_with(input: &Value, options: &Options) -> Report {
    let source = Source { name: "input.json".to_owned(), text: input.to_string() };
    let reading = read_with_refused(&[source], &ReadOptions::default()).expect("readable");
    lint(&reading, options).expect("findings")
}

pub fn report(input: &Value) -> Report {
    report_with(input, &Options::default())
}

/// What a finding must be.
pub struct Want<'w> {
    pub code: &'w str,
    pub severity: Severity,
    pub object: &'w str,
    /// Part of the message.
    pub says: &'w str,
    /// Part of the fix.
    pub fix: &'w str,
}

/// `bad` has exactly one finding of the code, as wanted; `good`, with the fix applied, has none.
pub fn found_and_fixed(want: &Want<'_>, bad: &Value, good: &Value) {
    found_and_fixed_with(want, (bad, &Options::default()), (good, &Options::default()));
}

pub fn found_and_fixed_with(want: &Want<'_>, bad: (&Value, &Options), good: (&Value, &Options)) {
    let found = report_with(bad.0, bad.1).findings;
    let own: Vec<_> = found.iter().filter(|f| f.code == want.code).collect();
    assert_eq!(own.len(), 1, "{}: {found:#?}", want.code);
    let own = own[0];
    assert_eq!((own.severity, own.object.as_str()), (want.severity, want.object), "{own:#?}");
    assert!(own.message.contains(want.says), "{}: {own:#?}", want.says);
    assert!(own.fix.contains(want.fix), "{}: {own:#?}", want.fix);
    let found = report_with(good.0, good.1).findings;
    assert!(found.iter().all(|f| f.code != want.code), "{}: {found:#?}", want.code);
}

#[test]
fn nothing_is_found_in_the_clean_input() {
    assert_eq!(report(&clean()).findings, []);
}
