//! Pods on a node that exists: judged by its real labels and what it has left.

use super::tables::{self, Case};
use super::violation::{Rule, Violation};
use crate::decision::Target;
use crate::problem::{
    ABSENT, Daemon, NONE, Node, NodeVolume, PodClass, Problem, Requirement, Span,
};

/// Checks the placements `rows`, ascending by class, that all go to node `row`.
pub(super) fn hosts(case: Case, row: u32, rows: &[u32]) -> Result<(), Violation> {
    let node = &case.problem.nodes[row as usize];
    accepts(case, node, rows)
        .and_then(|()| has_room(case, node, rows))
        .and_then(|()| ports_are_free(case, node, rows))
        .and_then(|()| attaches(case, node, rows))
        .map_err(|v| v.on(Target::Node(row)))
}

/// The value of the node's label of `key`, as a rank.
pub(super) fn label(problem: &Problem, node: &Node, key: u32) -> Option<u32> {
    let rows = tables::set(problem, node.set);
    let at = rows.binary_search_by_key(&key, |r| r.key).ok()?;
    match rows[at].values.of(problem.requirement_values) {
        [value] if !rows[at].is_complement => Some(*value),
        _ => None,
    }
}

/// True when the node's label satisfies the requirement.
fn satisfies(problem: &Problem, node: &Node, requirement: &Requirement) -> bool {
    let allowed = super::labels::Allowed::sparse(problem, requirement);
    match label(problem, node, requirement.key) {
        Some(rank) => allowed.allows(rank, tables::values(problem, requirement.key)),
        None => allowed.permits_absence(),
    }
}

/// The first key on which the node's labels miss a set.
pub(super) fn missed(problem: &Problem, node: &Node, set: u32) -> Option<u32> {
    let mut rows = tables::set(problem, set).iter();
    rows.find(|r| !satisfies(problem, node, r)).map(|r| r.key)
}

/// True when some term holds, or there is none.
fn some_term_holds(problem: &Problem, node: &Node, terms: Span) -> bool {
    let rows = terms.of(problem.terms);
    rows.is_empty() || rows.iter().any(|t| missed(problem, node, t.set).is_none())
}

fn accepts(case: Case, node: &Node, rows: &[u32]) -> Result<(), Violation> {
    let class_of = |r: &u32| case.placement(*r).class;
    for rows in rows.chunk_by(|a, b| class_of(a) == class_of(b)) {
        let row = class_of(&rows[0]);
        accepts_class(case.problem, node, case.class(row)).map_err(|v| v.class(row))?;
    }
    Ok(())
}

fn accepts_class(problem: &Problem, node: &Node, class: &PodClass) -> Result<(), Violation> {
    if class.has_device_claims {
        return Err(Violation::of(Rule::DeviceClaims));
    }
    if let Some(taint) = tables::repelling(problem, node.taints, class.tolerations) {
        return Err(Violation::of(Rule::Taint).row(taint));
    }
    if let Some(key) = missed(problem, node, class.selector) {
        return Err(Violation::of(Rule::Selector).row(key));
    }
    if !some_term_holds(problem, node, class.required) {
        return Err(Violation::of(Rule::Term));
    }
    let alternatives = class.volume_alternatives.of(problem.volume_alternatives);
    if !alternatives.is_empty() && !alternatives.iter().any(|s| missed(problem, node, *s).is_none())
    {
        return Err(Violation::of(Rule::Volume));
    }
    Ok(())
}

/// True when room is kept for the DaemonSet; one that a taint only asks to stay away gets none.
fn runs(problem: &Problem, node: &Node, daemon: &Daemon) -> bool {
    tables::untolerated(problem, node.taints, daemon.tolerations).is_none()
        && missed(problem, node, daemon.selector).is_none()
        && some_term_holds(problem, node, daemon.required)
}

/// Requests of the pods fit into what the node has left once its DaemonSets run.
fn has_room(case: Case, node: &Node, rows: &[u32]) -> Result<(), Violation> {
    let problem = case.problem;
    let mut to_come = [0_i64; tables::RESOURCES];
    for daemon in problem.daemons.iter().filter(|d| runs(problem, node, d)) {
        for (cell, one) in to_come.iter_mut().zip(case.amounts(daemon.requests)) {
            *cell = cell.saturating_add(*one);
        }
    }
    for (cell, one) in to_come.iter_mut().zip(case.amounts(node.daemon_requests)) {
        *cell = cell.saturating_sub(*one);
    }
    let requests = case.requests(rows);
    for ((column, free), (to_come, request)) in
        (0..).zip(case.amounts(node.available)).zip(to_come.iter().zip(requests))
    {
        let left = if *free == ABSENT { 0 } else { free.saturating_sub((*to_come).max(0)) };
        if request > 0 && request > left {
            return Err(Violation::of(Rule::Resource).row(column));
        }
    }
    Ok(())
}

/// No pod takes a host port that the node or another pod has.
fn ports_are_free(case: Case, node: &Node, rows: &[u32]) -> Result<(), Violation> {
    for row in rows {
        let placement = case.placement(*row);
        let ports = case.class(placement.class).ports;
        if let Some(port) = tables::clashing(case.problem, ports, node.ports) {
            return Err(Violation::of(Rule::HostPort).class(placement.class).row(port));
        }
    }
    pods_share_no_port(case, rows)
}

/// No two pods of `rows` take the same host port.
pub(super) fn pods_share_no_port(case: Case, rows: &[u32]) -> Result<(), Violation> {
    for (i, row) in rows.iter().enumerate() {
        let placement = case.placement(*row);
        let ports = case.class(placement.class).ports;
        if ports.len == 0 {
            continue;
        }
        let refuse = |port| Violation::of(Rule::HostPort).class(placement.class).row(port);
        if placement.count > 1 {
            return Err(refuse(ports.start));
        }
        for other in &rows[..i] {
            let others = case.class(case.placement(*other).class).ports;
            if let Some(port) = tables::clashing(case.problem, ports, others) {
                return Err(refuse(port));
            }
        }
    }
    Ok(())
}

/// Volumes of the pods stay within what the node attaches of each driver.
fn attaches(case: Case, node: &Node, rows: &[u32]) -> Result<(), Violation> {
    for volume in node.volumes.of(case.problem.node_volumes) {
        let more = claims(case, node, rows, volume);
        if more > 0 && u64::from(volume.used) + more > u64::from(volume.limit) {
            return Err(Violation::of(Rule::AttachLimit).row(volume.driver));
        }
    }
    Ok(())
}

/// Claims of a driver that the pods of `rows` bring to the node, shared ones once.
fn claims(case: Case, node: &Node, rows: &[u32], volume: &NodeVolume) -> u64 {
    let problem = case.problem;
    let present = node.claims.of(problem.node_claims);
    let uses_of = |row: &u32| {
        let class = case.class(case.placement(*row).class);
        class.volume_uses.of(problem.volume_uses).iter()
    };
    let mut sum = 0_u64;
    for (i, row) in rows.iter().enumerate() {
        let pods = u64::from(case.placement(*row).count);
        for (j, a) in uses_of(row).enumerate().filter(|(_, a)| a.driver == volume.driver) {
            if a.claim == NONE {
                sum = sum.saturating_add(pods.saturating_mul(u64::from(a.count)));
                continue;
            }
            let same = |b: &crate::problem::VolumeUse| b.claim == a.claim;
            let is_known = tables::holds(present, a.claim)
                || rows[..i].iter().any(|r| uses_of(r).any(same))
                || uses_of(row).take(j).any(same);
            sum += u64::from(!is_known && pods > 0);
        }
    }
    sum
}
