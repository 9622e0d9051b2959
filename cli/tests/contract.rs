//! The examples of the contract through the real program: the same bytes on standard output, the
//! same errors on standard error, the exit code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn words(call: &Value, folder: &Path) -> Vec<String> {
    let asked = &call["asked"];
    let verb: Vec<&str> =
        call["verb"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_page = verb == ["page"];
    let mut words: Vec<String> = match is_page {
        true => vec!["plan".to_owned(), "-o".to_owned(), "html".to_owned()],
        false => {
            verb.iter().map(|word| (*word).to_owned()).chain(["-o".into(), "json".into()]).collect()
        }
    };
    for name in call["files"].as_object().expect("files").keys() {
        words.extend(["-f".to_owned(), name.clone()]);
    }
    let mut flag = |name: &str, value: String| words.extend([format!("--{name}"), value]);
    for (name, value) in asked.as_object().into_iter().flatten() {
        let text = || value.as_str().unwrap_or_default().to_owned();
        let texts = || value.as_array().into_iter().flatten().filter_map(Value::as_str);
        match name.as_str() {
            "strategy" | "effort" | "catalog" | "now" => flag(name, text()),
            "discounts" => texts().for_each(|text| flag("discount", text.to_owned())),
            "withoutZones" => texts().for_each(|text| flag("without-zone", text.to_owned())),
            "prices" | "quotas" => {
                let file = value["name"].as_str().expect("a name");
                let text = value["text"].as_str().expect("a text");
                std::fs::write(folder.join(file), text).expect("written");
                flag(name, file.to_owned());
            }
            "settings" => value
                .as_object()
                .into_iter()
                .flatten()
                .for_each(|(name, value)| flag("settings", format!("{name}={value}"))),
            "replay" if value == "leastAllocated" => flag("replay", "least-allocated".to_owned()),
            "dual" => {}
            other => panic!("`{other}` has no flag here"),
        }
    }
    if asked["dual"] == true {
        words.push("--dual".to_owned());
    }
    words
}

/// The error as the program prints it.
fn line(error: &Value) -> String {
    let text = |name: &str| error[name].as_str().unwrap_or_default();
    let mut place = text("file").to_owned();
    if let Some(line) = error["line"].as_u64() {
        place.push_str(&format!(":{line}"));
    }
    if let Some(document) = error["document"].as_u64().filter(|at| *at > 1) {
        place.push_str(&format!(" (document {document})"));
    }
    let parts = [place.as_str(), text("path"), text("message")];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("error: {} [{}]\n", parts.join(": "), text("code"))
}

#[test]
fn the_program_answers_every_example_in_the_same_bytes() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../contract/examples");
    let room = std::env::temp_dir().join(format!("dunnage-contract-{}", std::process::id()));
    let mut seen = BTreeMap::from([("answers", 0), ("refusals", 0)]);
    for file in std::fs::read_dir(folder).expect("a folder") {
        let path = file.expect("a file").path();
        let text = std::fs::read_to_string(&path).expect("a text");
        let example: Value = serde_json::from_str(&text).expect("JSON");
        let what = path.display();
        std::fs::create_dir_all(&room).expect("a folder");
        for (name, text) in example["call"]["files"].as_object().expect("files") {
            std::fs::write(room.join(name), text.as_str().expect("a text")).expect("written");
        }
        let mut program = Command::new(env!("CARGO_BIN_EXE_dunnage"));
        program.current_dir(&room).args(words(&example["call"], &room));
        let ran = program.output().expect("it starts");
        let out = String::from_utf8(ran.stdout).expect("text");
        let err = String::from_utf8(ran.stderr).expect("text");
        match (example["answer"].as_str(), example["refusal"].as_str()) {
            (Some(answer), None) => {
                let findings = example["call"]["verb"][0] == "lint" && answer.contains("\"error\"");
                assert_eq!(ran.status.code(), Some(i32::from(findings)), "{what}: {err}");
                assert_eq!(out, answer, "{what}");
                *seen.entry("answers").or_default() += 1;
            }
            (None, Some(refusal)) => {
                assert_eq!((ran.status.code(), out.as_str()), (Some(2), ""), "{what}");
                let refusal: Value = serde_json::from_str(refusal).expect("JSON");
                let errors = refusal["errors"].as_array().expect("errors");
                let lines: String = errors.iter().map(line).collect();
                // A bad option is named as a flag here.
                let lines = lines.replace("error: strategy:", "error: --strategy:");
                assert_eq!(err, lines, "{what}");
                *seen.entry("refusals").or_default() += 1;
            }
            other => panic!("{what}: {other:?}"),
        }
        std::fs::remove_dir_all(&room).expect("removed");
    }
    println!("{seen:?}");
    assert!(seen["answers"] >= 40 && seen["refusals"] >= 20, "{seen:?}");
}
