//! Launched and existing nodes: a bar for each resource, a table of the pods on them.

use std::fmt::Write;

use super::bar::{self, Segment};
use super::groups::{Group, Kind, groups, kinds, requested};
use super::money::source;
use super::sizes::{Row, Sizes, Standing};
use super::words::{Safe, counted, grouped, percent, usd, workloads};
use crate::plan::{Because, Bind, Plan};
use crate::raise::readable;

/// Most groups of nodes that are drawn. LIMIT: so that a page of thousands of nodes stays small;
/// the table of machines counts all of them.
pub(super) const MAX_GROUPS: usize = 60;
/// Most existing nodes that are drawn.
pub(super) const MAX_NODES: usize = 60;
/// Most kinds of pods that have a letter and a row of their own on a node.
const MAX_KINDS: usize = 24;
/// Most pods of a group whose names are listed.
const MAX_NAMES: usize = 40;
/// Workloads that are named in a row before the rest is counted.
const NAMED: usize = 3;
/// Styles of segments, in turn.
const STYLES: [&str; 6] = ["k0", "k1", "k2", "k3", "k4", "k5"];

/// The section of nodes to launch.
pub(super) fn launched(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.launch.is_empty() {
        return;
    }
    let all = groups(&plan.launch, sizes);
    out.push_str("<section id=\"dunnage-nodes\"><h2>Nodes to launch</h2>");
    legend(out);
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
    out.push_str("</div></section>");
}

fn legend(out: &mut String) {
    out.push_str(
        "<p class=\"legend\"><span class=\"key k0\">A</span> pods, by letter of the table below \
         the bars; lines part equal pods <span class=\"key daemons\"></span> DaemonSets \
         <span class=\"key free\"></span> free</p>",
    );
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
    let parts = Parts {
        allocatable: &group.machine.allocatable,
        running: None,
        daemons: &group.machine.daemons,
        kinds: &group.kinds,
    };
    parts.draw(out, sizes, group.nodes());
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
        let _ = write!(out, "<li>{}: {}</li>", counted(count, "node"), Safe(message));
    }
    out.push_str("</ul>");
}

/// Names of pods, node by node, folded.
pub(super) fn names<'a>(out: &mut String, nodes: impl Iterator<Item = &'a [String]> + Clone) {
    let count: usize = nodes.clone().map(<[String]>::len).sum();
    if count == 0 {
        return;
    }
    let _ = write!(out, "<details><summary>Names of {}</summary><ol>", counted(count, "pod"));
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
    let _ = write!(
        out,
        "<section id=\"dunnage-existing\"><h2>Existing nodes that take pods</h2>\
         <p class=\"legend\"><span class=\"key running\"></span> runs there already \
         <span class=\"key k0\">A</span> pods of this plan <span class=\"key daemons\"></span> \
         DaemonSets <span class=\"key free\"></span> free</p><p>{} on {}.",
        counted(pods, "pod"),
        counted(plan.bind.len(), "node"),
    );
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
    out.push_str("</div></section>");
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
    let parts = Parts {
        allocatable: &node.allocatable,
        running: Some(&node.running),
        daemons: &node.daemons,
        kinds: &kinds(&bind.pods, sizes),
    };
    parts.draw(out, sizes, 1);
    names(out, std::iter::once(bind.pods.as_slice()));
    out.push_str("</article>");
}

/// What fills a node.
struct Parts<'a> {
    allocatable: &'a Row,
    /// What runs on it; none for a new node.
    running: Option<&'a Row>,
    daemons: &'a Row,
    kinds: &'a [Kind<'a>],
}

