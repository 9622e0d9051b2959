//! The schema of a CRD as a tree that objects are checked against.
//!
//! Knows the keywords that the CRDs of this crate use; a test holds that they use no other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};
use serde_json::Value;

use super::{Kind, Violation, shortened};

/// One node of a schema.
#[derive(Debug, Default)]
pub(super) struct Node {
    kind: String,
    is_open: bool,
    choices: Vec<Value>,
    pattern: Option<Regex>,
    format: String,
    bounds: [Option<i64>; 2],
    chars: [Option<u64>; 2],
    items_count: [Option<u64>; 2],
    most_properties: Option<u64>,
    required: Vec<String>,
    properties: BTreeMap<String, Node>,
    additional: Option<Box<Node>>,
    items: Option<Box<Node>>,
    default: Option<Value>,
    unique_keys: Vec<String>,
}

/// The tree of one kind, made once.
pub(super) fn of(kind: Kind) -> &'static Node {
    static TREES: [OnceLock<Node>; Kind::ALL.len()] = [const { OnceLock::new() }; Kind::ALL.len()];
    TREES[kind as usize].get_or_init(|| Node::from_schema(&crate::crd::schema(kind)))
}

/// The value at a path as violations write it.
pub(super) fn at<'v>(object: &'v Value, path: &str) -> Option<&'v Value> {
    let mut value = object;
    for step in path.split('.').filter(|step| !step.is_empty()) {
        let (name, indexes) = step.split_once('[').unwrap_or((step, ""));
        if !name.is_empty() {
            value = value.get(name)?;
        }
        for index in indexes.split(['[', ']']).filter(|index| !index.is_empty()) {
            value = value.get(index.parse::<usize>().ok()?)?;
        }
    }
    Some(value)
}

impl Node {
    fn from_schema(schema: &Value) -> Self {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or("").to_owned();
        let list =
            |key: &str| schema.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        let count = |key: &str| schema.get(key).and_then(Value::as_u64);
        let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
        let texts = |key: &str| -> Vec<String> {
            list(key).iter().filter_map(|name| Some(name.as_str()?.to_owned())).collect()
        };
        let is_true = |key: &str| schema.get(key) == Some(&Value::Bool(true));
        let below = |key: &str| schema.get(key).map(|below| Box::new(Self::from_schema(below)));
        let properties = schema.get("properties").and_then(Value::as_object);
        let is_quantity = is_true("x-kubernetes-int-or-string");
        let is_map = text("x-kubernetes-list-type") == "map";
        Self {
            kind: if is_quantity { "int-or-string".into() } else { text("type") },
            is_open: is_true("x-kubernetes-preserve-unknown-fields"),
            choices: list("enum"),
            pattern: schema.get("pattern").and_then(Value::as_str).map(compiled),
            format: text("format"),
            bounds: [bound("minimum"), bound("maximum")],
            chars: [count("minLength"), count("maxLength")],
            items_count: [count("minItems"), count("maxItems")],
            most_properties: count("maxProperties"),
            required: texts("required"),
            properties: properties
                .into_iter()
                .flatten()
                .map(|(name, schema)| (name.clone(), Self::from_schema(schema)))
                .collect(),
            additional: below("additionalProperties"),
            items: below("items"),
            default: schema.get("default").cloned(),
            unique_keys: if is_map { texts("x-kubernetes-list-map-keys") } else { Vec::new() },
        }
    }

    /// Drops `null`s and fills in defaults, as the API server does before it validates.
    pub(super) fn complete(&self, value: &mut Value) {
        match value {
            Value::Object(map) => {
                if !self.is_open {
                    map.retain(|_, value| !value.is_null());
                }
                for (name, node) in &self.properties {
                    if let (false, Some(default)) = (map.contains_key(name), &node.default) {
                        map.insert(name.clone(), default.clone());
                    }
                    if let Some(value) = map.get_mut(name) {
                        node.complete(value);
                    }
                }
                if let Some(node) = &self.additional {
                    map.values_mut().for_each(|value| node.complete(value));
                }
            }
            Value::Array(list) => {
                if let Some(node) = &self.items {
                    list.iter_mut().for_each(|value| node.complete(value));
                }
            }
            _ => {}
        }
    }

