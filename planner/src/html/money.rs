//! What the plan costs: against its bound, and by machine and place.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bar::{self, Segment};
use super::sizes::Sizes;
use super::words::{Safe, grouped, usd, usd_per_month};
use crate::instance_type::PriceSource;
use crate::plan::{Launch, Money, Plan};

/// Most rows of the table of machines. LIMIT: the rest is one row.
const MAX_ROWS: usize = 200;

/// Where a price comes from, in words.
pub(super) fn source(of: PriceSource) -> &'static str {
    match of {
        PriceSource::List => "list price",
        PriceSource::OtherRegion => "list price of another region",
        PriceSource::EstimatedSpot => "estimated spot price",
        PriceSource::Synthetic => "price made by rule",
        PriceSource::User => "your price",
        PriceSource::Missing => "no price known",
    }
}

/// The section that holds the cost against its proven bound.
pub(super) fn against_bound(out: &mut String, plan: &Plan) {
    let cost = plan.cost.launch_per_hour;
    match (cost.0, plan.cost.lower_bound_per_hour.0) {
        (Some(paid), Some(bound)) if paid > 0 => bound_bar(out, plan, paid, bound.clamp(0, paid)),
        (Some(0), _) => out.push_str("<p>Nothing is launched, so nothing is paid.</p>"),
        (None, _) => {
            out.push_str("<p>The price of some launch is unknown, so there is no sum.</p>")
        }
        _ => {
            let _ = write!(
                out,
                "<p>{} USD per hour. There is no proven bound: only the strategy \
                 <code>cheapest</code> proves one.</p>",
                usd(cost)
            );
        }
    }
    if let Some(more) = plan.cost.static_per_hour {
        let _ = write!(
            out,
            "<p>Not in this sum: {} USD per hour for nodes that pools with replicas lack.</p>",
            usd(more)
        );
    }
}

fn bound_bar(out: &mut String, plan: &Plan, paid: i64, bound: i64) {
    let (bound_usd, over) = (usd(Money(Some(bound))), usd(Money(Some(paid - bound))));
    let segment = |class, amount, title| Segment { class, letter: "", amount, parts: 1, title };
    let segments = [
        segment("bound", bound, format!("proven lower bound: {bound_usd} USD/h")),
        segment("gap", paid - bound, format!("above the bound: {over} USD/h")),
    ];
    let said = format!(
        "{} USD per hour, of which {bound_usd} are the proven lower bound and {over} lie above it",
        usd(plan.cost.launch_per_hour)
    );
    out.push_str("<div class=\"cost\">");
    bar::draw(out, &segments, &said);
    out.push_str("</div>");
    let proven = format!("{bound_usd} USD/h: proven, no set of machines for these pods costs less");
    let mut items = vec![("bound", "", proven.as_str())];
    let above = plan.cost.gap.filter(|_| paid > bound).map(|gap| {
        format!(
            "{over} USD/h above the bound, {:.2} % of it: what a better plan could save at most",
            gap * 100.0
        )
    });
    items.extend(above.as_deref().map(|above| ("gap", "", above)));
    bar::legend(out, &items);
}

/// Launches of one machine, place and price.
type MachineKey<'a> = (&'a str, &'a str, &'a str, &'a str, Money, PriceSource);

/// The section of machines: who opens them, where, and at what price.
pub(super) fn machines(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.launch.is_empty() {
        return;
    }
    let mut counts: BTreeMap<MachineKey, usize> = BTreeMap::new();
    for (launch, machine) in plan.launch.iter().zip(&sizes.launches) {
        *counts.entry(key(launch, machine.price_source)).or_default() += 1;
    }
    let mut rows: Vec<(MachineKey, usize)> = counts.into_iter().collect();
    rows.sort_by_key(|(key, count)| std::cmp::Reverse(total(key.4, *count)));
    table(out, "Machines and prices", &rows, plan.cost.launch_per_hour);
}

/// The section of nodes that pools with replicas lack.
pub(super) fn static_machines(out: &mut String, plan: &Plan, sizes: &Sizes) {
    let Some(whole) = plan.cost.static_per_hour else { return };
    let mut counts: BTreeMap<MachineKey, usize> = BTreeMap::new();
    for (launch, source) in plan.static_launch.iter().zip(&sizes.static_sources) {
        *counts.entry(key(launch, *source)).or_default() += 1;
    }
    let rows: Vec<(MachineKey, usize)> = counts.into_iter().collect();
    table(out, "Nodes that pools with replicas lack", &rows, whole);
}

fn key(launch: &Launch, source: PriceSource) -> MachineKey<'_> {
    let c = &launch.cheapest;
    (&launch.node_pool, &c.instance_type, &c.capacity_type, &c.zone, c.price_per_hour, source)
}

fn total(price: Money, count: usize) -> i128 {
    price.0.map_or(i128::MAX, |price| i128::from(price) * count as i128)
}

fn table(out: &mut String, caption: &str, rows: &[(MachineKey, usize)], whole: Money) {
    let _ = write!(
        out,
        "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"{caption}\"><table>\
         <thead><tr><th scope=\"col\">Machine</th><th scope=\"col\" class=\"n\">Nodes</th>\
         <th scope=\"col\" class=\"n\">USD/h each</th><th scope=\"col\" class=\"n\">USD/h</th>\
         <th scope=\"col\">Share of cost</th><th scope=\"col\">Capacity</th>\
         <th scope=\"col\">Zone</th><th scope=\"col\">Pool</th>\
         <th scope=\"col\">Price from</th></tr></thead><tbody>"
    );
    let sum = whole.0.map_or(0, i128::from);
    for ((pool, of_type, capacity, zone, price, from), count) in rows.iter().take(MAX_ROWS) {
        let all = price.0.map(|p| Money(p.checked_mul(*count as i64))).unwrap_or(Money(None));
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
             <td class=\"n\">{}</td><td class=\"share\">",
            Safe(of_type),
            grouped(*count as u128),
            usd(*price),
            usd(all),
        );
        bar::share(out, "bound", all.0.map_or(0, i128::from), sum);
        let _ = write!(
            out,
            "</td><td>{}</td><td>{}</td><td class=\"pool\">{}</td><td>{}</td></tr>",
            Safe(capacity),
            Safe(if zone.is_empty() { "–" } else { zone }),
            Safe(pool),
            source(*from),
        );
    }
    let left = rows.get(MAX_ROWS..).unwrap_or_default();
    if !left.is_empty() {
        let nodes: usize = left.iter().map(|(_, count)| count).sum();
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{} more rows</th><td class=\"n\">{}</td>\
             <td colspan=\"7\"></td></tr>",
            left.len(),
            grouped(nodes as u128)
        );
    }
    let nodes: usize = rows.iter().map(|(_, count)| count).sum();
    let _ = write!(
        out,
        "</tbody><tfoot><tr><th scope=\"row\">Together</th><td class=\"n\">{}</td><td></td>\
         <td class=\"n\"><b>{}</b></td><td colspan=\"5\">{} USD per month</td></tr></tfoot>\
         </table></div>",
        grouped(nodes as u128),
        usd(whole),
        usd_per_month(whole)
    );
}
