//! Findings as text: a line for each, with what is wrong and what to write instead below it.

use std::fmt::Write;

use dunnage_planner::lint::{Finding, Report, Severity};

use crate::table::wrap;

/// Narrowest text that is still readable.
const MIN_WIDTH: usize = 20;

/// Objects with the same to be said of them that are named before the rest is counted.
const NAMED: usize = 3;

/// The findings in lines of at most `width` characters, and a line that counts them. Findings
/// that say the same stand together, with the fix of the first.
pub fn text(report: &Report, width: usize) -> String {
    let mut out = String::new();
    let alike = |a: &Finding, b: &Finding| (a.code, &a.message) == (b.code, &b.message);
    for group in report.findings.chunk_by(alike) {
        let Some(first) = group.first() else { continue };
        let names: Vec<&str> = group.iter().take(NAMED).map(|f| f.object.as_str()).collect();
        let more = match group.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let head = format!("{} {} {}{more}", first.severity.as_str(), first.code, names.join(", "));
        paragraph(&mut out, "", &head, width);
        paragraph(&mut out, "  ", &first.message, width);
        paragraph(&mut out, "  ", &format!("fix: {}", first.fix), width);
        out.push('\n');
    }
    let count = |severity: Severity, noun: &str| {
        let found = report.findings.iter().filter(|finding| finding.severity == severity).count();
        format!("{found} {noun}{}", if found == 1 { "" } else { "s" })
    };
    let counts = format!(
        "{}, {}, {} for information",
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
        count(Severity::Info, "finding")
    );
    paragraph(&mut out, "", &counts, width);
    out
}

fn paragraph(out: &mut String, indent: &str, text: &str, width: usize) {
    for line in wrap(text, width.saturating_sub(indent.len()).max(MIN_WIDTH)) {
        let _ = writeln!(out, "{indent}{line}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_many_is_said_once() {
        let finding = |object: &str, message: &str| Finding {
            code: "MissingCpuRequest",
            severity: Severity::Warning,
            object: object.to_owned(),
            message: message.to_owned(),
            fix: "set it".to_owned(),
        };
        let mut findings: Vec<Finding> =
            (0..5).map(|i| finding(&format!("Pod a/{i}"), "missing")).collect();
        findings.push(finding("Pod a/5", "missing too"));
        let want = "\
warning MissingCpuRequest Pod a/0, Pod a/1, Pod a/2 and 2 more
  missing
  fix: set it

warning MissingCpuRequest Pod a/5
  missing too
  fix: set it

0 errors, 6 warnings, 0 findings for information
";
        assert_eq!(text(&Report { findings }, 100), want);
    }
}
