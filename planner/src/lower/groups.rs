//! Topology groups of the whole problem: which there are, and whom they select.
//!
//! Selection is answered once for each distinct pair of namespace and labels, through an
//! index by label value, so that the work does not grow with pods times groups.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::rules::{GroupKindOrder, GroupText};
use super::selector::{Labels, Selector};

/// The groups, in the order of the tables.
#[derive(Debug, Default)]
pub struct Groups {
    /// Ascending by [`GroupText`].
    pub list: Vec<GroupText>,
    numbers: HashMap<GroupText, u32>,
    tells_min_domains: bool,
}

impl Groups {
    /// Collects `wanted` (in the order of the queue) and numbers it. Without
    /// `tells_min_domains`, groups that differ there alone are one, and the first counts.
    pub fn of<'a>(
        wanted: impl IntoIterator<Item = &'a GroupText>,
        tells_min_domains: bool,
    ) -> Self {
        let mut all: BTreeMap<GroupText, u32> = BTreeMap::new();
        let mut own = Self { tells_min_domains, ..Self::default() };
        for group in wanted {
            all.entry(own.identity(group)).or_insert(group.min_domains);
        }
        for (at, (mut group, min_domains)) in all.into_iter().enumerate() {
            own.numbers.insert(group.clone(), at as u32);
            group.min_domains = min_domains;
            own.list.push(group);
        }
        own
    }

    fn identity(&self, group: &GroupText) -> GroupText {
        let mut identity = group.clone();
        if !self.tells_min_domains {
            identity.min_domains = 0;
        }
        identity
    }

    /// Number of a group.
    pub fn number(&self, group: &GroupText) -> Option<u32> {
        if self.tells_min_domains || group.min_domains == 0 {
            return self.numbers.get(group).copied();
        }
        self.numbers.get(&self.identity(group)).copied()
    }

    /// Leaves out inverse groups that select none of the pods to place: they keep nobody away.
    pub fn without_idle(self, index: &Index, pods: &[(&str, &Labels)]) -> Self {
        let mut used = BTreeSet::new();
        for (namespace, labels) in pods {
            used.extend(index.matches(&self.list, namespace, labels, false));
        }
        let keeps = |at: usize, group: &GroupText| {
            group.kind != GroupKindOrder::Inverse || used.contains(&(at as u32))
        };
        if self.list.iter().enumerate().all(|(at, group)| keeps(at, group)) {
            return self;
        }
        let kept: Vec<GroupText> = self
            .list
            .iter()
            .enumerate()
            .filter(|(at, group)| keeps(*at, group))
            .map(|(_, group)| group.clone())
            .collect();
        Self::of(&kept, self.tells_min_domains)
    }
}

/// Finds the groups that may select given labels.
#[derive(Debug, Default)]
pub struct Index {
    /// Groups whose pods must have one of these values of a label.
    by_label: HashMap<String, HashMap<String, Vec<u32>>>,
    /// Other groups, by namespace.
    by_namespace: HashMap<String, Vec<u32>>,
    /// Other groups, of all namespaces.
    rest: Vec<u32>,
}

impl Index {
    /// An index over `groups`.
    pub fn of(groups: &[GroupText]) -> Self {
        let mut own = Self::default();
        for (at, group) in groups.iter().enumerate() {
            let at = at as u32;
            if let Some((key, values)) = group.selector.handle() {
                let by_value = own.by_label.entry(key.to_owned()).or_default();
                for value in values {
                    by_value.entry(value.clone()).or_default().push(at);
                }
            } else if group.selector == Selector::Invalid {
                continue;
            } else if let Some(namespaces) = &group.namespaces {
                for namespace in namespaces {
                    own.by_namespace.entry(namespace.clone()).or_default().push(at);
                }
            } else {
                own.rest.push(at);
            }
        }
        own
    }

    /// Rows of `groups` that select a pod of this namespace and these labels, ascending.
    pub fn matches(
        &self,
        groups: &[GroupText],
        namespace: &str,
        labels: &Labels,
        counts_nil: bool,
    ) -> Vec<u32> {
        let by_label =
            labels.iter().filter_map(|(key, value)| self.by_label.get(key)?.get(value)).flatten();
        let by_namespace = self.by_namespace.get(namespace).into_iter().flatten();
        let mut found: Vec<u32> = by_label
            .chain(by_namespace)
            .chain(&self.rest)
            .copied()
            .filter(|at| groups[*at as usize].selects(namespace, labels, counts_nil))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Distinct pairs of namespace and labels, numbered by first use.
#[derive(Debug, Default)]
pub struct LabelSets<'a> {
    numbers: HashMap<Vec<u8>, u32>,
    /// The pairs.
    pub list: Vec<(&'a str, &'a Labels)>,
}

impl<'a> LabelSets<'a> {
    /// Number of the pair. `buffer` is scratch space.
    pub fn number(&mut self, namespace: &'a str, labels: &'a Labels, buffer: &mut Vec<u8>) -> u32 {
        buffer.clear();
        for text in std::iter::once(namespace)
            .chain(labels.iter().flat_map(|(k, v)| [k.as_str(), v.as_str()]))
        {
            buffer.extend(text.as_bytes());
            buffer.push(0);
        }
        if let Some(number) = self.numbers.get(buffer.as_slice()) {
            return *number;
        }
        let number = self.list.len() as u32;
        self.numbers.insert(buffer.clone(), number);
        self.list.push((namespace, labels));
        number
    }
}
