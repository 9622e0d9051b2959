//! The verifier stays independent of the solver.

use std::path::{Path, PathBuf};

use dunnage_engine_core::check::{CheckMemory, Rule, check};
use dunnage_engine_core::decision::Decision;
use dunnage_engine_core::problem::Problem;

fn sources() -> Vec<PathBuf> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let parts = std::fs::read_dir(src.join("check")).expect("src/check exists");
    let parts = parts.map(|entry| entry.expect("readable").path());
    parts.chain([src.join("check.rs")]).collect()
}

#[test]
fn it_imports_problem_and_decision_only() {
    let files = sources();
    assert!(files.len() > 5, "{files:?}");
    for file in files {
        let text = std::fs::read_to_string(&file).expect("readable");
        for (line, text) in text.lines().enumerate() {
            let code = text.split("//").next().unwrap_or_default();
            for (at, _) in code.match_indices("crate::") {
                let path = &code[at + "crate::".len()..];
                let is_allowed = path.starts_with("problem::") || path.starts_with("decision::");
                let is_own = path.starts_with("check)") || path.starts_with("check ");
                assert!(is_allowed || is_own, "{}:{}: {text}", file.display(), line + 1);
            }
            assert!(!code.contains("super::super"), "{}:{}", file.display(), line + 1);
            for word in ["unsafe", "extern crate", "alloc::", "std::", "crate::*", "crate::{"] {
                let found = code.contains(word) && !code.contains("core::");
                assert!(!found, "{}:{}: {text}", file.display(), line + 1);
            }
        }
    }
}

#[test]
fn the_root_module_reaches_nothing_else_through_super() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check.rs");
    let text = std::fs::read_to_string(root).expect("readable");
    assert!(!text.contains("super::"), "`super` of check.rs is the crate");
}

#[test]
fn nothing_for_nobody_is_a_good_decision() {
    let mut memory = CheckMemory { numbers: &mut [0; 4], ..Default::default() };
    assert_eq!(check(&Problem::default(), &Decision::default(), &mut memory), Ok(()));
}

#[test]
fn too_little_memory_is_named() {
    let refusal = check(&Problem::default(), &Decision::default(), &mut CheckMemory::default());
    assert_eq!(refusal.map_err(|v| v.rule), Err(Rule::Memory));
}
