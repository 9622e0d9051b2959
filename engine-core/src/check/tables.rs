//! Reading the problem's and the decision's tables.
//!
//! INVARIANT: `shape` has found every row that is read here to exist.

use super::labels::{Allowed, share_a_value};
use crate::decision::{Decision, Placement};
use crate::problem::{
    Effect, Group, HostPort, InstanceType, NONE, Offering, PodClass, Problem, Requirement, Span,
    Taint, Toleration, TolerationOperator, Value,
};

/// Most resource columns; rows are summed on the stack.
pub(super) const RESOURCES: usize = 64;

/// A decision and what it was made for.
#[derive(Clone, Copy)]
pub(super) struct Case<'a> {
    pub problem: &'a Problem<'a>,
    pub decision: &'a Decision<'a>,
    /// Where the words of each key begin in the requirement set of a new node.
    pub offsets: &'a [u32],
    /// DaemonSet requests on each type of each template, template after template: templates may
    /// share stretches of `template_types`.
    pub overhead: &'a [i64],
}

impl<'a> Case<'a> {
    pub fn placement(self, row: u32) -> Placement {
        self.decision.placements[row as usize]
    }

    pub fn class(self, row: u32) -> &'a PodClass {
        &self.problem.classes[row as usize]
    }

    /// One row of amounts; nothing for `NONE`.
    pub fn amounts(self, row: u32) -> &'a [i64] {
        amounts(self.problem, row)
    }

    /// Requests of the pods of `rows` together, one cell for each resource.
    pub fn requests(self, rows: &[u32]) -> [i64; RESOURCES] {
        let mut sum = [0_i64; RESOURCES];
        for placement in rows.iter().map(|r| self.placement(*r)) {
            let class = self.class(placement.class);
            for (cell, one) in sum.iter_mut().zip(self.amounts(class.requests)) {
                *cell = cell.saturating_add(one.saturating_mul(i64::from(placement.count)));
            }
        }
        sum
    }
}

/// True when each domain of the group is one node.
pub(super) fn is_per_node(group: &Group) -> bool {
    group.is_hostname || group.key == NONE
}

/// Words for the domains that a new node may be in: a bit for each value, then one for a
/// value that no table knows or none at all.
pub(super) fn domain_words(values: usize) -> usize {
    (values + 1).div_ceil(64)
}

/// One row of amounts; nothing for `NONE`.
pub(super) fn amounts<'a>(problem: &Problem<'a>, row: u32) -> &'a [i64] {
    if row == NONE {
        return &[];
    }
    let width = problem.resources.len();
    &problem.quantities[row as usize * width..][..width]
}

/// Writes where the words of each key begin: three for header and bounds, then value bits.
pub(super) fn lay_out_keys(problem: &Problem, offsets: &mut [u32]) {
    let mut at = 0;
    for (offset, key) in offsets.iter_mut().zip(problem.keys) {
        *offset = at;
        at += 3 + key.values.len.div_ceil(64);
    }
    offsets[problem.keys.len()] = at;
}

/// Values of a key.
pub(super) fn values<'a>(problem: &Problem<'a>, key: u32) -> &'a [Value] {
    problem.keys[key as usize].values.of(problem.values)
}

/// Requirements of a set.
pub(super) fn set<'a>(problem: &Problem<'a>, row: u32) -> &'a [Requirement] {
    problem.sets[row as usize].of(problem.requirements)
}

/// What a set says about `key`.
pub(super) fn find<'a>(problem: &Problem<'a>, row: u32, key: u32) -> Option<Allowed<'a>> {
    let rows = set(problem, row);
    let at = rows.binary_search_by_key(&key, |r| r.key).ok()?;
    Some(Allowed::sparse(problem, &rows[at]))
}

/// Offerings of a type with their rows.
pub(super) fn offerings<'a>(
    problem: &Problem<'a>,
    of: &InstanceType,
) -> impl Iterator<Item = (u32, &'a Offering)> + use<'a> {
    (of.offerings.start..).zip(of.offerings.of(problem.offerings))
}

/// The value of `key` that an offering carries.
pub(super) fn offered_value(problem: &Problem, offering: &Offering, key: u32) -> Option<u32> {
    let labels = offering.labels.of(problem.offering_labels);
    labels.iter().find(|l| l.key == key).map(|l| l.value)
}

/// True when one node can satisfy both sets, as far as both speak of a key.
pub(super) fn sets_meet(problem: &Problem, a: u32, b: u32) -> bool {
    set(problem, a).iter().all(|r| {
        let own = Allowed::sparse(problem, r);
        find(problem, b, r.key).is_none_or(|other| {
            share_a_value(&[own, other], values(problem, r.key))
                || own.permits_absence() && other.permits_absence()
        })
    })
}

/// True when an offering can be had for a node of the template set.
pub(super) fn is_sold(problem: &Problem, template: u32, offering: &Offering) -> bool {
    let mut labels = offering.labels.of(problem.offering_labels).iter();
    offering.is_available
        && labels.all(|l| match find(problem, template, l.key) {
            Some(pool) => pool.allows(l.value, values(problem, l.key)),
            None => problem.keys[l.key as usize].is_well_known,
        })
}

/// The first taint that keeps a pod away; one that only asks to is not.
pub(super) fn repelling(problem: &Problem, taints: Span, tolerations: Span) -> Option<u32> {
    let hard = |t: &Taint| t.effect != Effect::PreferNoSchedule;
    first_untolerated(problem, taints, tolerations, hard)
}

/// The first taint that is not tolerated, whatever its effect.
pub(super) fn untolerated(problem: &Problem, taints: Span, tolerations: Span) -> Option<u32> {
    first_untolerated(problem, taints, tolerations, |_| true)
}

fn first_untolerated(
    problem: &Problem,
    taints: Span,
    tolerations: Span,
    counts: impl Fn(&Taint) -> bool,
) -> Option<u32> {
    let tolerations = tolerations.of(problem.tolerations);
    let mut rows = (taints.start..).zip(taints.of(problem.taints));
    let found = rows.find(|(_, t)| counts(t) && !tolerations.iter().any(|o| tolerates(o, t)))?;
    Some(found.0)
}

fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let same_key = toleration.key == taint.key;
    let every_key = toleration.key == 0 && toleration.operator == TolerationOperator::Exists;
    let numbers = taint.integer.zip(toleration.integer);
    let value = match toleration.operator {
        TolerationOperator::Exists => true,
        TolerationOperator::Equal => toleration.value == taint.value,
        TolerationOperator::Lt => numbers.is_some_and(|(taint, bound)| taint < bound),
        TolerationOperator::Gt => numbers.is_some_and(|(taint, bound)| taint > bound),
    };
    toleration.effect.is_none_or(|e| e == taint.effect) && (every_key || same_key && value)
}

/// True when two host ports exclude each other; address 0 is every address.
pub(super) fn clash(a: &HostPort, b: &HostPort) -> bool {
    a.port == b.port
        && a.protocol == b.protocol
        && (a.address == b.address || a.address == 0 || b.address == 0)
}

/// The first of `ports` that clashes with one of `others`.
pub(super) fn clashing(problem: &Problem, ports: Span, others: Span) -> Option<u32> {
    let others = others.of(problem.ports);
    let mut rows = (ports.start..).zip(ports.of(problem.ports));
    rows.find(|(_, p)| others.iter().any(|o| clash(p, o))).map(|(row, _)| row)
}

/// True when the ascending `rows` hold `row`.
pub(super) fn holds(rows: &[u32], row: u32) -> bool {
    rows.binary_search(&row).is_ok()
}
