//! `bench karpenter`: our program beside Karpenter's own scheduler on the same inputs, in one
//! run: CPU time of the decision and of the whole process, memory, and what is paid.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::stages::{How, Stages};
use crate::columns::Columns;
use crate::oracle::programs;
use crate::{args, measure, run, study};

/// Inputs of the oracle on which Karpenter takes minutes.
const HEAVY: [&str; 2] = ["fleet-10k-800", "large-10k-800"];
/// The same in small.
const LIGHT: [&str; 2] = ["fleet-1k-800", "large-1k-800"];

/// Options of the benchmark.
pub struct Options {
    only: Option<String>,
    is_heavy: bool,
}

impl Options {
    /// Reads `[--only TEXT] [--heavy]`.
    ///
    /// # Errors
    /// An unknown option.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let t = args::table(words, &["only"], &["heavy"])?;
        Ok(Self { only: t.get("only").cloned(), is_heavy: t.contains_key("heavy") })
    }
}

/// The programs that are measured.
struct Programs {
    oracle: PathBuf,
    dunnage: PathBuf,
    measure: PathBuf,
}

/// Measures both on every input and prints the table.
///
/// # Errors
/// A program does not build or run.
pub fn karpenter(options: &Options) -> Result<(), String> {
    if !programs::has_go() {
        return Err("Karpenter's scheduler needs a Go toolchain".to_owned());
    }
    let oracle = programs::build_oracle()?;
    let measure::Programs { dunnage, measure } = measure::build()?;
    let programs = Programs { oracle, dunnage, measure };
    let mut rows = Vec::new();
    for file in inputs(options, &programs.measure)? {
        let name = file.file_stem().and_then(|n| n.to_str()).unwrap_or_default();
        eprintln!("{name}: Karpenter, then ours");
        rows.push(programs.row(name, &file)?);
    }
    println!("{}", times(&rows));
    println!("{}", answers(&rows));
    Ok(())
}

/// The study's inputs of a thousand pods, and the oracle's large ones.
fn inputs(options: &Options, measure: &Path) -> Result<Vec<PathBuf>, String> {
    let is_wanted =
        |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let mut names = study::chosen(measure, &["1000".to_owned()])?;
    names.retain(|name| is_wanted(name));
    let dir = measure::scratch("pods")?;
    study::write(measure, &dir, "pods", &names)?;
    let mut files: Vec<PathBuf> =
        names.iter().map(|name| dir.join(format!("{name}.json"))).collect();
    let oracle = run::root().join("testbed").join("oracle");
    let heavy: &[&str] = if options.is_heavy { &HEAVY } else { &[] };
    for name in LIGHT.iter().chain(heavy).filter(|name| is_wanted(name)) {
        let file = oracle.join("inputs").join(format!("{name}.json"));
        if !file.is_file() {
            // seeded, the same bytes each time
            run::step(Command::new("python3").current_dir(&oracle).arg("gen/inputs.py"))?;
        }
        files.push(file);
    }
    if files.is_empty() { Err("no input of that name".to_owned()) } else { Ok(files) }
}

/// Both sides of one input.
struct Row {
    name: String,
    pods: u64,
    theirs: Theirs,
    ours: Ours,
}

struct Theirs {
    solve_seconds: f64,
    schedule_seconds: f64,
    process_seconds: f64,
    peak_mib: f64,
    placed: u64,
    nodes: u64,
    usd: f64,
}

struct Ours {
    /// Lowering, solving and checking by the default strategy.
    engine_seconds: f64,
    /// The same by the strategy that follows Karpenter's rules.
    same_rules_seconds: f64,
    /// The whole call: second opinions and the answer in names as well.
    plan_seconds: f64,
    process_seconds: f64,
    peak_mib: f64,
    placed: u64,
    nodes: u64,
    usd: f64,
}

impl Programs {
    fn row(&self, name: &str, file: &Path) -> Result<Row, String> {
        let words = ["schedule", "-no-timeout", "-summary", &file.to_string_lossy()];
        let run = measure::run(&self.oracle, &words)?;
        let answer: Value =
            serde_json::from_str(&run.stdout).map_err(|why| format!("oracle, {name}: {why}"))?;
        let theirs = read_theirs(&answer, &run).map_err(|why| format!("oracle, {name}: {why}"))?;
        let (pods, ours) = self.ours(file)?;
        Ok(Row { name: name.to_owned(), pods, theirs, ours })
    }

