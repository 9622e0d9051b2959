//! `cargo xtask study`: plans the inputs of the packing study and holds cost, lower bound and
//! effort against what is accepted, and against what the study proved.

pub mod limits;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use self::limits::Found;
use crate::columns::Columns;
use crate::{args, measure, run};

/// Options of the verb.
pub struct Options {
    names: Vec<String>,
    out: PathBuf,
    efforts: Vec<String>,
    /// USD per hour that each node counts more while choosing; the program's own if none.
    surcharge: Option<String>,
    is_write_only: bool,
}

impl Options {
    /// Reads `[--out DIR] [--effort default|high|both] [--surcharge USD] [--write-only]
    /// [NAME...]`.
    ///
    /// # Errors
    /// An unknown option or effort.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let valued = ["out", "effort", "surcharge"];
        let (t, names) = args::table_and_names(words, &valued, &["write-only"])?;
        let efforts: &[&str] = match t.get("effort").map_or("default", String::as_str) {
            "default" => &["default"],
            "high" => &["high"],
            "both" => &["default", "high"],
            other => return Err(format!("`--effort {other}`: use `default`, `high` or `both`")),
        };
        Ok(Self {
            names,
            out: match t.get("out") {
                Some(dir) => run::absolute(Path::new(dir)),
                None => measure::scratch("study")?,
            },
            efforts: efforts.iter().map(|&effort| effort.to_owned()).collect(),
            surcharge: t.get("surcharge").cloned(),
            is_write_only: t.contains_key("write-only"),
        })
    }
}

/// What the packing study says of one input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// USD per hour that no plan can undercut.
    pub lower_bound: f64,
    /// The lowest cost that the study found, as a multiple of that.
    pub best_ratio: f64,
}

/// Plans and prints the table.
///
/// # Errors
/// A program does not build or run, or a row is over a limit without being a known exception.
pub fn study(options: &Options) -> Result<(), String> {
    let measure::Programs { dunnage, measure } = measure::build()?;
    let names = chosen(&measure, &options.names)?;
    write(&measure, &options.out, "workloads", &names)?;
    if let Some(usd) = &options.surcharge {
        for name in &names {
            add_setting(&options.out.join(format!("{name}.json")), "nodeSurcharge", usd)?;
        }
    }
    if options.is_write_only {
        println!("{} inputs in {}", names.len(), options.out.display());
        return Ok(());
    }
    let known = known(&data("bounds.csv")?)?;
    let mut rows = Vec::new();
    for effort in &options.efforts {
        for name in &names {
            let file = options.out.join(format!("{name}.json"));
            let mut row = plan(&dunnage, &file, name, effort)?;
            row.is_surcharged = options.surcharge.is_none();
            rows.push(row);
        }
    }
    match &options.surcharge {
        Some(usd) => println!("each node counts {usd} USD/h more while choosing\n"),
        None => println!("each node counts as much more while choosing as it does by default\n"),
    }
    print(&rows, &known);
    verdict(&rows, &known)
}

/// The inputs that the words name: the whole name, its beginning, or a number of pods. Those of
/// 500 pods are too small for the limits and come only when named.
///
/// # Errors
/// The program that knows the names fails, or a word names no input.
pub fn chosen(measure: &Path, words: &[String]) -> Result<Vec<String>, String> {
    let list = measure::run(measure, &["list"])?.stdout;
    let all: Vec<String> = list.lines().map(str::to_owned).collect();
    choose(&all, words)
}

fn choose(all: &[String], words: &[String]) -> Result<Vec<String>, String> {
    let fits = |name: &str, word: &str| match name.split_once('-') {
        Some((family, pods)) => name == word || family == word || pods == word,
        None => name == word,
    };
    if let Some(word) = words.iter().find(|word| !all.iter().any(|name| fits(name, word))) {
        return Err(format!("`{word}` names no input; they are {}", all.join(", ")));
    }
    let is_chosen = |name: &&String| match words {
        [] => !name.ends_with("-500"),
        _ => words.iter().any(|word| fits(name, word)),
    };
    Ok(all.iter().filter(is_chosen).cloned().collect())
}

/// Writes the inputs as Snapshots into a directory.
///
/// # Errors
/// The program that writes them fails.
pub fn write(measure: &Path, dir: &Path, form: &str, names: &[String]) -> Result<(), String> {
    let shown = dir.to_string_lossy();
    let mut words = vec!["inputs", &shown, form];
    words.extend(names.iter().map(String::as_str));
    measure::run(measure, &words).map(|_| ())
}

fn add_setting(file: &Path, name: &str, value: &str) -> Result<(), String> {
    let said = |why: &dyn std::fmt::Display| format!("{}: {why}", file.display());
    let text = fs::read_to_string(file).map_err(|why| said(&why))?;
    let mut input: Value = serde_json::from_str(&text).map_err(|why| said(&why))?;
    input["settings"][name] = Value::from(value);
    fs::write(file, input.to_string()).map_err(|why| said(&why))
}

/// A file of the study's data.
fn data(name: &str) -> Result<String, String> {
    let path = run::root().join("benches").join("data").join("study").join(name);
    fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))
}

