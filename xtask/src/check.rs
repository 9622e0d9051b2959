//! The inner loop (`check`), the whole of it (`ci`), and the verbs between.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::{arrows, cases, node, oracle, python, run, same, scan};

/// Formatting, clippy, arrows, forbidden text: cheapest first.
///
/// # Errors
/// The first step that fails.
pub fn check() -> Result<(), String> {
    scan::scan()?;
    arrows::check()?;
    run::step(run::cargo().args(["fmt", "--all", "--check"]))?;
    let mut clippy = run::cargo();
    clippy.args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]);
    run::step(&mut clippy)
}

/// The closing line of a run.
pub fn say((passed, failed): (u64, u64)) {
    println!("{passed} passed, {failed} failed");
}

/// Every test of the workspace: how many passed and failed.
///
/// # Errors
/// A test fails, or none ran.
pub fn test() -> Result<(u64, u64), String> {
    let mut tests = run::cargo();
    tests.args(["test", "--workspace", "--no-fail-fast"]).stdout(Stdio::piped());
    eprintln!("$ cargo test --workspace --no-fail-fast");
    let mut child = tests.spawn().map_err(|why| format!("cargo does not start: {why}"))?;
    let (mut passed, mut failed) = (0, 0);
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|why| why.to_string())?;
        println!("{line}");
        if let Some((p, f)) = counted(&line) {
            passed += p;
            failed += f;
        }
    }
    let status = child.wait().map_err(|why| why.to_string())?;
    if status.success() && passed > 0 {
        return Ok((passed, failed));
    }
    say((passed, failed));
    Err(format!("the tests: {status}"))
}

/// What a closing line of the test runner counts.
fn counted(line: &str) -> Option<(u64, u64)> {
    let rest = line.strip_prefix("test result: ")?;
    let count = |name: &str| {
        let part = rest.split([';', '.']).find_map(|p| p.trim().strip_suffix(name))?;
        part.trim().parse::<u64>().ok()
    };
    Some((count(" passed")?, count(" failed")?))
}

/// Builds engine-core into a program without std, libc or allocator, and runs it.
///
/// # Errors
/// It does not link, or it ends with an error.
pub fn nostd() -> Result<(), String> {
    let manifest = run::root().join("engine-core").join("no-std").join("Cargo.toml");
    if !manifest.is_file() {
        return Err("engine-core/no-std is missing".to_owned());
    }
    let mut cmd = run::cargo();
    cmd.args(["run", "--release", "--manifest-path"]).arg(&manifest);
    // A package of its own: the workspace's lock on the target directory is not its business.
    cmd.env("CARGO_TARGET_DIR", run::target_dir().join("no-std"));
    run::step(&mut cmd)
}

/// Everything that can be told without a cluster. The oracle needs a Go toolchain, the wheel
/// Python, the addon Node.js; where there is none it is left out, and that is said.
///
/// # Errors
/// The first step that fails.
pub fn ci() -> Result<(), String> {
    check()?;
    nostd()?;
    cases::cases()?;
    same::same(&same::Options::quick())?;
    if oracle::has_go() {
        oracle::oracle(&oracle::Options::quick())?;
    } else {
        eprintln!("no Go toolchain here: the oracle was left out");
    }
    let (mut passed, mut failed) = test()?;
    if python::interpreter().is_some() {
        let (more, wrong) = python::python()?;
        (passed, failed) = (passed + more, failed + wrong);
    } else {
        eprintln!("no Python 3.11 here: its bindings were left out");
    }
    if node::is_there() {
        let (more, wrong) = node::node()?;
        (passed, failed) = (passed + more, failed + wrong);
    } else {
        eprintln!("no Node.js 20 with npm here: its bindings were left out");
    }
    say((passed, failed));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted_and_others_are_not() {
        let line = "test result: ok. 18 passed; 2 failed; 0 ignored; 0 measured; finished in 9.79s";
        assert_eq!(counted(line), Some((18, 2)));
        assert_eq!(counted("test result of something"), None);
        assert_eq!(counted("18 passed; 0 failed"), None);
    }
}