    /// Collects what is wrong with a completed value.
    pub(super) fn check(&self, value: &Value, path: &mut String, found: &mut Vec<Violation>) {
        if let Some(message) = self.wrong_type(value) {
            return found.push(violation(path, message, value));
        }
        if !self.choices.is_empty() && !self.choices.contains(value) {
            let choices: Vec<String> = self.choices.iter().map(quoted).collect();
            found.push(violation(path, format!("must be one of {}", choices.join(", ")), value));
        }
        match value {
            Value::String(text) => self.check_text(text, path, found),
            Value::Number(number) => self.check_number(number, path, found),
            Value::Array(list) => self.check_list(list, path, found),
            Value::Object(map) => self.check_object(map, path, found),
            _ => {}
        }
    }

    fn wrong_type(&self, value: &Value) -> Option<String> {
        let is_whole =
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|f| f.fract() == 0.0);
        let (is_right, wanted) = match self.kind.as_str() {
            "string" => (value.is_string(), "a string (put it in quotes)"),
            "integer" => (is_whole, "a whole number"),
            "number" => (value.is_number(), "a number"),
            "boolean" => (value.is_boolean(), "true or false"),
            "array" => (value.is_array(), "a list"),
            "object" => (value.is_object(), "a map of fields"),
            "int-or-string" => {
                (is_whole || value.is_string(), "a quantity: a whole number or a string")
            }
            _ => (true, ""),
        };
        (!is_right).then(|| format!("must be {wanted}"))
    }

    fn check_text(&self, text: &str, path: &str, found: &mut Vec<Violation>) {
        let mut wrong = |message| found.push(violation(path, message, &Value::String(text.into())));
        let chars = text.chars().count() as u64;
        if let [Some(least), _] = self.chars
            && chars < least
        {
            wrong(if least == 1 {
                "must not be empty".into()
            } else {
                format!("must have at least {least} characters")
            });
        }
        if let [_, Some(most)] = self.chars
            && chars > most
        {
            wrong(format!("must have at most {most} characters, has {chars}"));
        }
        if let Some(pattern) = &self.pattern
            && !pattern.is_match(text.as_bytes())
        {
            wrong(format!("must match `{}`", pattern.as_str()));
        }
        if self.format == "date-time" && !is_date_time(text) {
            wrong("must be a time like `2026-01-31T12:00:00Z`".into());
        }
    }

    fn check_number(&self, number: &serde_json::Number, path: &str, found: &mut Vec<Violation>) {
        if self.kind == "int-or-string" {
            return;
        }
        let [least, most] = self.bounds;
        let float = number.as_f64().unwrap_or(f64::NAN);
        let is_less = |bound: i64| number.as_i64().map_or(float < bound as f64, |n| n < bound);
        let is_more = |bound: i64| number.as_i64().map_or(float > bound as f64, |n| n > bound);
        let message = match (least, most) {
            (Some(least), Some(most)) if is_less(least) || is_more(most) => {
                format!("must be {least} to {most}")
            }
            (Some(least), None) if is_less(least) => format!("must be at least {least}"),
            (None, Some(most)) if is_more(most) => format!("must be at most {most}"),
            _ => return,
        };
        found.push(violation(path, message, &Value::Number(number.clone())));
    }

    fn check_list(&self, list: &[Value], path: &mut String, found: &mut Vec<Violation>) {
        let count = list.len() as u64;
        if let [Some(least), _] = self.items_count
            && count < least
        {
            found.push(violation(
                path,
                format!("must have at least {least} entries"),
                &Value::Null,
            ));
        }
        if let [_, Some(most)] = self.items_count
            && count > most
        {
            let message = format!("must have at most {most} entries, has {count}");
            return found.push(violation(path, message, &Value::Null));
        }
        let mut seen = BTreeSet::new();
        for (index, value) in list.iter().enumerate() {
            let end = push(path, &format!("[{index}]"));
            if let Some(node) = &self.items {
                node.check(value, path, found);
            }
            let key: Vec<String> = self
                .unique_keys
                .iter()
                .map(|key| value.get(key).map(quoted).unwrap_or_default())
                .collect();
            if !key.is_empty() && !seen.insert(key) {
                let message =
                    format!("has the same `{}` as an entry before", self.unique_keys.join("`, `"));
                found.push(violation(path, message, value));
            }
            path.truncate(end);
        }
    }

    fn check_object(
        &self,
        map: &serde_json::Map<String, Value>,
        path: &mut String,
        found: &mut Vec<Violation>,
    ) {
        if let Some(most) = self.most_properties
            && map.len() as u64 > most
        {
            let message = format!("must have at most {most} entries, has {}", map.len());
            found.push(violation(path, message, &Value::Null));
        }
        for name in self.required.iter().filter(|name| !map.contains_key(*name)) {
            let end = push_name(path, name);
            found.push(violation(path, missing(path, map), &Value::Null));
            path.truncate(end);
        }
        for (name, value) in map {
            if let Some(node) = self.properties.get(name).or(self.additional.as_deref()) {
                let end = push_name(path, name);
                node.check(value, path, found);
                path.truncate(end);
            }
        }
    }

    /// Collects paths of fields that the schema does not know.
    pub(super) fn unknown_fields(&self, value: &Value, path: &mut String, found: &mut Vec<String>) {
        match value {
            Value::Object(map) if !self.is_open => {
                let is_leaf = self.properties.is_empty() && self.additional.is_none();
                for (name, value) in map.iter().filter(|_| !is_leaf) {
                    let end = push_name(path, name);
                    match self.properties.get(name).or(self.additional.as_deref()) {
                        Some(node) => node.unknown_fields(value, path, found),
                        None => found.push(path.clone()),
                    }
                    path.truncate(end);
                }
            }
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    let end = push(path, &format!("[{index}]"));
                    if let Some(node) = &self.items {
                        node.unknown_fields(value, path, found);
                    }
                    path.truncate(end);
                }
            }
            _ => {}
        }
    }
}

