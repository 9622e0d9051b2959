//! An independent verifier of a decision, from first principles.
//!
//! It decides whether every placement of an answer can be carried out, and nothing else: not
//! whether a better answer exists, and not whether a pod that was left over really fits
//! nowhere. It shares no code and no table with the solver, and knows the mended rules only:
//! where Karpenter's defects let an answer break a promise, that answer is refused.
//!
//! A node to open is judged as the set of machines that its launch request lets the cloud
//! choose: a type of its mask, with an available offering, within its requirement set.
//! Whatever comes must host the pods. The set is read as what the request asks for; it is
//! believed nowhere: it must lie inside the template, and what pods ask for must follow from
//! it or from every machine that is left. While a domain is still open, the worst counts.
//!
//! Not verified: preferences, since any of them may have been given up; reasons and effort.

mod existing;
mod labels;
mod machine;
mod node_spread;
mod pools;
mod shape;
mod spread;
mod tables;
mod topology;
mod violation;

use crate::decision::{Decision, Placement, Target};
use crate::problem::{NONE, Problem};
use core::cmp::Ordering;
use tables::Case;

pub use violation::{Rule, Violation};

/// Cells that must be lent to [`check`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CheckNeed {
    /// Indexes and counts.
    pub numbers: usize,
    /// Words of bits.
    pub words: usize,
    /// Amounts of resources.
    pub amounts: usize,
}

/// Memory lent for one check; each slice at least as long as [`CheckNeed`] says. What it
/// holds before does not matter.
#[derive(Debug, Default)]
pub struct CheckMemory<'m> {
    /// Indexes and counts.
    pub numbers: &'m mut [u32],
    /// Words of bits.
    pub words: &'m mut [u64],
    /// Amounts of resources.
    pub amounts: &'m mut [i64],
}

impl CheckNeed {
    /// What checking `decision` on `problem` needs: rows of placements, counts of topology
    /// domains, and the DaemonSet overhead of each type of each template.
    pub fn of(problem: &Problem, decision: &Decision) -> Self {
        let values =
            |k: u32| problem.keys.get(k as usize).map_or(0, |k| k.values.of(problem.values).len());
        let keyed = || problem.groups.iter().filter(|g| !tables::is_per_node(g));
        let counts: usize = keyed().map(|g| values(g.key)).sum();
        let known: usize = keyed().map(|g| values(g.key).div_ceil(64)).sum();
        let keys = 0..problem.keys.len() as u32;
        let topology = || keys.clone().filter(|k| keyed().any(|g| g.key == *k));
        let open: usize = topology().map(|k| tables::domain_words(values(k))).sum();
        let widest = topology().map(|k| tables::domain_words(values(k))).max().unwrap_or(0);
        Self {
            numbers: 2 * (problem.keys.len() + 1)
                + 2 * (problem.groups.len() + 1)
                + 2 * counts
                + 3 * problem.groups.len()
                + node_spread::numbers(problem.nodes.len(), decision.new_nodes.len())
                + 2 * problem.reservations.len()
                + problem.classes.len()
                + decision.placements.len(),
            words: known + widest + open * decision.new_nodes.len(),
            amounts: template_rows(problem) * problem.resources.len(),
        }
    }
}

/// Refuses `decision` when some part of it cannot be carried out; the first violation found
/// is named.
///
/// # Errors
/// The violated rule with the rows that it concerns. A table of the problem or of the
/// decision that contradicts itself, and memory that is shorter than [`CheckNeed`] says, are
/// rules of their own.
pub fn check(
    problem: &Problem,
    decision: &Decision,
    scratch: &mut CheckMemory,
) -> Result<(), Violation> {
    shape::problem_is_sound(problem)?;
    shape::decision_is_sound(problem, decision)?;
    let mut numbers = Lent(&mut *scratch.numbers);
    let mut words = Lent(&mut *scratch.words);
    let mut amounts = Lent(&mut *scratch.amounts);
    let offsets = numbers.take(problem.keys.len() + 1)?;
    tables::lay_out_keys(problem, offsets);
    let overhead = amounts.take(template_rows(problem) * problem.resources.len())?;
    machine::daemon_overhead(problem, overhead);
    let case = Case { problem, decision, offsets, overhead };

    conserves(case, numbers.take(problem.classes.len())?)?;
    let order = numbers.take(decision.placements.len())?;
    order.iter_mut().zip(0..).for_each(|(o, i)| *o = i);
    let row = |i: u32| &decision.placements[i as usize];
    order.sort_unstable_by(|a, b| by_target(row(*a), row(*b)).then(a.cmp(b)));
    targets(case, order)?;
    pools::states_hold(case)?;
    pools::limits_hold(case)?;
    pools::quotas_hold(case)?;
    let (held, last) = (numbers.take(problem.reservations.len())?, problem.reservations.len());
    pools::reservations_hold(case, held, numbers.take(last)?)?;

    topology::per_node(case, order, numbers.take(3 * problem.groups.len())?)?;
    let nodes = node_spread::numbers(problem.nodes.len(), decision.new_nodes.len());
    node_spread::replay(case, numbers.take(nodes)?)?;
    spread::replay(case, &mut numbers, &mut words)
}

