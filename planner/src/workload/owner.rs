//! Which workloads have pods, or children that bring pods, in the input.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    LabelSelector, LabelSelectorRequirement, ObjectMeta, OwnerReference,
};

use super::Workload;
use crate::snapshot::Snapshot;

type Labels = BTreeMap<String, String>;

/// Owners named in the input, and pods that nobody owns.
pub(super) struct Owners<'a> {
    /// Kind, namespace and name of every controller of a pod or of a child workload.
    named: BTreeSet<(&'a str, &'a str, &'a str)>,
    /// ReplicaSets and Jobs that are named by pods and are not in the input, with the labels
    /// of one such pod: their own owner is only known by their name.
    absent: Vec<(&'a str, &'a str, &'a str, Option<&'a Labels>)>,
    /// Labels of pods without a controller, by namespace.
    orphans: BTreeMap<&'a str, BTreeSet<&'a Labels>>,
}

/// Who controls an object: the owner that says so, or else the first.
pub(crate) fn controller(metadata: &ObjectMeta) -> Option<&OwnerReference> {
    let mut references = metadata.owner_references.iter().flatten();
    references.find(|o| o.controller == Some(true)).or_else(|| {
        // Hand-written owner references often leave the flag out.
        metadata.owner_references.iter().flatten().next()
    })
}

fn namespace(metadata: &ObjectMeta) -> &str {
    metadata.namespace.as_deref().unwrap_or_default()
}

impl<'a> Owners<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let mut owners =
            Self { named: BTreeSet::new(), absent: Vec::new(), orphans: BTreeMap::new() };
        let sets: BTreeSet<(&str, &str, &str)> = snapshot
            .replica_sets
            .iter()
            .map(|o| ("ReplicaSet", &o.object.metadata))
            .chain(snapshot.jobs.iter().map(|o| ("Job", &o.object.metadata)))
            .map(|(kind, m)| (kind, namespace(m), m.name.as_deref().unwrap_or_default()))
            .collect();
        for pod in &snapshot.pods {
            let metadata = &pod.object.metadata;
            let space = namespace(metadata);
            match controller(metadata) {
                Some(owner) => {
                    let key = (owner.kind.as_str(), space, owner.name.as_str());
                    let is_new = owners.named.insert(key);
                    if is_new && matches!(key.0, "ReplicaSet" | "Job") && !sets.contains(&key) {
                        owners.absent.push((key.0, space, key.2, metadata.labels.as_ref()));
                    }
                }
                None => {
                    if let Some(labels) = &metadata.labels {
                        owners.orphans.entry(space).or_default().insert(labels);
                    }
                }
            }
        }
        // A child workload stands for its owner: it is expanded itself, or has pods.
        for metadata in snapshot
            .replica_sets
            .iter()
            .map(|o| &o.object.metadata)
            .chain(snapshot.jobs.iter().map(|o| &o.object.metadata))
        {
            if let Some(owner) = controller(metadata) {
                owners.named.insert((
                    owner.kind.as_str(),
                    namespace(metadata),
                    owner.name.as_str(),
                ));
            }
        }
        owners
    }

    /// True when the workload's pods are in the input, or come by a child of it.
    pub fn has_pods(&self, workload: &Workload<'_>) -> bool {
        let space = namespace(workload.metadata);
        let name = workload.metadata.name.as_deref().unwrap_or_default();
        if self.named.contains(&(workload.kind, space, name)) {
            return true;
        }
        let child = match workload.kind {
            "Deployment" => Some("ReplicaSet"),
            "CronJob" => Some("Job"),
            _ => None,
        };
        let is_child = |(kind, at, owner, labels): &(&str, &str, &str, Option<&Labels>)| {
            Some(*kind) == child
                && *at == space
                && is_made_from(owner, name)
                && workload.selector.is_none_or(|s| labels.is_some_and(|l| selects(s, l)))
        };
        if self.absent.iter().any(is_child) {
            return true;
        }
        // Controllers adopt pods that match and that nobody owns.
        let orphans = self.orphans.get(space);
        workload
            .selector
            .is_some_and(|s| orphans.into_iter().flatten().any(|labels| selects(s, labels)))
    }
}

/// `web-7d4b9c` is made from `web`, `web-api-7d4b9c` is not.
pub(super) fn is_made_from(child: &str, name: &str) -> bool {
    let suffix = child.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
    suffix.is_some_and(|suffix| !suffix.is_empty() && !suffix.contains('-'))
}

/// An empty selector selects nothing here: it would make every pod of a namespace ours.
pub(crate) fn selects(selector: &LabelSelector, labels: &Labels) -> bool {
    let pairs = selector.match_labels.as_ref();
    let expressions = selector.match_expressions.as_deref().unwrap_or_default();
    let is_empty = pairs.is_none_or(BTreeMap::is_empty) && expressions.is_empty();
    !is_empty
        && pairs.into_iter().flatten().all(|(key, value)| labels.get(key) == Some(value))
        && expressions.iter().all(|expression| holds(expression, labels))
}

fn holds(expression: &LabelSelectorRequirement, labels: &Labels) -> bool {
    let found = labels.get(&expression.key);
    let listed =
        |value: &String| expression.values.as_ref().is_some_and(|values| values.contains(value));
    match expression.operator.as_str() {
        "In" => found.is_some_and(listed),
        "NotIn" => !found.is_some_and(listed),
        "Exists" => found.is_some(),
        "DoesNotExist" => found.is_none(),
        _ => false,
    }
}
