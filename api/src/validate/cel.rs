//! CEL rules of the CRDs, compiled once for each kind.

use std::cell::RefCell;
use std::sync::OnceLock;

use kube_cel::{CompiledSchema, Validator, compile_schema};
use serde_json::Value;

use super::{Kind, Violation, tree};

fn compiled(kind: Kind) -> &'static CompiledSchema {
    static COMPILED: [OnceLock<CompiledSchema>; Kind::ALL.len()] =
        [const { OnceLock::new() }; Kind::ALL.len()];
    COMPILED[kind as usize].get_or_init(|| compile_schema(&crate::crd::schema(kind)))
}

thread_local! {
    // The validator may be moved to another thread but not shared; making one costs more than
    // judging an object.
    static VALIDATOR: RefCell<Validator> = RefCell::new(Validator::new());
}

/// Rules that `object` breaks; `old` is what it was before the change.
pub(super) fn violations(kind: Kind, object: &Value, old: Option<&Value>) -> Vec<Violation> {
    let verdict =
        VALIDATOR.with_borrow(|validator| validator.validate_compiled(compiled(kind), object, old));
    let Err(errors) = verdict else { return Vec::new() };
    let broken = |error: &kube_cel::ValidationError| Violation {
        path: error.field_path.clone(),
        message: error.message.clone(),
        value: tree::at(object, &error.field_path).cloned().unwrap_or_default(),
    };
    errors.as_slice().iter().map(broken).collect()
}
