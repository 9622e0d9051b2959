//! A plan as tables: launches that are alike in one row, pods by workload, reasons wrapped.

use std::collections::BTreeMap;
use std::fmt::Write;

use dunnage_planner::plan::{Launch, Money, Notice, Plan, UnplacedPod};
use dunnage_planner::replay::Replay;
use dunnage_planner::workload::by_workload;

use crate::table::{Table, wrap};

/// Workloads and pods that are named in one cell before the rest is counted.
const NAMED: usize = 3;

/// The plan in lines of at most `width` characters.
pub fn text(plan: &Plan, width: usize) -> String {
    let mut out = String::new();
    summary(&mut out, plan, width);
    if !plan.launch.is_empty() {
        let _ = write!(out, "\nLAUNCH\n{}", launches(&plan.launch, width));
        because(&mut out, &plan.launch, width);
    }
    if !plan.static_launch.is_empty() {
        let price = plan.cost.static_per_hour.unwrap_or_default();
        let _ = write!(
            out,
            "\nPOOLS WITH REPLICAS, {price} USD/H MORE\n{}",
            launches(&plan.static_launch, width)
        );
    }
    if !plan.bind.is_empty() {
        let mut table = Table::new(&["NODE", "PODS", "FOR"]);
        for bind in &plan.bind {
            table.row(vec![bind.node.clone(), bind.pods.len().to_string(), workloads(&bind.pods)]);
        }
        let _ = write!(out, "\nBIND TO EXISTING NODES\n{}", table.text(width));
    }
    if !plan.quotas.is_empty() {
        let mut table = Table::new(&["QUOTA", "UNIT", "LIMIT", "USED", "PLANNED", "MISSING"]);
        for q in &plan.quotas {
            let missing = q.missing.clone().unwrap_or_default();
            let amounts = [q.unit.clone(), q.limit.clone(), q.used.clone(), q.planned.clone()];
            let name = [q.name.clone()];
            table.row(name.into_iter().chain(amounts).chain([missing]).collect());
        }
        let _ = write!(out, "\nQUOTAS\n{}", table.text(width));
    }
    if !plan.unplaced.is_empty() {
        let _ = write!(out, "\nUNPLACED\n");
        unplaced(&mut out, &plan.unplaced, width);
    }
    if !plan.warnings.is_empty() {
        let _ = write!(out, "\nWARNINGS\n{}", warnings(&plan.warnings, width));
    }
    out
}

fn summary(out: &mut String, plan: &Plan, width: usize) {
    let launched: usize = plan.launch.iter().map(|launch| launch.pods.len()).sum();
    let bound: usize = plan.bind.iter().map(|bind| bind.pods.len()).sum();
    let text = format!(
        "{} to launch for {}, {} bound to existing nodes, {} unplaced: {} USD/h",
        counted(plan.launch.len(), "node"),
        counted(launched, "pod"),
        counted(bound, "pod"),
        counted(plan.unplaced.len(), "pod"),
        plan.cost.launch_per_hour
    );
    paragraph(out, &text, width);
    if let (Some(gap), true) = (plan.cost.gap, !plan.launch.is_empty()) {
        let text = format!(
            "No plan that launches for these pods costs less than {} USD/h: this one is at most \
             {:.2} % above the cheapest.",
            plan.cost.lower_bound_per_hour,
            gap * 100.0
        );
        paragraph(out, &text, width);
    }
    if let Some(replay) = &plan.replay {
        replayed(out, replay, width);
    }
}

/// What kube-scheduler makes of the plan.
fn replayed(out: &mut String, replay: &Replay, width: usize) {
    for (how, run) in [
        ("With every pod nominated for its node (Kubernetes 1.35)", &replay.nominated),
        ("Without nominations", &replay.scored),
    ] {
        let text = format!(
            "{how} kube-scheduler leaves {} pending on these nodes under {} scoring, for which \
             {} would be bought again: {} USD/h, {:.2} % of the plan.",
            counted(run.pending_pods as usize, "pod"),
            replay.scoring,
            counted(run.bought_again, "node"),
            run.bought_again_per_hour,
            run.share * 100.0
        );
        paragraph(out, &text, width);
    }
}

fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Rows of launches that look alike, in the order of the first of each.
fn launches(launches: &[Launch], width: usize) -> String {
    let mut rows: Vec<(Vec<String>, usize, Vec<String>)> = Vec::new();
    let mut at: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for launch in launches {
        let amount = |name: &str| launch.requests.get(name).cloned().unwrap_or_default();
        let cells = vec![
            launch.node_pool.clone(),
            launch.cheapest.instance_type.clone(),
            launch.cheapest.zone.clone(),
            launch.cheapest.capacity_type.clone(),
            launch.cheapest.price_per_hour.to_string(),
            launch.instance_types.len().to_string(),
            amount("cpu"),
            amount("memory"),
            launch.pods.len().to_string(),
        ];
        let row = *at.entry(cells.clone()).or_insert_with(|| {
            rows.push((cells, 0, Vec::new()));
            rows.len() - 1
        });
        rows[row].1 += 1;
        rows[row].2.extend(launch.pods.iter().cloned());
    }
    let mut table = Table::new(&[
        "NODES", "POOL", "CHEAPEST", "ZONE", "CAPACITY", "USD/H", "TYPES", "CPU", "MEMORY", "PODS",
        "FOR",
    ]);
    for (mut cells, count, pods) in rows {
        cells.insert(0, count.to_string());
        cells.push(workloads(&pods));
        table.row(cells);
    }
    table.text(width)
}

/// What launches say beyond their pool: preferences given up, minValues lowered, reservations.
fn because(out: &mut String, launches: &[Launch], width: usize) {
    let mut said: BTreeMap<&str, usize> = BTreeMap::new();
    for launch in launches {
        for because in launch.because.iter().filter(|because| because.code != "poolChosen") {
            *said.entry(&because.message).or_default() += 1;
        }
    }
    for (message, count) in said {
        paragraph(out, &format!("{}: {message}", counted(count, "node")), width);
    }
}

fn unplaced(out: &mut String, pods: &[UnplacedPod], width: usize) {
    type Reason<'a> = Vec<(&'a str, &'a str)>;
    let mut groups: Vec<(Reason, Vec<String>)> = Vec::new();
    let mut at: BTreeMap<Reason, usize> = BTreeMap::new();
    for pod in pods {
        let why: Reason =
            pod.because.iter().map(|b| (b.code.as_str(), b.message.as_str())).collect();
        let row = *at.entry(why.clone()).or_insert_with(|| {
            groups.push((why, Vec::new()));
            groups.len() - 1
        });
        groups[row].1.push(pod.pod.clone());
    }
    for (why, pods) in groups {
        paragraph(out, &format!("{}: {}", counted(pods.len(), "pod"), workloads(&pods)), width);
        for (code, message) in why {
            for (at, line) in wrap(&format!("{code}: {message}"), width.saturating_sub(4).max(20))
                .iter()
                .enumerate()
            {
                let _ = writeln!(out, "  {}{line}", if at == 0 { "- " } else { "  " });
            }
        }
    }
}

fn warnings(warnings: &[Notice], width: usize) -> String {
    let mut table = Table::new(&["CODE", "OBJECT", "MESSAGE"]);
    for warning in warnings {
        table.row(vec![warning.code.clone(), warning.object.clone(), warning.message.clone()]);
    }
    table.text(width)
}

fn paragraph(out: &mut String, text: &str, width: usize) {
    for line in wrap(text, width.max(20)) {
        let _ = writeln!(out, "{line}");
    }
}

/// `default/inflate x5, shop/web x2 and 3 more`: pods by what stands before their last dash.
fn workloads(pods: &[String]) -> String {
    let names = by_workload(pods.iter().map(String::as_str));
    let shown = names.iter().take(NAMED).map(|&(name, count)| match count {
        1 => name.to_owned(),
        _ => format!("{name} x{count}"),
    });
    let shown = shown.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// `0.0504`, for cells.
pub fn usd(price: f64) -> String {
    let microusd = dunnage_planner::quantity::microusd_from_usd(price).ok();
    Money(microusd).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_named_by_their_workload() {
        let pods = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>();
        assert_eq!(workloads(&pods(&["a/web-0", "a/web-1", "b/one-7"])), "a/web x2, b/one-7");
        assert_eq!(
            workloads(&pods(&["a/w-0", "b/w-0", "c/w-0", "d/w-0"])),
            "a/w-0, b/w-0, c/w-0 and 1 more"
        );
        assert_eq!(workloads(&pods(&["default/pod"])), "default/pod");
    }
}
