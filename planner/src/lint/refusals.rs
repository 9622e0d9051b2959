//! Objects that an API server or the controller would refuse.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::labels::{AWS_GROUP, AZURE_GROUP};

use super::Findings;
use super::world::World;
use crate::catalog::Provider;
use crate::error::{ErrorCode, PlanError};
use crate::read::Refused;

const CLASS_REF: &str = "spec.template.spec.nodeClassRef";

/// Path of the field below the object: the place in a list would change with the order.
fn field(error: &PlanError) -> &str {
    let list = error.origin.path();
    let below = error.path.strip_prefix(list.as_str()).unwrap_or(&error.path);
    below.strip_prefix('.').unwrap_or(below)
}

/// What a NodePool says too little about: the class itself, or a field of the reference to it.
fn lacks_of_class_ref(refused: &Refused) -> Option<&str> {
    if !refused.object.starts_with("NodePool ") || refused.error.code != ErrorCode::MissingField {
        return None;
    }
    let path = field(&refused.error);
    match path.strip_prefix(CLASS_REF) {
        Some(rest) => Some(rest.strip_prefix('.').unwrap_or(rest)),
        None => None,
    }
}

pub(super) fn incomplete_node_class_ref(world: &World<'_>, found: &mut Findings) {
    let mut pools: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for refused in world.refused {
        if let Some(lacks) = lacks_of_class_ref(refused) {
            pools.entry(&refused.object).or_default().insert(lacks);
        }
    }
    for (pool, lacks) in pools {
        let is_all = lacks.contains("");
        let what = if is_all {
            format!("there is no `{CLASS_REF}`")
        } else {
            let lacks: Vec<String> = lacks.iter().map(|name| format!("`{name}`")).collect();
            format!("`{CLASS_REF}` lacks {}", lacks.join(" and "))
        };
        let message = format!(
            "{what}: karpenter.sh/v1 refuses the NodePool, which needs `group`, `kind` and \
             `name` of its node class"
        );
        found.add(pool, message, class_ref_fix(world, is_all || lacks.contains("name")));
    }
}

/// The lines to add: for the cloud whose classes are in the input, else for both.
fn class_ref_fix(world: &World<'_>, lacks_name: bool) -> String {
    let classes = &world.snapshot.node_classes;
    let name = if lacks_name { ", and the `name` of the class" } else { "" };
    let lines = |group: &str, kind: &str| format!("`group: {group}` and `kind: {kind}`");
    let aws = lines(AWS_GROUP, "EC2NodeClass");
    let azure = lines(AZURE_GROUP, "AKSNodeClass");
    let has = |provider| {
        classes.iter().any(|class| Provider::of_class_kind(class.kind()) == Some(provider))
    };
    match (has(Provider::Aws), has(Provider::Azure)) {
        (true, false) => format!("add {aws}{name} to `{CLASS_REF}`"),
        (false, true) => format!("add {azure}{name} to `{CLASS_REF}`"),
        _ => format!("add to `{CLASS_REF}` {aws} (AWS) or {azure} (Azure){name}"),
    }
}

pub(super) fn duplicate_object(world: &World<'_>, found: &mut Findings) {
    for refused in world.refused {
        if refused.error.code == ErrorCode::DuplicateObject {
            found.add(
                &refused.object,
                "is in the input more than once: which of them counts would depend on the order \
                 of the input, so none was looked at",
                "remove all but one, or give the others another `metadata.name`",
            );
        }
    }
}

pub(super) fn unsupported_version(world: &World<'_>, found: &mut Findings) {
    for Refused { object, error } in world.refused {
        if error.code == ErrorCode::UnsupportedVersion {
            let fix = match error.message.split_once("convert ") {
                Some((_, what)) => format!("convert {what}"),
                None => "convert the object to the version that the message names".to_owned(),
            };
            found.add(object, error.message.as_str(), fix);
        }
    }
}

pub(super) fn invalid_field(world: &World<'_>, found: &mut Findings) {
    for refused in world.refused {
        let Refused { object, error } = refused;
        let is_told =
            matches!(error.code, ErrorCode::DuplicateObject | ErrorCode::UnsupportedVersion);
        if is_told || lacks_of_class_ref(refused).is_some() {
            continue;
        }
        let path = match field(error) {
            "" => "the object".to_owned(),
            path => format!("`{path}`"),
        };
        found.add(object, format!("{path}: {}", error.message), fix(error, &path));
    }
}

/// What to do about an error of that kind; the message says what the field takes.
fn fix(error: &PlanError, path: &str) -> String {
    let now = error.value.as_deref().map_or_else(String::new, |v| format!(" (now `{v}`)"));
    match error.code {
        ErrorCode::MissingField | ErrorCode::MissingName | ErrorCode::MissingKind => {
            format!("write {path}: {}", error.message)
        }
        ErrorCode::InvalidQuantity | ErrorCode::NegativeQuantity => {
            format!("set {path}{now} to a quantity such as `500m` or `2Gi`")
        }
        ErrorCode::InvalidDuration => {
            format!("set {path}{now} to a duration such as `30s`, `15m` or `720h`")
        }
        ErrorCode::UnknownOperator => format!("set {path}{now} to an operator that it knows"),
        ErrorCode::InvalidLabel => {
            format!("remove {path}{now}, or write a label that may be set there")
        }
        ErrorCode::WrongType => format!("change the type of {path}{now}: {}", error.message),
        _ => format!("change {path}{now}: {}", error.message),
    }
}
