//! Pods that fit nowhere, with the reasons, and what is worth knowing about the input.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::words::{Safe, Said, counted, grouped, workloads};
use crate::plan::{Because, Plan, UnplacedPod};

/// Most groups of pods with the same reasons. LIMIT: the rest is counted.
const MAX_GROUPS: usize = 100;
/// Most pods of a group that are named.
const MAX_NAMES: usize = 100;
/// Workloads that a heading names.
const NAMED: usize = 3;
/// Most warnings. LIMIT: the rest is counted.
const MAX_WARNINGS: usize = 200;

/// The section of unplaced pods: those with the same reasons together, the most pods first.
pub(super) fn unplaced(out: &mut String, plan: &Plan) {
    if plan.unplaced.is_empty() {
        return;
    }
    let groups = grouped_by_reason(&plan.unplaced);
    let _ = write!(
        out,
        "<p>{} in {} with the same reasons.",
        counted(plan.unplaced.len(), "pod"),
        counted(groups.len(), "group"),
    );
    let left = groups.get(MAX_GROUPS..).unwrap_or_default();
    if !left.is_empty() {
        let _ = write!(
            out,
            " Shown are the first {MAX_GROUPS}. Left out: {}.",
            counted(left.iter().map(|(_, pods)| pods.len()).sum(), "pod"),
        );
    }
    out.push_str("</p><div class=\"cards\">");
    for (because, pods) in groups.iter().take(MAX_GROUPS) {
        let _ = write!(
            out,
            "<article class=\"left\"><h3>{}</h3><p class=\"facts\">{}</p><ul>",
            counted(pods.len(), "pod"),
            Safe(&workloads(pods.iter().copied(), NAMED))
        );
        for reason in *because {
            let _ = write!(out, "<li><code>{}</code>", Safe(&reason.code));
            if let Some(pool) = &reason.node_pool {
                let _ = write!(out, " in pool <b>{}</b>", Safe(pool));
            }
            let _ = write!(out, ": {}</li>", Said(&reason.message));
        }
        out.push_str("</ul>");
        names(out, pods);
        out.push_str("</article>");
    }
    out.push_str("</div>");
}

/// Pods by their reasons, the most pods first, ties in the order of their names.
fn grouped_by_reason(pods: &[UnplacedPod]) -> Vec<(&[Because], Vec<&str>)> {
    let mut groups: Vec<(&[Because], Vec<&str>)> = Vec::new();
    let mut at: BTreeMap<Vec<(&str, &str)>, usize> = BTreeMap::new();
    for pod in pods {
        let why = pod.because.iter().map(|b| (b.code.as_str(), b.message.as_str())).collect();
        let row = *at.entry(why).or_insert_with(|| {
            groups.push((&pod.because, Vec::new()));
            groups.len() - 1
        });
        groups[row].1.push(&pod.pod);
    }
    groups.sort_by_key(|(_, pods)| std::cmp::Reverse(pods.len()));
    groups
}

fn names(out: &mut String, pods: &[&str]) {
    if pods.len() < 2 {
        return;
    }
    let shown = pods.get(..MAX_NAMES).unwrap_or(pods);
    let _ = write!(
        out,
        "<details{}><summary>Names of {}</summary><p>{}",
        if shown.len() < pods.len() { " class=\"cut\"" } else { "" },
        counted(pods.len(), "pod"),
        Safe(&shown.join(", "))
    );
    if shown.len() < pods.len() {
        let left = grouped((pods.len() - shown.len()) as u128);
        let _ = write!(out, " and {left} more, named by <code>-o json</code>");
    }
    out.push_str("</p></details>");
}

/// The section of warnings.
pub(super) fn warnings(out: &mut String, plan: &Plan) {
    if plan.warnings.is_empty() {
        return;
    }
    out.push_str(
        "<div class=\"wide\" role=\"group\" \
         tabindex=\"0\" aria-label=\"Warnings\"><table><thead><tr><th scope=\"col\">Code</th>\
         <th scope=\"col\">Object</th><th scope=\"col\">Message</th></tr></thead><tbody>",
    );
    for warning in plan.warnings.iter().take(MAX_WARNINGS) {
        let _ = write!(
            out,
            "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td><td class=\"of\">{}</td></tr>",
            Safe(&warning.code),
            Safe(&warning.object),
            Said(&warning.message)
        );
    }
    out.push_str("</tbody></table></div>");
    if plan.warnings.len() > MAX_WARNINGS {
        let left = grouped((plan.warnings.len() - MAX_WARNINGS) as u128);
        let _ = write!(out, "<p>{left} more are in <code>-o json</code>.</p>");
    }
}
