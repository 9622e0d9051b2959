//! Text that must not be committed: paths of a machine, hosts that only one machine knows,
//! and talk of how the work was made. It reads what git tracks, nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::run;

/// Each pattern in two halves, so that this file does not find itself.
const PATHS: &[(&str, &str)] = &[("/wo", "rk/"), ("/ro", "ot/"), ("/home/", "runner")];
const TALK: &[(&str, &str)] = &[
    ("cl", "aude"),
    ("anthr", "opic"),
    ("chat", "gpt"),
    ("co-auth", "ored-by"),
    ("sub", "agent"),
    ("sub-", "agent"),
    ("as an a", "i "),
    ("language ", "model"),
    ("this ", "session"),
    ("the br", "ief says"),
];

/// Hosts that a lock file may name.
const LOCK_HOSTS: &[&str] = &[
    "github.com",
    "crates.io",
    "index.crates.io",
    "static.crates.io",
    "registry.npmjs.org",
    "files.pythonhosted.org",
    "pypi.org",
    "opencollective.com",
    "tidelift.com",
];
const LOCKS: &[&str] = &["Cargo.lock", "package-lock.json", "uv.lock", "poetry.lock"];

/// Largest file that is read, in bytes; what is larger is data.
const MAX_BYTES: u64 = 4 << 20;

/// Scans every tracked text file.
///
/// # Errors
/// One line for each finding, or git failed.
pub fn scan() -> Result<(), String> {
    let mut git = Command::new("git");
    git.current_dir(run::root()).args(["ls-files", "-z"]);
    let mut found = Vec::new();
    for name in run::output(&mut git)?.split('\0').filter(|n| !n.is_empty()) {
        let path = run::root().join(name);
        let is_small = fs::metadata(&path).is_ok_and(|m| m.is_file() && m.len() <= MAX_BYTES);
        if !is_small {
            continue;
        }
        let bytes = fs::read(&path).map_err(|why| format!("{name}: {why}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            found.extend(findings(name, &text));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// Findings in one file: `name:line: what`.
fn findings(name: &str, text: &str) -> Vec<String> {
    let file = Path::new(name).file_name().and_then(|f| f.to_str()).unwrap_or_default();
    let is_lock = LOCKS.contains(&file);
    let mut out = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let lower = line.to_lowercase();
        for (a, b) in PATHS {
            if line.contains(&format!("{a}{b}")) {
                out.push(format!("{name}:{}: a path of one machine", i + 1));
            }
        }
        for (a, b) in TALK {
            if lower.contains(&format!("{a}{b}")) {
                out.push(format!("{name}:{}: talk of how this was made", i + 1));
            }
        }
        if is_lock {
            for host in hosts(line).filter(|h| !LOCK_HOSTS.contains(h)) {
                out.push(format!("{name}:{}: the host `{host}` in a lock file", i + 1));
            }
        }
    }
    out
}

/// Hosts of the URLs in a line.
fn hosts(line: &str) -> impl Iterator<Item = &str> {
    line.split("://").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || ".-@".contains(c)));
        rest.get(..end.unwrap_or(rest.len())).unwrap_or(rest)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clean_text_passes() {
        let text =
            "docs of the rootless workload, an Agent DaemonSet, registry+https://github.com/x";
        assert!(findings("Cargo.lock", text).is_empty());
    }

    #[test]
    fn each_kind_of_forbidden_text_is_found() {
        let path = format!("see {}{}main", PATHS[0].0, PATHS[0].1);
        assert_eq!(findings("a.md", &path), ["a.md:1: a path of one machine"]);
        let talk = format!("x\nby {}{}", "Cl", "aude");
        assert_eq!(findings("a.md", &talk), ["a.md:2: talk of how this was made"]);
        let lock = "\"resolved\": \"https://mirror.example/x.tgz\"";
        let found = findings("sub/package-lock.json", lock);
        assert_eq!(found, ["sub/package-lock.json:1: the host `mirror.example` in a lock file"]);
        assert!(findings("a.md", lock).is_empty());
    }
}
