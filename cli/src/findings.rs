//! Findings as text: a line for each, with what is wrong and what to write instead below it.

use std::fmt::Write;

use dunnage_planner::lint::{Report, Severity};

use crate::table::wrap;

/// Narrowest text that is still readable.
const MIN_WIDTH: usize = 20;

/// The findings in lines of at most `width` characters, and a line that counts them.
pub fn text(report: &Report, width: usize) -> String {
    let mut out = String::new();
    for finding in &report.findings {
        let head = format!("{} {} {}", finding.severity.as_str(), finding.code, finding.object);
        paragraph(&mut out, "", &head, width);
        paragraph(&mut out, "  ", &finding.message, width);
        paragraph(&mut out, "  ", &format!("fix: {}", finding.fix), width);
        out.push('\n');
    }
    let count = |severity: Severity, noun: &str| {
        let found = report.findings.iter().filter(|finding| finding.severity == severity).count();
        format!("{found} {noun}{}", if found == 1 { "" } else { "s" })
    };
    let _ = writeln!(
        out,
        "{}, {}, {} for information",
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
        count(Severity::Info, "finding")
    );
    out
}

fn paragraph(out: &mut String, indent: &str, text: &str, width: usize) {
    for line in wrap(text, width.saturating_sub(indent.len()).max(MIN_WIDTH)) {
        let _ = writeln!(out, "{indent}{line}");
    }
}
