//! Counting of pods that run already, by topology group and domain.
//!
//! Which nodes offer a domain and count pods is decided here for real nodes; for new nodes
//! the engine decides.

use std::collections::{BTreeMap, HashMap, HashSet};

use dunnage_api::labels::{HOSTNAME, ZONE};
use k8s_openapi::api::core::v1::{Pod, Taint};

use super::cluster::StateNode;
use super::dialect::{AZURE_NO_ZONE, Dialect};
use super::groups::{Groups, Index, LabelSets};
use super::needs::{Need, Needs};
use super::rules::{GroupKindOrder, GroupText, RuleReader, namespace_of};
use super::selector::Labels;
use super::tolerations::{Tolerated, tolerates_all};
use crate::pod;
use crate::snapshot::Snapshot;

/// What real nodes say about one group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// Pods by value of the key; empty for per-node groups.
    pub domains: BTreeMap<String, u32>,
    /// Pods by state node; only for per-node groups.
    pub nodes: BTreeMap<usize, u32>,
    /// All of them.
    pub total: u32,
}

/// What is counted with.
pub struct Counter<'a> {
    /// The world.
    pub snapshot: &'a Snapshot,
    /// Its nodes.
    pub nodes: &'a [StateNode<'a>],
    /// Pods (rows of the Snapshot) that the plan moves, and that count nowhere.
    pub moved: &'a HashSet<usize>,
    /// Spelling of labels.
    pub dialect: &'a Dialect,
    /// Rules of inverse groups.
    pub reader: &'a RuleReader<'a>,
    /// Under Karpenter's rules a missing selector counts every pod, and a missing label
    /// satisfies exclusions that something else asks for.
    pub is_mended: bool,
}

/// Inverse groups of bound pods: group, and state node of the pod.
pub type Owners = Vec<(GroupText, usize)>;

