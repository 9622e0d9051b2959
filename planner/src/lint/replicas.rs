//! Several replicas, and nothing that keeps some of them up while nodes come and go.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;

use super::requests::below;
use super::workloads::Workload;
use super::world::World;
use super::{Findings, listed};
use crate::workload::selects;

/// Workloads with several replicas that a pool takes which moves pods to save money, and the
/// names of these pools.
fn at_risk<'w>(world: &'w World<'_>) -> impl Iterator<Item = (&'w Workload, Vec<&'w str>)> {
    let is_service = |w: &&Workload| {
        w.replicas > 1 && ["Deployment", "ReplicaSet", "StatefulSet"].contains(&w.kind.as_str())
    };
    world.workloads.iter().filter(is_service).filter_map(|workload| {
        let pools = world.takers(workload).filter(|pool| pool.consolidates_used_nodes());
        let pools: Vec<&str> = pools.map(|pool| pool.name.as_str()).collect();
        (!pools.is_empty()).then_some((workload, pools))
    })
}

pub(super) fn replicas_without_pdb(world: &World<'_>, found: &mut Findings) {
    for (workload, pools) in at_risk(world) {
        if has_budget(world, workload) {
            continue;
        }
        let message = format!(
            "{} replicas and no PodDisruptionBudget: consolidation by {} may evict all of them \
             at once",
            workload.replicas,
            listed(pools)
        );
        let labels: Vec<String> =
            workload.labels.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let fix = format!(
            "add a PodDisruptionBudget in namespace `{}` with `spec.maxUnavailable: 1` and \
             `spec.selector.matchLabels: {{{}}}`",
            workload.namespace,
            labels.join(", ")
        );
        found.add(workload.object(), message, fix);
    }
}

fn has_budget(world: &World<'_>, workload: &Workload) -> bool {
    world.snapshot.pod_disruption_budgets.iter().any(|budget| {
        budget.metadata.namespace.as_deref().unwrap_or("default") == workload.namespace
            && budget
                .spec
                .as_ref()
                .and_then(|spec| spec.selector.as_ref())
                .is_some_and(|selector| covers(selector, &workload.labels))
    })
}

/// The empty selector of a budget covers every pod of its namespace.
fn covers(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let is_empty = selector.match_labels.as_ref().is_none_or(BTreeMap::is_empty)
        && selector.match_expressions.as_ref().is_none_or(Vec::is_empty);
    is_empty || selects(selector, labels)
}

pub(super) fn replicas_without_spread(world: &World<'_>, found: &mut Findings) {
    for (workload, pools) in at_risk(world) {
        let spec = &workload.spec;
        let is_apart = spec.affinity.as_ref().is_some_and(|a| a.pod_anti_affinity.is_some());
        if is_apart || spec.topology_spread_constraints.as_ref().is_some_and(|c| !c.is_empty()) {
            continue;
        }
        let message = format!(
            "{} replicas and no topology spread: consolidation by {} may put all of them on one \
             node",
            workload.replicas,
            listed(pools)
        );
        let labels: Vec<String> =
            workload.labels.iter().map(|(key, value)| format!("{key}: {value}")).collect();
        let fix = format!(
            "add to `{}`: `{{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, \
             whenUnsatisfiable: ScheduleAnyway, labelSelector: {{matchLabels: {{{}}}}}}}`",
            below(workload, "topologySpreadConstraints"),
            labels.join(", ")
        );
        found.add(workload.object(), message, fix);
    }
}
