//! Launches that look alike are drawn once: same pool, machine, price and mix of pods. Zones
//! and names may differ.

use std::collections::BTreeMap;

use super::sizes::{Machine, Row, Sizes};
use crate::plan::{Launch, Money};

/// Nodes that are drawn as one.
pub(super) struct Group<'a> {
    /// In the order of opening.
    pub launches: Vec<&'a Launch>,
    /// What they are.
    pub machine: &'a Machine,
    /// Pods of one node, the largest first.
    pub kinds: Vec<Kind<'a>>,
}

/// Pods of one node that request the same.
pub(super) struct Kind<'a> {
    /// What one of them requests.
    pub shape: &'a Row,
    /// How many stand on one node.
    pub count: usize,
    /// Their names, on all nodes of the group.
    pub names: Vec<&'a str>,
}

impl Group<'_> {
    /// Nodes of the group.
    pub fn nodes(&self) -> usize {
        self.launches.len()
    }

    /// Pods on all of them.
    pub fn pods(&self) -> usize {
        self.launches.iter().map(|launch| launch.pods.len()).sum()
    }

    /// USD per hour of all its nodes.
    pub fn cost(&self) -> Money {
        Money::sum(self.launches.iter().map(|launch| launch.cheapest.price_per_hour))
    }
}

/// What pods of several kinds request of a resource together.
pub(super) fn requested(kinds: &[Kind], column: usize) -> i64 {
    let amount = |kind: &Kind| {
        let one = kind.shape.get(column).copied().unwrap_or(0);
        one.saturating_mul(i64::try_from(kind.count).unwrap_or(i64::MAX))
    };
    kinds.iter().map(amount).fold(0, i64::saturating_add)
}

/// Pods by what they request, the largest first. Pods that the sizes do not know are left out.
pub(super) fn kinds<'a>(pods: &'a [String], sizes: &'a Sizes) -> Vec<Kind<'a>> {
    let mut by_shape: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for pod in pods {
        if let Some(shape) = sizes.pods.get(pod) {
            by_shape.entry(*shape).or_default().push(pod);
        }
    }
    let kind = |(shape, names): (u32, Vec<&'a str>)| Kind {
        shape: &sizes.shapes[shape as usize],
        count: names.len(),
        names,
    };
    by_shape.into_iter().map(kind).collect()
}

/// Launches in groups: those that cost most together come first, ties in the order of opening.
pub(super) fn groups<'a>(launches: &'a [Launch], sizes: &'a Sizes) -> Vec<Group<'a>> {
    let mut all: Vec<Group> = Vec::new();
    let mut at = BTreeMap::new();
    for (launch, machine) in launches.iter().zip(&sizes.launches) {
        let kinds = kinds(&launch.pods, sizes);
        let mix: Vec<(&Row, usize)> = kinds.iter().map(|kind| (kind.shape, kind.count)).collect();
        let c = &launch.cheapest;
        let key = (
            (&launch.node_pool, &launch.node_class, &c.instance_type, &c.capacity_type),
            (c.price_per_hour, machine, mix),
        );
        let row = *at.entry(key).or_insert(all.len());
        match all.get_mut(row) {
            None => all.push(Group { launches: vec![launch], machine, kinds }),
            Some(group) => {
                group.launches.push(launch);
                for (own, more) in group.kinds.iter_mut().zip(kinds) {
                    own.names.extend(more.names);
                }
            }
        }
    }
    all.sort_by_key(|group| std::cmp::Reverse(group.cost().0.unwrap_or(i64::MAX)));
    all
}
