//! The plan: what would be launched for the pending pods, bound to nodes that exist, or left.
//!
//! One call for every door: catalog, lower, solve, check, raise. Pure: no I/O and no clock.

mod answer;
mod dual;
mod money;
mod noticed;
mod quotas;
mod types;

pub use answer::{
    Because, Bind, Choice, Cost, Effort, Launch, Notice, Plan, QuotaUse, Requirement, TypesTested,
    UnplacedPod,
};
pub use dual::{DualMachine, DualPods, DualPrices};
pub use money::Money;

use dunnage_engine_core::check::Violation;
use dunnage_engine_core::decision::Target;
use dunnage_engine_core::problem::Rules;
use dunnage_engine_core::search::Dual;
use thiserror::Error;

use crate::error::{PlanError, Warning};
use crate::lower::{Lowered, lower};
use crate::options::{Options, Strategy};
use crate::raise::raise;
use crate::replay;
use crate::snapshot::Snapshot;
use crate::solve::{How, OwnedDecision, one_by_one, search, solve, verify};

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Failure {
    /// The input cannot be read as what it claims to be: every error that was found.
    #[error("{} error(s) in the input", .0.len())]
    Input(Vec<PlanError>),
    /// The plan broke its promise: a limit of the engine, or a decision that its independent
    /// check refused.
    #[error("{0}")]
    Broken(String),
    /// The caller raised [`Options::stop`].
    #[error("stopped")]
    Stopped,
}

/// What would be launched for the pending pods of `snapshot`.
///
/// # Errors
/// Input that cannot be used, or a broken promise. A pod that fits nowhere is no error.
pub fn plan(snapshot: &Snapshot, options: &Options) -> Result<Plan, Failure> {
    Ok(decide(snapshot, options)?.plan)
}

/// A plan with the tables that it came from.
pub(crate) struct Decided {
    pub lowered: Lowered,
    pub plan: Plan,
    /// Values of pods that prove the lower bound, by class; empty without a search.
    pub duals: Vec<Dual>,
}

/// [`plan`], keeping the tables for those who explain.
pub(crate) fn decide(snapshot: &Snapshot, options: &Options) -> Result<Decided, Failure> {
    let mut warnings = snapshot.warnings.clone();
    warnings.extend(noticed::warnings(snapshot));
    let types = types::type_lists(snapshot, options, &mut warnings).map_err(Failure::Input)?;
    let lowered = lower(snapshot, &types, options).map_err(Failure::Input)?;
    warnings.extend(lowered.warnings.iter().cloned());
    ended(options)?;
    let how = options.how(&snapshot.settings);
    let mut decision = decided(&lowered, options, &how, &mut warnings)?;
    if options.strategy == Strategy::Cheapest
        && let Some(better) = karpenters(&lowered, &how, &decision)
    {
        decision = better;
    }
    warnings.extend(static_pools(&lowered));
    let quotas = quotas::uses(&lowered, (options.strategy, &how), &decision, &mut warnings);
    let mut plan = raise(&lowered, &decision.decision(), options.strategy, &warnings);
    if let Some(bound) = decision.bound {
        plan.cost.set_bound(Money::of_price(bound.price_microusd));
    }
    plan.quotas = quotas;
    plan.dual = options.dual.then(|| dual::prices(&lowered, &decision));
    let replay = |scoring| replay::replay(snapshot, &lowered, &decision, (scoring, how.stop));
    plan.replay = options.replay.and_then(replay);
    // What came after the decision may have been cut short.
    ended(options)?;
    Ok(Decided { lowered, plan, duals: decision.duals })
}

/// Fails once the caller wants no plan any more.
fn ended(options: &Options) -> Result<(), Failure> {
    if options.stop.is_raised() { Err(Failure::Stopped) } else { Ok(()) }
}

/// Solves and verifies. A decision that breaks a rule is never shown, unless the caller asked
/// for Karpenter's own rules, which break some: then a warning says which.
fn decided(
    lowered: &Lowered,
    options: &Options,
    how: &How,
    warnings: &mut Vec<Warning>,
) -> Result<OwnedDecision, Failure> {
    let problem = lowered.tables.problem();
    let broken = |error: &dyn std::fmt::Display| Failure::Broken(error.to_string());
    let decision = match options.strategy {
        Strategy::Cheapest => search(&problem, how),
        Strategy::Greedy | Strategy::Karpenter => solve(&problem, how.stop),
    };
    ended(options)?;
    let decision = decision.map_err(|e| broken(&e))?;
    if let Err(violation) = verify(&problem, &decision.decision()) {
        let words = words_of(&violation, lowered);
        match options.strategy {
            Strategy::Karpenter => warnings.push(Warning::new(
                "KarpenterBreaksRule",
                "plan",
                format!("the independent check refuses this plan of Karpenter's rules: {words}"),
            )),
            Strategy::Greedy | Strategy::Cheapest => {
                return Err(broken(&format!("the independent check refuses the plan: {words}")));
            }
        }
    }
    Ok(decision)
}

/// Most pods for which Karpenter's own procedure is asked as well: its rules seldom place more,
/// and never cheaper by much.
const KARPENTER_PODS: u32 = 5_000;

/// What Karpenter's procedure decides, when it is better than `found` and holds under the
/// mended rules.
fn karpenters(lowered: &Lowered, how: &How, found: &OwnedDecision) -> Option<OwnedDecision> {
    let problem = lowered.tables.problem();
    let pods: u32 = problem.runs.iter().map(|r| r.count).sum();
    if pods > KARPENTER_PODS || how.is_proven(&problem, found) {
        return None;
    }
    one_by_one(&problem, Rules::KARPENTER, how, found).ok().flatten()
}

/// A violation with names for its rows.
fn words_of(violation: &Violation, lowered: &Lowered) -> String {
    let names = &lowered.names;
    let node = match violation.target {
        Some(Target::Node(row)) => {
            let name = names.nodes.get(row as usize).map_or("", String::as_str);
            format!(" on node `{name}`")
        }
        Some(Target::New(row)) => format!(" on launch {}", u64::from(row) + 1),
        None => String::new(),
    };
    let pod = names.pods.get(violation.class as usize).and_then(|pods| pods.first());
    let pod = pod.map_or_else(String::new, |pod| format!(" for pods like `{pod}`"));
    format!("rule `{:?}` does not hold{node}{pod}", violation.rule)
}

/// Pools with replicas that lack nodes: those that are launched, and those that are not.
fn static_pools(lowered: &Lowered) -> Vec<Warning> {
    let lacking = lowered.static_launches.iter().filter(|s| s.nodes + s.held_by_limit > 0);
    lacking
        .map(|s| {
            let mut held = match s.held_by_limit {
                0 => String::new(),
                held => format!(", and its limit keeps {held} more from being launched"),
            };
            let bought = s.choices.len() as u64;
            if bought < u64::from(s.nodes) {
                held.push_str(&format!(
                    "; for {} of them no instance type of the pool can be bought",
                    u64::from(s.nodes) - bought
                ));
            }
            Warning::new(
                "StaticPoolLacksNodes",
                format!("NodePool {}", s.node_pool),
                format!(
                    "it launches {} node(s) to reach its replicas, without pods: see \
                     `staticLaunch`{held}",
                    s.nodes
                ),
            )
        })
        .collect()
}
