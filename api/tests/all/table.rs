//! The tables of objects, with their placeholders filled in.

use dunnage_api::Kind;
use serde_json::{Map, Value, json};

/// Reads one YAML document.
pub fn yaml(text: &str) -> Value {
    serde_saphyr::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The full objects: every spec field of every kind.
pub fn full_objects() -> Vec<(Kind, Value)> {
    let Value::Array(objects) = yaml(include_str!("full.yaml")) else { panic!("not a list") };
    objects.into_iter().map(|object| (Kind::of(&object).expect("a known kind"), object)).collect()
}

/// One row of the verdict table.
pub struct Row {
    pub rule: String,
    pub kind: Kind,
    pub is_runtime: bool,
    pub old: Option<Value>,
    pub accepted: Value,
    pub refused: Value,
    pub path: String,
    pub message: String,
}

/// All rows of the verdict table.
pub fn rows() -> Vec<Row> {
    let bases = yaml(include_str!("base.yaml"));
    let Value::Array(rows) = yaml(include_str!("verdicts.yaml")) else { panic!("not a list") };
    rows.iter().map(|row| read(row, &bases)).collect()
}

fn read(row: &Value, bases: &Value) -> Row {
    let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let known = ["rule", "kind", "layer", "old", "accept", "refuse", "path", "message"];
    for key in row.as_object().expect("a row is a map").keys() {
        assert!(known.contains(&key.as_str()), "{key} in {row}");
    }
    let base = &bases[text("kind")];
    assert!(base.is_object(), "{row}");
    let kind = Kind::of(base).expect("a known kind");
    let object = |key: &str| patched(base, &filled(&row[key]), kind);
    Row {
        rule: text("rule"),
        kind,
        is_runtime: row["layer"] == "runtime",
        old: row.get("old").map(|_| object("old")),
        accepted: object("accept"),
        refused: object("refuse"),
        path: text("path"),
        message: text("message"),
    }
}

fn patched(base: &Value, patch: &Value, kind: Kind) -> Value {
    let mut object = base.clone();
    let mut patch = patch.clone();
    if let Some(requirements) = patch.as_object_mut().and_then(|patch| patch.remove("reqs")) {
        patch = match kind {
            Kind::NodePool => {
                json!({"spec": {"template": {"spec": {"requirements": requirements}}}})
            }
            _ => json!({"spec": {"requirements": requirements}}),
        };
    }
    merge(&mut object, &patch);
    object
}

/// JSON merge patch: `null` removes, maps merge, all else replaces.
fn merge(to: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *to = patch.clone();
        return;
    };
    if !to.is_object() {
        *to = json!({});
    }
    for (key, value) in patch {
        match value {
            Value::Null => drop(to.as_object_mut().and_then(|map| map.remove(key))),
            value => merge(&mut to[key.as_str()], value),
        }
    }
}

/// Puts generated values where the table has a name in capitals.
fn filled(value: &Value) -> Value {
    match value {
        Value::String(text) => generated(text).unwrap_or_else(|| value.clone()),
        Value::Array(list) => list.iter().map(filled).collect(),
        Value::Object(map) => {
            Value::Object(map.iter().map(|(key, value)| (key.clone(), filled(value))).collect())
        }
        other => other.clone(),
    }
}

fn generated(name: &str) -> Option<Value> {
    let many = |count: usize, value: Value| Some(Value::Array(vec![value; count]));
    let map = |count: usize| -> Option<Value> {
        let entries = (0..count).map(|i| (format!("k{i}"), json!("v")));
        Some(Value::Object(entries.collect::<Map<_, _>>()))
    };
    let zones = |root: Value, cluster: Value| {
        let mut list = vec![zone(".", "VnetDNS"), zone("cluster.local", "ClusterCoreDNS")];
        merge(&mut list[0], &root);
        merge(&mut list[1], &cluster);
        list
    };
    let plain = || zones(json!({}), json!({}));
    let and = |mut list: Vec<Value>, more: Value| {
        list.push(more);
        Some(Value::Array(list))
    };
    match name {
        "MANY_LABELS" => map(101),
        "MANY_TAGS" => map(21),
        "MANY_REQUIREMENTS" => many(101, json!({"key": "a", "operator": "Exists"})),
        "MANY_BUDGETS" => many(51, json!({"nodes": "1"})),
        "MANY_SUBNETS" => many(31, json!({"id": "subnet-1"})),
        "MANY_DISKS" => many(51, json!({"deviceName": "/dev/xvda"})),
        "LONG_KEY" => Some(json!("a".repeat(317))),
        "LONG_NAME" => Some(json!("a".repeat(64))),
        "MUCH_TEXT" => Some(json!("a".repeat(16_385))),
        "LONG_TAG_KEY" => Some(json!({"k".repeat(513): "v"})),
        "LONG_TAG_VALUE" => Some(json!({"k": "v".repeat(257)})),
        "ZONES" => Some(Value::Array(plain())),
        "ZONES_TWICE" => and(plain(), zone(".", "VnetDNS")),
        "ZONES_OTHER_TO_CLUSTER" => and(plain(), zone("example.com", "ClusterCoreDNS")),
        "ZONES_ROOT_TO_CLUSTER" => {
            Some(zones(json!({"forwardDestination": "ClusterCoreDNS"}), json!({})).into())
        }
        "ZONES_CLUSTER_TO_VNET" => {
            Some(zones(json!({}), json!({"forwardDestination": "VnetDNS"})).into())
        }
        "ZONES_VERIFY_TCP" => {
            Some(zones(json!({"serveStale": "Verify", "protocol": "ForceTCP"}), json!({})).into())
        }
        name => {
            let is_name =
                name.len() > 4 && name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
            assert!(!is_name || !name.contains('_'), "unknown placeholder {name}");
            None
        }
    }
}

fn zone(zone: &str, destination: &str) -> Value {
    json!({
        "zone": zone,
        "queryLogging": "Error",
        "protocol": "PreferUDP",
        "forwardDestination": destination,
        "forwardPolicy": "Sequential",
        "maxConcurrent": 1000,
        "cacheDuration": "1h",
        "serveStaleDuration": "1h",
        "serveStale": "Immediate",
    })
}
