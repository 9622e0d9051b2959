//! `cargo xtask oracle`: our `karpenter` strategy against Karpenter's own scheduler, on the
//! inputs of `testbed/oracle/inputs` and on seeded random ones.
//!
//! Upstream is random where it iterates maps, so each input is run several times and ours
//! must be one of the answers, or differ by a choice that is proven free. What the oracle
//! does not cover (overlays, buffers, static pools) is not asked here.

mod answer;
mod cheapest;
mod compare;
mod groups;
mod kinds;
mod known;
pub mod programs;
mod report;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cheapest::Standing;
use serde_json::Value;

use self::answer::Answer;
use self::compare::Verdict;
use self::groups::Groups;
pub use self::programs::has_go;
use self::programs::{Ours, Theirs};
use self::report::{Outcome, Row};
use crate::{args, random, run};

/// Runs of the oracle before an input counts as different.
const MANY_RUNS: u64 = 64;
/// Inputs of more pods than this have so many free choices that no two runs of upstream
/// agree, and one run takes seconds: ours must lie within what the runs span.
const LARGE_PODS: usize = 400;
/// Seeds of our own free choices that are tried.
const TIE_SEEDS: u64 = 64;

/// What to compare.
pub struct Options {
    inputs: PathBuf,
    random: u64,
    seed: u64,
    runs: u64,
    only: Option<String>,
    keep: Option<PathBuf>,
    dunnage: Option<PathBuf>,
    is_generate_only: bool,
    /// Leaves inputs of many pods out, on which one run of upstream takes seconds.
    skips_large: bool,
}

impl Options {
    /// Reads the options of the verb.
    ///
    /// # Errors
    /// An unknown option or a value that is no number.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let valued = ["inputs", "random", "seed", "runs", "only", "keep", "dunnage"];
        let t = args::table(words, &valued, &["generate-only", "skip-large"])?;
        let path = |name: &str| t.get(name).map(|p| run::absolute(Path::new(p)));
        Ok(Self {
            inputs: path("inputs").unwrap_or_else(default_inputs),
            random: args::number(&t, "random", 500)?,
            seed: args::number(&t, "seed", 1)?,
            runs: args::number(&t, "runs", 8)?.max(1),
            only: t.get("only").cloned(),
            keep: path("keep"),
            dunnage: path("dunnage"),
            is_generate_only: t.contains_key("generate-only"),
            skips_large: t.contains_key("skip-large"),
        })
    }

    /// What `ci` runs: the given inputs and a tenth of the random ones.
    pub fn quick() -> Self {
        Self {
            inputs: default_inputs(),
            random: 500,
            seed: 1,
            runs: 8,
            only: None,
            keep: None,
            dunnage: None,
            is_generate_only: false,
            skips_large: true,
        }
    }
}

fn default_inputs() -> PathBuf {
    run::root().join("testbed").join("oracle").join("inputs")
}

/// One input and what was read of it.
struct Input {
    name: String,
    path: PathBuf,
    value: Value,
}

/// Compares and prints the table.
///
/// # Errors
/// A program does not build or run, an input is unreadable, a difference is unexplained, or
/// more than 5 % stand in the table of known differences.
pub fn oracle(options: &Options) -> Result<(), String> {
    let dir = match &options.keep {
        Some(dir) => dir.clone(),
        None => run::cache_dir().join("oracle").join("inputs"),
    };
    let inputs = gather(options, &dir)?;
    if inputs.is_empty() {
        return Err("no input".to_owned());
    }
    let oracle = programs::build_oracle()?;
    let paths: Vec<PathBuf> = inputs.iter().map(|i| i.path.clone()).collect();
    let theirs = programs::ask_oracle(&oracle, &paths, options.runs, &dir.join("answers.jsonl"))?;
    report::print_health(&theirs);
    if options.is_generate_only {
        return Ok(());
    }
    let dunnage = match &options.dunnage {
        Some(path) => path.clone(),
        None => programs::build_dunnage()?,
    };
    let known = run::root().join("testbed").join("oracle").join("known-differences.txt");
    let text = fs::read_to_string(&known).map_err(|why| format!("{}: {why}", known.display()))?;
    let judge = Judge { oracle, dunnage, dir, known: known::parse(&text)? };
    let mut standing = Standing::default();
    for input in &inputs {
        if let Some(found) = theirs.get(&input.name) {
            standing.add(&input.name, &input.path, found, &judge.dunnage, &judge.dir);
        }
    }
    let rows = judge.all(&inputs, theirs)?;
    report::print(&rows);
    let cheapest = standing.verdict();
    report::verdict(&rows).and(cheapest)
}

