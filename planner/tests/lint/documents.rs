//! docs/lint.md has a row for each code, and each code has a test.

use std::collections::BTreeSet;

use dunnage_planner::lint::codes;

const TESTS: [&str; 8] = [
    include_str!("budgets.rs"),
    include_str!("critical.rs"),
    include_str!("images.rs"),
    include_str!("planned.rs"),
    include_str!("pools.rs"),
    include_str!("refusals.rs"),
    include_str!("tutorial.rs"),
    include_str!("workloads.rs"),
];

fn rows(document: &str) -> BTreeSet<(String, String)> {
    let cells = |line: &str| -> Option<(String, String)> {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        let code = cells.next()?.trim_matches('`').to_owned();
        Some((code, cells.next()?.to_owned()))
    };
    document.lines().filter_map(cells).collect()
}

#[test]
fn every_code_has_a_row_with_its_severity() {
    let own: BTreeSet<(String, String)> = codes()
        .iter()
        .map(|(code, severity)| ((*code).to_owned(), severity.as_str().to_owned()))
        .collect();
    assert!(own.len() > 50, "{own:?}");
    assert_eq!(rows(include_str!("../../../docs/lint.md")), own);
}

#[test]
fn every_code_has_a_test() {
    for (code, _) in codes() {
        let quoted = format!("\"{code}\"");
        assert!(TESTS.iter().any(|text| text.contains(&quoted)), "no test names {code}");
    }
}

#[test]
fn every_warning_of_a_plan_is_a_finding() {
    let own: BTreeSet<&str> = codes().iter().map(|(code, _)| *code).collect();
    for (code, _) in rows(include_str!("../../../docs/warnings.md")) {
        assert!(own.contains(code.as_str()), "{code}");
    }
}
