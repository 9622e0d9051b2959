//! Requirements of a new node in the words of a NodeClaim, by key.
//!
//! DIFFERS: Karpenter loses the excluded values of a requirement with bounds; the mended
//! rules tell them to the cloud as a further `NotIn`.

use dunnage_engine_core::problem::Problem;
use dunnage_engine_core::requirements::{Layout, Need, Operator};

use crate::lower::Names;
use crate::plan::Requirement;

/// Keys that say nothing about which machine to buy.
const LEFT_OUT: [&str; 3] = [
    dunnage_api::labels::HOSTNAME,
    dunnage_api::labels::REGISTERED,
    dunnage_api::labels::INITIALIZED,
];

/// What `set` says, in key order. The capacity type is narrowed to `capacity_types` (names,
/// ascending); the instance type stands here only with a `minValues`, as a list of
/// `instance_types`.
pub(crate) fn emit(
    p: &Problem,
    names: &Names,
    layout: &Layout,
    set: &[u64],
    exclusions: bool,
    capacity_types: &[String],
    instance_types: &[String],
) -> Vec<Requirement> {
    let mut rows = Vec::new();
    let mut has_capacity_type = false;
    for (key, name) in names.keys.iter().enumerate() {
        if key >= layout.keys() || !layout.has(set, key) || LEFT_OUT.contains(&name.as_str()) {
            continue;
        }
        let need = layout.get(set, key);
        let min_values = (need.min_values() > 0).then_some(need.min_values());
        let listed = |values: &[String]| Requirement {
            key: name.clone(),
            operator: "In".to_owned(),
            values: values.to_vec(),
            min_values,
        };
        match name.as_str() {
            dunnage_api::labels::CAPACITY_TYPE => {
                has_capacity_type = true;
                rows.push(listed(capacity_types));
            }
            dunnage_api::labels::INSTANCE_TYPE if min_values.is_none() => {}
            dunnage_api::labels::INSTANCE_TYPE => rows.push(listed(instance_types)),
            _ => rows.extend(of_key(p, names, key, need, exclusions)),
        }
    }
    if !has_capacity_type && !capacity_types.is_empty() {
        rows.push(Requirement {
            key: dunnage_api::labels::CAPACITY_TYPE.to_owned(),
            operator: "In".to_owned(),
            values: capacity_types.to_vec(),
            min_values: None,
        });
    }
    // Stable: entries of one key keep their order.
    rows.sort_by(|a, b| a.key.cmp(&b.key));
    rows
}

/// The entries of one key.
pub(crate) fn of_key(
    p: &Problem,
    names: &Names,
    key: usize,
    need: Need,
    exclusions: bool,
) -> Vec<Requirement> {
    let row = |operator: &str, values: Vec<String>| Requirement {
        key: names.keys[key].clone(),
        operator: operator.to_owned(),
        values,
        min_values: (need.min_values() > 0).then_some(need.min_values()),
    };
    let listed = || -> Vec<String> {
        let start = p.keys[key].values.start as usize;
        let mut values: Vec<String> =
            need.ranks().filter_map(|r| names.values.get(start + r as usize).cloned()).collect();
        values.sort_unstable();
        values
    };
    let mut rows = Vec::new();
    rows.extend(need.lower().map(|bound| row("Gte", vec![bound.to_string()])));
    rows.extend(need.upper().map(|bound| row("Lte", vec![bound.to_string()])));
    match need.operator() {
        Operator::In => rows.push(row("In", listed())),
        Operator::DoesNotExist => rows.push(row("DoesNotExist", Vec::new())),
        Operator::NotIn if rows.is_empty() || exclusions => rows.push(row("NotIn", listed())),
        Operator::Exists if rows.is_empty() => rows.push(row("Exists", Vec::new())),
        Operator::NotIn | Operator::Exists => {}
    }
    rows
}

/// One key of a set for people: `In [a, b]`, `>= 4 and <= 16`, `Exists`.
pub(crate) fn words(p: &Problem, names: &Names, key: usize, need: Need) -> String {
    const SHOWN: usize = 5;
    let parts: Vec<String> = of_key(p, names, key, need, true)
        .into_iter()
        .map(|row| match row.operator.as_str() {
            "Gte" => format!(">= {}", row.values.concat()),
            "Lte" => format!("<= {}", row.values.concat()),
            "Exists" | "DoesNotExist" => row.operator,
            operator => {
                let shown = row.values.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
                match row.values.len().saturating_sub(SHOWN) {
                    0 => format!("{operator} [{shown}]"),
                    more => format!("{operator} [{shown} and {more} more]"),
                }
            }
        })
        .collect();
    parts.join(" and ")
}
