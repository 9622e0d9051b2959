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
struct Counts<'m> {
    least: &'m mut [u32],
    most: &'m mut [u32],
    /// 1 for nodes that are domains.
    domains: &'m mut [u32],
}

/// Numbers that the replay needs.
pub(super) fn numbers(nodes: usize, new_nodes: usize) -> usize {
    3 * (nodes + new_nodes)
}

/// Replays all placements against the spreads over nodes. `memory` is [`numbers`] long.
pub(super) fn replay(case: Case, memory: &mut [u32]) -> Result<(), Violation> {
    let len = memory.len() / 3;
    let (least, rest) = memory.split_at_mut(len);
    let (most, domains) = rest.split_at_mut(len);
    let mut counts = Counts { least, most, domains };
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
    counts.least.fill(0);
    counts.most.fill(0);
    counts.domains.fill(0);
    for (row, node) in case.problem.nodes.iter().enumerate() {
        let (_, possibly) = accepts(case, Target::Node(row as u32), group);
        counts.domains[row] = u32::from(possibly);
        let mut rows = node.counts.of(case.problem.node_counts).iter();
        let pods = rows.find(|c| c.group == g).map_or(0, |c| c.count);
        (counts.least[row], counts.most[row]) = (pods, pods);
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
            let (_, possibly) = accepts(case, arrival.placement.target, group);
            counts.domains[at] = u32::from(possibly);
        }
        let itself = arrival.is_matched(g);
        let pods = if itself { arrival.placement.count } else { 0 };
        let arriving = arrival.arriving(g, group);
        if arrival.rules().any(|(own, ..)| own == g) && !keeps_skew(group, at, arriving, counts) {
            return Err(arrival.refuse(Rule::Spread, g));
        }
        if itself {
            let (surely, possibly) = accepts(case, arrival.placement.target, group);
            counts.least[at] = counts.least[at].saturating_add(if surely { pods } else { 0 });
            counts.most[at] = counts.most[at].saturating_add(if possibly { pods } else { 0 });
        }
    }
    Ok(())
}

/// True when the last of the pods leaves the node ahead of the emptiest by no more than the
/// skew.
fn keeps_skew(group: &Group, at: usize, pods: u32, counts: &Counts) -> bool {
    let then = counts.most[at].saturating_add(pods);
    if then <= group.max_skew {
        return true;
    }
    let is_domain = |n: &usize| *n == at || counts.domains[*n] != 0;
    let domains = || (0..counts.domains.len()).filter(is_domain);
    if domains().count() < group.min_domains as usize {
        return false;
    }
    // Ahead of itself, the node is by the last pod alone.
    let least = domains().filter(|n| *n != at).map(|n| counts.least[n]).min();
    let ahead = least.map_or(0, |least| then.saturating_sub(least));
    ahead.max(pods.min(1)) <= group.max_skew
}
