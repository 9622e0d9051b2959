//! The CustomResourceDefinitions of the six resources.
//!
//! The derived schema says nearly everything; what it cannot say is mended here: fields are not
//! nullable, whole numbers are written as such, 32-bit numbers have a maximum, and an AKSNodeClass
//! needs no spec. The same
//! schema is what [`mod@crate::validate`] judges objects by.

use kube::CustomResourceExt;
use serde_json::{Map, Value, json};

use crate::validate::Kind;

/// All definitions, in the order of [`Kind::ALL`].
pub fn crds() -> Vec<Value> {
    Kind::ALL.into_iter().map(crd).collect()
}

/// The definition of one kind.
pub fn crd(kind: Kind) -> Value {
    let derived = match kind {
        Kind::NodePool => crate::NodePool::crd(),
        Kind::NodeClaim => crate::NodeClaim::crd(),
        Kind::NodeOverlay => crate::NodeOverlay::crd(),
        Kind::CapacityBuffer => crate::CapacityBuffer::crd(),
        Kind::EC2NodeClass => crate::EC2NodeClass::crd(),
        Kind::AKSNodeClass => crate::AKSNodeClass::crd(),
    };
    // INVARIANT: a definition holds only strings, numbers, lists and maps with string keys.
    let mut crd = serde_json::to_value(derived).expect("a definition can be written as JSON");
    if let Some(schema) = crd.pointer_mut(SCHEMA) {
        mend(schema);
        complete_root(kind, schema);
    }
    crd
}

/// The schema of one kind, as it stands in its definition.
pub fn schema(kind: Kind) -> Value {
    crd(kind).pointer(SCHEMA).cloned().unwrap_or_default()
}

/// All definitions as YAML documents, ready for `kubectl apply`.
pub fn crds_yaml() -> String {
    let mut yaml = String::new();
    for crd in crds() {
        yaml.push_str("---\n");
        // INVARIANT: every JSON value can be written as YAML.
        yaml.push_str(&serde_saphyr::to_string(&crd).expect("JSON can be written as YAML"));
        if !yaml.ends_with('\n') {
            yaml.push('\n');
        }
    }
    yaml
}

const SCHEMA: &str = "/spec/versions/0/schema/openAPIV3Schema";

/// Mends a schema node and all below it.
fn mend(node: &mut Value) {
    let Value::Object(map) = node else { return };
    // `null` means absent in every field: the API server drops it before it validates.
    map.remove("nullable");
    for bound in ["minimum", "maximum"] {
        if let Some(whole) = map.get(bound).and_then(Value::as_f64).filter(|f| f.fract() == 0.0) {
            map.insert(bound.into(), json!(whole as i64));
        }
    }
    // The API server does not hold a whole number to its format, but its readers do.
    if map.get("format") == Some(&json!("int32")) {
        map.entry("maximum").or_insert(json!(i32::MAX));
    }
    if let Some(Value::Object(properties)) = map.get_mut("properties") {
        properties.values_mut().for_each(mend);
    }
    for below in ["items", "additionalProperties"] {
        if let Some(below) = map.get_mut(below) {
            mend(below);
        }
    }
}

fn complete_root(kind: Kind, schema: &mut Value) {
    let Value::Object(root) = schema else { return };
    root.remove("title");
    if let Some(Value::Object(properties)) = root.get_mut("properties") {
        let text = |description| json!({"type": "string", "description": description});
        properties.insert("apiVersion".into(), text("Group and version of the resource."));
        properties.insert("kind".into(), text("Kind of the resource."));
        properties.insert("metadata".into(), json!({"type": "object"}));
    }
    if kind == Kind::AKSNodeClass {
        root.remove("required");
        if let Some(Value::Object(spec)) =
            root.get_mut("properties").and_then(|p| p.get_mut("spec"))
        {
            spec.insert("default".into(), json!({}));
        }
    }
    describe_parts(root);
}

fn describe_parts(root: &mut Map<String, Value>) {
    for (part, description) in [("spec", "What is wanted."), ("status", "What is known.")] {
        let part = root.get_mut("properties").and_then(|properties| properties.get_mut(part));
        if let Some(Value::Object(part)) = part {
            part.entry("description").or_insert_with(|| json!(description));
        }
    }
}
