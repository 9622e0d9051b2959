//! What holds over all new nodes together: limits of pools, units of reservations.

use super::machine::Opened;
use super::tables::{self, Case};
use super::violation::{Rule, Violation};
use crate::decision::TemplateState;
use crate::problem::{NONE, Template};

/// New nodes of each template stay within its limits, each counted with the largest machine
/// that may come.
pub(super) fn limits_hold(case: Case) -> Result<(), Violation> {
    for (row, template) in (0..).zip(case.problem.templates) {
        nodes_within(case, row, template)?;
        if template.limit == NONE {
            continue;
        }
        for column in 0..case.problem.resources.len() {
            if template.limited >> column & 1 != 0 && exceeds(case, row, template, column) {
                return Err(Violation::of(Rule::Limit).row(column as u32));
            }
        }
    }
    Ok(())
}

fn rows_of(case: Case<'_>, template: u32) -> impl Iterator<Item = u32> {
    let rows = (0..).zip(case.decision.new_nodes);
    rows.filter(move |(_, n)| n.template == template).map(|(row, _)| row)
}

fn nodes_within(case: Case, row: u32, template: &Template) -> Result<(), Violation> {
    let opened = rows_of(case, row).count() as u64;
    let most = template.node_limit.map_or(u64::MAX, u64::from);
    if opened > 0 && u64::from(template.node_usage) + opened > most {
        return Err(Violation::of(Rule::NodeLimit).row(row));
    }
    Ok(())
}

/// True when new nodes use some of a resource, and with what is there more than the limit.
fn exceeds(case: Case, row: u32, template: &Template, column: usize) -> bool {
    let capacity = |row: u32| case.amounts(row).get(column).copied().unwrap_or(0);
    let largest = |row| {
        let types = Opened::of(case, row).types();
        types.map(|(_, t)| capacity(t.capacity)).max().unwrap_or(0)
    };
    let sum = rows_of(case, row).map(largest).fold(0, i64::saturating_add);
    sum > 0 && sum.saturating_add(capacity(template.usage)) > capacity(template.limit)
}

/// New nodes that hold reservations stay within their units: each may draw on every one that
/// it can still get.
pub(super) fn reservations_hold(
    case: Case,
    held: &mut [u32],
    last: &mut [u32],
) -> Result<(), Violation> {
    held.fill(0);
    last.fill(NONE);
    for row in 0..case.decision.new_nodes.len() as u32 {
        let opened = Opened::of(case, row);
        if !opened.node.is_reserved {
            continue;
        }
        for (_, offering) in opened.types().flat_map(|(_, t)| opened.gets(t)) {
            let id = offering.reservation as usize;
            if last[id] != row {
                last[id] = row;
                held[id] += 1;
            }
        }
    }
    let over = held.iter().zip(case.problem.reservations).position(|(held, units)| held > units);
    match over {
        Some(id) => Err(Violation::of(Rule::Reservation).row(id as u32)),
        None => Ok(()),
    }
}

/// New nodes, each counted as the machine that is named for it, take no more than quotas leave.
pub(super) fn quotas_hold(case: Case) -> Result<(), Violation> {
    let problem = case.problem;
    for (row, quota) in (0..).zip(problem.quotas) {
        let taken = |offering: u32| -> i64 {
            let offering = &problem.offerings[offering as usize];
            let own = offering.charges.of(problem.charges).iter().filter(|c| c.quota == row);
            own.map(|c| c.amount).fold(0, i64::saturating_add)
        };
        let nodes = case.decision.new_nodes.iter();
        let sum = nodes.map(|n| taken(n.offering)).fold(0, i64::saturating_add);
        if sum > 0 && sum.saturating_add(quota.usage) > quota.limit {
            return Err(Violation::of(Rule::Quota).row(row));
        }
    }
    Ok(())
}

/// A template is left out only when no type can be its node, or too few for its minValues.
pub(super) fn states_hold(case: Case) -> Result<(), Violation> {
    for ((row, template), state) in (0..).zip(case.problem.templates).zip(case.decision.templates) {
        let is_right = match state {
            TemplateState::Open => true,
            TemplateState::NoTypes => types_of(case, template).next().is_none(),
            TemplateState::MinValues => has_few_values(case, template),
        };
        if !is_right {
            return Err(Violation::of(Rule::TemplateState).row(row));
        }
    }
    Ok(())
}

/// Types that can be a node of the template: labels that meet, and an offering.
pub(super) fn types_of<'a>(case: Case<'a>, template: &'a Template) -> impl Iterator<Item = u32> {
    let problem = case.problem;
    let types = template.types.of(problem.template_types).iter().copied();
    types.filter(move |t| {
        let of = &problem.types[*t as usize];
        tables::sets_meet(problem, template.set, of.set)
            && tables::offerings(problem, of)
                .any(|(_, o)| tables::is_sold(problem, template.set, o))
    })
}

fn has_few_values(case: Case, template: &Template) -> bool {
    let problem = case.problem;
    tables::set(problem, template.set).iter().any(|r| {
        let values = tables::values(problem, r.key);
        let pool = super::labels::Allowed::sparse(problem, r);
        let is_offered = |value: &u32| {
            pool.allows(*value, values)
                && types_of(case, template).any(|t| {
                    let own = tables::find(problem, problem.types[t as usize].set, r.key);
                    own.is_some_and(|own| own.is_list() && own.allows(*value, values))
                })
        };
        let count = (0..values.len() as u32).filter(is_offered).count();
        count < usize::from(r.min_values)
    })
}
