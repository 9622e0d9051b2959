//! Topology rules of a pod in names: spreads, affinity, anti-affinity, and the group of each.
//!
//! What makes two groups the same is decided here; which pods they count is not.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::labels::HOSTNAME;
use dunnage_engine_core::problem::GroupKind;
use k8s_openapi::api::core::v1::{
    Pod, PodAffinityTerm, PodSpec, TopologySpreadConstraint, WeightedPodAffinityTerm,
};

use super::dialect::Dialect;
use super::needs::Needs;
use super::selector::{Labels, Selector};
use super::tolerations::{Tolerated, tolerated};
use crate::snapshot::Snapshot;

/// A topology group in names. The order of the fields is the order of groups in the tables.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupText {
    /// Kind.
    pub kind: GroupKindOrder,
    /// Topology key.
    pub key: String,
    /// Namespaces; `None` for all.
    pub namespaces: Option<BTreeSet<String>>,
    /// Which pods count.
    pub selector: Selector,
    /// Most by which a domain may be ahead.
    pub max_skew: u32,
    /// 0 for unset.
    pub min_domains: u32,
    /// Nodes that count satisfy one of these; empty for all nodes.
    pub filter: Vec<Needs>,
    /// Nodes whose taints are not tolerated do not count.
    pub honors_taints: bool,
    /// Pools whose taints are not tolerated do not count.
    pub honors_pool_taints: bool,
    /// For the two fields above; empty when neither holds.
    pub tolerations: Vec<Tolerated>,
    /// Tolerations and node terms of the pods it counts for, whatever its policies: part of a
    /// spread's identity in Karpenter, and empty under the mended rules.
    pub counted_for: (Vec<Tolerated>, Vec<Needs>),
}

/// [`GroupKind`] that can be hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKindOrder {
    /// [`GroupKind::Spread`].
    Spread,
    /// [`GroupKind::Affinity`].
    Affinity,
    /// [`GroupKind::AntiAffinity`].
    AntiAffinity,
    /// [`GroupKind::Inverse`].
    Inverse,
}

impl From<GroupKindOrder> for GroupKind {
    fn from(kind: GroupKindOrder) -> Self {
        match kind {
            GroupKindOrder::Spread => Self::Spread,
            GroupKindOrder::Affinity => Self::Affinity,
            GroupKindOrder::AntiAffinity => Self::AntiAffinity,
            GroupKindOrder::Inverse => Self::Inverse,
        }
    }
}

impl GroupText {
    /// Domains are single nodes.
    pub fn is_hostname(&self) -> bool {
        self.key == HOSTNAME
    }

    /// True when a pod of these labels in this namespace counts. `counts_nil` makes a missing
    /// selector select all pods, as Karpenter does for pods that run already.
    pub fn selects(&self, namespace: &str, labels: &Labels, counts_nil: bool) -> bool {
        self.namespaces.as_ref().is_none_or(|all| all.contains(namespace))
            && (self.selector.selects(labels) || (counts_nil && self.selector == Selector::Nil))
    }
}

/// A topology rule of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// What is counted.
    pub group: GroupText,
    /// 0 for a rule that must hold.
    pub weight: u32,
    /// The group that keeps selected pods away from this one.
    pub inverse: Option<GroupText>,
    /// Groups that count instead as the pod gives things up, in the order of
    /// `Link::variants`; empty when nothing changes.
    pub variants: Vec<GroupText>,
}

/// What rules are read with.
#[derive(Debug)]
pub struct RuleReader<'a> {
    /// Labels in their spelling.
    pub dialect: &'a Dialect,
    /// Labels of every namespace that is known.
    pub namespaces: BTreeMap<&'a str, Labels>,
    /// Preferences count.
    pub respects_preferences: bool,
    /// The mended rules hold.
    pub is_mended: bool,
    /// Some pool has a taint that only prefers.
    has_soft_taint: bool,
    /// Spread constraints of pods without their own.
    pub defaults: &'a [TopologySpreadConstraint],
    /// Selectors of owners: kind, namespace, name.
    owners: BTreeMap<(&'a str, &'a str, &'a str), Selector>,
}