/// What to do about a field that is missing. For a node class reference the fix is known.
fn missing(path: &str, beside: &serde_json::Map<String, Value>) -> String {
    let Some((parent, field)) = path.rsplit_once('.') else {
        return "is required".into();
    };
    if !parent.ends_with("nodeClassRef") || field == "name" {
        return "is required".into();
    }
    let says = |field: &str, what: &str| beside.get(field).and_then(Value::as_str) == Some(what);
    let (aws, azure) = (
        "`group: karpenter.k8s.aws` and `kind: EC2NodeClass`",
        "`group: karpenter.azure.com` and `kind: AKSNodeClass`",
    );
    if says("kind", "EC2NodeClass") || says("group", "karpenter.k8s.aws") {
        return format!("is required: write {aws}");
    }
    if says("kind", "AKSNodeClass") || says("group", "karpenter.azure.com") {
        return format!("is required: write {azure}");
    }
    format!("is required: write {aws} on AWS, {azure} on Azure")
}

fn compiled(pattern: &str) -> Regex {
    // Patterns of CRDs are read by Go, where `\d` and `\s` mean ASCII only.
    // INVARIANT: patterns come from this crate, and a test compiles every one of them.
    RegexBuilder::new(pattern).unicode(false).build().expect("patterns of the CRDs are regular")
}

fn violation(path: &str, message: String, value: &Value) -> Violation {
    Violation { path: path.to_owned(), message, value: value.clone() }
}

fn quoted(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| format!("`{text}`"))
}

fn push(path: &mut String, step: &str) -> usize {
    let end = path.len();
    path.push_str(step);
    end
}

fn push_name(path: &mut String, name: &str) -> usize {
    let end = path.len();
    if end > 0 {
        path.push('.');
    }
    path.push_str(&shortened(name));
    end
}

/// True for RFC 3339: date, `T`, time, and `Z` or an offset.
fn is_date_time(text: &str) -> bool {
    static SHAPE: OnceLock<Regex> = OnceLock::new();
    let shape = SHAPE.get_or_init(|| {
        compiled(concat!(
            r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]",
            r"([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?",
            r"([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$",
        ))
    });
    shape.is_match(text.as_bytes())
}
