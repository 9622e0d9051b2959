//! Pieces of schema that the derive cannot say, shared by the resources.
//!
//! Decides how shared types (quantities, labels, taints, conditions) look in a CRD. What a field
//! of one resource allows is said at that field.

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

/// One or more whole hours, minutes and seconds.
pub(crate) const DURATION: &str = "^([0-9]+(s|m|h))+$";
/// As [`DURATION`], or `Never`.
pub(crate) const DURATION_OR_NEVER: &str = "^(([0-9]+(s|m|h))+|Never)$";
/// A label key: an optional DNS subdomain and a name.
pub(crate) const QUALIFIED_NAME: &str = "^([a-z0-9]([-a-z0-9]*[a-z0-9])?\
     (\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?\
     ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$";
/// A label value; may be empty.
pub(crate) const LABEL_VALUE: &str = "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$";
/// A Kubernetes quantity.
pub(crate) const QUANTITY: &str = "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))\
     (([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$";
/// A number of bytes with a unit, as Azure takes it.
pub(crate) const SIZE_WITH_UNIT: &str = "^\\d+(E|P|T|G|M|K|Ei|Pi|Ti|Gi|Mi|Ki)$";
/// Volume sizes EC2 can make: up to 59000Gi, 64000G, 58Ti or 64T.
pub(crate) const VOLUME_SIZE: &str = "^(([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi|\
     ([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G|\
     ([1-9]|[1-4][0-9]|5[0-8])Ti|([1-9]|[1-5][0-9]|6[0-4])T)$";

/// The ARM id of a subnet, in any case.
pub(crate) const ARM_SUBNET_ID: &str = "(?i)^/subscriptions/[^/]+\
     /resourceGroups/[a-zA-Z0-9_().-]{0,89}[a-zA-Z0-9_()-]\
     /providers/Microsoft[.]Network/virtualNetworks/[^/]+/subnets/[^/]+$";
/// A DNS zone; `.` is the root.
pub(crate) const DNS_ZONE: &str = "^(\\.|[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?\
     (\\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\\.?)$";

/// Operators of requirements.
pub(crate) const OPERATORS: [&str; 8] =
    ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"];

/// Makes fields of an object required. The Rust side reads them leniently, with an empty default,
/// which must not become a default of the CRD.
pub(crate) fn required(names: &'static [&'static str]) -> impl FnMut(&mut Schema) {
    move |schema| {
        let object = schema.ensure_object();
        let mut present = Vec::new();
        if let Some(Value::Object(properties)) = object.get_mut("properties") {
            for name in names {
                if let Some(Value::Object(property)) = properties.get_mut(*name) {
                    property.remove("default");
                    present.push(json!(name));
                }
            }
        }
        if !present.is_empty() {
            object.insert("required".into(), Value::Array(present));
        }
    }
}

/// Adds rules to the `key` of each requirement in a list: message and CEL expression.
pub(crate) fn key_rule(rule: &'static str, message: &'static str) -> impl FnMut(&mut Schema) {
    move |schema| {
        let key = schema.pointer_mut("/items/properties/key").and_then(Value::as_object_mut);
        if let Some(key) = key {
            push_rule(key, rule, message);
        }
    }
}

fn push_rule(to: &mut Map<String, Value>, rule: &str, message: &str) {
    let rules = to.entry("x-kubernetes-validations").or_insert_with(|| json!([]));
    if let Value::Array(rules) = rules {
        let rule = json!({"rule": rule, "message": message});
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
}

fn quantity_schema() -> Value {
    json!({
        "pattern": QUANTITY,
        "x-kubernetes-int-or-string": true,
    })
}

/// A map of quantities.
pub(crate) fn quantities(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "additionalProperties": quantity_schema()})
}

/// A map of label values.
pub(crate) fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "maxProperties": 100,
        "additionalProperties": {"type": "string", "maxLength": 63, "pattern": LABEL_VALUE},
    })
}

/// An object whose fields are all kept.
pub(crate) fn open_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})
}

/// A volume size of EC2.
pub(crate) fn volume_size(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "pattern": VOLUME_SIZE})
}

/// A list of taints.
pub(crate) fn taints(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {
        "type": "object",
        "required": ["effect", "key"],
        "properties": {
            "key": {"type": "string", "minLength": 1, "pattern": QUALIFIED_NAME,
                "description": "Key of the taint."},
            "value": {"type": "string", "pattern": LABEL_VALUE,
                "description": "Value of the taint."},
            "effect": {"type": "string", "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"],
                "description": "What happens to pods that do not tolerate the taint."},
            "timeAdded": {"type": "string", "format": "date-time",
                "description": "When the taint was added."},
        },
    }})
}

/// A list of requirements that the status of a node class shows for an image.
pub(crate) fn image_requirements(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": {
        "type": "object",
        "required": ["key", "operator"],
        "properties": {
            "key": {"type": "string", "description": "The label."},
            "operator": {"type": "string", "description": "The operator."},
            "values": {"type": "array", "items": {"type": "string"},
                "x-kubernetes-list-type": "atomic",
                "description": "The values the operator works on."},
        },
    }})
}

/// A list of conditions, one of each type; a reason may be empty.
pub(crate) fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["lastTransitionTime", "status", "type"],
            "properties": {
                "type": {"type": "string", "maxLength": 316,
                    "description": "Type of the condition."},
                "status": {"type": "string", "enum": ["True", "False", "Unknown"],
                    "description": "Whether it holds."},
                "reason": {"type": "string", "maxLength": 1024,
                    "description": "One word for why."},
                "message": {"type": "string", "maxLength": 32768,
                    "description": "A sentence for why."},
                "lastTransitionTime": {"type": "string", "format": "date-time",
                    "description": "When the status last changed."},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0,
                    "description": "The generation of the object it was judged for."},
            },
        },
    })
}
