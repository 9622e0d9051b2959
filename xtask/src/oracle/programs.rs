//! The two programs that are compared: built, asked, their answers read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use crate::run;

/// Longest time for one answer of ours.
const PLAN_LIMIT: Duration = Duration::from_secs(120);

/// What the oracle says of one input.
#[derive(Debug, Default)]
pub struct Theirs {
    /// Distinct answers of all runs.
    pub answers: Vec<Answer>,
    /// Why there is none, or not every run's.
    pub error: Option<String>,
    /// A run hit the scheduler's own time limit, so its answer is a part.
    pub is_cut: bool,
}

/// What our program says of one input.
pub enum Ours {
    /// A plan.
    Plan(Answer),
    /// It refused, and how.
    Refused(String),
}

/// Whether a Go toolchain is here.
pub fn has_go() -> bool {
    Command::new("go").arg("version").output().is_ok_and(|o| o.status.success())
}

/// Builds the oracle and returns its path.
///
/// # Errors
/// The build failed.
pub fn build_oracle() -> Result<PathBuf, String> {
    let dir = run::cache_dir().join("oracle");
    fs::create_dir_all(&dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    let binary = dir.join("oracle");
    let mut go = Command::new("go");
    go.current_dir(run::root().join("testbed").join("oracle"));
    go.args(["build", "-o"]).arg(&binary).arg("./cmd/oracle");
    run::step(&mut go)?;
    Ok(binary)
}

/// Builds the CLI and returns its path.
///
/// # Errors
/// The build failed.
pub fn build_dunnage() -> Result<PathBuf, String> {
    run::step(run::cargo().args(["build", "--release", "--package", "dunnage"]))?;
    Ok(run::target_dir().join("release").join("dunnage"))
}

/// Asks the oracle about every input, `runs` times each.
///
/// # Errors
/// The oracle ended badly, or what it wrote cannot be read.
pub fn ask_oracle(
    oracle: &Path,
    inputs: &[PathBuf],
    runs: u64,
    answers: &Path,
) -> Result<BTreeMap<String, Theirs>, String> {
    let mut cmd = Command::new(oracle);
    cmd.args(["batch", "-runs", &runs.to_string(), "-out"]).arg(answers).args(inputs);
    run::step(&mut cmd)?;
    let text =
        fs::read_to_string(answers).map_err(|why| format!("{}: {why}", answers.display()))?;
    let mut out = BTreeMap::new();
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|why| format!("oracle: {why}"))?;
        let name = row["input"].as_str().unwrap_or_default().to_owned();
        let theirs = read_theirs(&row).map_err(|why| format!("oracle, {name}: {why}"))?;
        out.insert(name, theirs);
    }
    Ok(out)
}

fn read_theirs(row: &Value) -> Result<Theirs, String> {
    let mut out = Theirs { error: row["error"].as_str().map(str::to_owned), ..Theirs::default() };
    for answer in row["answers"].as_array().into_iter().flatten() {
        out.is_cut |= answer["timedOut"].as_bool() == Some(true);
        out.answers.push(Answer::theirs(answer)?);
    }
    out.answers.sort();
    out.answers.dedup();
    Ok(out)
}

/// The whole plan of one input, as JSON.
///
/// # Errors
/// The program does not run, or what it writes is no JSON.
pub fn plan_json(dunnage: &Path, input: &Path, strategy: &str) -> Result<Value, String> {
    let mut cmd = Command::new(dunnage);
    cmd.arg("plan").arg("-f").arg(input).args(["--strategy", strategy, "-o", "json"]);
    let ended = cmd.output().map_err(|why| why.to_string())?;
    serde_json::from_slice(&ended.stdout).map_err(|why| why.to_string())
}

/// Asks our program about one input under a strategy. A seed permutes its free choices.
pub fn ask_ours(
    dunnage: &Path,
    input: &Path,
    (strategy, seed): (&str, Option<u64>),
    scratch: &Path,
) -> Ours {
    let mut cmd = Command::new(dunnage);
    cmd.arg("plan").arg("-f").arg(input).args(["--strategy", strategy, "-o", "json"]);
    if let Some(seed) = seed {
        cmd.args(["--tie-seed", &seed.to_string()]);
    }
    let name = input.file_stem().and_then(|n| n.to_str()).unwrap_or("input");
    let suffix = seed.map(|s| format!("-{s}")).unwrap_or_default();
    let ended =
        match run::within(&mut cmd, PLAN_LIMIT, &scratch.join(format!("{name}{suffix}.plan"))) {
            Ok(ended) => ended,
            Err(why) => return Ours::Refused(why),
        };
    if ended.code != Some(0) {
        let first = ended.stderr.lines().next().unwrap_or("no message").to_owned();
        return Ours::Refused(format!("exit {:?}: {first}", ended.code));
    }
    let read = serde_json::from_str(&ended.stdout).map_err(|why| format!("no JSON: {why}"));
    match read.and_then(|plan: Value| Answer::ours(&plan)) {
        Ok(answer) => Ours::Plan(answer),
        Err(why) => Ours::Refused(why),
    }
}