    fn ours(&self, file: &Path) -> Result<(u64, Ours), String> {
        let how = How { strategy: "cheapest", effort: "default", until: "check" };
        let engine = ["lower", "solve", "check"];
        let apart = Stages::of(&self.measure, file, how)?;
        let same = Stages::of(&self.measure, file, How { strategy: "karpenter", ..how })?;
        let whole = Stages::of(&self.measure, file, How { until: "plan", ..how })?;
        let words = ["plan", "-o", "json", "-f", &file.to_string_lossy()];
        let run = measure::run(&self.dunnage, &words)?;
        let pods = whole.number("pods");
        let ours = Ours {
            engine_seconds: apart.cpu_seconds(&engine),
            same_rules_seconds: same.cpu_seconds(&engine),
            plan_seconds: whole.cpu_seconds(&["plan"]),
            process_seconds: run.cpu_seconds,
            peak_mib: run.peak_mib,
            placed: pods - whole.number("unplaced"),
            nodes: whole.number("nodes"),
            usd: whole.usd(),
        };
        Ok((pods, ours))
    }
}

fn read_theirs(answer: &Value, run: &measure::Run) -> Result<Theirs, String> {
    let number =
        |field: &str| answer[field].as_f64().ok_or_else(|| format!("`{field}` is no number"));
    // pending pods, new scheduler, solve, truncation of types
    let solve = answer["cpuParts"][2].as_f64().ok_or("`cpuParts` has no third number")?;
    Ok(Theirs {
        solve_seconds: solve,
        schedule_seconds: number("cpuSeconds")?,
        process_seconds: run.cpu_seconds,
        peak_mib: run.peak_mib,
        placed: number("scheduledPods")? as u64,
        nodes: number("newNodeClaims")? as u64,
        usd: number("totalHourlyPrice")?,
    })
}

fn times(rows: &[Row]) -> String {
    let mut table = Columns::new(&[
        "CPU s",
        "pods",
        "K: Solve",
        "K: Schedule",
        "K: process",
        "K: RSS MiB",
        "lower+solve+check",
        "plan",
        "process",
        "RSS MiB",
        "by K's rules",
        "Solve / lower+solve+check",
        "Schedule / plan",
        "process / process",
    ]);
    for Row { name, pods, theirs, ours } in rows {
        let ratio = |a: f64, b: f64| format!("{:.1}x", a / b.max(1e-6));
        table.push(vec![
            name.clone(),
            pods.to_string(),
            format!("{:.2}", theirs.solve_seconds),
            format!("{:.2}", theirs.schedule_seconds),
            format!("{:.2}", theirs.process_seconds),
            format!("{:.0}", theirs.peak_mib),
            format!("{:.3}", ours.engine_seconds),
            format!("{:.3}", ours.plan_seconds),
            format!("{:.3}", ours.process_seconds),
            format!("{:.0}", ours.peak_mib),
            format!("{:.3}", ours.same_rules_seconds),
            ratio(theirs.solve_seconds, ours.engine_seconds),
            ratio(theirs.schedule_seconds, ours.plan_seconds),
            ratio(theirs.process_seconds, ours.process_seconds),
        ]);
    }
    table.text()
}

fn answers(rows: &[Row]) -> String {
    let mut table = Columns::new(&[
        "answer",
        "K: placed",
        "K: nodes",
        "K: USD/h",
        "placed",
        "nodes",
        "USD/h",
        "K / ours",
    ]);
    for Row { name, theirs, ours, .. } in rows {
        table.push(vec![
            name.clone(),
            theirs.placed.to_string(),
            theirs.nodes.to_string(),
            format!("{:.4}", theirs.usd),
            ours.placed.to_string(),
            ours.nodes.to_string(),
            format!("{:.4}", ours.usd),
            format!("{:.3}", theirs.usd / ours.usd),
        ]);
    }
    table.text()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_oracles_summary_is_read() {
        let run = measure::Run { stdout: String::new(), cpu_seconds: 9.0, peak_mib: 100.0 };
        let answer = json!({ "cpuParts": [0.1, 0.2, 3.0, 0.1], "cpuSeconds": 3.4,
            "scheduledPods": 10, "newNodeClaims": 2, "totalHourlyPrice": 1.5 });
        let theirs = read_theirs(&answer, &run).expect("a summary");
        assert_eq!((theirs.solve_seconds, theirs.schedule_seconds), (3.0, 3.4));
        assert_eq!((theirs.placed, theirs.nodes, theirs.usd), (10, 2, 1.5));
        assert!(read_theirs(&json!({}), &run).is_err());
    }
}
