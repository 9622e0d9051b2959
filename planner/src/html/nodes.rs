//! Launched and existing nodes: a bar for each resource, a table of the pods on them.

use std::fmt::Write;

use super::bar;
use super::filling::Filling;
use super::groups::{Group, groups, kinds};
use super::money::source;
use super::sizes::{Sizes, Standing};
use super::words::{Safe, Said, counted, grouped, usd};
use crate::plan::{Because, Bind, Plan};

/// Most groups of nodes that are drawn. LIMIT: so that a page of thousands of nodes stays small;
/// the table of machines counts all of them.
pub(super) const MAX_GROUPS: usize = 60;
/// Most existing nodes that are drawn.
pub(super) const MAX_NODES: usize = 60;
/// Most pods of a group whose names are listed.
const MAX_NAMES: usize = 40;

/// The section of nodes to launch.
pub(super) fn launched(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.launch.is_empty() {
        return;
    }
    let all = groups(&plan.launch, sizes);
    let pods = "pods: the table below the bars says for each letter what one pod requests; ticks \
                part equal pods";
    bar::legend(out, &[("k0", "A", pods), ("daemons", "", "DaemonSets"), ("free", "", "free")]);
    let _ = write!(
        out,
        "<p>{} in {} of equal nodes, those that cost most together first.",
        counted(plan.launch.len(), "node"),
        counted(all.len(), "group"),
    );
    let left = all.get(MAX_GROUPS..).unwrap_or_default();
    if !left.is_empty() {
        let _ = write!(
            out,
            " Drawn are the first {MAX_GROUPS} groups. Left out here, and counted in every sum and \
             table above: {} in {} with {}.",
            counted(left.iter().map(Group::nodes).sum(), "node"),
            counted(left.len(), "group"),
            counted(left.iter().map(Group::pods).sum(), "pod"),
        );
    }
    out.push_str("</p><div class=\"cards\">");
    for group in all.iter().take(MAX_GROUPS) {
        card(out, group, sizes);
    }
    out.push_str("</div>");
}

fn card(out: &mut String, group: &Group, sizes: &Sizes) {
    let Some(first) = group.launches.first() else { return };
    let choice = &first.cheapest;
    let count = grouped(group.nodes() as u128);
    let _ = write!(
        out,
        "<article><h3>{count} × {}</h3><p class=\"facts\">pool {}, {}, {}<br><b>{} USD/h</b>",
        Safe(&choice.instance_type),
        Safe(&first.node_pool),
        Safe(&choice.capacity_type),
        Safe(&zones(group)),
        usd(choice.price_per_hour),
    );
    if group.nodes() > 1 {
        let _ = write!(out, " each, <b>{}</b> together", usd(group.cost()));
    }
    let _ = write!(out, " ({})", source(group.machine.price_source));
    let (least, most) = alternatives(group);
    if most > 1 {
        let of = if least == most { grouped(most as u128) } else { format!("{least} to {most}") };
        let _ = write!(out, "; cheapest of {of} types");
    }
    out.push_str("</p>");
    let filling = Filling {
        allocatable: &group.machine.allocatable,
        running: None,
        daemons: &group.machine.daemons,
        kinds: &group.kinds,
    };
    filling.draw(out, sizes, group.nodes());
    said(out, group);
    names(out, group.launches.iter().map(|launch| launch.pods.as_slice()));
    out.push_str("</article>");
}

/// `us-east-1a ×2, us-east-1b`.
fn zones(group: &Group) -> String {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    for launch in &group.launches {
        *counts.entry(&launch.cheapest.zone).or_default() += 1;
    }
    let one = |(zone, count): (&str, usize)| {
        let zone = if zone.is_empty() { "no zone" } else { zone };
        if count == group.nodes() { zone.to_owned() } else { format!("{zone} ×{count}") }
    };
    counts.into_iter().map(one).collect::<Vec<_>>().join(", ")
}