impl<'a> RuleReader<'a> {
    /// A reader for this Snapshot.
    pub fn of(snapshot: &'a Snapshot, dialect: &'a Dialect, is_mended: bool) -> Self {
        let settings = &snapshot.settings;
        let defaults: &[_] = if is_mended { &settings.default_spread_constraints } else { &[] };
        let respects_preferences =
            settings.preference_policy == crate::settings::PreferencePolicy::Respect;
        Self {
            dialect,
            namespaces: namespaces(snapshot),
            respects_preferences,
            is_mended,
            has_soft_taint: has_soft_taint(snapshot),
            defaults,
            owners: if defaults.is_empty() { BTreeMap::new() } else { owners(snapshot) },
        }
    }

    /// Rules of a pod: spreads in list order, then affinity, then anti-affinity; the required
    /// ones of each first, then preferred ones, heaviest first.
    pub fn rules(&self, pod: &Pod, spec: &PodSpec, filter: &[Needs]) -> Vec<Rule> {
        let mut rules = Vec::new();
        let tolerations = tolerated(spec.tolerations.as_ref());
        let own = spec.topology_spread_constraints.as_deref().unwrap_or_default();
        for constraint in own {
            let selector = self.spread_selector(constraint, pod);
            rules.extend(self.spread(constraint, selector, pod, filter, &tolerations));
        }
        if own.is_empty()
            && !self.defaults.is_empty()
            && let Some(selector) = self.owner_selector(pod)
        {
            for constraint in self.defaults {
                rules.extend(self.spread(constraint, selector.clone(), pod, filter, &tolerations));
            }
        }
        let affinity = spec.affinity.as_ref();
        if let Some(own) = affinity.and_then(|a| a.pod_affinity.as_ref()) {
            let kind = GroupKindOrder::Affinity;
            let required = own.required_during_scheduling_ignored_during_execution.as_deref();
            let preferred = own.preferred_during_scheduling_ignored_during_execution.as_deref();
            self.terms(kind, required, preferred, pod, &tolerations, &mut rules);
        }
        if let Some(own) = affinity.and_then(|a| a.pod_anti_affinity.as_ref()) {
            let kind = GroupKindOrder::AntiAffinity;
            let required = own.required_during_scheduling_ignored_during_execution.as_deref();
            let preferred = own.preferred_during_scheduling_ignored_during_execution.as_deref();
            self.terms(kind, required, preferred, pod, &tolerations, &mut rules);
        }
        rules
    }

    fn terms(
        &self,
        kind: GroupKindOrder,
        required: Option<&[PodAffinityTerm]>,
        preferred: Option<&[WeightedPodAffinityTerm]>,
        pod: &Pod,
        tolerations: &[Tolerated],
        rules: &mut Vec<Rule>,
    ) {
        for term in required.unwrap_or_default() {
            let group = self.term(kind, term, pod, tolerations);
            let inverse = (kind == GroupKindOrder::AntiAffinity)
                .then(|| self.term(GroupKindOrder::Inverse, term, pod, tolerations));
            rules.push(Rule { group, weight: 0, inverse, variants: Vec::new() });
        }
        if self.respects_preferences {
            let mut preferred: Vec<_> = preferred.unwrap_or_default().iter().collect();
            preferred.sort_by_key(|term| std::cmp::Reverse(term.weight));
            for term in preferred {
                let group = self.term(kind, &term.pod_affinity_term, pod, tolerations);
                let weight = weight(term.weight);
                rules.push(Rule { group, weight, inverse: None, variants: Vec::new() });
            }
        }
    }

