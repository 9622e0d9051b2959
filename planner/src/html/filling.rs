//! What fills a node: a bar for each resource, and a table that says what its letters mean.

use std::fmt::Write;

use super::bar::{self, Segment};
use super::groups::{Kind, requested};
use super::sizes::{Row, Sizes};
use super::words::{Breakable, Safe, percent, size, workloads};

/// Most kinds of pods that have a letter and a row of their own on a node.
const MAX_KINDS: usize = 24;
/// Workloads that are named in a row before the rest is counted.
const NAMED: usize = 3;
/// Styles of segments, in turn.
const STYLES: [&str; 6] = ["k0", "k1", "k2", "k3", "k4", "k5"];

/// What fills a node.
pub(super) struct Filling<'a> {
    /// What pods can use.
    pub allocatable: &'a Row,
    /// What runs on it; none for a new node.
    pub running: Option<&'a Row>,
    /// What DaemonSets take.
    pub daemons: &'a Row,
    /// Pods of this plan on one node.
    pub kinds: &'a [Kind<'a>],
}

impl Filling<'_> {
    /// Draws one node, and names the pods of all `nodes`.
    pub fn draw(&self, out: &mut String, sizes: &Sizes, nodes: usize) {
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
        let text = |amount: i64| size(name, amount);
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
        let _ = write!(out, "<div class=\"res\"><span class=\"name\">{}</span>", Breakable(name));
        bar::draw(out, &segments, &said);
        let _ = write!(
            out,
            "<span class=\"use\" aria-hidden=\"true\"><b>{share}</b> of {}</span></div>",
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
                title: format!("{}: {} × {}", letter(at), kind.count, size(name, one)),
            });
        }
        let rest = self.kinds.get(MAX_KINDS..).unwrap_or_default();
        if !rest.is_empty() {
            let amount = requested(rest, column);
            let title = format!("others: {}", size(name, amount));
            all.push(Segment { class: "others", letter: "…", amount, parts: 1, title });
        }
        all
    }

    /// What the letters mean. Pods are counted on one node, named on all `nodes`.
    fn table(&self, out: &mut String, sizes: &Sizes, shown: &[usize], nodes: usize) {
        let is_asked =
            |at: &&usize| sizes.resources[**at] != "pods" && requested(self.kinds, **at) > 0;
        let asked: Vec<usize> = shown.iter().filter(is_asked).copied().collect();
        // A table that may be too wide for a narrow screen is reached by keyboard, to scroll it.
        out.push_str(match asked.len() {
            0..=3 => "<div class=\"wide\">",
            _ => "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"Pods\">",
        });
        let (of, count) =
            if nodes > 1 { ("Pods (all nodes)", "Per node") } else { ("Pods", "Number") };
        let _ = write!(
            out,
            "<table class=\"pods\"><thead><tr>\
             <th scope=\"col\"><span class=\"vh\">Letter</span></th>\
             <th scope=\"col\" class=\"of\">{of}</th>\
             <th scope=\"col\" class=\"n each\">{count}</th>"
        );
        for &column in &asked {
            let name = short(&sizes.resources[column]);
            let _ = write!(out, "<th scope=\"col\" class=\"n\">{}</th>", Safe(name));
        }
        out.push_str("</tr></thead><tbody>");
        for (at, kind) in self.kinds.iter().enumerate().take(MAX_KINDS) {
            let of = workloads(kind.names.iter().copied(), NAMED);
            table_row(out, (STYLES[at % STYLES.len()], letter(at)), &of, kind.count);
            for &column in &asked {
                let one = kind.shape.get(column).copied().unwrap_or(0);
                let _ = write!(out, "<td class=\"n\">{}</td>", size(&sizes.resources[column], one));
            }
            out.push_str("</tr>");
        }
        let rest = self.kinds.get(MAX_KINDS..).unwrap_or_default();
        if !rest.is_empty() {
            let of = format!("pods of {} other sizes", rest.len());
            table_row(out, ("others", "…"), &of, rest.iter().map(|kind| kind.count).sum());
            let _ = write!(out, "<td colspan=\"{}\"></td></tr>", asked.len().max(1));
        }
        out.push_str("</tbody></table></div>");
    }
}

/// The cells of a row that say whose pods it counts.
fn table_row(out: &mut String, (style, letter): (&str, &str), of: &str, count: usize) {
    let _ = write!(
        out,
        "<tr><th scope=\"row\"><span class=\"key {style}\">{letter}</span></th>\
         <td class=\"of\">{}</td><td class=\"n\">{count}</td>",
        Safe(of)
    );
}

/// `A` to `X`.
fn letter(at: usize) -> &'static str {
    "ABCDEFGHIJKLMNOPQRSTUVWX".get(at..=at).unwrap_or("")
}

/// A resource's name without its domain.
fn short(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}
