//! `bench scaling`: CPU time of each stage while pods, kinds of pods or machine types grow, the
//! others held, and the exponents that fit.

use std::path::{Path, PathBuf};

use super::growth::exponent;
use super::stages::{How, Stages};
use crate::columns::Columns;
use crate::{args, measure, run};

/// Options of the benchmark.
pub struct Options {
    strategies: Vec<String>,
    largest_pods: u64,
}

impl Options {
    /// Reads `[--strategy cheapest|greedy|karpenter] [--largest PODS]`.
    ///
    /// # Errors
    /// An unknown option or a value that is no number.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let t = args::table(words, &["strategy", "largest"], &[])?;
        let strategies = match t.get("strategy") {
            Some(one) => vec![one.clone()],
            None => vec!["cheapest".to_owned(), "greedy".to_owned()],
        };
        Ok(Self { strategies, largest_pods: args::number(&t, "largest", 100_000)? })
    }
}

/// Pods, kinds of pods, machine types.
type Size = [u64; 3];

const AXES: [&str; 3] = ["pods", "classes", "types"];
const STAGES: [&str; 4] = ["lower", "solve", "check", "raise"];
/// More types than the catalogue has: all of them.
const ALL_TYPES: u64 = 10_000;

/// What grows, and every size of it.
fn series(axis: usize) -> Vec<Size> {
    let vary = |values: &[u64], rest: fn(u64) -> Size| values.iter().map(|&v| rest(v)).collect();
    match axis {
        0 => vary(&[1000, 3000, 10_000, 30_000, 100_000], |pods| [pods, 30, ALL_TYPES]),
        1 => vary(&[10, 30, 100, 300], |classes| [10_000, classes, ALL_TYPES]),
        _ => vary(&[100, 200, 400, ALL_TYPES], |types| [10_000, 30, types]),
    }
}

/// Measures every size and prints times and exponents.
///
/// # Errors
/// A program does not build or run.
pub fn scaling(options: &Options) -> Result<(), String> {
    let measure = measure::build()?.measure;
    let file = measure::scratch("growing.json")?;
    for strategy in &options.strategies {
        for (axis, name) in AXES.iter().enumerate() {
            let sizes = series(axis).into_iter().filter(|size| size[0] <= options.largest_pods);
            let how = How { strategy, effort: "default", until: "raise" };
            let mut rows = Vec::new();
            for size in sizes {
                write(&measure, &file, size)?;
                rows.push(Stages::of(&measure, &file, how)?);
            }
            println!("{strategy}, growing {name}\n\n{}", table(axis, &rows));
        }
    }
    std::fs::remove_file(&file).map_err(|why| format!("{}: {why}", file.display()))
}

fn catalogue() -> PathBuf {
    run::root().join("testbed").join("oracle").join("inputs").join("types-all.json")
}

fn write(measure: &Path, file: &Path, size: Size) -> Result<(), String> {
    let [pods, classes, types] = size.map(|n| n.to_string());
    let (file, catalogue) = (file.to_string_lossy(), catalogue());
    let words = ["growing", &file, &pods, &classes, &types, &catalogue.to_string_lossy()];
    measure::run(measure, &words).map(|_| ())
}

fn table(axis: usize, rows: &[Stages]) -> String {
    let mut table = Columns::new(&[
        "pods",
        "classes",
        "types",
        "nodes",
        "read s",
        "lower s",
        "solve s",
        "check s",
        "raise s",
        "plan s",
        "M steps",
        "engine MiB",
    ]);
    for row in rows {
        let mut cells: Vec<String> = AXES.iter().map(|axis| row.number(axis).to_string()).collect();
        cells.push(row.number("nodes").to_string());
        cells.push(format!("{:.3}", row.cpu_seconds(&["read"])));
        cells.extend(STAGES.iter().map(|&stage| format!("{:.4}", row.cpu_seconds(&[stage]))));
        cells.push(format!("{:.3}", row.cpu_seconds(&STAGES)));
        cells.push(format!("{:.1}", row.number("steps") as f64 / 1e6));
        cells.push(format!("{:.1}", row.number("memoryBytes") as f64 / (1024.0 * 1024.0)));
        table.push(cells);
    }
    let fit = |stages: &[&str]| {
        let point = |row: &Stages| (row.number(AXES[axis]) as f64, row.cpu_seconds(stages));
        let points: Vec<(f64, f64)> = rows.iter().map(point).collect();
        exponent(&points).map_or(String::new(), |e| format!("{e:.2}"))
    };
    let mut cells = vec!["exponent".to_owned(), String::new(), String::new(), String::new()];
    cells.push(fit(&["read"]));
    cells.extend(STAGES.iter().map(|&stage| fit(&[stage])));
    cells.push(fit(&STAGES));
    cells.extend([String::new(), String::new()]);
    table.push(cells);
    table.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_series_grows_along_its_axis_alone() {
        for axis in 0..AXES.len() {
            let series = series(axis);
            for pair in series.windows(2) {
                for other in 0..AXES.len() {
                    assert_eq!(pair[0][other] < pair[1][other], other == axis, "{pair:?}");
                }
            }
        }
    }

    #[test]
    fn the_last_row_is_the_exponent() {
        let line = |pods: u64| {
            let solve = pods as f64 / 1000.0;
            let line = format!(r#"{{"pods":{pods},"cpuSeconds":{{"solve":{solve}}}}}"#);
            Stages::read(&line).expect("JSON")
        };
        let text = table(0, &[line(1000), line(10_000)]);
        let last: Vec<&str> =
            text.lines().last().unwrap_or_default().split('|').map(str::trim).collect();
        assert_eq!((last[1], last[7], last[6]), ("exponent", "1.00", ""));
    }
}
