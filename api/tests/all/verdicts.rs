//! Each rule: one object that is accepted and one that is refused, with path and message.

use std::collections::BTreeSet;

use dunnage_api::{Kind, Violation, crd, validate, validate_update};
use serde_json::Value;

use crate::table::{Row, full_objects, rows};

fn verdict(row: &Row, object: &Value) -> Vec<Violation> {
    match &row.old {
        Some(old) => validate_update(row.kind, old, object),
        None => validate(row.kind, object),
    }
}

fn listed(violations: &[Violation]) -> String {
    violations.iter().map(|violation| format!("  {violation}\n")).collect()
}

#[test]
fn each_rule_accepts_and_refuses() {
    let mut wrong = String::new();
    for row in rows() {
        let accepted = verdict(&row, &row.accepted);
        if !accepted.is_empty() {
            wrong += &format!("{:?} {}: refused\n{}", row.kind, row.rule, listed(&accepted));
        }
        let refused = verdict(&row, &row.refused);
        let is_told =
            |v: &Violation| v.path.contains(&row.path) && v.message.contains(&row.message);
        if !refused.iter().any(is_told) {
            wrong += &format!("{:?} {}: not refused so\n{}", row.kind, row.rule, listed(&refused));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Rules of the controller are not the API server's: they refuse what it accepts.
#[test]
fn the_layer_of_each_rule() {
    for row in rows() {
        let refused = validate::admission(row.kind, &row.refused, row.old.as_ref());
        assert_eq!(refused.is_empty(), row.is_runtime, "{}: {}", row.rule, listed(&refused));
    }
}

fn collect_rules(schema: &Value, path: &str, found: &mut BTreeSet<(String, String)>) {
    for rule in schema["x-kubernetes-validations"].as_array().into_iter().flatten() {
        let message = rule["message"].as_str().expect("every rule has a message");
        found.insert((path.to_owned(), message.to_owned()));
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        collect_rules(below, &format!("{path}.{name}"), found);
    }
    for below in ["items", "additionalProperties"] {
        if schema[below].is_object() {
            collect_rules(&schema[below], path, found);
        }
    }
}

#[test]
fn every_cel_rule_of_the_definitions_is_seen_to_refuse() {
    let mut untested = Vec::new();
    for kind in Kind::ALL {
        let mut rules = BTreeSet::new();
        collect_rules(&crd::schema(kind), "", &mut rules);
        assert!(!rules.is_empty(), "{kind:?}");
        let refused: BTreeSet<String> = rows()
            .iter()
            .filter(|row| row.kind == kind)
            .flat_map(|row| verdict(row, &row.refused))
            .map(|violation| violation.message)
            .collect();
        let told = rules.into_iter().filter(|(_, message)| !refused.contains(message));
        untested.extend(told.map(|(path, message)| format!("{kind:?}{path}: {message}")));
    }
    assert!(untested.is_empty(), "no refused object for\n{}", untested.join("\n"));
}

#[test]
fn full_objects_are_accepted_and_have_no_unknown_field() {
    for (kind, object) in full_objects() {
        let violations = validate(kind, &object);
        assert!(violations.is_empty(), "{}", listed(&violations));
        assert_eq!(validate::unknown_fields(kind, &object), Vec::<String>::new());
    }
}

#[test]
fn unknown_fields_are_named_with_their_path() {
    let (kind, mut object) = full_objects().remove(0);
    object["spec"]["weigth"] = 1.into();
    object["spec"]["template"]["spec"]["requirements"][0]["minvalues"] = 1.into();
    object["metadata"]["anything"] = 1.into();
    let unknown = validate::unknown_fields(kind, &object);
    let expected = ["spec.template.spec.requirements[0].minvalues", "spec.weigth"];
    let sorted: BTreeSet<&str> = unknown.iter().map(String::as_str).collect();
    assert_eq!(sorted, BTreeSet::from(expected));
}

#[test]
fn null_means_absent() {
    let (kind, mut object) = full_objects().remove(0);
    object["spec"]["weight"] = Value::Null;
    object["spec"]["template"]["spec"]["taints"] = Value::Null;
    object["spec"]["disruption"] = Value::Null;
    assert!(validate(kind, &object).is_empty());
    let kept = validate::with_defaults(kind, &object);
    assert_eq!(kept["spec"].get("weight"), None);
    assert_eq!(kept["spec"]["disruption"]["consolidateAfter"], "0s");
}

#[test]
fn a_violation_reads_as_one_line() {
    let (kind, mut object) = full_objects().remove(0);
    object["spec"]["weight"] = 101.into();
    let told = validate(kind, &object)[0].to_string();
    assert_eq!(told, "spec.weight: must be 1 to 100 (found `101`)");
    object["spec"]["weight"] = "x".repeat(5000).into();
    let told = validate(kind, &object)[0].to_string();
    assert!(told.len() < 400, "{told}");
    object["spec"]["weight"] = 1.into();
    object["spec"]["template"]["metadata"]["labels"]["y".repeat(10_000_000)] = "z".into();
    let told = validate(kind, &object)[0].to_string();
    assert!(told.len() < 1000 && told.contains("is not a label key"), "{told}");
}
