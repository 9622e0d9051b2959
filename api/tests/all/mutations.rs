//! Spoils every field of the full objects, one at a time: each must be refused at its path.

use dunnage_api::{Kind, Violation, crd, validate};
use serde_json::{Value, json};

use crate::table::full_objects;

/// A way to spoil a value, and why it is wrong.
fn spoiled(schema: &Value, value: &Value) -> Vec<(&'static str, Value)> {
    let mut ways = Vec::new();
    let is_quantity = schema["x-kubernetes-int-or-string"] == true;
    match schema["type"].as_str() {
        Some("string") => ways.push(("number for string", json!(7))),
        Some("integer") => {
            ways.push(("string for integer", json!("7")));
            ways.push(("fraction for integer", json!(7.5)));
        }
        Some("boolean") => ways.push(("string for boolean", json!("true"))),
        Some("array") => ways.push(("map for list", json!({}))),
        Some("object") => ways.push(("list for map", json!([]))),
        _ if is_quantity => ways.push(("boolean for quantity", json!(true))),
        other => panic!("{other:?} in {schema}"),
    }
    if schema["enum"].is_array() {
        ways.push(("not a choice", json!("Nonsense")));
    }
    if schema["pattern"].is_string() {
        ways.push(("pattern", json!("!? /!")));
    }
    if let Some(least) = schema["minimum"].as_i64() {
        ways.push(("below minimum", json!(least - 1)));
    }
    if let Some(most) = schema["maximum"].as_i64() {
        ways.push(("above maximum", json!(most + 1)));
    }
    if schema["format"] == "int32" {
        ways.push(("over 32 bits", json!(i64::from(i32::MAX) + 1)));
    }
    if schema["format"] == "date-time" {
        ways.push(("not a time", json!("yesterday")));
    }
    if let Some(most) = schema["maxLength"].as_u64() {
        ways.push(("too long", json!("a".repeat(most as usize + 1))));
    }
    if schema["minLength"].as_u64().is_some() {
        ways.push(("too short", json!("")));
    }
    if let (Some(most), Some(list)) = (schema["maxItems"].as_u64(), value.as_array()) {
        ways.push((
            "too many",
            json!(vec![list.first().cloned().unwrap_or_default(); most as usize + 1]),
        ));
    }
    if schema["minItems"].as_u64().is_some() {
        ways.push(("too few", json!([])));
    }
    if let Some(most) = schema["maxProperties"].as_u64() {
        let entries = (0..=most).map(|i| (format!("k{i}"), json!("v")));
        ways.push(("too many entries", Value::Object(entries.collect())));
    }
    ways
}

struct Spoiler {
    kind: Kind,
    object: Value,
    tried: usize,
    missed: Vec<String>,
}

impl Spoiler {
    fn expect(&mut self, pointer: &str, path: &str, why: &str, spoil: impl FnOnce(&mut Value)) {
        let mut object = self.object.clone();
        spoil(object.pointer_mut(pointer).expect("the walk follows the object"));
        let found = validate(self.kind, &object);
        self.tried += 1;
        if !found.iter().any(|violation: &Violation| violation.path == path) {
            self.missed.push(format!("{:?} {path}: {why}: {found:?}", self.kind));
        }
    }

    fn walk(&mut self, schema: &Value, pointer: &str, path: &str) {
        let value = self.object.pointer(pointer).expect("the walk follows the object").clone();
        for (why, wrong) in spoiled(schema, &value) {
            self.expect(pointer, path, why, |at| *at = wrong);
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().expect("names are strings");
            self.expect(pointer, &format!("{path}.{name}"), "missing", |at| {
                at.as_object_mut().expect("a map").remove(name);
            });
        }
        for (name, below) in value.as_object().into_iter().flatten().map(|(name, _)| {
            let known = &schema["properties"][name.as_str()];
            (name, if known.is_object() { known } else { &schema["additionalProperties"] })
        }) {
            if below.is_object() {
                let step = name.replace('~', "~0").replace('/', "~1");
                self.walk(below, &format!("{pointer}/{step}"), &format!("{path}.{name}"));
            }
        }
        for index in 0..value.as_array().map_or(0, Vec::len) {
            let (pointer, path) = (format!("{pointer}/{index}"), format!("{path}[{index}]"));
            self.walk(&schema["items"], &pointer, &path);
        }
    }
}

#[test]
fn every_spoiled_field_is_refused_at_its_path() {
    let (mut tried, mut missed) = (0, Vec::new());
    for (kind, object) in full_objects() {
        let mut spoiler = Spoiler { kind, object, tried: 0, missed: Vec::new() };
        spoiler.walk(&crd::schema(kind)["properties"]["spec"], "/spec", "spec");
        tried += spoiler.tried;
        missed.append(&mut spoiler.missed);
    }
    assert!(missed.is_empty(), "\n{}", missed.join("\n"));
    assert!(tried > 500, "only {tried} fields were spoiled");
}

/// The full objects hold every field, so that the walk above reaches every field.
#[test]
fn full_objects_reach_every_field() {
    fn unreached(schema: &Value, values: &[&Value], path: &str, found: &mut Vec<String>) {
        if values.is_empty() {
            return found.push(path.to_owned());
        }
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            let values: Vec<&Value> = values.iter().filter_map(|value| value.get(name)).collect();
            unreached(below, &values, &format!("{path}.{name}"), found);
        }
        if schema["items"].is_object() {
            let values: Vec<&Value> =
                values.iter().filter_map(|value| value.as_array()).flatten().collect();
            unreached(&schema["items"], &values, &format!("{path}[]"), found);
        }
    }
    let objects = full_objects();
    let mut found = Vec::new();
    for kind in Kind::ALL {
        let specs: Vec<&Value> = objects
            .iter()
            .filter(|(of, _)| *of == kind)
            .map(|(_, object)| &object["spec"])
            .collect();
        let schema = &crd::schema(kind)["properties"]["spec"];
        unreached(schema, &specs, &format!("{kind:?}"), &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
}
