//! Affinity and anti-affinity whose domains are single nodes, replayed node by node.
//!
//! Only whether anything is counted at all, which lets the first pod of a self-affine group
//! start, looks beyond one node.

use super::existing;
use super::machine::Opened;
use super::tables::{self, Case, is_per_node};
use super::violation::{Rule, Violation};
use crate::decision::{Placement, Target};
use crate::problem::{Group, GroupKind, NONE, PodClass};

/// Pods of one row with what rules ask about them.
#[derive(Clone, Copy)]
pub(super) struct Arrival<'a> {
    pub case: Case<'a>,
    pub class: &'a PodClass,
    pub placement: Placement,
}

impl<'a> Arrival<'a> {
    pub fn of(case: Case<'a>, row: u32) -> Self {
        let placement = case.placement(row);
        Self { case, class: case.class(placement.class), placement }
    }

    /// Groups that must hold for the class, with the rows of their inverses.
    pub fn rules(self) -> impl Iterator<Item = (u32, &'a Group, u32)> + use<'a> {
        let problem = self.case.problem;
        let links = self.class.links.of(problem.links).iter().filter(|l| l.weight == 0);
        links.map(|l| (l.group, &problem.groups[l.group as usize], l.inverse))
    }

    /// Groups that select the class.
    pub fn matches(self) -> impl Iterator<Item = (u32, &'a Group)> + use<'a> {
        let problem = self.case.problem;
        let rows = self.class.matches.of(problem.matches).iter();
        rows.map(|g| (*g, &problem.groups[*g as usize]))
    }

    /// True when the group selects the class.
    pub fn is_matched(self, group: u32) -> bool {
        tables::holds(self.class.matches.of(self.case.problem.matches), group)
    }

    /// Whether pods on the target count for the group: surely, and possibly.
    pub fn counts(self, group: &Group) -> (bool, bool) {
        accepts(self.case, self.placement.target, group)
    }

    /// Pods that the group counts with the last of the row, which looks at itself even where
    /// nothing counts.
    pub fn arriving(self, g: u32, group: &Group) -> u32 {
        let pods = self.placement.count;
        match (self.is_matched(g), self.counts(group).1) {
            (false, _) => 0,
            (true, true) => pods,
            (true, false) => pods.min(1),
        }
    }

    /// The refusal of a rule.
    pub fn refuse(self, rule: Rule, group: u32) -> Violation {
        Violation::of(rule).on(self.placement.target).class(self.placement.class).row(group)
    }
}

/// Whether the policies of a group accept a node: surely, and possibly.
pub(super) fn accepts(case: Case, target: Target, group: &Group) -> (bool, bool) {
    let problem = case.problem;
    let terms = group.filter.of(problem.terms);
    let (taints, surely, possibly) = match target {
        Target::Node(row) => {
            let node = &problem.nodes[row as usize];
            let holds = terms.iter().any(|t| existing::missed(problem, node, t.set).is_none());
            (node.taints, holds, holds)
        }
        Target::New(row) => {
            let opened = Opened::of(case, row);
            let surely = terms.iter().any(|t| opened.missed(t.set).is_none());
            let possibly = surely || terms.iter().any(|t| opened.may_satisfy(t.set));
            (opened.template.taints, surely, possibly)
        }
    };
    let is_free = terms.is_empty();
    let is_shunned =
        group.honors_taints && tables::untolerated(problem, taints, group.tolerations).is_some();
    ((is_free || surely) && !is_shunned, (is_free || possibly) && !is_shunned)
}

/// Counts on one node.
struct Counts<'m> {
    /// Least that surely counts, by group.
    least: &'m mut [u32],
    /// Most that may count, by group.
    most: &'m mut [u32],
    /// First placement that may count anywhere, by group.
    first: &'m mut [u32],
}

/// Checks rules per node; `order` holds all placements by target. `memory` has three numbers
/// for each group.
pub(super) fn per_node(case: Case, order: &mut [u32], memory: &mut [u32]) -> Result<(), Violation> {
    order.sort_unstable_by_key(|row| (case.placement(*row).target, *row));
    let groups = case.problem.groups.len();
    let (least, rest) = memory.split_at_mut(groups);
    let (most, first) = rest.split_at_mut(groups);
    let mut counts = Counts { least, most, first };
    counts.least.fill(0);
    counts.most.fill(0);
    counts.first.fill(NONE);
    note_first(case, order, &mut counts);
    for rows in order.chunk_by(|a, b| case.placement(*a).target == case.placement(*b).target) {
        let target = case.placement(rows[0]).target;
        set_real(case, target, &mut counts, true);
        for row in rows {
            let arrival = Arrival::of(case, *row);
            keeps_rules(arrival, *row, &counts)?;
            record(arrival, &mut counts);
        }
        set_real(case, target, &mut counts, false);
        for row in rows {
            forget(Arrival::of(case, *row), &mut counts);
        }
    }
    Ok(())
}

fn note_first(case: Case, order: &[u32], counts: &mut Counts) {
    for row in order {
        let arrival = Arrival::of(case, *row);
        for (g, group) in arrival.matches().filter(|(_, g)| is_per_node(g)) {
            let first = &mut counts.first[g as usize];
            if *row < *first && arrival.counts(group).1 {
                *first = *row;
            }
        }
    }
}

/// Sets the counts of pods that are on a real node already, or clears them.
fn set_real(case: Case, target: Target, counts: &mut Counts, is_set: bool) {
    let Target::Node(row) = target else { return };
    for c in case.problem.nodes[row as usize].counts.of(case.problem.node_counts) {
        let count = if is_set { c.count } else { 0 };
        counts.least[c.group as usize] = count;
        counts.most[c.group as usize] = count;
    }
}

fn keeps_rules(arrival: Arrival, row: u32, counts: &Counts) -> Result<(), Violation> {
    let pods = arrival.placement.count;
    for (g, group, _) in arrival.rules().filter(|(_, g, _)| is_per_node(g)) {
        let (least, most) = (counts.least[g as usize], counts.most[g as usize]);
        let itself = arrival.is_matched(g);
        let (rule, is_kept) = match group.kind {
            // Asked by `node_spread`, which looks at all nodes.
            GroupKind::Spread => continue,
            GroupKind::Affinity => {
                let starts = itself && group.total == 0 && counts.first[g as usize] >= row;
                (Rule::Affinity, least > 0 || starts)
            }
            GroupKind::AntiAffinity | GroupKind::Inverse => {
                (Rule::AntiAffinity, most == 0 && !(itself && pods > 1))
            }
        };
        if pods > 0 && !is_kept {
            return Err(arrival.refuse(rule, g));
        }
    }
    let inverse = arrival.matches().filter(|(_, g)| is_per_node(g) && g.kind == GroupKind::Inverse);
    for (g, _) in inverse {
        if pods > 0 && counts.most[g as usize] > 0 {
            return Err(arrival.refuse(Rule::InverseAntiAffinity, g));
        }
    }
    Ok(())
}

fn record(arrival: Arrival, counts: &mut Counts) {
    let pods = arrival.placement.count;
    let mut add = |g: u32, (surely, possibly): (bool, bool)| {
        let g = g as usize;
        counts.least[g] = counts.least[g].saturating_add(if surely { pods } else { 0 });
        counts.most[g] = counts.most[g].saturating_add(if possibly { pods } else { 0 });
    };
    for (g, group) in arrival.matches() {
        if is_per_node(group) && group.kind != GroupKind::Inverse {
            add(g, arrival.counts(group));
        }
    }
    for (_, group, inverse) in arrival.rules() {
        if is_per_node(group) && inverse != NONE {
            add(inverse, (true, true));
        }
    }
}

fn forget(arrival: Arrival, counts: &mut Counts) {
    let inverses = arrival.rules().map(|(_, _, inverse)| inverse).filter(|g| *g != NONE);
    for g in arrival.matches().map(|(g, _)| g).chain(inverses) {
        counts.least[g as usize] = 0;
        counts.most[g as usize] = 0;
    }
}
