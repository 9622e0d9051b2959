//! Zones that nobody sells: typing errors mostly.

use std::collections::BTreeSet;

use dunnage_api::labels::ZONE;
use k8s_openapi::api::core::v1::NodeSelectorTerm;

use super::regions::region_of;
use super::workloads::Workload;
use super::world::{Pool, World};
use super::{Findings, listed};
use crate::nearest::nearest;

const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// A zone that an object names.
struct Named {
    object: String,
    path: String,
    zone: String,
    /// Pods go elsewhere when nothing is there.
    is_preferred: bool,
}

/// A zone is most likely a misspelt one.
pub(super) fn unknown_zone(world: &World<'_>, found: &mut Findings) {
    for Named { object, path, zone, .. } in unsold(world).into_iter().filter(|n| !n.is_preferred) {
        let Some(meant) = near(world, &zone) else { continue };
        found.add(
            object,
            format!(
                "`{path}` names zone `{zone}`, in which nothing is sold (did you mean `{meant}`?)"
            ),
            format!("write `{meant}` instead of `{zone}` in `{path}`"),
        );
    }
}

/// A zone that looks like none that is known, or that is only preferred.
pub(super) fn unlisted_zone(world: &World<'_>, found: &mut Findings) {
    for Named { object, path, zone, is_preferred } in unsold(world) {
        let meant = near(world, &zone);
        let fix = match meant {
            Some(_) if !is_preferred => continue,
            Some(meant) => format!("write `{meant}` instead of `{zone}` in `{path}`"),
            None => {
                let known = listed(world.zones.iter().map(|zone| format!("`{zone}`")));
                format!("write a zone that is known in `{path}`, such as {known}")
            }
        };
        let message = format!("`{path}` names zone `{zone}`, in which the catalog sells nothing");
        found.add(object, message, fix);
    }
}

/// The known zone that was most likely meant. A zone of a region that is there, and that no known
/// zone is of, is no typing error.
fn near<'w>(world: &'w World<'_>, zone: &str) -> Option<&'w str> {
    let region = region_of(zone);
    let is_known = || world.zones.iter().any(|known| region_of(known) == region);
    if region.is_some() && !is_known() {
        return None;
    }
    nearest(zone, world.zones.iter().map(String::as_str))
}

/// Where the pool's machines are sold is known.
fn is_sold_somewhere(pool: &Pool<'_>) -> bool {
    pool.any.as_ref().is_some_and(|any| !any.zones.is_empty())
}

fn unsold(world: &World<'_>) -> Vec<Named> {
    let mut all = Vec::new();
    for pool in world.pools.iter().filter(|pool| is_sold_somewhere(pool)) {
        for (i, requirement) in pool.object.spec.template.spec.requirements.iter().enumerate() {
            if pool.label(&requirement.key) == ZONE && requirement.operator == "In" {
                let path = format!("spec.template.spec.requirements[{i}].values");
                named(world, &pool.name, &path, &requirement.values, &mut all);
            }
        }
        for (key, zone) in &pool.object.spec.template.metadata.labels {
            if pool.label(key) == ZONE {
                let path = format!("spec.template.metadata.labels[{key}]");
                named(world, &pool.name, &path, std::slice::from_ref(zone), &mut all);
            }
        }
    }
    // Pods may go to any pool: only when all of them are known is a zone sold nowhere.
    if !world.pools.is_empty() && world.pools.iter().all(is_sold_somewhere) {
        for workload in &world.workloads {
            of_pods(world, workload, &mut all);
        }
    }
    all
}

fn named(world: &World<'_>, object: &str, path: &str, zones: &[String], all: &mut Vec<Named>) {
    let unsold: BTreeSet<&String> = zones.iter().filter(|z| !is_sold(world, z)).collect();
    all.extend(unsold.into_iter().map(|zone| Named {
        object: object.to_owned(),
        path: path.to_owned(),
        zone: zone.clone(),
        is_preferred: path.contains(PREFERRED),
    }));
}

/// The empty zone, and Azure's `0`, stand for no zone.
fn is_sold(world: &World<'_>, zone: &str) -> bool {
    zone.is_empty() || zone == "0" || world.zones.contains(zone)
}

fn of_pods(world: &World<'_>, workload: &Workload, all: &mut Vec<Named>) {
    let object = workload.object();
    let is_zone = |key: &str| world.pools.iter().any(|pool| pool.label(key) == ZONE);
    let spec = &workload.spec;
    for (key, zone) in spec.node_selector.iter().flatten() {
        if is_zone(key) {
            let path = format!("{}.nodeSelector[{key}]", workload.at);
            named(world, &object, &path, std::slice::from_ref(zone), all);
        }
    }
    let affinity = spec.affinity.as_ref().and_then(|a| a.node_affinity.as_ref());
    let Some(affinity) = affinity else { return };
    let at = format!("{}.affinity.nodeAffinity", workload.at);
    let mut term = |path: String, term: &NodeSelectorTerm| {
        for (i, expression) in term.match_expressions.iter().flatten().enumerate() {
            if is_zone(&expression.key) && expression.operator == "In" {
                let path = format!("{path}.matchExpressions[{i}].values");
                let zones = expression.values.as_deref().unwrap_or_default();
                named(world, &object, &path, zones, all);
            }
        }
    };
    let required = affinity.required_during_scheduling_ignored_during_execution.as_ref();
    for (i, own) in required.iter().flat_map(|r| &r.node_selector_terms).enumerate() {
        let list = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
        term(format!("{at}.{list}[{i}]"), own);
    }
    let preferred = affinity.preferred_during_scheduling_ignored_during_execution.iter().flatten();
    for (i, own) in preferred.enumerate() {
        term(format!("{at}.{PREFERRED}[{i}].preference"), &own.preference);
    }
}
