//! What a plan takes from quotas, and what it would take were they larger.

use dunnage_engine_core::problem::{Problem, Quota};

use super::answer::QuotaUse;
use crate::error::Warning;
use crate::lower::Lowered;
use crate::options::Strategy;
use crate::solve::{How, OwnedDecision, search, solve};

/// What `found` takes from each quota. Where larger quotas make a better plan, the rest of the
/// quota says how much larger, and a warning says what it is worth.
pub(super) fn uses(
    lowered: &Lowered,
    (strategy, how): (Strategy, &How),
    found: &OwnedDecision,
    warnings: &mut Vec<Warning>,
) -> Vec<QuotaUse> {
    let problem = lowered.tables.problem();
    if problem.quotas.is_empty() {
        return Vec::new();
    }
    let open: Vec<Quota> =
        problem.quotas.iter().map(|quota| Quota { limit: i64::MAX, ..*quota }).collect();
    let open = Problem { quotas: &open, ..problem };
    let open = match strategy {
        Strategy::Cheapest => search(&open, how).ok(),
        Strategy::Greedy | Strategy::Karpenter => solve(&open, how.stop).ok(),
    };
    let better = open.filter(|open| how.rank(&problem, open) < how.rank(&problem, found));
    let taken = taken(&problem, found);
    let wanted = better.as_ref().map(|open| self::taken(&problem, open));
    let rows = problem.quotas.iter().zip(&lowered.names.quotas).enumerate();
    let mut uses = Vec::new();
    for (row, (quota, name)) in rows {
        let missing = wanted.as_ref().map_or(0, |wanted| {
            wanted[row].saturating_add(quota.usage).saturating_sub(quota.limit).max(0)
        });
        if let Some(open) = better.as_ref().filter(|_| missing > 0) {
            let place = name.region.as_ref().map_or_else(String::new, |r| format!(" in {r}"));
            warnings.push(Warning::new(
                "QuotaTooSmall",
                format!("quota {}", name.name),
                format!("needs +{}{place}: {}", name.unit.words(missing), gain(found, open)),
            ));
        }
        if name.is_per_offering && missing == 0 {
            continue;
        }
        uses.push(QuotaUse {
            name: name.name.clone(),
            region: name.region.clone(),
            unit: name.unit.name().to_owned(),
            limit: name.unit.plain(quota.limit),
            used: name.unit.plain(quota.usage),
            planned: name.unit.plain(taken[row]),
            missing: (missing > 0).then(|| name.unit.plain(missing)),
        });
    }
    uses
}

/// What the new nodes take from each quota.
fn taken(problem: &Problem, decision: &OwnedDecision) -> Vec<i64> {
    let mut taken = vec![0i64; problem.quotas.len()];
    for node in &decision.new_nodes {
        let offering = problem.offerings.get(node.offering as usize);
        for charge in offering.map_or(&[][..], |o| o.charges.of(problem.charges)) {
            let sum = &mut taken[charge.quota as usize];
            *sum = sum.saturating_add(charge.amount);
        }
    }
    taken
}

/// What a better plan is better by.
fn gain(found: &OwnedDecision, open: &OwnedDecision) -> String {
    let (left, price) = found.rank();
    let (open_left, open_price) = open.rank();
    let usd =
        |microusd: i128| crate::quantity::format_usd(i64::try_from(microusd).unwrap_or(i64::MAX));
    let prices = format!("{} USD/h instead of {}", usd(open_price), usd(price));
    match left.saturating_sub(open_left) {
        0 => format!("the plan would then cost {prices}"),
        pods => format!("{pods} more pod(s) would then be placed, for {prices}"),
    }
}
