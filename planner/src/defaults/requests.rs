//! Requests that are not written: limits stand in for them, then the namespace's LimitRanges.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, LimitRangeItem, PodSpec, ResourceRequirements};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::snapshot::{Snapshot, Sourced};

/// Default amounts of containers, by namespace.
#[derive(Default)]
pub(crate) struct ContainerDefaults(BTreeMap<String, Vec<LimitRangeItem>>);

impl ContainerDefaults {
    /// Reads the LimitRanges of the Snapshot. Several in one namespace count in the order of
    /// their names; the first that names a resource wins. Only items of type Container count,
    /// and of them only the defaults: bounds change no pod.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut ranges: Vec<_> = snapshot.limit_ranges.iter().collect();
        ranges.sort_by_key(|range| range.metadata.name.clone());
        let mut items: BTreeMap<String, Vec<LimitRangeItem>> = BTreeMap::new();
        for range in ranges {
            let namespace = range.metadata.namespace.clone().unwrap_or_default();
            let limits = range.spec.iter().flat_map(|spec| &spec.limits);
            let of_containers = limits.filter(|item| item.type_ == "Container").cloned();
            items.entry(namespace).or_default().extend(of_containers);
        }
        Self(items)
    }

    /// Fills in what the admission of a new pod in that namespace would fill in.
    pub(crate) fn admit(&self, namespace: &str, spec: &mut PodSpec) {
        from_limits(spec);
        let Some(items) = self.0.get(namespace) else { return };
        for container in containers(spec) {
            let resources = container.resources.get_or_insert_default();
            for item in items {
                fill(&mut resources.requests, item.default_request.as_ref());
                // Without a default request the default limit is the request.
                fill(&mut resources.requests, item.default.as_ref());
                fill(&mut resources.limits, item.default.as_ref());
            }
        }
    }
}

type Amounts = BTreeMap<String, Quantity>;

fn fill(amounts: &mut Option<Amounts>, defaults: Option<&Amounts>) {
    for (name, quantity) in defaults.into_iter().flatten() {
        let amounts = amounts.get_or_insert_default();
        amounts.entry(name.clone()).or_insert_with(|| quantity.clone());
    }
}

fn containers(spec: &mut PodSpec) -> impl Iterator<Item = &mut Container> {
    spec.containers.iter_mut().chain(spec.init_containers.iter_mut().flatten())
}

/// A limit without a request is the request, for containers and for the pod as a whole.
pub(crate) fn from_limits(spec: &mut PodSpec) {
    for container in containers(spec) {
        if let Some(resources) = &mut container.resources {
            let limits = resources.limits.clone();
            fill(&mut resources.requests, limits.as_ref());
        }
    }
    // A pod-level limit is the pod's request only where no container asks for the resource:
    // otherwise the request is what the containers ask for together.
    let asked: Vec<String> = containers(spec)
        .filter_map(|c| c.resources.as_ref()?.requests.as_ref())
        .flat_map(|requests| requests.keys().cloned())
        .collect();
    if let Some(ResourceRequirements { limits: Some(limits), requests, .. }) = &mut spec.resources {
        let unasked = limits.iter().filter(|(name, _)| !asked.contains(name));
        let unasked: Amounts = unasked.map(|(name, q)| (name.clone(), q.clone())).collect();
        fill(requests, Some(&unasked));
    }
}

/// Pods that an API server has seen get the limits rule only, which is a no-op for them;
/// pods and DaemonSets from manifests get what admission would give them.
pub(super) fn apply(snapshot: &mut Snapshot) {
    let defaults = ContainerDefaults::of(snapshot);
    for Sourced { object: pod, .. } in &mut snapshot.pods {
        let is_admitted = pod.metadata.uid.as_deref().is_some_and(|uid| !uid.is_empty());
        let Some(spec) = &mut pod.spec else { continue };
        if is_admitted {
            from_limits(spec);
        } else {
            defaults.admit(pod.metadata.namespace.as_deref().unwrap_or_default(), spec);
        }
    }
    for Sourced { object: set, .. } in &mut snapshot.daemon_sets {
        let namespace = set.metadata.namespace.clone().unwrap_or_default();
        let template = set.spec.as_mut().and_then(|spec| spec.template.spec.as_mut());
        if let Some(spec) = template {
            defaults.admit(&namespace, spec);
        }
    }
}
