//! What a program uses: CPU time and peak memory of one run, by a process of its own in
//! between, so that the kernel's numbers are those of that program alone.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};

use crate::run;

/// The verb under which this program runs another and writes down what that used.
pub const VERB: &str = "measured";
/// Longest time for one run.
const LIMIT: Duration = Duration::from_secs(3600);

/// One run of a program.
pub struct Run {
    /// What it printed.
    pub stdout: String,
    /// User and system time.
    pub cpu_seconds: f64,
    /// The most memory it held.
    pub peak_mib: f64,
}

/// Runs a program and says what it used.
///
/// # Errors
/// It does not start, it does not end, or it ends with anything but 0.
pub fn run(program: &Path, words: &[&str]) -> Result<Run, String> {
    let note = scratch(&format!("used-{}", std::process::id()))?;
    let own = std::env::current_exe().map_err(|why| why.to_string())?;
    let mut command = Command::new(own);
    command.arg(VERB).arg(&note).arg(program).args(words);
    let out = command.output().map_err(|why| format!("{}: {why}", program.display()))?;
    let stderr = String::from_utf8_lossy(&out.stderr).into_owned();
    if !out.status.success() {
        let shown = format!("{} {}", program.display(), words.join(" "));
        return Err(format!("`{shown}`: {}: {}", out.status, stderr.trim_end()));
    }
    let text = fs::read_to_string(&note).map_err(|why| format!("{}: {why}", note.display()))?;
    fs::remove_file(&note).map_err(|why| format!("{}: {why}", note.display()))?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [cpu_seconds, peak_mib] = numbers[..] else {
        return Err(format!("`{text}` is no note of what a program used"));
    };
    let stdout = String::from_utf8_lossy(&out.stdout).into_owned();
    Ok(Run { stdout, cpu_seconds, peak_mib })
}

/// What is measured, and with what.
pub struct Programs {
    /// The command line, as users get it.
    pub dunnage: PathBuf,
    /// Writes inputs and measures stages.
    pub measure: PathBuf,
}

/// Builds both programs in one step, which compiles the planner once.
///
/// # Errors
/// The build failed.
pub fn build() -> Result<Programs, String> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--release", "--package", "dunnage", "--package", "dunnage-benches"]);
    run::step(cargo.args(["--bin", "dunnage", "--bin", "measure"]))?;
    let dir = run::target_dir().join("release");
    Ok(Programs { dunnage: dir.join("dunnage"), measure: dir.join("measure") })
}

/// A place for files of measurements.
///
/// # Errors
/// The directory cannot be made.
pub fn scratch(name: &str) -> Result<PathBuf, String> {
    let dir = run::cache_dir().join("bench");
    fs::create_dir_all(&dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    Ok(dir.join(name))
}

/// The process in between: `measured NOTE PROGRAM WORDS...`. It ends as the program does.
pub fn in_between(words: &[String]) -> ExitCode {
    let ended = match words {
        [note, program, rest @ ..] => note_usage(Path::new(note), program, rest),
        _ => Err("measured NOTE PROGRAM WORDS...".to_owned()),
    };
    match ended {
        Ok(code) => ExitCode::from(code),
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn note_usage(note: &Path, program: &str, words: &[String]) -> Result<u8, String> {
    let start = Instant::now();
    let child = Command::new(program).args(words).spawn();
    let mut child = child.map_err(|why| format!("{program} does not start: {why}"))?;
    let status = loop {
        match child.try_wait().map_err(|why| why.to_string())? {
            Some(status) => break status,
            None if start.elapsed() > LIMIT => {
                child.kill().and_then(|()| child.wait()).map_err(|why| why.to_string())?;
                return Err(format!("{program} still ran after {} s", LIMIT.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(2)),
        }
    };
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|why| why.to_string())?;
    let times = [used.user_time(), used.system_time()];
    let cpu_seconds: f64 =
        times.iter().map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6).sum();
    // The kernel counts KiB, but for that of macOS, which counts bytes.
    let units_per_mib = if cfg!(target_os = "macos") { 1024.0 * 1024.0 } else { 1024.0 };
    let text = format!("{cpu_seconds} {}", used.max_rss() as f64 / units_per_mib);
    fs::write(note, text).map_err(|why| format!("{}: {why}", note.display()))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_holds_cpu_time_and_memory_and_the_exit_code_comes_through() {
        let note = std::env::temp_dir().join(format!("xtask-note-{}", std::process::id()));
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; exit 3";
        let code = note_usage(&note, "sh", &["-c".to_owned(), script.to_owned()]);
        assert_eq!(code, Ok(3));
        let text = fs::read_to_string(&note).expect("a note");
        fs::remove_file(&note).expect("its file");
        let numbers: Vec<f64> = text.split(' ').map(|n| n.parse().expect("a number")).collect();
        assert_eq!(numbers.len(), 2);
        assert!(numbers[0] > 0.001 && numbers[0] < 60.0, "{} s", numbers[0]);
        assert!(numbers[1] > 0.1 && numbers[1] < 4096.0, "{} MiB", numbers[1]);
    }
}