fn known(text: &str) -> Result<BTreeMap<String, Known>, String> {
    let mut out = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')).skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        let [family, pods, bound, ratio] = fields[..] else {
            return Err(format!("bounds.csv: `{line}` has not four fields"));
        };
        let number = |text: &str| {
            text.parse::<f64>().map_err(|_| format!("bounds.csv: `{text}` is no number"))
        };
        let row = Known { lower_bound: number(bound)?, best_ratio: number(ratio)? };
        out.insert(format!("{family}-{pods}"), row);
    }
    Ok(out)
}

fn plan(dunnage: &Path, file: &Path, name: &str, effort: &str) -> Result<Found, String> {
    let file = file.to_string_lossy();
    let run = measure::run(dunnage, &["plan", "-f", &file, "-o", "json", "--effort", effort])?;
    let plan: Value = serde_json::from_str(&run.stdout).map_err(|why| format!("{name}: {why}"))?;
    let usd = |field: &str| {
        plan["cost"][field].as_f64().ok_or_else(|| format!("{name}: `cost.{field}` is no number"))
    };
    let rows = |field: &str| plan[field].as_array().map_or(0, Vec::len);
    Ok(Found {
        name: name.to_owned(),
        effort: effort.to_owned(),
        is_surcharged: true,
        nodes: rows("launch"),
        unplaced: rows("unplaced"),
        cost: usd("launchPerHour")?,
        bound: usd("lowerBoundPerHour")?,
        steps: plan["effort"]["steps"].as_u64().unwrap_or_default(),
        cpu_seconds: run.cpu_seconds,
        peak_mib: run.peak_mib,
    })
}

fn print(rows: &[Found], known: &BTreeMap<String, Known>) {
    let mut table = Columns::new(&[
        "input",
        "effort",
        "nodes",
        "USD/h",
        "bound",
        "gap %",
        "limit %",
        "study's bound",
        "bound/study's",
        "cost/study's",
        "study's best",
        "M steps",
        "CPU s",
        "RSS MiB",
        "",
    ]);
    for row in rows {
        let study = known.get(&row.name);
        let of_study = |f: &dyn Fn(&Known) -> String| study.map_or(String::new(), f);
        let limit = limits::gap_percent(row);
        let judged = limits::judge(row, study);
        table.push(vec![
            row.name.clone(),
            row.effort.clone(),
            row.nodes.to_string(),
            format!("{:.4}", row.cost),
            format!("{:.4}", row.bound),
            format!("{:.2}", row.gap_percent()),
            limit.map_or(String::new(), |limit| limit.to_string()),
            of_study(&|study| format!("{:.2}", study.lower_bound)),
            of_study(&|study| format!("{:.4}", row.bound / study.lower_bound)),
            of_study(&|study| format!("{:.4}", row.cost / study.lower_bound)),
            of_study(&|study| format!("{:.4}", study.best_ratio)),
            format!("{:.1}", row.steps as f64 / 1e6),
            format!("{:.2}", row.cpu_seconds),
            format!("{:.0}", row.peak_mib),
            if judged.over.is_empty() {
                if judged.excepted.is_empty() { String::new() } else { "known".to_owned() }
            } else {
                "OVER".to_owned()
            },
        ]);
    }
    println!("{}", table.text());
}

fn verdict(rows: &[Found], known: &BTreeMap<String, Known>) -> Result<(), String> {
    let (mut over, mut excepted, mut better) = (0, 0, 0);
    for row in rows {
        let study = known.get(&row.name);
        better += usize::from(study.is_some_and(|s| row.bound > s.lower_bound * 1.0005));
        let judged = limits::judge(row, study);
        for line in &judged.excepted {
            println!("known  {} ({}): {line}", row.name, row.effort);
        }
        for line in &judged.over {
            println!("OVER   {} ({}): {line}", row.name, row.effort);
        }
        excepted += usize::from(judged.over.is_empty() && !judged.excepted.is_empty());
        over += usize::from(!judged.over.is_empty());
    }
    println!(
        "{} rows, {over} over a limit, {excepted} known exceptions; our bound is above the \
         study's on {better}",
        rows.len()
    );
    if over == 0 { Ok(()) } else { Err(format!("{over} of {} rows are over a limit", rows.len())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn inputs_are_chosen_by_name_family_or_size() {
        let all = words("a-500 a-1000 b-1000 b-5000");
        assert_eq!(choose(&all, &[]), Ok(words("a-1000 b-1000 b-5000")));
        assert_eq!(choose(&all, &words("1000")), Ok(words("a-1000 b-1000")));
        assert_eq!(choose(&all, &words("b a-500")), Ok(words("a-500 b-1000 b-5000")));
        assert!(choose(&all, &words("c")).is_err_and(|why| why.contains("`c`")));
    }

    #[test]
    fn the_studys_bounds_are_read() {
        let known = known(&data("bounds.csv").expect("the file")).expect("its rows");
        assert_eq!(known.len(), 42);
        let dlrm = Known { lower_bound: 47542.52, best_ratio: 1.0 };
        assert_eq!(known.get("dlrm-10000"), Some(&dlrm));
        assert!(known.values().all(|k| k.lower_bound > 1.0 && (1.0..1.1).contains(&k.best_ratio)));
    }
}
