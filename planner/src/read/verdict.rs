//! What the API server and the controller would say about objects of the kinds that users write
//! for Karpenter: every violation is an error of the input.
//!
//! Judged is what was written, less what the cluster added and with what a file may leave out.
//! NodeClaims are not judged: they are the controller's own.

use dunnage_api::validate::{Kind as Judged, Violation, validate};
use serde_json::{Map, Value as Json, json};

use super::Reader;
use super::decode::decode;
use super::kinds::Kind;
use super::node::Node;
use crate::error::{ErrorCode, Origin, PlanError, quoted};

impl Reader<'_> {
    /// Adds an error for each violation; true when there is none.
    pub(super) fn verdict(&mut self, kind: Kind, node: &Node<'_>, origin: &Origin) -> bool {
        let Some(judged) = judged(kind) else { return true };
        let mut object: Json = match decode(node) {
            Ok(object) => object,
            Err(error) => {
                self.decode_error(error, origin, "");
                return false;
            }
        };
        if let Json::Object(fields) = &mut object {
            complete(judged, fields);
        }
        let found = validate(judged, &object);
        for violation in &found {
            let line = node.line_at(&violation.path);
            self.error(error(violation, Origin { line, ..origin.clone() }));
        }
        found.is_empty()
    }
}

fn judged(kind: Kind) -> Option<Judged> {
    Some(match kind {
        Kind::NodePool => Judged::NodePool,
        Kind::NodeOverlay => Judged::NodeOverlay,
        Kind::CapacityBuffer => Judged::CapacityBuffer,
        Kind::EC2NodeClass => Judged::EC2NodeClass,
        Kind::AKSNodeClass => Judged::AKSNodeClass,
        _ => return None,
    })
}

/// Names the version that is judged, drops the status, and fills in what a file may leave out:
/// of a pool its node class, its requirements and consolidateAfter.
fn complete(kind: Judged, object: &mut Map<String, Json>) {
    let (version, name) = kind.names();
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), name.into());
    object.remove("status");
    if kind != Judged::NodePool {
        return;
    }
    let Some(Json::Object(spec)) = object.get_mut("spec") else { return };
    if let Some(Json::Object(disruption)) = spec.get_mut("disruption") {
        or_insert(disruption, "consolidateAfter", json!("0s"));
    }
    let template = spec.get_mut("template").and_then(|template| template.get_mut("spec"));
    if let Some(Json::Object(template)) = template {
        or_insert(template, "requirements", json!([]));
        let class =
            json!({ "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default" });
        or_insert(template, "nodeClassRef", class);
    }
}

fn or_insert(object: &mut Map<String, Json>, field: &str, value: Json) {
    if object.get(field).is_none_or(Json::is_null) {
        object.insert(field.to_owned(), value);
    }
}

fn error(violation: &Violation, origin: Origin) -> PlanError {
    let code = match &violation.value {
        Json::Null => ErrorCode::MissingField,
        _ => ErrorCode::InvalidValue,
    };
    let shown = match &violation.value {
        Json::Null | Json::Object(_) | Json::Array(_) => None,
        Json::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let message = match &shown {
        Some(value) if !violation.message.contains(value.as_str()) => {
            format!("`{}`: {}", quoted(value), violation.message)
        }
        _ => violation.message.clone(),
    };
    let error = PlanError::at(code, origin, &violation.path, message);
    match shown {
        Some(value) => error.with_value(&value),
        None => error,
    }
}
