//! Makes a value out of a rule of the grammar, one choice after the other.
//!
//! A text `<rule>` stands for a rule, `<#p>` for the next name that starts with `p`, `<@p>`
//! for one of the first three such names. `{"|": [...]}` is one of several; `["*", X, n]` is
//! up to n times X, `["+", X, n]` at least once. A field `name?` is there in a quarter of all
//! cases, `name!` in most. The first choice is the plain one: it is made when bytes run out.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::draw::Draw;

static GRAMMAR: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("grammar.json")).expect("the grammar is JSON")
});

/// The length of a value that is too long for everything.
const HUGE_BYTES: usize = 300_000;

/// The rule of that name.
///
/// # Panics
/// There is none.
pub fn rule(name: &str) -> &'static Value {
    GRAMMAR.get(name).unwrap_or_else(|| panic!("the grammar has no rule `{name}`"))
}

/// Names given out so far, and where choices come from.
pub struct Expansion<'d, 'b> {
    draw: &'d mut Draw<'b>,
    is_hostile: bool,
    names: BTreeMap<String, u32>,
}

impl<'d, 'b> Expansion<'d, 'b> {
    /// Starts with no name given out.
    pub fn new(draw: &'d mut Draw<'b>, is_hostile: bool) -> Self {
        Self { draw, is_hostile, names: BTreeMap::new() }
    }

    /// A value that `pattern` allows, or in a hostile input anything.
    pub fn value(&mut self, pattern: &Value) -> Value {
        if self.is_hostile && self.draw.byte() >= 253 {
            self.is_hostile = false;
            let value = self.value(rule("hostile"));
            self.is_hostile = true;
            return value;
        }
        match pattern {
            Value::String(text) => self.text(text),
            Value::Array(items) => self.list(items),
            Value::Object(fields) => match fields.get("|").and_then(Value::as_array) {
                Some(options) => {
                    let chosen = self.draw.below(options.len() as u32) as usize;
                    self.value(&options[chosen])
                }
                None => Value::Object(self.fields(fields)),
            },
            other => other.clone(),
        }
    }

    fn text(&mut self, text: &str) -> Value {
        let Some(name) = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')) else {
            return text.into();
        };
        if name == "huge" {
            return "x".repeat(HUGE_BYTES).into();
        }
        if let Some(prefix) = name.strip_prefix('#') {
            let given = self.names.entry(prefix.to_owned()).or_default();
            let number = *given;
            *given += 1;
            return format!("{prefix}{number}").into();
        }
        match name.strip_prefix('@') {
            Some(prefix) => format!("{prefix}{}", self.draw.below(3)).into(),
            None => self.value(rule(name)),
        }
    }

    fn list(&mut self, items: &[Value]) -> Value {
        let (least, pattern, most) = match items {
            [Value::String(sign), pattern, Value::Number(most)] if sign == "*" || sign == "+" => {
                (u32::from(sign == "+"), pattern, most.as_u64().unwrap_or(1) as u32)
            }
            _ => return items.iter().map(|item| self.value(item)).collect(),
        };
        let count = self.draw.between(least, most);
        (0..count).map(|_| self.value(pattern)).collect()
    }

    fn fields(&mut self, fields: &Map<String, Value>) -> Map<String, Value> {
        let mut out = Map::new();
        for (name, pattern) in fields {
            let (name, percent) = match (name.strip_suffix('?'), name.strip_suffix('!')) {
                (Some(name), _) => (name, 25),
                (_, Some(name)) => (name, 70),
                _ => (name.as_str(), 100),
            };
            if percent < 100 && !self.draw.chance(percent) {
                continue;
            }
            let name = match self.text(name) {
                Value::String(name) => name,
                other => other.to_string(),
            };
            out.insert(name, self.value(pattern));
        }
        out
    }
}

#[cfg(test)]
pub mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn names(value: &Value, used: &mut BTreeSet<String>) {
        let mut of_text = |text: &str| {
            let text = text.trim_end_matches(['?', '!']);
            let name = text.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'));
            if let Some(name) = name.filter(|name| !name.starts_with(['#', '@'])) {
                used.insert(name.to_owned());
            }
        };
        match value {
            Value::String(text) => of_text(text),
            Value::Array(items) => items.iter().for_each(|item| names(item, used)),
            Value::Object(fields) => {
                fields.keys().for_each(|key| of_text(key));
                fields.values().for_each(|value| names(value, used));
            }
            _ => {}
        }
    }

    /// Every rule that is named exists, and every rule is named.
    pub fn check() {
        let mut used: BTreeSet<String> =
            ["input", "world", "types", "hostile"].map(String::from).into();
        GRAMMAR.values().for_each(|value| names(value, &mut used));
        let mut known: BTreeSet<String> = GRAMMAR.keys().cloned().collect();
        known.insert("huge".to_owned());
        assert_eq!(used, known);
    }

    #[test]
    fn without_bytes_every_choice_is_the_first() {
        let mut draw = Draw::bytes(&[]);
        let pod = Expansion::new(&mut draw, false).value(rule("Pod"));
        let expected = serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p0"},
            "spec": {"containers": [{"name": "c0"}]},
        });
        assert_eq!(pod, expected);
    }
}