impl Parts<'_> {
    fn draw(&self, out: &mut String, sizes: &Sizes, nodes: usize) {
        let shown: Vec<usize> =
            (0..sizes.resources.len()).filter(|at| self.is_shown(sizes, *at)).collect();
        out.push_str("<div class=\"bars\">");
        for &column in &shown {
            self.bar(out, sizes, column);
        }
        out.push_str("</div>");
        self.table(out, sizes, &shown, nodes);
    }

    fn cell(row: &Row, column: usize) -> i64 {
        row.get(column).copied().unwrap_or(0).max(0)
    }

    /// A resource is shown when something asks for it, and a device when the machine has one.
    fn is_shown(&self, sizes: &Sizes, column: usize) -> bool {
        let is_asked = requested(self.kinds, column) > 0 || Self::cell(self.daemons, column) > 0;
        let is_device = sizes.resources[column].contains('/');
        let is_always = matches!(sizes.resources[column].as_str(), "cpu" | "memory");
        is_asked || is_always || (is_device && Self::cell(self.allocatable, column) > 0)
    }

    fn bar(&self, out: &mut String, sizes: &Sizes, column: usize) {
        let name = &sizes.resources[column];
        let text = |amount: i64| readable(name, amount);
        let (running, daemons) = (
            self.running.map_or(0, |row| Self::cell(row, column)),
            Self::cell(self.daemons, column),
        );
        let pods = requested(self.kinds, column);
        let allocatable = Self::cell(self.allocatable, column);
        let used = running.saturating_add(daemons).saturating_add(pods);
        let free = allocatable.saturating_sub(used).max(0);
        let mut segments = Vec::new();
        let plain = |class, amount: i64, what: &str| Segment {
            class,
            letter: "",
            amount,
            parts: 1,
            title: format!("{what}: {}", text(amount)),
        };
        segments.extend((running > 0).then(|| plain("running", running, "running")));
        segments.extend(self.segments(name, column));
        segments.extend((daemons > 0).then(|| plain("daemons", daemons, "DaemonSets")));
        segments.push(plain("free", free, "free"));
        let share = percent(i128::from(used), i128::from(allocatable));
        let running = match self.running {
            Some(_) => format!("running {}, ", text(running)),
            None => String::new(),
        };
        let said = format!(
            "{name}: {running}pods {}, DaemonSets {}, free {}, of {} allocatable; {share} used",
            text(pods),
            text(daemons),
            text(free),
            text(allocatable),
        );
        let _ = write!(out, "<div class=\"res\"><span class=\"name\">{}</span>", Safe(name));
        bar::draw(out, &segments, &said);
        let _ = write!(
            out,
            "<span class=\"use\" aria-hidden=\"true\"><b>{share}</b> {} of {}</span></div>",
            text(used),
            text(allocatable)
        );
    }

    fn segments(&self, name: &str, column: usize) -> Vec<Segment<'_>> {
        let mut all: Vec<Segment> = Vec::new();
        for (at, kind) in self.kinds.iter().enumerate().take(MAX_KINDS) {
            let one = kind.shape.get(column).copied().unwrap_or(0);
            all.push(Segment {
                class: STYLES[at % STYLES.len()],
                letter: letter(at),
                amount: requested(std::slice::from_ref(kind), column),
                parts: kind.count,
                title: format!("{}: {} × {}", letter(at), kind.count, readable(name, one)),
            });
        }
        let rest = self.kinds.get(MAX_KINDS..).unwrap_or_default();
        if !rest.is_empty() {
            let amount = requested(rest, column);
            let title = format!("others: {}", readable(name, amount));
            all.push(Segment { class: "others", letter: "…", amount, parts: 1, title });
        }
        all
    }

    /// What the letters mean. Pods are counted on one node, named on all `nodes`.
    fn table(&self, out: &mut String, sizes: &Sizes, shown: &[usize], nodes: usize) {
        let of = if nodes > 1 { "of each node" } else { "of the node" };
        let _ = write!(
            out,
            "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"Pods {of}\">\
             <table class=\"pods\"><thead><tr><th scope=\"col\">Mark</th><th scope=\"col\">Pods</th>"
        );
        let asked: Vec<usize> = shown
            .iter()
            .copied()
            .filter(|&at| sizes.resources[at] != "pods" && requested(self.kinds, at) > 0)
            .collect();
        for &column in &asked {
            let _ = write!(out, "<th scope=\"col\">{}</th>", Safe(short(&sizes.resources[column])));
        }
        out.push_str("<th scope=\"col\">Of</th></tr></thead><tbody>");
        for (at, kind) in self.kinds.iter().enumerate().take(MAX_KINDS) {
            let _ = write!(
                out,
                "<tr><th scope=\"row\"><span class=\"key {}\">{}</span></th><td>{}</td>",
                STYLES[at % STYLES.len()],
                letter(at),
                kind.count
            );
            for &column in &asked {
                let one = kind.shape.get(column).copied().unwrap_or(0);
                let _ = write!(out, "<td>{}</td>", readable(&sizes.resources[column], one));
            }
            let of = workloads(kind.names.iter().copied(), NAMED);
            let _ = write!(out, "<td class=\"of\">{}</td></tr>", Safe(&of));
        }
        let rest = self.kinds.get(MAX_KINDS..).unwrap_or_default();
        if !rest.is_empty() {
            let _ = write!(
                out,
                "<tr><th scope=\"row\"><span class=\"key others\">…</span></th><td>{}</td>",
                rest.iter().map(|kind| kind.count).sum::<usize>()
            );
            for _ in &asked {
                out.push_str("<td></td>");
            }
            let of = format!("{} other sizes of pods", rest.len());
            let _ = write!(out, "<td class=\"of\">{of}</td></tr>");
        }
        out.push_str("</tbody></table></div>");
    }
}

/// `A` to `X`.
fn letter(at: usize) -> &'static str {
    "ABCDEFGHIJKLMNOPQRSTUVWX".get(at..=at).unwrap_or("")
}

/// A resource's name without its domain.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
