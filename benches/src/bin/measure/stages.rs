//! What each stage of a plan costs: CPU seconds and allocations, from the text to the answer.
//!
//! It stops after the stage that is asked for. The functions `stage_…` stay functions when
//! compiled, so that a profiler can count the instructions of each alone.

use std::path::Path;
use std::str::FromStr;

use dunnage_benches::allocations::allocations;
use dunnage_engine_core::problem::Problem;
use dunnage_planner::lower::{Lowered, TypeLists, lower};
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::plan::{Plan, plan};
use dunnage_planner::raise::raise;
use dunnage_planner::read::{ReadOptions, Source, path_beside, read_with};
use dunnage_planner::snapshot::Snapshot;
use dunnage_planner::solve::{OwnedDecision, search, solve, verify};
use nix::time::{ClockId, clock_gettime};
use serde_json::{Map, Value, json};

/// What the stages cost so far.
struct Stages<'u> {
    until: &'u str,
    cpu_seconds: Map<String, Value>,
    allocations: Map<String, Value>,
    result: Map<String, Value>,
    last: (f64, u64),
}

/// Runs the stages up to `until` and prints one line of JSON.
///
/// # Errors
/// An input that cannot be read or planned, or an unknown word.
pub fn stages(file: &Path, strategy: &str, effort: &str, until: &str) -> Result<(), String> {
    if !["read", "lower", "solve", "check", "raise", "plan"].contains(&until) {
        return Err(format!("`{until}` is no stage"));
    }
    let options = Options {
        strategy: Strategy::from_str(strategy)?,
        effort: effort.parse()?,
        ..Options::default()
    };
    let text = std::fs::read_to_string(file).map_err(|why| format!("{}: {why}", file.display()))?;
    let source = Source { name: file.display().to_string(), text };
    let mut stages = Stages::start(until);
    let open = |from: &str, path: &str| std::fs::read_to_string(path_beside(from, path));
    let read_options = ReadOptions { open: Some(&open), ..ReadOptions::default() };
    let snapshot = read_with(&[source], &read_options);
    let snapshot = snapshot.map_err(|errors| format!("{errors:?}"))?;
    stages.lap("read");
    stages.say("pods", json!(snapshot.pods.len()));
    if until == "plan" {
        let plan = plan(&snapshot, &options).map_err(|why| why.to_string())?;
        stages.lap("plan");
        stages.answer(&plan);
    } else {
        apart(&mut stages, snapshot, &options)?;
    }
    stages.print();
    Ok(())
}

/// The stages one by one. Leaves out what only a whole plan does: its second opinion by
/// Karpenter's own procedure.
fn apart(stages: &mut Stages, mut snapshot: Snapshot, options: &Options) -> Result<(), String> {
    if stages.until == "read" {
        return Ok(());
    }
    let types = snapshot.instance_types.take().ok_or("the input names no instanceTypes")?;
    let lists = TypeLists::shared(types, &snapshot);
    let lowered = stage_lower(&snapshot, &lists, options)?;
    stages.lap("lower");
    let problem = lowered.tables.problem();
    stages.say("classes", json!(problem.classes.len()));
    stages.say("types", json!(problem.types.len()));
    if stages.until == "lower" {
        return Ok(());
    }
    let found = stage_solve(&problem, &snapshot, options)?;
    stages.lap("solve");
    stages.say("steps", json!(found.effort.steps));
    stages.say("memoryBytes", json!(found.announced_bytes));
    if stages.until == "solve" {
        return Ok(());
    }
    stage_check(&problem, &found, options.strategy)?;
    stages.lap("check");
    if stages.until == "check" {
        return Ok(());
    }
    raised(stages, &lowered, &found, options.strategy);
    Ok(())
}

#[inline(never)]
fn stage_lower(
    snapshot: &Snapshot,
    lists: &TypeLists,
    options: &Options,
) -> Result<Lowered, String> {
    lower(snapshot, lists, options).map_err(|errors| format!("{errors:?}"))
}

#[inline(never)]
fn stage_solve(
    problem: &Problem,
    snapshot: &Snapshot,
    options: &Options,
) -> Result<OwnedDecision, String> {
    let found = match options.strategy {
        Strategy::Cheapest => search(problem, &options.how(&snapshot.settings)),
        Strategy::Greedy | Strategy::Karpenter => solve(problem, options.stop.engine()),
    };
    found.map_err(|why| why.to_string())
}

/// Karpenter's own rules break some that the check knows; the check is made all the same.
#[inline(never)]
fn stage_check(problem: &Problem, found: &OwnedDecision, strategy: Strategy) -> Result<(), String> {
    match verify(problem, &found.decision()) {
        Err(violation) if strategy != Strategy::Karpenter => {
            Err(format!("the check refuses the plan: {violation:?}"))
        }
        _ => Ok(()),
    }
}

fn raised(stages: &mut Stages, lowered: &Lowered, found: &OwnedDecision, strategy: Strategy) {
    let plan = raise(lowered, &found.decision(), strategy, &[]);
    stages.lap("raise");
    stages.answer(&plan);
}

impl<'u> Stages<'u> {
    fn start(until: &'u str) -> Self {
        Self {
            until,
            cpu_seconds: Map::new(),
            allocations: Map::new(),
            result: Map::new(),
            last: (cpu_seconds(), allocations()),
        }
    }

    /// Books what was used since the last stage.
    fn lap(&mut self, stage: &str) {
        let now = (cpu_seconds(), allocations());
        let micros = ((now.0 - self.last.0) * 1e6).round();
        self.cpu_seconds.insert(stage.to_owned(), json!(micros / 1e6));
        self.allocations.insert(stage.to_owned(), json!(now.1 - self.last.1));
        self.last = (cpu_seconds(), allocations());
    }

    fn say(&mut self, what: &str, value: Value) {
        self.result.insert(what.to_owned(), value);
    }

    fn answer(&mut self, plan: &Plan) {
        self.say("nodes", json!(plan.launch.len()));
        self.say("unplaced", json!(plan.unplaced.len()));
        self.say("cost", serde_json::to_value(plan.cost).unwrap_or_default());
    }

    fn print(mut self) {
        self.result.insert("cpuSeconds".to_owned(), Value::Object(self.cpu_seconds));
        self.result.insert("allocations".to_owned(), Value::Object(self.allocations));
        println!("{}", Value::Object(self.result));
        // Nothing is given back: that would count for the last stage.
        std::process::exit(0);
    }
}

/// CPU time of this process.
fn cpu_seconds() -> f64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(0.0, |t| t.tv_sec() as f64 + t.tv_nsec() as f64 / 1e9)
}
