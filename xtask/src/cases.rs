//! Which test covers which handed case. The cases are the rows of `docs/cases.md`; a test
//! names its cases in a comment line right above it: `CASE: C01, C05`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::run;

/// Topics whose decision (D), validation (V) and specification (S) rows must have a test.
const COVERED: &[&str] = &[
    "requirements",
    "taints",
    "topology",
    "affinity",
    "volumes",
    "limits",
    "weights",
    "min-values",
    "daemons",
    "init-containers",
    "spec",
];

/// Lines between the marker and the test's name: attributes and doc comments.
const MAX_GAP: usize = 12;

/// One row of the table.
#[derive(Debug, PartialEq, Eq)]
struct Case {
    id: String,
    kind: String,
    topic: String,
    summary: String,
}

impl Case {
    fn needs_test(&self) -> bool {
        ["D", "V", "S"].contains(&self.kind.as_str()) && COVERED.contains(&self.topic.as_str())
    }
}

/// Prints case → tests and fails when a case that needs a test has none.
///
/// # Errors
/// A missing test, a marker that names no case or stands above no test, an unreadable file.
pub fn cases() -> Result<(), String> {
    let table = run::root().join("docs").join("cases.md");
    let text = fs::read_to_string(&table).map_err(|why| format!("{}: {why}", table.display()))?;
    let table = parse(&text)?;
    let mut tests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    walk(&run::root(), &mut |path, source| {
        let (found, bad) = markers(path, source);
        wrong.extend(bad);
        for (id, test) in found {
            tests.entry(id).or_default().push(test);
        }
    })?;
    for id in tests.keys().filter(|id| !table.iter().any(|c| c.id == **id)) {
        wrong.push(format!("`{id}` is named by {} but is no row of docs/cases.md", tests[id][0]));
    }
    for case in &table {
        let covering = tests.get(&case.id);
        let shown = match covering {
            Some(names) => names.join(", "),
            None if case.needs_test() => "MISSING".to_owned(),
            None => "-".to_owned(),
        };
        println!("{:8} {} {:15} {shown}", case.id, case.kind, case.topic);
        if covering.is_none() && case.needs_test() {
            wrong.push(format!("{} has no test: {}", case.id, case.summary));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Rows of the Markdown table: id, kind, topic, summary.
fn parse(text: &str) -> Result<Vec<Case>, String> {
    let mut out: Vec<Case> = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let Some(inner) = line.trim().strip_prefix('|').and_then(|l| l.strip_suffix('|')) else {
            continue;
        };
        let cells: Vec<&str> = inner.split('|').map(str::trim).collect();
        let &[id, kind, topic, summary] = cells.as_slice() else {
            return Err(format!("docs/cases.md:{}: {} cells, not 4", i + 1, cells.len()));
        };
        if id == "id" || id.starts_with('-') {
            continue;
        }
        if out.iter().any(|c| c.id == id) {
            return Err(format!("docs/cases.md:{}: `{id}` twice", i + 1));
        }
        let [id, kind, topic, summary] = [id, kind, topic, summary].map(str::to_owned);
        out.push(Case { id, kind, topic, summary });
    }
    Ok(out)
}

/// (case, test) pairs of one source file, and markers that stand above no test.
fn markers(path: &str, source: &str) -> (Vec<(String, String)>, Vec<String>) {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let (mut found, mut wrong) = (Vec::new(), Vec::new());
    for (i, line) in lines.iter().enumerate() {
        let Some(ids) = line.strip_prefix("// CASE:") else { continue };
        let below = lines.iter().skip(i + 1).take(MAX_GAP);
        let name = below.clone().find_map(|l| l.strip_prefix("fn ")?.split('(').next());
        let upto: Vec<&&str> = below.take_while(|l| !l.starts_with("fn ")).collect();
        let above = i.checked_sub(1).and_then(|j| lines.get(j));
        let is_test = upto.into_iter().chain(above).any(|l| l.starts_with("#[test]"));
        match name.filter(|_| is_test) {
            Some(name) => {
                for id in ids.split([',', ' ']).filter(|id| !id.is_empty()) {
                    found.push((id.to_owned(), format!("{path}::{name}")));
                }
            }
            None => wrong.push(format!("{path}:{}: the marker stands above no test", i + 1)),
        }
    }
    (found, wrong)
}

/// Calls `visit` with each Rust source below `dir`, in order of name.
fn walk(dir: &Path, visit: &mut impl FnMut(&str, &str)) -> Result<(), String> {
    let entries = fs::read_dir(dir).map_err(|why| format!("{}: {why}", dir.display()))?;
    let mut paths: Vec<_> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "node_modules" {
                walk(&path, visit)?;
            }
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(&path).map_err(|why| format!("{name}: {why}"))?;
            let shown = path.strip_prefix(run::root()).unwrap_or(&path);
            visit(&shown.to_string_lossy(), &text);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let text =
            "| id | kind | topic | summary |\n|---|---|---|---|\n| C01 | D | taints | soft |\n";
        let rows = parse(text).expect("valid");
        assert_eq!(rows.len(), 1);
        assert!(rows[0].needs_test());
        assert!(parse("| C01 | D | taints |\n").is_err());
        assert!(parse("| C01 | D | a | b |\n| C01 | D | a | b |\n").is_err());
    }

    #[test]
    fn controller_cases_need_no_engine_test() {
        let rows =
            parse("| C67 | C | volumes | gone |\n| C37 | D | budgets | gap |\n").expect("valid");
        assert!(rows.iter().all(|c| !c.needs_test()));
    }

    #[test]
    fn a_marker_counts_only_above_a_test() {
        let mark = format!("// {}", "CASE: C01, C05");
        let good =
            format!("{mark}\n#[test]\n/// doc\nfn fits() {{}}\n#[test]\n{mark}\nfn also() {{}}");
        let (found, wrong) = markers("a.rs", &good);
        assert!(wrong.is_empty());
        let names: Vec<String> = found.iter().map(|(id, t)| format!("{id} {t}")).collect();
        assert_eq!(names, ["C01 a.rs::fits", "C05 a.rs::fits", "C01 a.rs::also", "C05 a.rs::also"]);
        let (found, wrong) = markers("a.rs", &format!("{mark}\nfn not_a_test() {{}}"));
        assert!(found.is_empty());
        assert_eq!(wrong.len(), 1);
    }

    #[test]
    fn the_repository_has_a_readable_table() {
        let text = fs::read_to_string(run::root().join("docs").join("cases.md")).expect("table");
        assert!(parse(&text).is_ok_and(|rows| rows.len() > 60));
    }
}
