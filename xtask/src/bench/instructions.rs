//! `bench instructions`: what lowering, solving and checking cost in instructions and
//! allocations, which a busy machine does not change, held against committed numbers.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::stages::{How, Stages};
use crate::columns::Columns;
use crate::{args, measure, run, study};

/// Inputs that are small enough for a machine that is simulated.
const INPUTS: [&str; 5] =
    ["kbench-1000", "enterprise-1000", "openbgpu-500", "kzonal-500", "kdiverse-500"];
const STRATEGIES: [&str; 2] = ["greedy", "cheapest"];
const STAGES: [&str; 3] = ["lower", "solve", "check"];
/// Instructions and allocations may differ by this much in percent: hash tables are seeded at
/// random, and compilers get better.
const TOLERANCE_PERCENT: f64 = 3.0;

/// Options of the benchmark.
pub struct Options {
    is_update: bool,
    only: Option<String>,
}

impl Options {
    /// Reads `[--update] [--only TEXT]`.
    ///
    /// # Errors
    /// An unknown option.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let t = args::table(words, &["only"], &["update"])?;
        let (is_update, only) = (t.contains_key("update"), t.get("only").cloned());
        if is_update && only.is_some() {
            return Err("`--update` writes all numbers: leave out `--only`".to_owned());
        }
        Ok(Self { is_update, only })
    }
}

/// What one stage of one input cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Count {
    instructions: u64,
    allocations: u64,
    /// Of the search; 0 for other stages.
    steps: u64,
}

/// Input, strategy and stage.
type Counts = BTreeMap<String, Count>;

const HEAD: &str = "\
# Instructions (callgrind, x86_64 Linux, release build), allocations and steps of each stage.
# cargo xtask bench instructions --update
stage,instructions,allocations,steps
";

/// Counts, prints, and compares or writes the committed numbers.
///
/// # Errors
/// A program is missing or fails, or a number is off by more than the tolerance.
pub fn instructions(options: &Options) -> Result<(), String> {
    if Command::new("valgrind").arg("--version").output().is_err() {
        return Err("counting instructions needs valgrind".to_owned());
    }
    let measure = measure::build()?.measure;
    let is_wanted =
        |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let names: Vec<String> =
        INPUTS.iter().filter(|name| is_wanted(name)).map(|&name| name.to_owned()).collect();
    let dir = measure::scratch("instructions")?;
    study::write(&measure, &dir, "workloads", &names)?;
    let mut counts = Counts::new();
    for name in &names {
        for strategy in STRATEGIES {
            let file = dir.join(format!("{name}.json"));
            counts.extend(count(&measure, &file, name, strategy)?);
        }
    }
    let path = expectations();
    if options.is_update {
        return fs::write(&path, written(&counts)).map_err(|e| format!("{}: {e}", path.display()));
    }
    let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    compare(&counts, &read(&text)?)
}

fn expectations() -> PathBuf {
    run::root().join("benches").join("data").join("instructions.csv")
}

fn count(measure: &Path, file: &Path, name: &str, strategy: &str) -> Result<Counts, String> {
    let how = How { strategy, effort: "default", until: "check" };
    let plain = Stages::of(measure, file, how)?;
    let mut out = Counts::new();
    for stage in STAGES {
        // Tables are lowered alike for every strategy.
        if stage == "lower" && strategy != STRATEGIES[0] {
            continue;
        }
        let how = How { until: stage, ..how };
        let count = Count {
            instructions: counted(measure, &how.words(&file.to_string_lossy()), stage)?,
            allocations: plain.allocations(stage),
            steps: if stage == "solve" { plain.number("steps") } else { 0 },
        };
        out.insert(format!("{name}/{strategy}/{stage}"), count);
    }
    Ok(out)
}

/// Instructions below the function of the stage.
fn counted(measure: &Path, words: &[&str], stage: &str) -> Result<u64, String> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--toggle-collect=*stages::stage_{stage}*"));
    valgrind.arg(measure).args(words);
    let out = valgrind.output().map_err(|why| format!("valgrind: {why}"))?;
    let said = String::from_utf8_lossy(&out.stderr);
    let found = collected(&said).filter(|&n| out.status.success() && n > 0);
    found.ok_or_else(|| format!("valgrind counted nothing in `stage_{stage}`: {said}"))
}

