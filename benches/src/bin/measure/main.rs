//! `measure`: writes the inputs of benchmarks, and says what each stage of a plan costs.
//!
//! `cargo xtask study` and `cargo xtask bench` run it.

mod stages;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use dunnage_benches::allocations::Counting;
use dunnage_benches::study::{self, Form, growing};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const USAGE: &str = "\
usage: measure list
       measure inputs DIR workloads|pods NAME...
       measure growing FILE PODS CLASSES TYPES CATALOGUE
       measure stages FILE cheapest|greedy|karpenter low|default|high UNTIL
UNTIL is read, lower, solve, check, raise, or plan for one call that does it all";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match *words {
        ["list"] => {
            study::inputs().iter().for_each(|input| println!("{}", input.name()));
            Ok(())
        }
        ["inputs", dir, form, ref names @ ..] => inputs(Path::new(dir), form, names),
        ["growing", file, pods, classes, types, catalogue] => {
            grow(Path::new(file), [pods, classes, types], Path::new(catalogue))
        }
        ["stages", file, strategy, effort, until] => {
            stages::stages(Path::new(file), strategy, effort, until)
        }
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("measure: {why}");
            ExitCode::FAILURE
        }
    }
}

fn inputs(dir: &Path, form: &str, names: &[&str]) -> Result<(), String> {
    let form = match form {
        "workloads" => Form::Workloads,
        "pods" => Form::Pods,
        other => return Err(format!("`{other}` is neither `workloads` nor `pods`")),
    };
    std::fs::create_dir_all(dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    for name in names {
        let input = study::find(name).ok_or_else(|| format!("no input `{name}`"))?;
        write(&dir.join(format!("{name}.json")), &input.snapshot(form))?;
    }
    Ok(())
}

fn grow(file: &Path, sizes: [&str; 3], catalogue: &Path) -> Result<(), String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
    let [pods, classes, types] = sizes.map(number);
    let text = std::fs::read_to_string(catalogue);
    let text = text.map_err(|why| format!("{}: {why}", catalogue.display()))?;
    let all: Vec<Value> = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    let types = growing::some_types(&all, types? as usize);
    let classes = growing::classes(pods?, classes?.max(1));
    write(&file.to_path_buf(), &study::snapshot(&classes, types, Form::Pods))
}

fn write(file: &PathBuf, snapshot: &Value) -> Result<(), String> {
    std::fs::write(file, snapshot.to_string()).map_err(|why| format!("{}: {why}", file.display()))
}
