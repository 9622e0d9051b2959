//! Pools with replicas: how many nodes each lacks, and what the cloud would make of them. They
//! hold no pods of the plan, so the engine does not see them.

use std::collections::BTreeMap;

use super::cluster::StateNode;
use super::dialect::Dialect;
use super::needs::Needs;
use super::templates::{is_ready, needs_of};
use super::types::{OfferingRow, TypeRow};
use crate::snapshot::Snapshot;
use dunnage_api::NodePool;

/// The limit that counts nodes.
const NODES: &str = "nodes";

/// Nodes that a pool with replicas lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StaticLaunch {
    /// NodePool.
    pub node_pool: String,
    /// Its node class.
    pub node_class: String,
    /// Nodes that it wants.
    pub replicas: i64,
    /// Nodes to launch now.
    pub nodes: u32,
    /// Nodes that its limit keeps from being launched.
    pub held_by_limit: u32,
    /// What each node must satisfy: labels and requirements of the pool.
    pub needs: Needs,
    /// Types that can be bought for it, cheapest first, ties by name.
    pub instance_types: Vec<String>,
    /// The cheapest offering for each node, as type and offering; fewer than `nodes` when
    /// reservations run out or nothing can be bought.
    pub choices: Vec<(String, OfferingRow)>,
}

/// What pools with replicas lack, by name; nothing when the gate StaticCapacity is off.
pub fn static_launches(
    snapshot: &Snapshot,
    nodes: &[StateNode],
    types: &BTreeMap<String, Vec<TypeRow>>,
    dialect: &Dialect,
) -> Vec<StaticLaunch> {
    if !snapshot.settings.feature_gates.static_capacity {
        return Vec::new();
    }
    let is_open =
        |pool: &NodePool| pool.metadata.deletion_timestamp.is_none() && is_ready(snapshot, pool);
    let open = snapshot.node_pools.iter().filter(|pool| is_open(pool));
    let mut all: Vec<StaticLaunch> = open.filter_map(|pool| lacking(pool, nodes)).collect();
    all.sort_by(|a, b| a.node_pool.cmp(&b.node_pool));
    // Pools share reservations: the first by name takes the units.
    let mut taken = BTreeMap::new();
    for launch in &mut all {
        let pools = snapshot.node_pools.iter();
        let pool =
            pools.map(|p| &p.object).find(|p| p.metadata.name.as_ref() == Some(&launch.node_pool));
        let rows = types.get(&launch.node_pool).map_or(&[][..], Vec::as_slice);
        if let Some(pool) = pool {
            launch.needs = needs_of(pool, dialect).1;
            choose(launch, rows, dialect, &mut taken);
        }
    }
    all
}

/// How many nodes a pool lacks; `None` when it has its replicas, or has none to reach.
fn lacking(pool: &NodePool, nodes: &[StateNode]) -> Option<StaticLaunch> {
    let replicas = pool.spec.replicas?;
    let name = pool.metadata.name.clone().unwrap_or_default();
    let own = nodes.iter().filter(|n| n.claim.is_some() && n.pool() == Some(name.as_str()));
    let (leaving, running): (Vec<_>, Vec<_>) = own.partition(|node| node.is_leaving);
    let want = replicas.saturating_sub(running.len() as i64).max(0);
    let limit = pool.spec.limits.as_ref().and_then(|l| l.get(NODES)).and_then(|quantity| {
        crate::quantity::parse_units(&quantity.0, crate::quantity::Rounding::Down).ok()
    });
    let room = limit.map_or(i64::MAX, |limit| {
        limit.saturating_sub((running.len() + leaving.len()) as i64).max(0)
    });
    let granted = want.min(room);
    let number = |n: i64| u32::try_from(n).unwrap_or(u32::MAX);
    (want > 0).then(|| StaticLaunch {
        node_pool: name,
        node_class: pool.spec.template.spec.node_class_ref.name.clone(),
        replicas,
        nodes: number(granted),
        held_by_limit: number(want - granted),
        ..StaticLaunch::default()
    })
}

/// Most nodes of one pool that are listed. LIMIT: as many as the engine opens in one plan.
const MAX_LISTED: usize = 100_000;

/// Fills in the types that can be bought for the launch, and the offering of each node. `taken`
/// counts units by reservation.
fn choose(
    launch: &mut StaticLaunch,
    types: &[TypeRow],
    dialect: &Dialect,
    taken: &mut BTreeMap<String, u32>,
) {
    let mut usable: Vec<(i64, &TypeRow, &OfferingRow)> = types
        .iter()
        .filter(|row| row.needs.agrees_with(&launch.needs))
        .flat_map(|row| row.offerings.iter().map(move |o| (o.price_microusd, row, o)))
        .filter(|(_, _, o)| o.is_available && takes(&launch.needs, o, dialect))
        .collect();
    // Ties as in every launch: type, then zone, then capacity type.
    usable.sort_by_key(|(price, row, o)| {
        (*price, &row.name, row.is_unzoned, &o.zone, &o.capacity_type)
    });
    for (_, row, _) in &usable {
        if !launch.instance_types.contains(&row.name) {
            launch.instance_types.push(row.name.clone());
        }
    }
    for _ in 0..(launch.nodes as usize).min(MAX_LISTED) {
        let next = usable.iter().find(|(_, _, o)| {
            o.reservation
                .as_ref()
                .is_none_or(|id| taken.get(id).copied().unwrap_or(0) < o.reservation_capacity)
        });
        let Some((_, row, offering)) = next else { break };
        if let Some(id) = &offering.reservation {
            *taken.entry(id.clone()).or_default() += 1;
        }
        launch.choices.push((row.name.clone(), (*offering).clone()));
    }
}

fn takes(needs: &Needs, offering: &OfferingRow, dialect: &Dialect) -> bool {
    let labels = offering.labels.iter().filter(|(_, value)| !value.is_empty());
    let labels = dialect.labels(labels);
    labels.agrees_with(needs)
}