    /// The inverse groups of a bound pod.
    pub fn inverses(&self, pod: &Pod) -> Vec<GroupText> {
        let Some(spec) = &pod.spec else { return Vec::new() };
        let anti = spec.affinity.as_ref().and_then(|a| a.pod_anti_affinity.as_ref());
        let terms =
            anti.and_then(|a| a.required_during_scheduling_ignored_during_execution.as_ref());
        let tolerations = tolerated(spec.tolerations.as_ref());
        terms
            .into_iter()
            .flatten()
            .map(|term| self.term(GroupKindOrder::Inverse, term, pod, &tolerations))
            .collect()
    }

    fn term(
        &self,
        kind: GroupKindOrder,
        term: &PodAffinityTerm,
        pod: &Pod,
        tolerations: &[Tolerated],
    ) -> GroupText {
        // DIFFERS: an inverse group keeps others away wherever its owner may be, so the
        // owner's tolerations say nothing about where those others may go.
        let honors_pool_taints = !(self.is_mended && kind == GroupKindOrder::Inverse);
        GroupText {
            kind,
            key: self.dialect.normalized(&term.topology_key).to_owned(),
            namespaces: self.term_namespaces(term, namespace_of(pod)),
            selector: Selector::of(term.label_selector.as_ref()),
            max_skew: i32::MAX as u32,
            min_domains: 0,
            filter: Vec::new(),
            honors_taints: false,
            honors_pool_taints,
            tolerations: if honors_pool_taints { tolerations.to_vec() } else { Vec::new() },
            counted_for: Default::default(),
        }
    }

    fn term_namespaces(&self, term: &PodAffinityTerm, own: &str) -> Option<BTreeSet<String>> {
        let listed = term.namespaces.as_deref().unwrap_or_default();
        let selector = Selector::of(term.namespace_selector.as_ref());
        match &selector {
            Selector::Nil if listed.is_empty() => Some(BTreeSet::from([own.to_owned()])),
            Selector::All(all) if all.is_empty() => None,
            _ => {
                let selected = self
                    .namespaces
                    .iter()
                    .filter(|(_, labels)| selector.selects(labels))
                    .map(|(name, _)| (*name).to_owned());
                Some(listed.iter().cloned().chain(selected).collect())
            }
        }
    }

    fn spread_selector(&self, constraint: &TopologySpreadConstraint, pod: &Pod) -> Selector {
        let labels = pod.metadata.labels.as_ref();
        let keys = constraint.match_label_keys.iter().flatten();
        keys.filter_map(|key| Some((key, labels?.get(key)?)))
            .fold(Selector::of(constraint.label_selector.as_ref()), |selector, (key, value)| {
                selector.and_equals(key, value)
            })
    }

    fn spread(
        &self,
        constraint: &TopologySpreadConstraint,
        selector: Selector,
        pod: &Pod,
        filter: &[Needs],
        tolerations: &[Tolerated],
    ) -> Option<Rule> {
        let is_soft = constraint.when_unsatisfiable == "ScheduleAnyway";
        if is_soft && !self.respects_preferences {
            return None;
        }
        let honors_taints = constraint.node_taints_policy.as_deref() == Some("Honor");
        let honors_affinity = constraint.node_affinity_policy.as_deref() != Some("Ignore");
        let positive = |n: i32| u32::try_from(n).unwrap_or(0);
        let group = GroupText {
            kind: GroupKindOrder::Spread,
            key: self.dialect.normalized(&constraint.topology_key).to_owned(),
            namespaces: Some(BTreeSet::from([namespace_of(pod).to_owned()])),
            selector,
            max_skew: positive(constraint.max_skew).max(1),
            min_domains: constraint.min_domains.map_or(0, positive),
            filter: if honors_affinity { filter.to_vec() } else { Vec::new() },
            honors_taints,
            honors_pool_taints: honors_taints,
            tolerations: if honors_taints { tolerations.to_vec() } else { Vec::new() },
            counted_for: if self.is_mended {
                Default::default()
            } else {
                (tolerations.to_vec(), filter.to_vec())
            },
        };
        let variants = self.variants(&group, filter, honors_affinity, tolerations);
        Some(Rule { group, weight: u32::from(is_soft), inverse: None, variants })
    }

