//! Which pods prefer capacity that is not spot, so that no workload rests on spot alone.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::labels::{CAPACITY_TYPE, CAPACITY_TYPE_SPOT};
use k8s_openapi::api::core::v1::Pod;

use super::cluster::StateNode;
use super::rules::namespace_of;
use crate::pod;
use crate::settings::ShareMillionths;
use crate::snapshot::Snapshot;

/// Pods of one workload.
#[derive(Default)]
struct Workload<'a> {
    pods: u64,
    on_spot: u64,
    pending: Vec<(&'a str, usize)>,
}

/// Rows of the Snapshot's pods that are to prefer other capacity than spot: those of each
/// workload beyond the share, last by name first. A pod without an owner is a workload.
pub fn held_back(
    snapshot: &Snapshot,
    nodes: &[StateNode],
    moved: &std::collections::HashSet<usize>,
    share: ShareMillionths,
) -> BTreeSet<usize> {
    if share.0 >= 1_000_000 {
        return BTreeSet::new();
    }
    let spot: BTreeSet<usize> = nodes
        .iter()
        .filter(|n| n.labels.get(CAPACITY_TYPE).is_some_and(|x| x == CAPACITY_TYPE_SPOT))
        .flat_map(|n| n.pods.iter().copied())
        .collect();
    let mut workloads: BTreeMap<(&str, &str, &str), Workload> = BTreeMap::new();
    for (row, own) in snapshot.pods.iter().enumerate() {
        let is_waiting = pod::is_provisionable(own) || moved.contains(&row);
        let is_bound = own.spec.as_ref().is_some_and(|s| s.node_name.is_some());
        if !is_waiting && !is_bound {
            continue;
        }
        let workload = workloads.entry(workload_of(own)).or_default();
        workload.pods += 1;
        if is_waiting {
            workload.pending.push((own.metadata.name.as_deref().unwrap_or(""), row));
        } else if spot.contains(&row) {
            workload.on_spot += 1;
        }
    }
    let mut held = BTreeSet::new();
    for workload in workloads.values_mut() {
        let most = workload.pods * u64::from(share.0) / 1_000_000;
        let room = most.saturating_sub(workload.on_spot) as usize;
        workload.pending.sort_unstable();
        held.extend(workload.pending.iter().skip(room).map(|(_, row)| *row));
    }
    held
}

fn workload_of(pod: &Pod) -> (&str, &str, &str) {
    let owners = pod.metadata.owner_references.iter().flatten();
    let owner = owners.clone().find(|o| o.controller == Some(true)).or(owners.clone().next());
    match owner {
        Some(owner) => (namespace_of(pod), &owner.kind, &owner.name),
        None => (namespace_of(pod), "", pod.metadata.name.as_deref().unwrap_or("")),
    }
}