/// The number in callgrind's closing lines.
fn collected(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.split_once("Collected :"))?;
    line.1.trim().parse().ok()
}

fn written(counts: &Counts) -> String {
    let mut out = HEAD.to_owned();
    for (name, c) in counts {
        out.push_str(&format!("{name},{},{},{}\n", c.instructions, c.allocations, c.steps));
    }
    out
}

fn read(text: &str) -> Result<Counts, String> {
    let mut out = Counts::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let mut fields = line.split(',');
        let name = fields.next().unwrap_or_default().to_owned();
        let numbers: Vec<u64> = fields.filter_map(|n| n.parse().ok()).collect();
        let [instructions, allocations, steps] = numbers[..] else {
            return Err(format!("instructions.csv: `{line}` has not four fields"));
        };
        out.insert(name, Count { instructions, allocations, steps });
    }
    Ok(out)
}

fn percent(now: u64, then: u64) -> f64 {
    100.0 * (now as f64 / then.max(1) as f64 - 1.0)
}

/// True when the stage costs about what was expected, in whatever way it is counted.
fn is_as_expected(now: &Count, then: &Count) -> bool {
    let is_near = |now, then| percent(now, then).abs() <= TOLERANCE_PERCENT;
    is_near(now.instructions, then.instructions)
        && is_near(now.allocations, then.allocations)
        && now.steps == then.steps
}

fn compare(now: &Counts, then: &Counts) -> Result<(), String> {
    let mut table = Columns::new(&[
        "stage",
        "instructions",
        "expected",
        "%",
        "allocations",
        "expected",
        "steps",
        "expected",
        "",
    ]);
    let mut off = 0;
    for (name, now) in now {
        let Some(then) = then.get(name) else {
            return Err(format!("instructions.csv has no `{name}`: `--update` writes it"));
        };
        let is_good = is_as_expected(now, then);
        off += usize::from(!is_good);
        table.push(vec![
            name.clone(),
            now.instructions.to_string(),
            then.instructions.to_string(),
            format!("{:+.2}", percent(now.instructions, then.instructions)),
            now.allocations.to_string(),
            then.allocations.to_string(),
            now.steps.to_string(),
            then.steps.to_string(),
            if is_good { String::new() } else { "OFF".to_owned() },
        ]);
    }
    println!("{}", table.text());
    match off {
        0 => Ok(()),
        off => Err(format!(
            "{off} stages are more than {TOLERANCE_PERCENT} % off, or search otherwise: look why, \
             then `--update`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Count = Count { instructions: 1000, allocations: 100, steps: 5 };

    #[test]
    fn what_is_written_is_read_back() {
        let counts = Counts::from([("a/greedy/solve".to_owned(), COUNT)]);
        assert_eq!(read(&written(&counts)), Ok(counts));
        assert!(read("head\na,1,2\n").is_err());
    }

    #[test]
    fn callgrinds_closing_line_is_read() {
        assert_eq!(collected("==1== x\n==1== Collected : 1234\n"), Some(1234));
        assert_eq!(collected("==1== Collected 12\n"), None);
    }

    #[test]
    fn small_differences_pass_and_others_do_not() {
        let expected = |now| is_as_expected(&now, &COUNT);
        assert!(expected(Count { instructions: 1029, allocations: 98, ..COUNT }));
        assert!(!expected(Count { instructions: 1031, ..COUNT }));
        assert!(!expected(Count { instructions: 900, ..COUNT }));
        assert!(!expected(Count { allocations: 104, ..COUNT }));
        assert!(!expected(Count { steps: 6, ..COUNT }));
    }

    #[test]
    fn the_committed_numbers_cover_every_stage() {
        let text = fs::read_to_string(expectations()).expect("the file");
        let counts = read(&text).expect("its rows");
        for input in INPUTS {
            for (strategy, stage) in [
                ("greedy", "lower"),
                ("greedy", "solve"),
                ("cheapest", "solve"),
                ("cheapest", "check"),
            ] {
                assert!(counts.contains_key(&format!("{input}/{strategy}/{stage}")), "{input}");
            }
        }
    }
}