impl<'a> Counter<'a> {
    /// The required anti-affinity of bound pods, from the other side.
    pub fn owners(&self) -> Owners {
        let mut known: HashMap<Vec<u8>, Vec<GroupText>> = HashMap::new();
        let mut owners = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.node.is_some()) {
            for row in node.pods.iter().filter(|row| !self.moved.contains(row)) {
                let own: &Pod = &self.snapshot.pods[*row];
                let anti =
                    own.spec.as_ref().and_then(|s| s.affinity.as_ref()?.pod_anti_affinity.as_ref());
                if anti.is_none() {
                    continue;
                }
                let mut key = Vec::new();
                super::shape::shape_bytes(own, false, &mut key);
                let groups = known.entry(key).or_insert_with(|| self.reader.inverses(own));
                owners.extend(groups.iter().map(|group| (group.clone(), at)));
            }
        }
        owners
    }

    /// What real nodes say about each group.
    pub fn count(&self, groups: &Groups, index: &Index, owners: &Owners) -> Vec<Counted> {
        let mut counted = vec![Counted::default(); groups.list.len()];
        if groups.list.is_empty() {
            return counted;
        }
        let filters = Filters::of(groups, self);
        self.offer(groups, &filters, &mut counted);
        self.count_pods(groups, index, &filters, &mut counted);
        for (group, at) in owners {
            let Some(number) = groups.number(group) else { continue };
            let node = &self.nodes[*at];
            let has_host = node.labels.contains_key(HOSTNAME);
            if !group.is_hostname() || has_host {
                self.add(&mut counted[number as usize], group, *at);
            }
        }
        counted
    }

    /// Domains of real nodes that pass the filter are known, with no pods as yet.
    fn offer(&self, groups: &Groups, filters: &Filters, counted: &mut [Counted]) {
        let mut known: HashMap<(usize, &str), Vec<&str>> = HashMap::new();
        for (number, (group, counted)) in groups.list.iter().zip(counted).enumerate() {
            if group.is_hostname() {
                continue;
            }
            // DIFFERS: Karpenter does not tell the other side of an anti-affinity which domains
            // real nodes offer; it knows those of pools and those that are counted.
            if group.kind == GroupKindOrder::Inverse && !self.is_mended {
                continue;
            }
            let filter = filters.of_group[number];
            let values = known.entry((filter, &group.key)).or_insert_with(|| {
                let passing = self.nodes.iter().zip(&filters.passes[filter]);
                let mut values: Vec<&str> = passing
                    .filter(|(node, passes)| **passes && !node.is_leaving)
                    .filter_map(|(node, _)| self.domain(node, &group.key))
                    .collect();
                values.sort_unstable();
                values.dedup();
                values
            });
            counted.domains.extend(values.iter().map(|value| ((*value).to_owned(), 0)));
        }
    }

    fn count_pods(
        &self,
        groups: &Groups,
        index: &Index,
        filters: &Filters,
        counted: &mut [Counted],
    ) {
        static NONE: Labels = Labels::new();
        let mut sets = LabelSets::default();
        let mut matches: Vec<Vec<u32>> = Vec::new();
        let mut buffer = Vec::new();
        for (at, node) in self.nodes.iter().enumerate().filter(|(_, n)| n.node.is_some()) {
            for row in node.pods.iter().filter(|row| !self.moved.contains(row)) {
                let own: &Pod = &self.snapshot.pods[*row];
                if pod::is_ignored_for_topology(own) {
                    continue;
                }
                let namespace = namespace_of(own);
                let labels = own.metadata.labels.as_ref().unwrap_or(&NONE);
                let set = sets.number(namespace, labels, &mut buffer) as usize;
                if set == matches.len() {
                    matches.push(index.matches(&groups.list, namespace, labels, !self.is_mended));
                }
                for number in &matches[set] {
                    let group = &groups.list[*number as usize];
                    if group.kind == GroupKindOrder::Inverse {
                        continue;
                    }
                    if filters.passes[filters.of_group[*number as usize]][at] {
                        self.add(&mut counted[*number as usize], group, at);
                    }
                }
            }
        }
    }

    fn add(&self, counted: &mut Counted, group: &GroupText, at: usize) {
        if group.is_hostname() {
            *counted.nodes.entry(at).or_default() += 1;
        } else if let Some(domain) = self.domain(&self.nodes[at], &group.key) {
            *counted.domains.entry(domain.to_owned()).or_default() += 1;
        } else {
            return;
        }
        counted.total += 1;
    }

    /// The node's value of a topology key. An empty zone is no zone.
    fn domain<'n>(&self, node: &'n StateNode, key: &str) -> Option<&'n str> {
        node.node?;
        let value = self.dialect.label(node.labels, key)?;
        let is_no_zone = |zone: &str| {
            zone.is_empty()
                || (zone == AZURE_NO_ZONE && self.is_mended && self.dialect.has_no_zone_zero())
        };
        (key != ZONE || !is_no_zone(value)).then_some(value.as_str())
    }

    /// True when the node satisfies the group's filter.
    fn passes(&self, group: &GroupText, node: &StateNode) -> bool {
        let Some(own) = node.node else { return false };
        static NONE: Labels = Labels::new();
        let labels = own.metadata.labels.as_ref().unwrap_or(&NONE);
        let may_lack = |need: &Need| {
            if self.is_mended { need.lets_lack() } else { need.only_forbids() }
        };
        let satisfies = |needs: &Needs| {
            needs.0.iter().all(|(key, need)| match self.dialect.label(labels, key) {
                Some(value) => need.allows(value),
                None => may_lack(need),
            })
        };
        let taints: &[Taint] =
            own.spec.as_ref().and_then(|s| s.taints.as_deref()).unwrap_or_default();
        (group.filter.is_empty() || group.filter.iter().any(satisfies))
            && (!group.honors_taints || tolerates_all(&group.tolerations, taints))
    }
}

/// Node filters, and which state nodes pass them.
struct Filters {
    of_group: Vec<usize>,
    passes: Vec<Vec<bool>>,
}

impl Filters {
    fn of(groups: &Groups, counter: &Counter) -> Self {
        let mut numbers: HashMap<(&[Needs], Option<&[Tolerated]>), usize> = HashMap::new();
        let mut own = Self { of_group: Vec::new(), passes: Vec::new() };
        for group in &groups.list {
            let tolerations = group.honors_taints.then_some(group.tolerations.as_slice());
            let number = *numbers.entry((&group.filter, tolerations)).or_insert_with(|| {
                let passes = counter.nodes.iter().map(|node| counter.passes(group, node));
                own.passes.push(passes.collect());
                own.passes.len() - 1
            });
            own.of_group.push(number);
        }
        own
    }
}
