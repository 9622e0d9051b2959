//! The examples of the contract, as every door answers them: `contract/examples`.
//!
//! `DUNNAGE_BLESS=1 cargo test -p dunnage-planner --test contract` writes the answers anew; what
//! changed is then to be read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use dunnage_planner::door::{Asked, Refusal, Said, Verb, World, lint_texts};
use dunnage_planner::error::ErrorCode;
use dunnage_planner::options::StopFlag;
use dunnage_planner::read::Source;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A call and what every door answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    name: String,
    call: Call,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refusal: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    verb: Vec<String>,
    files: BTreeMap<String, String>,
    asked: Value,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../contract/examples")
}

fn examples() -> Vec<(PathBuf, Example)> {
    let files = std::fs::read_dir(folder()).expect("a folder");
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a text");
        let example = serde_json::from_str(&text);
        (path.clone(), example.unwrap_or_else(|why| panic!("{}: {why}", path.display())))
    };
    paths.into_iter().map(read).collect()
}

fn said(call: &Call) -> Result<Said, Refusal> {
    let words: Vec<&str> = call.verb.iter().map(String::as_str).collect();
    let verb = Verb::of(&words)?;
    let asked = Asked::of_json(&call.asked.to_string())?;
    let sources: Vec<Source> = call
        .files
        .iter()
        .map(|(name, text)| Source { name: name.clone(), text: text.clone() })
        .collect();
    // No file lies beside these.
    let open = |_: &str, _: &str| -> std::io::Result<String> {
        Err(std::io::Error::other("no such file or directory"))
    };
    let stop = StopFlag::default();
    match verb {
        Verb::Lint => lint_texts("", &sources, &asked, Some(&open), &stop),
        _ => World::open(&sources, &asked, Some(&open))?.say(&verb, &asked, &stop),
    }
}

#[test]
fn every_example_is_answered_in_the_same_bytes() {
    let blesses = std::env::var_os("DUNNAGE_BLESS").is_some();
    let all = examples();
    assert!(all.len() >= 40, "{}", all.len());
    for (path, example) in all {
        let mut now = Example { answer: None, refusal: None, ..example.clone() };
        match said(&example.call) {
            Ok(said) => now.answer = Some(said.text()),
            Err(refusal) => now.refusal = Some(refusal.text()),
        }
        if blesses {
            let text = serde_json::to_string_pretty(&now).expect("JSON") + "\n";
            std::fs::write(&path, text).expect("written");
            continue;
        }
        assert_eq!(now, example, "{}", path.display());
    }
}

/// Error codes that no example has, and why.
const WITHOUT: [(ErrorCode, &str); 3] = [
    (ErrorCode::NotUtf8, "an example is JSON, and so text"),
    (ErrorCode::Broken, "no input is known that breaks a promise"),
    (ErrorCode::Stopped, "an example stops nothing"),
];

/// Reasons that no example has, and why.
const WITHOUT_REASON: [(&str, &str); 1] =
    [("reservationLost", "it arises and is overcome within one solve: see docs/reasons.md")];

#[test]
fn every_error_and_every_reason_has_an_example() {
    let mut errors: BTreeSet<String> = BTreeSet::new();
    let mut reasons: BTreeSet<String> = BTreeSet::new();
    let code = |row: &Value| row["code"].as_str().unwrap_or_default().to_owned();
    let list = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    for (_, example) in examples() {
        if let Some(refusal) = &example.refusal {
            let refusal: Value = serde_json::from_str(refusal).expect("JSON");
            errors.extend(list(&refusal, "errors").iter().map(code));
        }
        let plan = example.answer.filter(|_| example.call.verb == ["plan"]);
        let Some(plan) = plan else { continue };
        let plan: Value = serde_json::from_str(&plan).expect("JSON");
        for rows in ["unplaced", "launch", "staticLaunch"] {
            for row in list(&plan, rows) {
                reasons.extend(list(&row, "because").iter().map(code));
            }
        }
    }
    let is_known = |wanted: &&ErrorCode| {
        errors.contains(wanted.as_str()) || WITHOUT.iter().any(|(own, _)| own == *wanted)
    };
    let missing: Vec<_> = ErrorCode::ALL.iter().filter(|code| !is_known(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let document = std::fs::read_to_string(folder().join("../../docs/reasons.md")).expect("a text");
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let is_left_out = |code: &str| WITHOUT_REASON.iter().any(|(own, _)| *own == code);
    let missing: Vec<&str> =
        rows.filter(|code| !reasons.contains(*code) && !is_left_out(code)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    println!("{} error codes and {} reasons in the examples", errors.len(), reasons.len());
}
