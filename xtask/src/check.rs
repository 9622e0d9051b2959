//! The inner loop (`check`), the whole of it (`ci`), and the verbs between.

use crate::{arrows, cases, oracle, run, scan};

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

/// Every test of the workspace.
///
/// # Errors
/// A test fails.
pub fn test() -> Result<(), String> {
    run::step(run::cargo().args(["test", "--workspace"]))
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

/// Everything that can be told without a cluster. The oracle needs a Go toolchain; where
/// there is none it is left out, and that is said.
///
/// # Errors
/// The first step that fails.
pub fn ci() -> Result<(), String> {
    check()?;
    test()?;
    nostd()?;
    cases::cases()?;
    if oracle::has_go() {
        oracle::oracle(&oracle::Options::quick())
    } else {
        eprintln!("no Go toolchain here: the oracle was left out");
        Ok(())
    }
}
