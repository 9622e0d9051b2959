//! `cargo xtask same`: the order of rows in the input, and how the program was built, change
//! no byte of the answer.
//!
//! Each input of the oracle is shuffled ten times; the debug and the release build answer the
//! original and every shuffle, under every strategy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::random::rng::Rng;
use crate::{args, run};

/// Shuffles of each input.
const SHUFFLES: u64 = 10;

/// Options of the verb.
pub struct Options {
    inputs: PathBuf,
    largest: u64,
}

impl Options {
    /// Reads `[--inputs DIR] [--largest BYTES]`.
    ///
    /// # Errors
    /// An unknown option or a value that is no number.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let t = args::table(words, &["inputs", "largest"], &[])?;
        let default = || run::root().join("testbed").join("oracle").join("inputs");
        let inputs = t.get("inputs").map_or_else(default, |p| run::absolute(Path::new(p)));
        Ok(Self { inputs, largest: args::number(&t, "largest", u64::MAX)? })
    }

    /// What CI asks: inputs that a debug build answers in a moment.
    pub fn quick() -> Self {
        let inputs = run::root().join("testbed").join("oracle").join("inputs");
        Self { inputs, largest: 100_000 }
    }
}

/// Asks both builds about every input and its shuffles, and compares the bytes.
///
/// # Errors
/// A build fails, an input is unreadable, or an answer differs.
pub fn same(options: &Options) -> Result<(), String> {
    let programs = [build(false)?, build(true)?];
    let scratch = run::cache_dir().join("same.json");
    let (mut inputs, mut answers) = (0, 0);
    for path in files(options)? {
        let text = fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        let whole: Value =
            serde_json::from_str(&text).map_err(|why| format!("{}: {why}", path.display()))?;
        let whole = inlined(whole, &path)?;
        inputs += 1;
        for strategy in ["cheapest", "greedy", "karpenter"] {
            let mut first: Option<Vec<u8>> = None;
            for number in 0..=SHUFFLES {
                fs::write(&scratch, shuffled(&whole, number).to_string())
                    .map_err(|why| format!("{}: {why}", scratch.display()))?;
                for program in &programs {
                    let answer = ask(program, &scratch, strategy)?;
                    answers += 1;
                    match &first {
                        None => first = Some(answer),
                        Some(first) if *first == answer => {}
                        Some(_) => {
                            return Err(format!(
                                "{}: shuffle {number} under `{strategy}` changes the answer of {}",
                                path.display(),
                                program.display()
                            ));
                        }
                    }
                }
            }
        }
    }
    println!(
        "{inputs} inputs x {SHUFFLES} shuffles x debug and release: {answers} answers, all the same bytes"
    );
    Ok(())
}

fn build(is_release: bool) -> Result<PathBuf, String> {
    let mut cargo = run::cargo();
    cargo.args(["build", "--quiet", "--package", "dunnage"]);
    if is_release {
        cargo.arg("--release");
    }
    run::step(&mut cargo)?;
    Ok(run::target_dir().join(if is_release { "release" } else { "debug" }).join("dunnage"))
}

fn files(options: &Options) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(&options.inputs);
    let mut files = Vec::new();
    for entry in entries.map_err(|why| format!("{}: {why}", options.inputs.display()))? {
        let entry = entry.map_err(|why| why.to_string())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let size = entry.metadata().map_err(|why| why.to_string())?.len();
        let is_input = name.ends_with(".json") && !name.starts_with("types-");
        if is_input && size <= options.largest {
            files.push(entry.path());
        }
    }
    files.sort();
    Ok(files)
}

/// The input with its catalogue in it, so that instance types are shuffled as well.
fn inlined(mut input: Value, path: &Path) -> Result<Value, String> {
    if let Some(file) = input["instanceTypesFile"].as_str() {
        let file = path.with_file_name(file);
        let text = fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        input["instanceTypes"] =
            serde_json::from_str(&text).map_err(|why| format!("{}: {why}", file.display()))?;
        if let Some(all) = input.as_object_mut() {
            all.remove("instanceTypesFile");
        }
    }
    Ok(input)
}

/// The input with the rows of every list in another order; as it is for number 0.
fn shuffled(input: &Value, number: u64) -> Value {
    let mut out = input.clone();
    let mut rng = Rng::new(17, number);
    if number > 0 {
        for list in out.as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            if let Some(rows) = list.as_array_mut() {
                for i in (1..rows.len()).rev() {
                    rows.swap(i, rng.range(0, i));
                }
            }
        }
    }
    out
}

fn ask(program: &Path, input: &Path, strategy: &str) -> Result<Vec<u8>, String> {
    let mut command = Command::new(program);
    command.args(["plan", "-o", "json", "--strategy", strategy, "-f"]).arg(input);
    let out = command.output().map_err(|why| format!("{}: {why}", program.display()))?;
    if out.status.success() {
        Ok(out.stdout)
    } else {
        Err(format!("{}: {}", program.display(), String::from_utf8_lossy(&out.stderr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_shuffle_keeps_the_rows_and_changes_their_order() {
        let input = json!({ "pods": (0..20).collect::<Vec<u32>>(), "now": "x" });
        let other = shuffled(&input, 3);
        assert_ne!(input, other);
        let mut rows: Vec<u64> =
            other["pods"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..20).collect::<Vec<u64>>());
        assert_eq!(shuffled(&input, 0), input);
    }
}
