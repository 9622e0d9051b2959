//! What is requested of the nodes to launch, what stays free of them, and what that costs.

use std::fmt::Write;

use super::bar::{self, Segment};
use super::sizes::Sizes;
use super::words::{Breakable, cents, percent, size};
use crate::plan::Plan;

/// What is requested and what stays free of a resource, over all nodes to launch.
#[derive(Default)]
struct Waste {
    pods: i128,
    daemons: i128,
    allocatable: i128,
    /// Price of each node times the free share of it, in micro-dollars.
    free_microusd: i128,
}

/// The section that holds requests against what is bought, by resource.
pub(super) fn table(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.launch.is_empty() {
        return;
    }
    out.push_str(
        "<p>Over all nodes to launch. The last column sums each node's price times the free share \
         of that resource. A price pays for all resources of a node at once, so these amounts do \
         not add up.</p>",
    );
    bar::legend(out, &[("k0", "", "pods"), ("daemons", "", "DaemonSets"), ("free", "", "free")]);
    out.push_str(
        "<div class=\"wide\" role=\"group\" tabindex=\"0\" \
         aria-label=\"Requested and free\"><table><thead><tr><th scope=\"col\">Resource</th>\
         <th scope=\"col\" class=\"n\">Used</th><th scope=\"col\">Used and free</th>\
         <th scope=\"col\" class=\"n\">Pods</th><th scope=\"col\" class=\"n\">DaemonSets</th>\
         <th scope=\"col\" class=\"n\">Free</th><th scope=\"col\" class=\"n\">Allocatable</th>\
         <th scope=\"col\" class=\"n\">USD/h for what is free</th></tr></thead><tbody>",
    );
    for (column, name) in sizes.resources.iter().enumerate() {
        let sum = wasted(plan, sizes, column);
        if sum.pods + sum.daemons > 0 || matches!(name.as_str(), "cpu" | "memory") {
            waste_row(out, name, &sum, plan.cost.launch_per_hour.0.is_some());
        }
    }
    out.push_str("</tbody></table></div>");
}

fn wasted(plan: &Plan, sizes: &Sizes, column: usize) -> Waste {
    let mut sum = Waste::default();
    for (launch, machine) in plan.launch.iter().zip(&sizes.launches) {
        let cell = |row: &[i64]| i128::from(row.get(column).copied().unwrap_or(0).max(0));
        let shapes = launch.pods.iter().filter_map(|pod| sizes.pods.get(pod));
        let pods: i128 = shapes.map(|shape| cell(&sizes.shapes[*shape as usize])).sum();
        let (daemons, allocatable) = (cell(&machine.daemons), cell(&machine.allocatable));
        let free = (allocatable - pods - daemons).max(0);
        sum.pods += pods;
        sum.daemons += daemons;
        sum.allocatable += allocatable;
        let price = launch.cheapest.price_per_hour.0.map_or(0, i128::from);
        if allocatable > 0 {
            sum.free_microusd += price * free / allocatable;
        }
    }
    sum
}

fn waste_row(out: &mut String, name: &str, sum: &Waste, is_priced: bool) {
    let text = |amount: i128| size(name, i64::try_from(amount).unwrap_or(i64::MAX));
    let used = sum.pods + sum.daemons;
    let free = (sum.allocatable - used).max(0);
    let share = percent(used, sum.allocatable);
    let _ = write!(
        out,
        "<tr><th scope=\"row\">{}</th><td class=\"n\"><b>{share}</b></td><td class=\"share\">",
        Breakable(name),
    );
    let segment = |class, amount: i128, title| Segment {
        class,
        letter: "",
        amount: i64::try_from(amount).unwrap_or(i64::MAX),
        parts: 1,
        title,
    };
    let segments = [
        segment("k0", sum.pods, format!("pods: {}", text(sum.pods))),
        segment("daemons", sum.daemons, format!("DaemonSets: {}", text(sum.daemons))),
        segment("free", free, format!("free: {}", text(free))),
    ];
    bar::draw(out, &segments, &format!("{name}: {share} used"));
    let paid = match name {
        // Room for more pods costs nothing.
        "pods" => "–".to_owned(),
        _ if is_priced => cents(sum.free_microusd),
        _ => "unknown".to_owned(),
    };
    let _ = write!(
        out,
        "</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{paid}</td></tr>",
        text(sum.pods),
        text(sum.daemons),
        text(free),
        text(sum.allocatable),
    );
}