/// The given inputs and the random ones, by name, `--only` applied.
fn gather(options: &Options, dir: &Path) -> Result<Vec<Input>, String> {
    let mut paths = Vec::new();
    let entries = fs::read_dir(&options.inputs);
    for entry in entries.map_err(|why| format!("{}: {why}", options.inputs.display()))? {
        let path = entry.map_err(|why| why.to_string())?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        // the shared catalogues lie beside the inputs
        if name.ends_with(".json") && !name.starts_with("types-") {
            paths.push(path);
        }
    }
    let catalogue = default_inputs().join("types-all.json");
    paths.extend(random::write_all(options.random, options.seed, &catalogue, dir)?);
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let name = path.file_stem().and_then(|n| n.to_str()).unwrap_or_default().to_owned();
        if options.only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        let value = serde_json::from_str(&text);
        let value = value.map_err(|why| format!("{}: {why}", path.display()))?;
        if !(options.skips_large && is_large(&value)) {
            out.push(Input { name, path, value });
        }
    }
    Ok(out)
}

/// The programs and the table that a verdict needs.
struct Judge {
    oracle: PathBuf,
    dunnage: PathBuf,
    dir: PathBuf,
    known: BTreeMap<String, known::Known>,
}

/// Row of an input that the first runs do not explain, the input, and our answer.
type Unsure<'i> = (usize, &'i Input, Answer);

impl Judge {
    fn all(
        &self,
        inputs: &[Input],
        mut theirs: BTreeMap<String, Theirs>,
    ) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        let mut unsure: Vec<Unsure> = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            let found = theirs.remove(&input.name).unwrap_or_default();
            let (outcome, ours) = self.first(input, &found);
            if let (Outcome::Unexplained(_), Some(ours)) = (&outcome, ours)
                && !is_large(&input.value)
            {
                unsure.push((i, input, ours));
            }
            rows.push(Row::new(&input.name, &input.value, outcome));
        }
        self.again(unsure, &mut rows)?;
        for row in &mut rows {
            row.apply_known(&self.known);
        }
        Ok(rows)
    }

    /// The verdict after the first runs, and our answer when there is one.
    fn first(&self, input: &Input, theirs: &Theirs) -> (Outcome, Option<Answer>) {
        if let Some(why) = &theirs.error {
            return (Outcome::Unexplained(vec![format!("the oracle failed: {why}")]), None);
        }
        let ours =
            match programs::ask_ours(&self.dunnage, &input.path, ("karpenter", None), &self.dir) {
                Ours::Plan(answer) => answer,
                Ours::Refused(why) => {
                    return (Outcome::Unexplained(vec![format!("dunnage: {why}")]), None);
                }
            };
        let groups = Groups::of(&input.value);
        let mut verdict = compare::compare(&ours, &theirs.answers, &groups);
        let is_different = matches!(verdict, Verdict::Different(_));
        if is_different
            && is_large(&input.value)
            && compare::is_within_span(&ours, &theirs.answers, &groups)
        {
            verdict = Verdict::Tie("within what the runs of a large input span");
        }
        (Outcome::from(verdict, theirs.is_cut), Some(ours))
    }

    /// More runs of the oracle, then seeds of our own free choices.
    fn again(&self, unsure: Vec<Unsure>, rows: &mut [Row]) -> Result<(), String> {
        if unsure.is_empty() {
            return Ok(());
        }
        let paths: Vec<PathBuf> = unsure.iter().map(|(_, i, _)| i.path.clone()).collect();
        let file = self.dir.join("more-answers.jsonl");
        let mut theirs = programs::ask_oracle(&self.oracle, &paths, MANY_RUNS, &file)?;
        for (i, input, ours) in unsure {
            let found = theirs.remove(&input.name).unwrap_or_default();
            let groups = Groups::of(&input.value);
            let outcome = match compare::compare(&ours, &found.answers, &groups) {
                Verdict::Different(lines) => match self.seed_that_meets(input, &found, &groups) {
                    Some(seed) => Outcome::Tie(format!("our free choices in order {seed}")),
                    None => Outcome::Unexplained(lines),
                },
                Verdict::Exact => Outcome::Tie("another run".to_owned()),
                Verdict::Tie(why) => Outcome::Tie(format!("another run, {why}")),
            };
            if let Some(row) = rows.get_mut(i) {
                row.outcome = outcome;
            }
        }
        Ok(())
    }

    /// A seed under which our own answer is one of the oracle's, pods alike exchanged.
    fn seed_that_meets(&self, input: &Input, theirs: &Theirs, groups: &Groups) -> Option<u64> {
        let mut plain = None;
        for seed in 1..=TIE_SEEDS {
            let asked = programs::ask_ours(
                &self.dunnage,
                &input.path,
                ("karpenter", Some(seed)),
                &self.dir,
            );
            let Ours::Plan(ours) = asked else { return None };
            match compare::compare(&ours, &theirs.answers, groups) {
                Verdict::Exact | Verdict::Tie("interchangeable pods") => return Some(seed),
                Verdict::Tie(_) | Verdict::Different(_) => {}
            }
            // an input without free choices answers the same under each seed
            if seed == 1 {
                plain = Some(ours);
            } else if seed == 8 && plain.as_ref() == Some(&ours) {
                return None;
            }
        }
        None
    }
}

fn is_large(input: &Value) -> bool {
    input["pods"].as_array().is_some_and(|pods| pods.len() > LARGE_PODS)
}
