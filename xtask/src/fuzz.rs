//! Coverage-guided fuzzing of one target, for a given time.
//!
//! Builds the fuzz package with the nightly compiler and the instrumentation that libFuzzer
//! reads; nothing needs to be installed for it. There is no unsafe code of ours to watch, so
//! no sanitizer slows it down.

mod summary;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use summary::Summary;

use crate::{args, run};

const TARGETS: &[&str] = &["requirements", "place_check", "quantity", "cron", "front_door"];
const PLANTED: &[&str] = &["skew", "overhead", "port"];
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

const RUSTFLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Cpasses=sancov-module \
    -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
    -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares";

/// What to fuzz.
pub struct Options {
    target: String,
    seconds: u64,
    planted: Option<String>,
}

impl Options {
    /// Reads `TARGET [--seconds 60] [--planted BUG]`.
    ///
    /// # Errors
    /// No such target, bug or option.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let (target, rest) = words.split_first().ok_or("which target?")?;
        if !TARGETS.contains(&target.as_str()) {
            return Err(format!("no target `{target}`; there are {}", TARGETS.join(", ")));
        }
        let table = args::table(rest, &["seconds", "planted"], &[])?;
        let planted = table.get("planted").cloned();
        if let Some(bug) = planted.as_deref().filter(|bug| !PLANTED.contains(bug)) {
            return Err(format!("no planted bug `{bug}`; there are {}", PLANTED.join(", ")));
        }
        let seconds = args::number(&table, "seconds", 60)?;
        Ok(Self { target: target.clone(), seconds, planted })
    }

    /// Features of the fuzz package; the planner takes minutes to build.
    fn features(&self) -> Vec<String> {
        let needs_planner = matches!(self.target.as_str(), "quantity" | "front_door");
        let planner = needs_planner.then(|| "planner".to_owned());
        let planted = self.planted.as_ref().map(|bug| format!("planted-{bug}"));
        planner.into_iter().chain(planted).collect()
    }
}

/// Builds the target and fuzzes it. New inputs stay below the target directory; those worth
/// keeping are copied to `fuzz/corpus` by hand.
///
/// # Errors
/// It does not build, it finds something (libFuzzer then names the file below
/// `fuzz/artifacts`), or fewer than half of the runs reach what is under test.
pub fn fuzz(options: &Options) -> Result<(), String> {
    let package = run::root().join("fuzz");
    let target_dir = run::target_dir().join("fuzz");
    let mut build = Command::new("rustup");
    build.current_dir(&package).args(["run", "nightly", "cargo", "build", "--release"]);
    build.args(["--target", TRIPLE, "--no-default-features", "--bin", &options.target]);
    build.arg("--features").arg(options.features().join(","));
    build.env("RUSTFLAGS", RUSTFLAGS).env("CARGO_TARGET_DIR", &target_dir);
    // A rustup run from within a cargo run would take that one's compiler.
    build.env_remove("RUSTUP_TOOLCHAIN").env_remove("RUSTC").env_remove("CARGO");
    run::step(&mut build)?;

    let found = directory(target_dir.join("corpus").join(&options.target))?;
    let artifacts = directory(package.join("artifacts").join(&options.target))?;
    let seeds = package.join("corpus").join(&options.target);
    let program = target_dir.join(TRIPLE).join("release").join(&options.target);
    let mut fuzzer = Command::new(program);
    fuzzer.current_dir(&package).arg(&found).arg(&seeds);
    fuzzer.arg(format!("-max_total_time={}", options.seconds));
    fuzzer.arg(format!("-artifact_prefix={}/", artifacts.display()));
    fuzzer.args(["-max_len=4096", "-timeout=10", "-print_final_stats=1"]);
    eprintln!("$ {} for {} s", options.target, options.seconds);
    let (summary, is_clean) = watch(&mut fuzzer)?;
    println!("{}: {summary}", options.target);
    if !is_clean {
        return Err(format!("{}: a finding, see above", options.target));
    }
    summary.insist(&options.target)
}

/// Runs the fuzzer, passes on what it tells, and reads off what it came to.
fn watch(fuzzer: &mut Command) -> Result<(Summary, bool), String> {
    let broken = |why: std::io::Error| format!("the fuzzer: {why}");
    let mut child = fuzzer.stderr(Stdio::piped()).spawn().map_err(broken)?;
    let mut summary = Summary::default();
    for line in child.stderr.take().into_iter().flat_map(|pipe| BufReader::new(pipe).split(b'\n')) {
        let line = line.map_err(broken)?;
        let line = String::from_utf8_lossy(&line);
        eprintln!("{line}");
        summary.read(&line);
    }
    let status = child.wait().map_err(broken)?;
    Ok((summary, status.success()))
}

fn directory(path: PathBuf) -> Result<PathBuf, String> {
    std::fs::create_dir_all(&path).map_err(|why| format!("{}: {why}", path.display()))?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, String> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn reads_target_time_and_bug() {
        let o = parse("place_check --seconds 300 --planted skew").expect("valid");
        assert_eq!((o.target.as_str(), o.seconds), ("place_check", 300));
        assert_eq!(o.features(), ["planted-skew"]);
        assert_eq!(parse("front_door").expect("valid").features(), ["planner"]);
        assert!(parse("cron").expect("valid").features().is_empty());
    }

    #[test]
    fn refuses_what_does_not_exist() {
        assert!(parse("").is_err());
        assert!(parse("place").is_err());
        assert!(parse("cron --planted moth").is_err());
        assert!(parse("cron --seconds soon").is_err());
    }
}
