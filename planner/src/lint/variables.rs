//! Templates that nobody filled in: `${CLUSTER_NAME}` where a cluster wants a name.

use serde::Serialize;
use serde_json::Value;

use super::world::World;
use super::{Findings, listed};
use crate::error::join;

pub(super) fn unexpanded_variable(world: &World<'_>, found: &mut Findings) {
    for pool in &world.pools {
        of_object(&pool.name, pool.object, found);
    }
    for class in &world.snapshot.node_classes {
        let name = class.metadata().name.as_deref().unwrap_or_default();
        of_object(&format!("{} {name}", class.kind()), &class.object, found);
    }
}

fn of_object(object: &str, typed: &impl Serialize, found: &mut Findings) {
    // INVARIANT: an object that was read can be written.
    let tree = serde_json::to_value(typed).unwrap_or_default();
    let mut all = Vec::new();
    walk(&tree, "", &mut all);
    let Some((_, name)) = all.first() else { return };
    let paths = all.iter().map(|(path, _)| format!("`{path}`"));
    let message =
        format!("{} hold `${{{name}}}`, a variable that nobody has filled in", listed(paths));
    let message = if all.len() == 1 { message.replacen(" hold ", " holds ", 1) } else { message };
    let fix = format!(
        "write the value instead of `${{{name}}}`, or pass the file through `envsubst` with \
         {name} set"
    );
    found.add(object, message, fix);
}

/// Paths of texts with a variable, and its name. Start-up scripts have variables of their own.
fn walk(tree: &Value, path: &str, all: &mut Vec<(String, String)>) {
    match tree {
        Value::String(text) => {
            let after = text.split_once("${").and_then(|(_, rest)| rest.split_once('}'));
            if let Some((name, _)) = after {
                all.push((path.to_owned(), name.to_owned()));
            }
        }
        Value::Array(rows) => {
            for (i, row) in rows.iter().enumerate() {
                walk(row, &format!("{path}[{i}]"), all);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields.iter().filter(|(key, _)| *key != "userData") {
                walk(field, &join(path, key), all);
            }
        }
        _ => {}
    }
}
