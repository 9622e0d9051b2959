//! Manifests that choices decide: objects of every kind that is read, in every form in which
//! files hold them.
//!
//! `grammar.json` says what may stand where. Most inputs are valid, with values that are odd
//! but allowed; one in five is hostile: any value of it may be replaced by one that does not
//! belong there. What is made of them is not decided here.

mod expand;
mod write;

use serde_json::{Map, Value};

use crate::draw::Draw;
use expand::{Expansion, rule};
pub use write::{FORMS, Form};

/// Objects, and what else a Snapshot says.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifests {
    /// Objects of Kubernetes, dunnage and the clouds.
    pub objects: Vec<Value>,
    /// Fields of a Snapshot that hold no objects: `now`, `settings`, `instanceTypes`.
    pub world: Map<String, Value>,
    /// Some values may not belong where they stand.
    pub is_hostile: bool,
}

/// Manifests that the choices decide: pools, workloads and most often machine types of their
/// own, some of everything else.
pub fn manifests(draw: &mut Draw) -> Manifests {
    let is_hostile = draw.chance(20);
    let has_catalog = draw.chance(5);
    let mut expansion = Expansion::new(draw, is_hostile);
    let mut objects = Vec::new();
    for kind in rule("input").as_array().into_iter().flatten() {
        if let Value::Array(some) = expansion.value(kind) {
            objects.extend(some);
        }
    }
    let mut world = Map::new();
    for part in ["world", "types"] {
        if part == "types" && has_catalog {
            continue;
        }
        if let Value::Object(fields) = expansion.value(rule(part)) {
            world.extend(fields);
        }
    }
    Manifests { objects, world, is_hostile }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use dunnage_planner::read::{Source, read};

    use super::*;

    #[test]
    fn every_rule_of_the_grammar_exists_and_is_used() {
        expand::tests::check();
    }

    #[test]
    fn most_manifests_can_be_read_in_every_form() {
        let (mut counts, mut refused) = (BTreeMap::new(), BTreeMap::new());
        for seed in 0..400 {
            let mut draw = Draw::seeded(seed);
            let manifests = manifests(&mut draw);
            let form = FORMS[seed as usize % FORMS.len()];
            let (name, text) = manifests.text(form, false);
            let (good, all) = counts.entry(manifests.is_hostile).or_insert((0, 0));
            *all += 1;
            match read(&[Source { name: name.to_owned(), text }]) {
                Ok(_) => *good += 1,
                Err(errors) if !manifests.is_hostile => {
                    let first = errors.first().map(ToString::to_string).unwrap_or_default();
                    *refused.entry(first).or_insert(0) += 1;
                }
                Err(_) => {}
            }
        }
        let (good, all) = counts[&false];
        assert!(good * 100 >= all * 85, "{good} of {all} read; refused: {refused:#?}");
        let (good, all) = counts[&true];
        assert!(good * 100 < all * 60, "{good} of {all} hostile ones read");
    }
}
