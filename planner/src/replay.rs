//! A plan run through a model of kube-scheduler: once its nodes stand, does the scheduler put
//! the pods onto them, or does it leave some pending and make the autoscaler buy again?
//!
//! The new nodes become existing ones with the labels of their cheapest machine; pods come in
//! the scheduler's order, by priority and age; those left pending get nodes as a next pass
//! would open them. Asked twice: for pods that go wherever they score best, and for pods that
//! are nominated for the node that was planned for them, which Kubernetes 1.35 and later honours
//! (`status.nominatedNodeName`, feature gate NominatedNodeNameForExpectation).

use std::collections::HashMap;

use dunnage_engine_core::decision::Target;
pub use dunnage_engine_core::place::Scoring;
use dunnage_engine_core::problem::{NONE, Node, Requirement, Run, Span};
use dunnage_engine_core::stop::Stop;
use serde::{Deserialize, Serialize};

use crate::lower::{Lowered, Tables};
use crate::plan::Money;
use crate::snapshot::{Snapshot, full_name};
use crate::solve::{OwnedDecision, scheduled};

/// What the scheduler makes of a plan.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replay {
    /// `leastAllocated` or `mostAllocated`.
    pub scoring: String,
    /// With every pod nominated for its node.
    pub nominated: Replayed,
    /// Without nominations.
    pub scored: Replayed,
}

/// What comes of one run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Replayed {
    /// Pods that the plan places and the scheduler leaves pending on the plan's nodes.
    pub pending_pods: u64,
    /// Nodes that are bought for them.
    pub bought_again: usize,
    /// What those cost, in USD per hour.
    pub bought_again_per_hour: Money,
    /// The same as a share of what the plan costs, six places; 0 for a plan that buys nothing.
    pub share: f64,
}

/// The name of a scoring in answers.
pub fn name(scoring: Scoring) -> &'static str {
    match scoring {
        Scoring::LeastAllocated => "leastAllocated",
        Scoring::MostAllocated => "mostAllocated",
    }
}

/// Runs `decision` through the model. `None` when the engine hits a limit.
pub(crate) fn replay(
    snapshot: &Snapshot,
    lowered: &Lowered,
    decision: &OwnedDecision,
    (scoring, stop): (Scoring, Stop),
) -> Option<Replay> {
    let mut tables = lowered.tables.clone();
    for row in 0..decision.new_nodes.len() {
        add_node(&mut tables, decision, row)?;
    }
    let nominated = order(&mut tables, snapshot, lowered, decision);
    let run = |nominated: &[u32]| {
        let (found, pending) = scheduled(&tables.problem(), scoring, nominated, stop).ok()?;
        let unplaced: u64 = decision.unplaced.iter().map(|x| u64::from(x.count)).sum();
        let (_, price) = found.rank();
        let (_, planned) = decision.rank();
        let share = if planned > 0 { price as f64 / planned as f64 } else { 0.0 };
        Some(Replayed {
            pending_pods: u64::from(pending).saturating_sub(unplaced),
            bought_again: found.new_nodes.len(),
            bought_again_per_hour: Money::of_price(i64::try_from(price).unwrap_or(i64::MAX)),
            share: (share * 1e6).round() / 1e6,
        })
    };
    Some(Replay {
        scoring: name(scoring).to_owned(),
        nominated: run(&nominated)?,
        scored: run(&[])?,
    })
}

/// Adds a planned node to those that exist, and takes it off what its pool may still open.
fn add_node(tables: &mut Tables, decision: &OwnedDecision, row: usize) -> Option<()> {
    let new = decision.new_nodes[row];
    let template = *tables.templates.get(new.template as usize)?;
    let of_type = *tables.types.get(new.instance_type as usize)?;
    let offering = *tables.offerings.get(new.offering as usize)?;
    let variant =
        tables.variants.get(of_type.variants.start as usize + offering.variant as usize)?;
    let allocatable = variant.allocatable;
    let set = labels(tables, decision, row);
    tables.nodes.push(Node {
        set,
        taints: template.taints,
        available: allocatable,
        allocatable,
        daemon_requests: NONE,
        is_initialized: true,
        ..Node::default()
    });
    let capacity = amounts(tables, of_type.capacity);
    let mut usage = amounts(tables, template.usage);
    usage.iter_mut().zip(&capacity).for_each(|(sum, more)| *sum = sum.saturating_add(*more));
    let usage = push_amounts(tables, usage);
    let own = &mut tables.templates[new.template as usize];
    own.usage = usage;
    own.node_usage += 1;
    for charge in offering.charges.of(&tables.charges).to_vec() {
        let quota = &mut tables.quotas[charge.quota as usize];
        quota.usage = quota.usage.saturating_add(charge.amount);
    }
    if new.is_reserved
        && let Some(units) = tables.reservations.get_mut(offering.reservation as usize)
    {
        *units = units.saturating_sub(1);
    }
    Some(())
}

