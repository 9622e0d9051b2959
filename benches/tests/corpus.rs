//! Replays the corpus of every fuzz target: what fuzzing found once stays found.

use std::path::PathBuf;

use dunnage_benches::fuzz_targets::TARGETS;

#[test]
fn every_corpus_file_keeps_the_promises_of_its_target() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    for (name, target) in TARGETS {
        let entries = std::fs::read_dir(root.join(name));
        let entries = entries.unwrap_or_else(|e| panic!("corpus of {name}: {e}"));
        let mut files: Vec<PathBuf> = entries.map(|e| e.expect("readable").path()).collect();
        files.sort();
        assert!(!files.is_empty(), "corpus of {name} is empty");
        let mut reached = 0;
        for file in &files {
            let bytes = std::fs::read(file).expect("readable");
            let run = std::panic::catch_unwind(|| target(&bytes));
            match run {
                Ok(came) => reached += u32::from(came),
                Err(_) => panic!("{name}: {}", file.display()),
            }
        }
        println!("{name}: {} files, {reached} reach what is under test", files.len());
        assert!(reached * 2 >= files.len() as u32, "{name}: too few files get anywhere");
    }
}
