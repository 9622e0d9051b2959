//! `cargo xtask python`: builds the wheel and runs its tests, types and notebook in a virtual
//! environment of its own outside the clone.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run;

/// What the tests, the types and the notebook need beside the wheel.
const NEEDS: [&str; 9] = [
    "maturin>=1.9,<2",
    "pytest>=8",
    "mypy>=1.15",
    "narwhals>=2",
    "pandas>=2.2",
    "pandas-stubs",
    "polars>=1",
    "pyarrow>=19",
    "matplotlib>=3.9",
];
const NOTEBOOK_NEEDS: [&str; 2] = ["nbmake>=1.5", "ipykernel>=6"];

/// Python 3.11 or later, if there is one.
pub fn interpreter() -> Option<&'static str> {
    const LEAST: &str = "import sys; sys.exit(sys.version_info < (3, 11))";
    ["python3", "python"].into_iter().find(|name| {
        let asked = Command::new(name).args(["-c", LEAST]).stderr(Stdio::null()).status();
        asked.is_ok_and(|status| status.success())
    })
}

/// Builds and tests; how many tests passed and failed.
///
/// # Errors
/// A step fails; a failing test is counted first.
pub fn python() -> Result<(u64, u64), String> {
    let python = interpreter().ok_or("no Python 3.11 or later is here")?;
    let room = run::cache_dir().join("python");
    let venv = room.join("venv");
    let bin = |name: &str| venv.join("bin").join(name);
    if !bin("python").is_file() {
        run::step(Command::new(python).args(["-m", "venv"]).arg(&venv))?;
    }
    let mut install = Command::new(bin("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run::step(install.args(NEEDS).args(NOTEBOOK_NEEDS))?;
    run::step(run::cargo().args(["build", "--release", "--package", "dunnage"]))?;
    let wheel = wheel(&bin("maturin"), &room.join("wheels"))?;
    let mut install = Command::new(bin("python"));
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    run::step(install.args(["--force-reinstall", "--no-deps"]).arg(&wheel))?;
    let here = run::root().join("bindings-python");
    let mut types = Command::new(bin("mypy"));
    // The installed package is what users' own checks see.
    types.current_dir(&room).args(["--strict", "--package", "dunnage"]);
    run::step(&mut types)?;
    let mut tests = Command::new(bin("python"));
    tests.current_dir(&here).args(["-m", "pytest", "-q", "--nbmake", "tests", "notebooks"]);
    // Nothing is written beside the sources.
    tests.args(["-p", "no:cacheprovider"]).env("PYTHONDONTWRITEBYTECODE", "1");
    tests.env("DUNNAGE_CLI", run::target_dir().join("release").join("dunnage"));
    counted(&mut tests)
}

/// The wheel that maturin builds into `dir`, which holds no other.
fn wheel(maturin: &Path, dir: &Path) -> Result<PathBuf, String> {
    if dir.is_dir() {
        std::fs::remove_dir_all(dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    }
    let mut build = Command::new(maturin);
    build.current_dir(run::root().join("bindings-python"));
    build.env("CARGO_TARGET_DIR", run::target_dir());
    run::step(build.args(["build", "--release", "--out"]).arg(dir))?;
    let mut files = std::fs::read_dir(dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    let found = files.find_map(|file| {
        let path = file.ok()?.path();
        (path.extension()? == "whl").then_some(path)
    });
    found.ok_or_else(|| format!("{}: maturin built no wheel", dir.display()))
}

/// Runs pytest and reads its closing line.
fn counted(tests: &mut Command) -> Result<(u64, u64), String> {
    eprintln!("$ pytest");
    let out = tests.stderr(Stdio::inherit()).output();
    let out = out.map_err(|why| format!("pytest does not start: {why}"))?;
    let text = String::from_utf8_lossy(&out.stdout);
    println!("{text}");
    let count = closing(&text);
    match count {
        Some((passed, 0)) if out.status.success() && passed > 0 => Ok((passed, 0)),
        Some((passed, failed)) => Err(format!("Python: {passed} passed, {failed} failed")),
        None => Err(format!("pytest: {}", out.status)),
    }
}

/// `39 passed, 1 failed in 12.40s` in any order, errors counted as failures.
fn closing(text: &str) -> Option<(u64, u64)> {
    let line = text.lines().rev().find(|line| line.contains(" in ") && line.contains("passed"))?;
    let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
    let count = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at.checked_sub(1)?)?.parse::<u64>().ok()
    };
    let failed = count("failed").unwrap_or(0) + count("errors").or(count("error")).unwrap_or(0);
    Some((count("passed")?, failed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_counted() {
        assert_eq!(closing("..\n39 passed in 12.40s\n"), Some((39, 0)));
        assert_eq!(closing("1 failed, 38 passed, 2 errors in 3.1s"), Some((38, 3)));
        assert_eq!(closing("no tests ran in 0.1s"), None);
    }
}
