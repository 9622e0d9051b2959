//! Running other programs, and where things lie in the repository.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The repository's top directory.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A path as the user meant it: relative to where the command was given.
pub fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Where cargo puts what it builds.
pub fn target_dir() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// A directory of ours outside the clone, for what is slow to build again.
pub fn cache_dir() -> PathBuf {
    let home = std::env::var_os("HOME").map_or_else(std::env::temp_dir, PathBuf::from);
    home.join(".cache").join("dunnage")
}

/// The cargo that runs us.
pub fn cargo() -> Command {
    let mut c = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    c.current_dir(root());
    c
}

/// Shows the command, runs it, and fails when it fails.
///
/// # Errors
/// It could not start, or it ended with anything but 0.
pub fn step(command: &mut Command) -> Result<(), String> {
    let shown = shown(command);
    eprintln!("$ {shown}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}`: {status}")),
        Err(why) => Err(format!("`{shown}` does not start: {why}")),
    }
}

/// What the command printed.
///
/// # Errors
/// It could not start, or it ended with anything but 0.
pub fn output(command: &mut Command) -> Result<String, String> {
    let shown = shown(command);
    let out = command.output().map_err(|why| format!("`{shown}` does not start: {why}"))?;
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    if out.status.success() {
        Ok(text)
    } else {
        Err(format!("`{shown}`: {}\n{}", out.status, String::from_utf8_lossy(&out.stderr)))
    }
}

/// How a program with a time limit ended.
pub struct Ended {
    /// Exit code; none when it was killed.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Runs a program for `limit` at most. Its output goes through two files beside `scratch`,
/// so that no pipe can fill up.
///
/// # Errors
/// It could not start, or it was still running at the end of `limit`.
pub fn within(command: &mut Command, limit: Duration, scratch: &Path) -> Result<Ended, String> {
    let shown = shown(command);
    let (out, err) = (scratch.with_extension("out"), scratch.with_extension("err"));
    let open = |p: &Path| File::create(p).map_err(|why| format!("{}: {why}", p.display()));
    let mut child = command
        .stdin(Stdio::null())
        .stdout(open(&out)?)
        .stderr(open(&err)?)
        .spawn()
        .map_err(|why| format!("`{shown}` does not start: {why}"))?;
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() > limit => {
                child.kill().and_then(|()| child.wait()).map_err(|why| why.to_string())?;
                return Err(format!("`{shown}` still ran after {} s", limit.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(why) => return Err(format!("`{shown}`: {why}")),
        }
    };
    let read = |p: &Path| fs::read(p).map(|b| String::from_utf8_lossy(&b).into_owned());
    let ended = Ended {
        code: status.code(),
        stdout: read(&out).map_err(|why| why.to_string())?,
        stderr: read(&err).map_err(|why| why.to_string())?,
    };
    for file in [out, err] {
        fs::remove_file(&file).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    Ok(ended)
}

fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|a| a.to_string_lossy().into_owned()));
    if words.len() > 12 {
        words.truncate(12);
        words.push("…".to_owned());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let scratch = std::env::temp_dir().join(format!("xtask-hang-{}", std::process::id()));
        let ended = within(Command::new("sleep").arg("30"), Duration::from_millis(50), &scratch);
        assert!(ended.is_err_and(|why| why.contains("still ran")));
    }

    #[test]
    fn the_exit_code_and_both_outputs_come_back() {
        let scratch = std::env::temp_dir().join(format!("xtask-code-{}", std::process::id()));
        let mut sh = Command::new("sh");
        sh.args(["-c", "echo one; echo two >&2; exit 3"]);
        let ended = within(&mut sh, Duration::from_secs(20), &scratch).expect("ran");
        assert_eq!(
            (ended.code, ended.stdout.as_str(), ended.stderr.as_str()),
            (Some(3), "one\n", "two\n")
        );
    }
}
