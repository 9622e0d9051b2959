//! What the API server and the controller would say about objects of the kinds that users write
//! for Karpenter: every violation is an error of the input. What a NodePool breaks at run time
//! only, in a cluster that took it, is a warning, and the pool is left out.
//!
//! Judged is what was written, less what the cluster added and with what a file may leave out.
//! NodeClaims are not judged: they are the controller's own.

use dunnage_api::conditions::{READY, VALIDATION_SUCCEEDED};
use dunnage_api::validate::{Kind as Judged, Violation, admission, validate};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde_json::{Map, Value as Json, json};

use super::Reader;
use super::decode::decode;
use super::kinds::Kind;
use super::node::Node;
use crate::error::{ErrorCode, Origin, PlanError, Warning, quoted};

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
            name(judged, fields);
        }
        let written = self.is_strict.then(|| object.clone());
        if let Json::Object(fields) = &mut object {
            complete(judged, fields);
        }
        let found = validate(judged, &object);
        // Only an object that is kept: of another all that counts is found already.
        if let Some(written) = written.filter(|_| found.is_empty()) {
            for violation in validate(judged, &written) {
                self.error(error(&violation, origin.clone()));
            }
        }
        // What an API server accepts is in the cluster, and the controller lives with it.
        let is_accepted = || admission(judged, &object, None).is_empty();
        if judged == Judged::NodePool && !found.is_empty() && is_accepted() {
            self.tell_at_run_time(node, &found, origin);
            return true;
        }
        for violation in &found {
            let line = node.line_at(&violation.path);
            self.error(error(violation, Origin { line, ..origin.clone() }));
        }
        found.is_empty()
    }

    /// Warns of what the controller finds at run time: the pool is not ready, except for a
    /// budget, which then allows no disruption.
    fn tell_at_run_time(&mut self, node: &Node<'_>, found: &[Violation], origin: &Origin) {
        let name = node.get("metadata").and_then(|m| m.get("name")).and_then(Node::text);
        let name = name.unwrap_or_default();
        for violation in found {
            let told = error(violation, Origin::default());
            let is_of_budget = violation.path.starts_with("spec.disruption.");
            let (code, so) = if is_of_budget {
                ("InvalidBudget", "the pool opens nodes, and none of them may be disrupted")
            } else {
                self.not_ready.insert(name.to_owned());
                ("InvalidNodePool", "a cluster would mark the pool not ready, so it is left out")
            };
            // The file and not the line, so that the order of the input does not show.
            let value = told.value.as_deref().filter(|value| !told.message.contains(value));
            let value = value.map_or_else(String::new, |value| format!("`{value}`: "));
            let message = format!("{}: {}: {value}{}; {so}", origin.file, told.path, told.message);
            self.warn(Warning::new(code, format!("NodePool {}", quoted(name)), message));
        }
    }

    /// Gives the pools that would not be ready the condition that says so.
    pub(super) fn mark_not_ready(&mut self) {
        for pool in &mut self.snapshot.node_pools {
            if !pool.metadata.name.as_ref().is_some_and(|name| self.not_ready.contains(name)) {
                continue;
            }
            let conditions = &mut pool.object.status.get_or_insert_default().conditions;
            conditions.retain(|c| ![READY, VALIDATION_SUCCEEDED].contains(&c.type_.as_str()));
            let failed = Condition {
                type_: VALIDATION_SUCCEEDED.to_owned(),
                status: "False".to_owned(),
                reason: "NodePoolValidationFailed".to_owned(),
                message: String::new(),
                last_transition_time: Time(jiff::Timestamp::UNIX_EPOCH),
                observed_generation: None,
            };
            // First, where it stands when the Snapshot that this becomes is read again.
            conditions.insert(0, failed);
        }
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

/// Names the version that is judged, and drops the status.
fn name(kind: Judged, object: &mut Map<String, Json>) {
    let (version, name) = kind.names();
    object.insert("apiVersion".to_owned(), version.into());
    object.insert("kind".to_owned(), name.into());
    object.remove("status");
}

/// Fills in what a file may leave out: of a pool its node class, its requirements and
/// consolidateAfter.
fn complete(kind: Judged, object: &mut Map<String, Json>) {
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
