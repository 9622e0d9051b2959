//! Spreads whose domains are single nodes, replayed in the order of placing.
//!
//! Domains are the nodes that the rule's policies accept: those that exist, and each new node
//! from its first pod on.

use super::tables::{Case, is_per_node};
use super::topology::{Arrival, accepts};
use super::violation::{Rule, Violation};
use crate::decision::Target;
use crate::problem::{Group, GroupKind};

/// Counts of one group on all nodes, existing ones first.
///
/// A policy decides about a node and all its pods together: where it accepts the node, all of
/// them count, else the node is no domain. So one count for each node is enough.
struct Counts<'m> {
    pods: &'m mut [u32],
    domains: &'m mut [u32],
}

/// In `domains`: the node may turn out to be a domain.
const POSSIBLE: u32 = 1;
/// In `domains`: whatever comes, it is one.
const SURE: u32 = 2;

/// Numbers that the replay needs.
pub(super) fn numbers(nodes: usize, new_nodes: usize) -> usize {
    2 * (nodes + new_nodes)
}

/// Replays all placements against the spreads over nodes. `memory` is [`numbers`] long.
pub(super) fn replay(case: Case, memory: &mut [u32]) -> Result<(), Violation> {
    let (pods, domains) = memory.split_at_mut(memory.len() / 2);
    let mut counts = Counts { pods, domains };
    for (g, group) in (0..).zip(case.problem.groups) {
        let is_hard = |l: &crate::problem::Link| l.weight == 0 && l.group == g;
        if is_per_node(group)
            && group.kind == GroupKind::Spread
            && case.problem.links.iter().any(is_hard)
        {
            load(case, g, group, &mut counts);
            replay_group(case, g, group, &mut counts)?;
        }
    }
    Ok(())
}

fn load(case: Case, g: u32, group: &Group, counts: &mut Counts) {
    counts.pods.fill(0);
    counts.domains.fill(0);
    for (row, node) in case.problem.nodes.iter().enumerate() {
        counts.domains[row] = domain(case, Target::Node(row as u32), group);
        let mut rows = node.counts.of(case.problem.node_counts).iter();
        counts.pods[row] = rows.find(|c| c.group == g).map_or(0, |c| c.count);
    }
}

/// Whether the node is a domain of the group.
fn domain(case: Case, target: Target, group: &Group) -> u32 {
    match accepts(case, target, group) {
        (true, _) => SURE,
        (false, true) => POSSIBLE,
        (false, false) => 0,
    }
}

fn replay_group(case: Case, g: u32, group: &Group, counts: &mut Counts) -> Result<(), Violation> {
    for row in 0..case.decision.placements.len() as u32 {
        let arrival = Arrival::of(case, row);
        if arrival.placement.count == 0 {
            continue;
        }
        let at = match arrival.placement.target {
            Target::Node(node) => node as usize,
            Target::New(node) => case.problem.nodes.len() + node as usize,
        };
        let is_new = at >= case.problem.nodes.len();
        if is_new && counts.domains[at] == 0 {
            counts.domains[at] = domain(case, arrival.placement.target, group);
        }
        let arriving = arrival.arriving(g, group);
        if arrival.rules().any(|(own, ..)| own == g) && !keeps_skew(group, at, arriving, counts) {
            return Err(arrival.refuse(Rule::Spread, g));
        }
        if counts.domains[at] != 0 {
            counts.pods[at] = counts.pods[at].saturating_add(arriving);
        }
    }
    Ok(())
}

/// True when the last of the pods leaves the node ahead of the emptiest by no more than the
/// skew.
fn keeps_skew(group: &Group, at: usize, pods: u32, counts: &Counts) -> bool {
    let then = counts.pods[at].saturating_add(pods);
    if then <= group.max_skew {
        return true;
    }
    let sure = counts.domains.iter().filter(|d| **d == SURE).count();
    if sure < group.min_domains as usize {
        return false;
    }
    let others = (0..counts.domains.len()).filter(|n| *n != at && counts.domains[*n] != 0);
    // Ahead of itself, the node is by the last pod alone.
    let least = others.map(|n| counts.pods[n]).min();
    let ahead = least.map_or(0, |least| then.saturating_sub(least));
    ahead.max(pods.min(1)) <= group.max_skew
}
