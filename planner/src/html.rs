//! A plan as one page of HTML: headline, cost against its bound, machines and prices, what stays
//! free, pods that are left and why, and every node as bars. Nothing is decided here.
//!
//! The page needs nothing but itself: no script, font, image or style from elsewhere; its styles
//! hold below its own root, so that a notebook can show it inside another page.

mod bar;
mod filling;
mod groups;
mod left;
mod money;
mod nodes;
mod sizes;
mod waste;
mod words;

use std::fmt::Write;

pub(crate) use sizes::sizes;
pub use sizes::{Sizes, plan_with_sizes};

use crate::plan::Plan;
use words::{counted, grouped, usd, usd_per_month};

const STYLE: &str = include_str!("html/style.css");

/// The page of a plan; `sizes` are those that [`plan_with_sizes`] gave with it. Equal plans give
/// equal bytes.
pub fn html(plan: &Plan, sizes: &Sizes) -> String {
    let mut out = String::new();
    let headline = headline(plan);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\"><title>{headline}</title><style>\n{STYLE}</style></head>\n<body>\
         <main class=\"dunnage\"><h1>{headline}</h1>"
    );
    figures(&mut out, plan);
    let sections = sections(plan, sizes);
    out.push_str("<nav aria-label=\"Sections\">");
    for (id, title, _) in &sections {
        let _ = write!(out, "<a href=\"#dunnage-{id}\">{title}</a>");
    }
    out.push_str("</nav>");
    for (id, title, body) in &sections {
        let _ = write!(
            out,
            "\n<section id=\"dunnage-{id}\" aria-labelledby=\"dunnage-{id}-title\">\
             <h2 id=\"dunnage-{id}-title\">{title}</h2>{body}</section>"
        );
    }
    out.push_str("</main></body></html>\n");
    out
}

/// Id, title and body of each section; those without a body are left out.
fn sections(plan: &Plan, sizes: &Sizes) -> Vec<(&'static str, &'static str, String)> {
    let body = |write: &dyn Fn(&mut String)| {
        let mut out = String::new();
        write(&mut out);
        out
    };
    let mut all = vec![
        ("cost", "Cost and its bound", body(&|out| money::against_bound(out, plan))),
        ("unplaced", "Unplaced pods", body(&|out| left::unplaced(out, plan))),
        ("machines", "Machines and prices", body(&|out| money::machines(out, plan, sizes))),
        ("waste", "Requested and free", body(&|out| waste::table(out, plan, sizes))),
        (
            "static",
            "Nodes that pools with replicas lack",
            body(&|out| money::static_machines(out, plan, sizes)),
        ),
        ("nodes", "Nodes to launch", body(&|out| nodes::launched(out, plan, sizes))),
        (
            "existing",
            "Existing nodes that take pods",
            body(&|out| nodes::existing(out, plan, sizes)),
        ),
        ("warnings", "Warnings", body(&|out| left::warnings(out, plan))),
    ];
    all.retain(|(_, _, body)| !body.is_empty());
    all
}

/// Pods of the launches, and pods bound to existing nodes.
fn placed(plan: &Plan) -> (usize, usize) {
    (
        plan.launch.iter().map(|launch| launch.pods.len()).sum(),
        plan.bind.iter().map(|bind| bind.pods.len()).sum(),
    )
}

fn headline(plan: &Plan) -> String {
    let (launched, bound) = placed(plan);
    let placed = counted(launched + bound, "pod");
    format!(
        "{} to launch, {placed} placed, {} unplaced, {} USD per hour",
        counted(plan.launch.len(), "node"),
        grouped(plan.unplaced.len() as u128),
        usd(plan.cost.launch_per_hour)
    )
}

/// The figures of the headline, one by one.
fn figures(out: &mut String, plan: &Plan) {
    let (launched, bound) = placed(plan);
    let cost = &plan.cost;
    let pods = match bound {
        0 => String::new(),
        _ => format!(
            "{} on new nodes, {} on existing ones",
            grouped(launched as u128),
            grouped(bound as u128)
        ),
    };
    let gap = cost.gap.map(|gap| format!("{:.2} %", gap * 100.0));
    let unplaced = grouped(plan.unplaced.len() as u128);
    let left = match plan.unplaced.len() {
        0 => unplaced,
        _ => format!("<a href=\"#dunnage-unplaced\">{unplaced}</a>"),
    };
    let bound_usd = cost.lower_bound_per_hour.0.map(|_| usd(cost.lower_bound_per_hour));
    let proven = |value: Option<String>, note: &str| match value {
        Some(value) => (value, note.to_owned()),
        None => ("–".to_owned(), "none proven".to_owned()),
    };
    let (bound_usd, bound_note) = proven(bound_usd, "USD per hour");
    let (gap, gap_note) = proven(gap, "above the bound");
    out.push_str("<dl class=\"figures\">");
    for (name, value, note) in [
        ("Nodes to launch", grouped(plan.launch.len() as u128), String::new()),
        ("Pods placed", grouped((launched + bound) as u128), pods),
        ("Pods unplaced", left, String::new()),
        ("USD per hour", usd(cost.launch_per_hour), String::new()),
        ("USD per month", usd_per_month(cost.launch_per_hour), "730 hours".to_owned()),
        ("Proven lower bound", bound_usd, bound_note),
        ("Gap", gap, gap_note),
    ] {
        let _ = write!(out, "<div><dt>{name}</dt><dd>{value}");
        if !note.is_empty() {
            let _ = write!(out, "<small>{note}</small>");
        }
        out.push_str("</dd></div>");
    }
    out.push_str("</dl>");
}
