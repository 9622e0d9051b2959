//! Label selectors: what they select, and when two are the same.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

/// Labels of an object.
pub type Labels = BTreeMap<String, String>;

/// One condition of a selector: key, operator, values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Condition {
    /// Label key.
    pub key: String,
    /// What is asked of it.
    pub test: Test,
}

/// What a selector may ask of a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Test {
    /// One of these values.
    In(BTreeSet<String>),
    /// None of these values, or no such label.
    NotIn(BTreeSet<String>),
    /// Any value.
    Exists,
    /// No such label.
    DoesNotExist,
}

/// A label selector; the order and repetition of its conditions do not matter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Selector {
    /// No selector at all: selects nothing.
    Nil,
    /// One that cannot be understood: selects nothing.
    Invalid,
    /// All conditions must hold; none selects everything.
    All(BTreeSet<Condition>),
}

impl Selector {
    /// Reads a selector.
    pub fn of(selector: Option<&LabelSelector>) -> Self {
        let Some(selector) = selector else { return Self::Nil };
        let mut all = BTreeSet::new();
        for (key, value) in selector.match_labels.iter().flatten() {
            all.insert(Condition::equals(key, value));
        }
        for expression in selector.match_expressions.iter().flatten() {
            let values: BTreeSet<String> = expression.values.iter().flatten().cloned().collect();
            let test = match (expression.operator.as_str(), values.is_empty()) {
                ("In", false) => Test::In(values),
                ("NotIn", false) => Test::NotIn(values),
                ("Exists", true) => Test::Exists,
                ("DoesNotExist", true) => Test::DoesNotExist,
                _ => return Self::Invalid,
            };
            all.insert(Condition { key: expression.key.clone(), test });
        }
        Self::All(all)
    }

    /// The same with one more condition; a selector that selects nothing stays so.
    pub fn and_equals(mut self, key: &str, value: &str) -> Self {
        if let Self::All(all) = &mut self {
            all.insert(Condition::equals(key, value));
        }
        self
    }

    /// True when the labels are selected.
    pub fn selects(&self, labels: &Labels) -> bool {
        match self {
            Self::All(all) => all.iter().all(|c| c.holds(labels.get(&c.key))),
            Self::Nil | Self::Invalid => false,
        }
    }

    /// Values of one key of which a selected object must have one, if there is such a key.
    pub fn handle(&self) -> Option<(&str, &BTreeSet<String>)> {
        let Self::All(all) = self else { return None };
        all.iter().find_map(|c| match &c.test {
            Test::In(values) => Some((c.key.as_str(), values)),
            _ => None,
        })
    }
}

impl Condition {
    fn equals(key: &str, value: &str) -> Self {
        Self { key: key.to_owned(), test: Test::In(BTreeSet::from([value.to_owned()])) }
    }

    fn holds(&self, value: Option<&String>) -> bool {
        match &self.test {
            Test::In(values) => value.is_some_and(|v| values.contains(v)),
            Test::NotIn(values) => value.is_none_or(|v| !values.contains(v)),
            Test::Exists => value.is_some(),
            Test::DoesNotExist => value.is_none(),
        }
    }
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = match self {
            Self::Nil => return f.write_str("no selector"),
            Self::Invalid => return f.write_str("invalid selector"),
            Self::All(all) if all.is_empty() => return f.write_str("all pods"),
            Self::All(all) => all,
        };
        for (i, Condition { key, test }) in all.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            match test {
                Test::In(values) if values.len() == 1 => write!(f, "{key}={}", list(values))?,
                Test::In(values) => write!(f, "{key} in ({})", list(values))?,
                Test::NotIn(values) => write!(f, "{key} notin ({})", list(values))?,
                Test::Exists => f.write_str(key)?,
                Test::DoesNotExist => write!(f, "!{key}")?,
            }
        }
        Ok(())
    }
}

fn list(values: &BTreeSet<String>) -> String {
    values.iter().map(String::as_str).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn selector(value: serde_json::Value) -> Selector {
        let read: Option<LabelSelector> = serde_json::from_value(value).unwrap();
        Selector::of(read.as_ref())
    }

    // CASE: C76
    #[test]
    fn a_nil_selector_selects_nothing_and_an_empty_one_everything() {
        let labels = Labels::from([("a".to_owned(), "1".to_owned())]);
        assert!(!selector(json!(null)).selects(&labels));
        assert!(!selector(json!(null)).selects(&Labels::new()));
        assert!(selector(json!({})).selects(&Labels::new()));
    }

    #[test]
    fn operators_follow_kubernetes() {
        let labels = Labels::from([("a".to_owned(), "1".to_owned())]);
        for (expression, want) in [
            (json!({"key": "a", "operator": "In", "values": ["1", "2"]}), true),
            (json!({"key": "a", "operator": "NotIn", "values": ["1"]}), false),
            (json!({"key": "b", "operator": "NotIn", "values": ["1"]}), true),
            (json!({"key": "a", "operator": "Exists"}), true),
            (json!({"key": "a", "operator": "DoesNotExist"}), false),
            (json!({"key": "a", "operator": "In"}), false),
            (json!({"key": "a", "operator": "Gt", "values": ["0"]}), false),
        ] {
            assert_eq!(
                selector(json!({"matchExpressions": [expression.clone()]})).selects(&labels),
                want,
                "{expression}"
            );
        }
    }

    #[test]
    fn order_and_repetition_do_not_matter() {
        let one = json!({"key": "a", "operator": "In", "values": ["1", "2"]});
        let two = json!({"key": "a", "operator": "In", "values": ["2", "1", "1"]});
        assert_eq!(
            selector(json!({"matchExpressions": [one.clone()]})),
            selector(json!({"matchExpressions": [two, one]}))
        );
        assert_eq!(selector(json!({"matchLabels": {"a": "1"}})).to_string(), "a=1");
    }
}