    /// DIFFERS: in Karpenter the node filter is part of a spread's identity, so a pod that gave
    /// up a required term, or came to tolerate soft taints, counts by a group of its own.
    fn variants(
        &self,
        group: &GroupText,
        filter: &[Needs],
        honors_affinity: bool,
        tolerations: &[Tolerated],
    ) -> Vec<GroupText> {
        let terms = filter.len().max(1);
        if self.is_mended || (terms == 1 && !self.has_soft_taint) {
            return Vec::new();
        }
        let left = |term: usize| filter.get(term..).unwrap_or_default().to_vec();
        let soft = Tolerated::soft_taints();
        let by_tolerance = |tolerates: bool| {
            let mut list = tolerations.to_vec();
            list.extend(tolerates.then(|| soft.clone()));
            (0..terms).map(move |term| GroupText {
                filter: if honors_affinity { left(term) } else { Vec::new() },
                tolerations: if group.honors_taints { list.clone() } else { Vec::new() },
                counted_for: (list.clone(), left(term)),
                ..group.clone()
            })
        };
        by_tolerance(false).chain(by_tolerance(true)).collect()
    }

    /// The selector of the pod's controller, for default spread constraints.
    fn owner_selector(&self, pod: &Pod) -> Option<Selector> {
        let namespace = namespace_of(pod);
        let owners = pod.metadata.owner_references.iter().flatten();
        owners
            .filter(|owner| owner.controller == Some(true))
            .find_map(|o| self.owners.get(&(o.kind.as_str(), namespace, o.name.as_str())))
            .cloned()
    }
}

/// Weight of a preference; the API allows 1 to 100.
pub fn weight(weight: i32) -> u32 {
    u32::try_from(weight).unwrap_or(0).max(1)
}

/// The namespace of a pod.
pub fn namespace_of(pod: &Pod) -> &str {
    pod.metadata.namespace.as_deref().unwrap_or("default")
}

fn namespaces(snapshot: &Snapshot) -> BTreeMap<&str, Labels> {
    let mut all: BTreeMap<&str, Labels> = BTreeMap::new();
    for namespace in &snapshot.namespaces {
        if let Some(name) = &namespace.metadata.name {
            all.insert(name, namespace.metadata.labels.clone().unwrap_or_default());
        }
    }
    for pod in &snapshot.pods {
        all.entry(namespace_of(pod)).or_default();
    }
    for (name, labels) in &mut all {
        // The API server sets this label on every namespace.
        labels
            .entry("kubernetes.io/metadata.name".to_owned())
            .or_insert_with(|| (*name).to_owned());
    }
    all
}

fn owners(snapshot: &Snapshot) -> BTreeMap<(&str, &str, &str), Selector> {
    let mut all = BTreeMap::new();
    macro_rules! add {
        ($list:expr, $kind:literal) => {
            for owner in $list {
                let namespace = owner.metadata.namespace.as_deref().unwrap_or("default");
                if let (Some(name), Some(spec)) = (&owner.metadata.name, &owner.spec) {
                    let selector = Selector::of(Some(&spec.selector));
                    all.insert(($kind, namespace, name.as_str()), selector);
                }
            }
        };
    }
    add!(&snapshot.replica_sets, "ReplicaSet");
    add!(&snapshot.stateful_sets, "StatefulSet");
    add!(&snapshot.deployments, "Deployment");
    all
}

/// True when some pool has a taint that only prefers.
fn has_soft_taint(snapshot: &Snapshot) -> bool {
    snapshot
        .node_pools
        .iter()
        .flat_map(|pool| &pool.spec.template.spec.taints)
        .any(|taint| taint.effect == "PreferNoSchedule")
}