/// Fewest and most types that a node of the group may become.
fn alternatives(group: &Group) -> (usize, usize) {
    let counts = || group.launches.iter().map(|launch| launch.instance_types.len());
    (counts().min().unwrap_or(0), counts().max().unwrap_or(0))
}

/// What the launches say beyond their pool.
fn said(out: &mut String, group: &Group) {
    let mut counts = std::collections::BTreeMap::<&str, usize>::new();
    let all = group.launches.iter().flat_map(|launch| &launch.because);
    for because in all.filter(|because: &&Because| because.code != "poolChosen") {
        *counts.entry(&because.message).or_default() += 1;
    }
    if counts.is_empty() {
        return;
    }
    out.push_str("<ul class=\"said\">");
    for (message, count) in counts {
        let _ = write!(out, "<li>{}: {}</li>", counted(count, "node"), Said(message));
    }
    out.push_str("</ul>");
}

/// Names of pods, node by node, folded.
pub(super) fn names<'a>(out: &mut String, nodes: impl Iterator<Item = &'a [String]> + Clone) {
    let count: usize = nodes.clone().map(<[String]>::len).sum();
    if count == 0 {
        return;
    }
    let class = if count > MAX_NAMES { " class=\"cut\"" } else { "" };
    let _ =
        write!(out, "<details{class}><summary>Names of {}</summary><ol>", counted(count, "pod"));
    let mut room = MAX_NAMES;
    for pods in nodes {
        if room == 0 {
            break;
        }
        let shown: Vec<&str> = pods.iter().take(room).map(String::as_str).collect();
        room -= shown.len();
        let _ = write!(out, "<li>{}</li>", Safe(&shown.join(", ")));
    }
    out.push_str("</ol>");
    if count > MAX_NAMES {
        let left = grouped((count - MAX_NAMES) as u128);
        let _ = write!(out, "<p>{left} more are named by <code>-o json</code>.</p>");
    }
    out.push_str("</details>");
}

/// The section of existing nodes that take pods.
pub(super) fn existing(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.bind.is_empty() {
        return;
    }
    let pods: usize = plan.bind.iter().map(|bind| bind.pods.len()).sum();
    bar::legend(
        out,
        &[
            ("running", "", "runs there already"),
            ("k0", "A", "pods of this plan"),
            ("daemons", "", "DaemonSets"),
            ("free", "", "free"),
        ],
    );
    let _ = write!(out, "<p>{} on {}.", counted(pods, "pod"), counted(plan.bind.len(), "node"),);
    let left = plan.bind.get(MAX_NODES..).unwrap_or_default();
    if !left.is_empty() {
        let _ = write!(
            out,
            " Drawn are the first {MAX_NODES} by name. Left out: {} with {}.",
            counted(left.len(), "node"),
            counted(left.iter().map(|bind| bind.pods.len()).sum(), "pod"),
        );
    }
    out.push_str("</p><div class=\"cards\">");
    for bind in plan.bind.iter().take(MAX_NODES) {
        existing_card(out, bind, sizes);
    }
    out.push_str("</div>");
}

fn existing_card(out: &mut String, bind: &Bind, sizes: &Sizes) {
    let unknown = Standing::default();
    let node = sizes.nodes.get(&bind.node).unwrap_or(&unknown);
    let place = if node.place.is_empty() { String::new() } else { node.place.join(", ") + "<br>" };
    let place = place.split_terminator("<br>").map(|p| format!("{}<br>", Safe(p)));
    let _ = write!(
        out,
        "<article><h3>{}</h3><p class=\"facts\">{}takes {}; {} there already</p>",
        Safe(&bind.node),
        place.collect::<String>(),
        counted(bind.pods.len(), "pod"),
        counted(node.pods, "pod"),
    );
    let filling = Filling {
        allocatable: &node.allocatable,
        running: Some(&node.running),
        daemons: &node.daemons,
        kinds: &kinds(&bind.pods, sizes),
    };
    filling.draw(out, sizes, 1);
    names(out, std::iter::once(bind.pods.as_slice()));
    out.push_str("</article>");
}
