//! Critical workloads in places that may be taken away: spot, disks that go with their machine,
//! and pools that move pods quickly.

use dunnage_api::labels::{CAPACITY_TYPE, azure};

use super::budgets::{budgets, windows};
use super::requests::below;
use super::windows::covers_working_days;
use super::workloads::Workload;
use super::world::{Pool, World};
use super::{Findings, listed};
use crate::snapshot::NodeClass;

/// Least priority of what is critical: the one that Kubernetes' own examples give to
/// important services.
const CRITICAL_PRIORITY: i32 = 1_000_000;

/// A delay that outlasts a rolling update and a short dip.
const SHORT_SECS: i64 = 5 * 60;

/// Hours of a working day without replacement that spare a service most of its load.
const QUIET_HOURS: i64 = 8;

fn is_critical(workload: &Workload) -> bool {
    workload.priority >= CRITICAL_PRIORITY && workload.replicas > 0 && workload.kind != "DaemonSet"
}

fn is_service(workload: &Workload) -> bool {
    !["Job", "CronJob", "DaemonSet"].contains(&workload.kind.as_str())
}

fn pool_name<'p>(pool: &'p Pool<'_>) -> &'p str {
    pool.object.metadata.name.as_deref().unwrap_or_default()
}

pub(super) fn critical_on_spot(world: &World<'_>, found: &mut Findings) {
    for workload in world.workloads.iter().filter(|w| is_critical(w)) {
        let sold = |pool: &Pool<'_>| workload.takers.get(pool_name(pool)).copied();
        let spot: Vec<&str> = world
            .takers(workload)
            .filter(|pool| sold(pool).is_some_and(|(spot, _)| spot))
            .map(|pool| pool.name.as_str())
            .collect();
        if spot.is_empty() {
            continue;
        }
        let message = format!(
            "its priority {} says that it is critical, and {} may put it on spot machines, \
             which are taken back at two minutes' notice or less",
            workload.priority,
            listed(spot)
        );
        let has_other =
            world.takers(workload).any(|pool| sold(pool).is_some_and(|(_, other)| other));
        let first = if has_other {
            ""
        } else {
            "first allow `on-demand` in `spec.template.spec.requirements` of a NodePool that takes \
             it, then "
        };
        let fix = format!(
            "{first}set `{}` to `{{{CAPACITY_TYPE}: on-demand}}`",
            below(workload, "nodeSelector")
        );
        found.add(workload.object(), message, fix);
    }
}

pub(super) fn critical_on_ephemeral_disk(world: &World<'_>, found: &mut Findings) {
    for workload in world.workloads.iter().filter(|w| is_critical(w)) {
        let mut why = None;
        let mut pools = Vec::new();
        for pool in world.takers(workload) {
            if let Some(found) = ephemeral_disk(pool) {
                why.get_or_insert(found);
                pools.push(pool.name.as_str());
            }
        }
        let Some((what, change)) = why else { continue };
        let message = format!(
            "its priority {} says that it is critical, and {} may put it on nodes whose disk \
             is lost with the machine ({what})",
            workload.priority,
            listed(pools)
        );
        let fix = format!(
            "{change}, or keep the pool for tolerant work by a taint in \
             `spec.template.spec.taints` that `{}` does not tolerate",
            below(workload, "tolerations")
        );
        found.add(workload.object(), message, fix);
    }
}

/// What makes the disk of a pool's nodes ephemeral, and what to change.
fn ephemeral_disk(pool: &Pool<'_>) -> Option<(String, String)> {
    if let Some(NodeClass::Ec2(class)) = pool.class
        && class.spec.instance_store_policy.as_deref() == Some("RAID0")
    {
        let name = class.metadata.name.as_deref().unwrap_or_default();
        return Some((
            format!("`spec.instanceStorePolicy: RAID0` of EC2NodeClass {name}"),
            format!("remove `spec.instanceStorePolicy` of EC2NodeClass {name}"),
        ));
    }
    let all = &pool.object.spec.template.spec.requirements;
    let (i, asked) = all.iter().enumerate().find(|(_, r)| {
        r.key == azure::SKU_STORAGE_EPHEMERALOS_MAXSIZE
            && !["DoesNotExist", "Lt", "Lte"].contains(&r.operator.as_str())
    })?;
    let field = format!("`spec.template.spec.requirements[{i}]` of {}", pool.name);
    Some((format!("{field} asks for `{}`", asked.key), format!("remove {field}")))
}

/// A short delay, and no working hours in which nothing is replaced.
fn is_hasty(world: &World<'_>, pool: &Pool<'_>) -> bool {
    if !pool.consolidates_used_nodes()
        || pool.consolidate_after_secs().is_none_or(|secs| secs >= SHORT_SECS)
    {
        return false;
    }
    // A budget that cannot be read lets nothing go.
    let Some(all) = budgets(pool) else { return false };
    let zero = all.iter().filter(|b| b.is_zero() && b.names("Underutilized"));
    match windows(zero) {
        None => false,
        Some(quiet) => !covers_working_days(&quiet, world.snapshot.now.as_second(), QUIET_HOURS),
    }
}

fn critical_services(world: &World<'_>, pool: &Pool<'_>) -> Vec<String> {
    let name = pool_name(pool);
    let all = world.workloads.iter().filter(|w| is_critical(w) && is_service(w));
    all.filter(|w| w.takers.contains_key(name)).map(Workload::object).collect()
}

const HASTY_FIX: &str = "set `spec.disruption.consolidateAfter` to `15m` or more, or add to \
     `spec.disruption.budgets` hours without replacement, in UTC: `{nodes: \"0\", reasons: \
     [Underutilized], schedule: 0 8 * * mon-fri, duration: 10h}`";

fn delay<'p>(pool: &'p Pool<'_>) -> &'p str {
    pool.disruption.consolidate_after.as_deref().unwrap_or("0s")
}

pub(super) fn critical_consolidates_soon(world: &World<'_>, found: &mut Findings) {
    for pool in world.pools.iter().filter(|pool| is_hasty(world, pool)) {
        let services = critical_services(world, pool);
        if services.is_empty() {
            continue;
        }
        let message = format!(
            "`consolidateAfter: {}` moves pods soon and at any hour, and critical services may \
             run there: {}",
            delay(pool),
            listed(services)
        );
        found.add(&pool.name, message, HASTY_FIX);
    }
}

pub(super) fn short_consolidate_after(world: &World<'_>, found: &mut Findings) {
    for pool in world.pools.iter().filter(|pool| is_hasty(world, pool)) {
        if critical_services(world, pool).is_empty() {
            let message = format!(
                "`consolidateAfter: {}` moves pods soon after they came and at any hour, which \
                 is hasty for a pool that runs services",
                delay(pool)
            );
            found.add(&pool.name, message, HASTY_FIX);
        }
    }
}
