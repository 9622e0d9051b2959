//! Disruption budgets that say something else than their author may think.
//!
//! A percentage is rounded up, so that only `0%` allows no node of a pool that has any.

use dunnage_api::node_pool::Budget;
use dunnage_engine_core::cron::Cron;

use super::Findings;
use super::windows::{Window, end_of_gap, first_gap, moment};
use super::world::{Pool, World};
use crate::duration::parse_crd_secs;

/// What nodes are disrupted for under budgets.
const REASONS: [&str; 3] = ["Drifted", "Empty", "Underutilized"];

/// A budget that can be read.
pub(super) struct Read<'b> {
    /// Its place in the list.
    pub at: usize,
    /// Itself.
    pub budget: &'b Budget,
    /// When it holds; none for always.
    pub window: Option<Window>,
}

impl Read<'_> {
    /// An absent list of reasons names all, an empty one none.
    pub fn names(&self, reason: &str) -> bool {
        self.budget.reasons.as_ref().is_none_or(|own| own.iter().any(|r| r == reason))
    }

    /// Lets no node go.
    pub fn is_zero(&self) -> bool {
        let nodes = self.budget.nodes.as_deref().unwrap_or("10%");
        nodes.trim_end_matches('%').bytes().all(|digit| digit == b'0')
    }

    fn path(&self) -> String {
        format!("`spec.disruption.budgets[{}]`", self.at)
    }
}

/// The budgets of a pool; none when one of them cannot be read, which blocks all disruption and
/// is told as such.
pub(super) fn budgets<'p>(pool: &'p Pool<'_>) -> Option<Vec<Read<'p>>> {
    let list = pool.disruption.budgets.as_deref().unwrap_or_default();
    let read = |(at, budget): (usize, &'p Budget)| {
        let window = match (&budget.schedule, &budget.duration) {
            (Some(schedule), Some(duration)) => Some(Window {
                schedule: Cron::parse(schedule).ok()?,
                duration_secs: parse_crd_secs(duration).ok()?,
            }),
            _ => None,
        };
        Some(Read { at, budget, window })
    };
    list.iter().enumerate().map(read).collect()
}

/// Reasons for which nodes of the pool can be disrupted.
fn reasons<'r>(pool: &Pool<'_>) -> impl Iterator<Item = &'r str> {
    let (empty, used) = (pool.consolidate_after_secs().is_some(), pool.consolidates_used_nodes());
    REASONS.into_iter().filter(move |reason| match *reason {
        "Empty" => empty,
        "Underutilized" => used,
        _ => true,
    })
}

/// The windows of budgets, or none when one of them holds always.
pub(super) fn windows<'b>(budgets: impl IntoIterator<Item = &'b Read<'b>>) -> Option<Vec<Window>> {
    budgets.into_iter().map(|budget| budget.window).collect()
}

pub(super) fn budget_never_allows(world: &World<'_>, found: &mut Findings) {
    let now = world.snapshot.now.as_second();
    for pool in &world.pools {
        let Some(all) = budgets(pool) else { continue };
        let blocking = |reason: &str| -> Vec<&Read<'_>> {
            let zero: Vec<&Read<'_>> =
                all.iter().filter(|b| b.is_zero() && b.names(reason)).collect();
            let is_always = !zero.is_empty()
                && windows(zero.iter().copied())
                    .is_none_or(|windows| first_gap(&windows, now).is_none());
            if is_always { zero } else { Vec::new() }
        };
        let blocked: Vec<&str> = reasons(pool).filter(|r| !blocking(r).is_empty()).collect();
        let Some(first) = blocked.first() else { continue };
        let paths: Vec<String> = blocking(first).iter().map(|budget| budget.path()).collect();
        let message = format!(
            "{} at no time a node to be disrupted for {}: such nodes stay until they expire",
            match paths.as_slice() {
                [one] => format!("{one} allows"),
                more => format!("{} together allow", more.join(" and ")),
            },
            blocked.join(", ")
        );
        let fix = format!(
            "set `nodes` of {} to `1` or `10%`, or give it a `schedule` and a `duration` that \
             leave some hours free, such as `schedule: 0 8 * * mon-fri` and `duration: 10h`",
            paths.join(" or ")
        );
        found.add(&pool.name, message, fix);
    }
}

pub(super) fn budget_gap(world: &World<'_>, found: &mut Findings) {
    let now = world.snapshot.now.as_second();
    for pool in &world.pools {
        let Some(all) = budgets(pool) else { continue };
        for reason in reasons(pool) {
            let Some(windows) = windows(all.iter().filter(|b| b.names(reason))) else { continue };
            let Some(gap) = first_gap(&windows, now) else { continue };
            let when = match end_of_gap(&windows, gap) {
                Some(end) => format!("at {}, until {}", moment(gap, now), moment(end, now)),
                None => "at any time".to_owned(),
            };
            let message = format!(
                "no budget names {reason} {when}: any number of nodes may be disrupted for it then"
            );
            let fix = format!(
                "add to `spec.disruption.budgets` one without schedule, which holds at all \
                 times beside the others: `{{nodes: 10%, reasons: [{reason}]}}`"
            );
            found.add(&pool.name, message, fix);
        }
    }
}

pub(super) fn budget_is_no_rate(world: &World<'_>, found: &mut Findings) {
    let now = world.snapshot.now.as_second();
    for pool in &world.pools {
        for budget in budgets(pool).unwrap_or_default() {
            let Some(window) = budget.window.filter(|_| !budget.is_zero()) else { continue };
            if first_gap(&[window], now).is_some() {
                continue;
            }
            let nodes = budget.budget.nodes.as_deref().unwrap_or("10%");
            let message = format!(
                "{} holds at all times, since its windows follow each other without a gap: \
                 `{nodes}` is how many nodes may be disrupted at once, repeated as fast as nodes \
                 are ready, and there is no limit per hour or day",
                budget.path()
            );
            let fix = format!(
                "remove `schedule` and `duration` of {}; for a slower pace raise \
                 `spec.disruption.consolidateAfter`, or allow disruption in fewer hours",
                budget.path()
            );
            found.add(&pool.name, message, fix);
        }
    }
}