fn amounts(tables: &Tables, row: u32) -> Vec<i64> {
    let width = tables.resources.len();
    let start = row as usize * width;
    tables.quantities.get(start..start + width).map_or_else(|| vec![0; width], <[i64]>::to_vec)
}

fn push_amounts(tables: &mut Tables, row: Vec<i64>) -> u32 {
    let index = tables.quantities.len() / tables.resources.len().max(1);
    tables.quantities.extend(row);
    index as u32
}

/// The labels of a planned node as a requirement set: those of its offering and its type, and
/// of what the node may still be the first value that is allowed.
fn labels(tables: &mut Tables, decision: &OwnedDecision, row: usize) -> u32 {
    let new = decision.new_nodes[row];
    let offering = tables.offerings[new.offering as usize];
    let sold = offering.labels.of(&tables.offering_labels).to_vec();
    let type_set = tables.types[new.instance_type as usize].set;
    let own = crate::solve::values_of_set(&tables.problem(), decision, row);
    let of_type: HashMap<u32, u32> = tables.sets[type_set as usize]
        .of(&tables.requirements)
        .iter()
        .filter(|r| !r.is_complement)
        .filter_map(|r| Some((r.key, *r.values.of(&tables.requirement_values).first()?)))
        .collect();
    let start = tables.requirements.len() as u32;
    for key in 0..tables.keys.len() as u32 {
        let from_offering = sold.iter().find(|l| l.key == key).map(|l| l.value);
        let Some(value) =
            from_offering.or_else(|| of_type.get(&key).copied()).or(own[key as usize])
        else {
            continue;
        };
        let values = Span { start: tables.requirement_values.len() as u32, len: 1 };
        tables.requirement_values.push(value);
        tables.requirements.push(Requirement { key, values, ..Requirement::default() });
    }
    let len = tables.requirements.len() as u32 - start;
    tables.sets.push(Span { start, len });
    tables.sets.len() as u32 - 1
}

/// Puts the queue into the scheduler's order: priority, then age, then name. Returns the node
/// that was planned for each pod of it, planned nodes standing after those that exist.
fn order(
    tables: &mut Tables,
    snapshot: &Snapshot,
    lowered: &Lowered,
    decision: &OwnedDecision,
) -> Vec<u32> {
    let known: HashMap<String, _> = snapshot
        .pods
        .iter()
        .map(|pod| {
            let priority = pod.spec.as_ref().and_then(|s| s.priority).unwrap_or(0);
            let created = pod.metadata.creation_timestamp.as_ref().map(|t| t.0);
            (full_name(&pod.metadata), (std::cmp::Reverse(priority), created))
        })
        .collect();
    let existing = lowered.tables.nodes.len() as u32;
    let mut planned: Vec<Vec<u32>> = vec![Vec::new(); lowered.tables.classes.len()];
    for placement in &decision.placements {
        let node = match placement.target {
            Target::Node(node) => node,
            Target::New(node) => existing + node,
        };
        let own = &mut planned[placement.class as usize];
        own.extend((0..placement.count).map(|_| node));
    }
    let mut queue: Vec<_> = (0u32..)
        .zip(&lowered.names.pods)
        .flat_map(|(class, pods)| pods.iter().enumerate().map(move |(i, pod)| (class, i, pod)))
        .map(|(class, i, pod)| (known.get(pod).copied(), pod, class, i))
        .collect();
    // Pods that the input does not hold are those of buffers, which come last.
    queue.sort_by(|a, b| (a.0.is_none(), a.0, a.1).cmp(&(b.0.is_none(), b.0, b.1)));
    tables.runs.clear();
    let mut nominated = Vec::new();
    for (_, _, class, i) in queue {
        nominated.push(planned[class as usize].get(i).copied().unwrap_or(NONE));
        match tables.runs.last_mut() {
            Some(run) if run.class == class => run.count += 1,
            _ => tables.runs.push(Run { class, count: 1 }),
        }
    }
    nominated
}
