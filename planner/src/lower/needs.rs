//! What is said about label keys, in names: parsing of operators, intersection, comparison.
//!
//! The same algebra as `engine_core::requirements`, on text: the planner needs it where the
//! engine's numbers do not exist yet (several requirements on one key, overlays, node
//! filters of real nodes). A test holds both against each other.

use std::collections::{BTreeMap, BTreeSet};

/// What is said about one key: a set of values, or all but a set, within bounds.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Need {
    /// True when `values` are excluded rather than allowed.
    pub is_complement: bool,
    /// Allowed or excluded values.
    pub values: BTreeSet<String>,
    /// Lowest allowed integer.
    pub lower: Option<i64>,
    /// Highest allowed integer.
    pub upper: Option<i64>,
    /// Distinct values that must stay possible.
    pub min_values: u16,
    /// Exclusions (or nothing at all) that a missing label does not satisfy, since something
    /// that asks for the label went into them. Karpenter loses this: see [`Need::lets_lack`].
    pub must_exist: bool,
}

impl Need {
    /// Any value.
    pub fn exists() -> Self {
        Self { is_complement: true, ..Self::default() }
    }

    /// No value at all.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// One of `values`.
    pub fn one_of<I: IntoIterator>(values: I) -> Self
    where
        I::Item: Into<String>,
    {
        Self { values: values.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    /// All but `values`.
    pub fn none_of<I: IntoIterator>(values: I) -> Self
    where
        I::Item: Into<String>,
    {
        Self { is_complement: true, ..Self::one_of(values) }
    }

    /// What operator and values say; `None` for an unknown operator. A bound that is no
    /// integer allows nothing, and so does a bound beyond the greatest integer.
    pub fn of(operator: &str, values: &[String], min_values: u16) -> Option<Self> {
        let bound = || values.first().and_then(|text| integer(text));
        let above = |n: Option<i64>| match n {
            Some(n) => Self { lower: Some(n), min_values, ..Self::exists() },
            None => Self::nothing(),
        };
        let below = |n: Option<i64>| match n {
            Some(n) => Self { upper: Some(n), min_values, ..Self::exists() },
            None => Self::nothing(),
        };
        Some(match operator {
            "In" => Self { min_values, ..Self::one_of(values) },
            "NotIn" => Self { min_values, ..Self::none_of(values) },
            "Exists" => Self { min_values, ..Self::exists() },
            "DoesNotExist" => Self { min_values, ..Self::nothing() },
            "Gt" => above(bound().and_then(|n| n.checked_add(1))),
            "Lt" => below(bound().and_then(|n| n.checked_sub(1))),
            "Gte" => above(bound()),
            "Lte" => below(bound()),
            _ => return None,
        })
    }

    /// True when it reads as `NotIn` or `DoesNotExist`, which a missing label satisfies in
    /// Karpenter, whatever went into it.
    pub fn only_forbids(&self) -> bool {
        self.is_complement != self.values.is_empty()
    }

    /// True when a missing label satisfies it, under the mended rules: it only forbids, and
    /// nothing that went into it asks for the label. A contradiction asks for it.
    pub fn lets_lack(&self) -> bool {
        self.only_forbids() && !self.must_exist
    }

    /// True when nothing is listed and nothing is allowed.
    pub fn is_nothing(&self) -> bool {
        !self.is_complement && self.values.is_empty()
    }

    /// True when the value is allowed.
    pub fn allows(&self, value: &str) -> bool {
        self.values.contains(value) != self.is_complement && within(value, self.lower, self.upper)
    }

    /// Narrows to what both allow. Crossing bounds leave nothing; a list drops its bounds.
    pub fn intersect(&mut self, other: &Need) {
        let (lower, upper) = bounds(self, other);
        let min_values = self.min_values.max(other.min_values);
        let must_exist = !self.lets_lack() || !other.lets_lack();
        if crosses(lower, upper) {
            *self = Self { min_values, must_exist, ..Self::nothing() };
            return;
        }
        let is_complement = self.is_complement && other.is_complement;
        let mut values = match (self.is_complement, other.is_complement) {
            (true, true) => &self.values | &other.values,
            (true, false) => &other.values - &self.values,
            (false, true) => &self.values - &other.values,
            (false, false) => &self.values & &other.values,
        };
        values.retain(|value| within(value, lower, upper));
        let keep = |bound: Option<i64>| bound.filter(|_| is_complement);
        let must_exist = must_exist && is_complement != values.is_empty();
        let (lower, upper) = (keep(lower), keep(upper));
        *self = Self { is_complement, values, lower, upper, min_values, must_exist };
    }

    /// True when some value is allowed by both. Two complements always meet unless their
    /// bounds cross.
    pub fn meets(&self, other: &Need) -> bool {
        let (lower, upper) = bounds(self, other);
        if crosses(lower, upper) {
            return false;
        }
        match (self.is_complement, other.is_complement) {
            (true, true) => true,
            (true, false) => meets_list(&other.values, self, lower, upper),
            (false, _) => meets_list(&self.values, other, lower, upper),
        }
    }
}

fn meets_list(
    list: &BTreeSet<String>,
    other: &Need,
    lower: Option<i64>,
    upper: Option<i64>,
) -> bool {
    list.iter().any(|v| other.values.contains(v) != other.is_complement && within(v, lower, upper))
}

/// The value read as a decimal integer with optional sign.
pub fn integer(text: &str) -> Option<i64> {
    text.parse().ok()
}

fn within(value: &str, lower: Option<i64>, upper: Option<i64>) -> bool {
    if lower.is_none() && upper.is_none() {
        return true;
    }
    integer(value).is_some_and(|n| lower.is_none_or(|l| l <= n) && upper.is_none_or(|u| n <= u))
}

fn bounds(a: &Need, b: &Need) -> (Option<i64>, Option<i64>) {
    let both = |x: Option<i64>, y: Option<i64>, pick: fn(i64, i64) -> i64| match (x, y) {
        (Some(x), Some(y)) => Some(pick(x, y)),
        (x, y) => x.or(y),
    };
    (both(a.lower, b.lower, i64::max), both(a.upper, b.upper, i64::min))
}

fn crosses(lower: Option<i64>, upper: Option<i64>) -> bool {
    matches!((lower, upper), (Some(l), Some(u)) if l > u)
}

/// What is said about several keys; at most one [`Need`] for each.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Needs(pub BTreeMap<String, Need>);

impl Needs {
    /// The first key of which a value is asked for and none is allowed.
    pub fn contradiction(&self) -> Option<&str> {
        let mut needs = self.0.iter();
        needs.find(|(_, need)| need.is_nothing() && need.must_exist).map(|(key, _)| key.as_str())
    }

    /// Adds what is said about `key`; a key already there is narrowed.
    pub fn add(&mut self, key: &str, need: Need) {
        match self.0.get_mut(key) {
            Some(own) => own.intersect(&need),
            None => {
                // Narrowing `Exists` normalizes, as the engine's algebra does on adding; a key
                // that nobody has spoken of does not ask for the label.
                let mut own = Need::exists();
                own.intersect(&need);
                own.must_exist = own.only_forbids() && !need.lets_lack();
                self.0.insert(key.to_owned(), own);
            }
        }
    }

    /// Adds everything that `other` says.
    pub fn add_all(&mut self, other: &Needs) {
        for (key, need) in &other.0 {
            self.add(key, need.clone());
        }
    }

    /// What is said about `key`, if anything.
    pub fn get(&self, key: &str) -> Option<&Need> {
        self.0.get(key)
    }

    /// True when no key excludes the other side. Keys of one side only are fine, and so is a
    /// pair that only forbids, as Karpenter reads it.
    pub fn agrees_with(&self, other: &Needs) -> bool {
        self.0.iter().all(|(key, own)| {
            other.0.get(key).is_none_or(|their| {
                own.meets(their) || (own.only_forbids() && their.only_forbids())
            })
        })
    }

    /// True when `incoming` can be put on a node of these labels: nothing excludes the other,
    /// and the node has every key that is asked for, or `may_lack` it.
    pub fn accepts(&self, incoming: &Needs, may_lack: impl Fn(&str) -> bool) -> bool {
        let knows = |(key, need): (&String, &Need)| {
            self.0.contains_key(key) || need.only_forbids() || may_lack(key)
        };
        incoming.0.iter().all(knows) && self.agrees_with(incoming)
    }
}

#[cfg(test)]
mod tests;