/// Placements by target, and by class on the same target.
fn by_target(a: &Placement, b: &Placement) -> Ordering {
    a.target.cmp(&b.target).then(a.class.cmp(&b.class))
}

/// Every pod of every class is either placed or left over, once.
fn conserves(case: Case, seen: &mut [u32]) -> Result<(), Violation> {
    seen.fill(0);
    for placement in case.decision.placements {
        let count = &mut seen[placement.class as usize];
        *count = count.saturating_add(placement.count);
    }
    for unplaced in case.decision.unplaced {
        let count = &mut seen[unplaced.class as usize];
        *count = count.saturating_add(unplaced.count);
    }
    for ((class, row), seen) in case.problem.classes.iter().zip(0..).zip(seen) {
        if class.count != *seen {
            return Err(Violation::of(Rule::Count).class(row));
        }
    }
    Ok(())
}

/// Checks each target with the rows of `order` that go to it.
fn targets(case: Case, order: &[u32]) -> Result<(), Violation> {
    let target = |i: &u32| case.decision.placements[*i as usize].target;
    let (mut opened, mut before): (u32, &[u32]) = (0, &[]);
    for rows in order.chunk_by(|a, b| target(a) == target(b)) {
        match target(&rows[0]) {
            Target::Node(node) => existing::hosts(case, node, rows)?,
            Target::New(node) => {
                // Rows ascend by target, so a gap is a node that no row names.
                if node != opened {
                    return Err(Violation::of(Rule::NodePods).on(Target::New(opened)));
                }
                // What one node alone must keep holds for the next one that is its like.
                if node == 0 || !is_alike(case, node, rows, before) {
                    machine::hosts(case, node, rows)?;
                }
                before = rows;
                opened += 1;
            }
        }
    }
    if opened as usize != case.decision.new_nodes.len() {
        return Err(Violation::of(Rule::NodePods).on(Target::New(opened)));
    }
    Ok(())
}

/// True when a new node says the same as the one before and holds the same pods.
fn is_alike(case: Case, node: u32, rows: &[u32], before: &[u32]) -> bool {
    let (d, n) = (case.decision, node as usize);
    let pods = |i: &u32| {
        let x = case.decision.placements[*i as usize];
        (x.class, x.count, x.relaxed)
    };
    let words = |table: &[u64], width: usize| {
        table[n * width..][..width] == table[(n - 1) * width..][..width]
    };
    let r = case.problem.resources.len();
    d.new_nodes[n] == d.new_nodes[n - 1]
        && words(d.sets, d.set_words)
        && words(d.type_masks, d.type_words)
        && d.requests[n * r..][..r] == d.requests[(n - 1) * r..][..r]
        && rows.iter().map(pods).eq(before.iter().map(pods))
}

/// Lent memory that tables are cut off from.
pub(in crate::check) struct Lent<'m, T>(&'m mut [T]);

impl<'m, T> Lent<'m, T> {
    fn take(&mut self, n: usize) -> Result<&'m mut [T], Violation> {
        let rest = core::mem::take(&mut self.0);
        let (head, tail) =
            rest.split_at_mut_checked(n).ok_or(Violation::of(Rule::Memory).row(NONE))?;
        self.0 = tail;
        Ok(head)
    }
}

/// Types of all templates, those that templates share counted for each.
fn template_rows(problem: &Problem) -> usize {
    problem.templates.iter().map(|t| t.types.of(problem.template_types).len()).sum()
}
