//! What the plan costs: against its bound, by machine and place, and for what stays free.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::bar::{self, Segment};
use super::sizes::Sizes;
use super::words::{Safe, cents, grouped, percent, usd, usd_per_month};
use crate::instance_type::PriceSource;
use crate::plan::{Launch, Money, Plan};
use crate::raise::readable;

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
    out.push_str("<section id=\"dunnage-cost\"><h2>Cost and its bound</h2>");
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
    out.push_str("</section>");
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
    let _ = write!(
        out,
        "</div><p class=\"legend\"><span class=\"key bound\"></span> no set of machines for these \
         pods costs less: {bound_usd} USD/h <span class=\"key gap\"></span> above that: {over} \
         USD/h ({} of the cost)</p>",
        percent(i128::from(paid - bound), i128::from(paid)),
    );
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
    let whole = plan.cost.launch_per_hour;
    table(out, "dunnage-machines", "Machines and prices", "Nodes to launch", &rows, whole);
}

/// The section of nodes that pools with replicas lack.
pub(super) fn static_machines(out: &mut String, plan: &Plan) {
    let Some(whole) = plan.cost.static_per_hour else { return };
    let mut counts: BTreeMap<MachineKey, usize> = BTreeMap::new();
    for launch in &plan.static_launch {
        *counts.entry(key(launch, PriceSource::List)).or_default() += 1;
    }
    let rows: Vec<(MachineKey, usize)> = counts.into_iter().collect();
    let title = "Nodes that pools with replicas lack";
    table(out, "dunnage-static", title, title, &rows, whole);
}

fn key(launch: &Launch, source: PriceSource) -> MachineKey<'_> {
    let c = &launch.cheapest;
    (&launch.node_pool, &c.instance_type, &c.capacity_type, &c.zone, c.price_per_hour, source)
}

fn total(price: Money, count: usize) -> i128 {
    price.0.map_or(i128::MAX, |price| i128::from(price) * count as i128)
}

fn table(
    out: &mut String,
    id: &str,
    title: &str,
    caption: &str,
    rows: &[(MachineKey, usize)],
    whole: Money,
) {
    let _ = write!(
        out,
        "<section id=\"{id}\"><h2>{title}</h2><div class=\"wide\" role=\"region\" tabindex=\"0\" \
         aria-label=\"{caption}\"><table><thead><tr><th scope=\"col\">Machine</th>\
         <th scope=\"col\">Pool</th><th scope=\"col\">Capacity</th><th scope=\"col\">Zone</th>\
         <th scope=\"col\">Price from</th><th scope=\"col\" class=\"n\">USD/h each</th>\
         <th scope=\"col\" class=\"n\">Nodes</th><th scope=\"col\" class=\"n\">USD/h</th>\
         <th scope=\"col\">Share of cost</th></tr></thead><tbody>"
    );
    let sum = whole.0.map_or(0, i128::from);
    for ((pool, of_type, capacity, zone, price, from), count) in rows.iter().take(MAX_ROWS) {
        let all = price.0.map(|p| Money(p.checked_mul(*count as i64))).unwrap_or(Money(None));
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"share\">",
            Safe(of_type),
            Safe(pool),
            Safe(capacity),
            Safe(if zone.is_empty() { "–" } else { zone }),
            source(*from),
            usd(*price),
            grouped(*count as u128),
            usd(all),
        );
        bar::share(out, "bound", all.0.map_or(0, i128::from), sum);
        out.push_str("</td></tr>");
    }
    let left = rows.get(MAX_ROWS..).unwrap_or_default();
    if !left.is_empty() {
        let nodes: usize = left.iter().map(|(_, count)| count).sum();
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{} more rows</th><td colspan=\"5\"></td><td class=\"n\">{}</td>\
             <td colspan=\"2\"></td></tr>",
            left.len(),
            grouped(nodes as u128)
        );
    }
    let nodes: usize = rows.iter().map(|(_, count)| count).sum();
    let _ = write!(
        out,
        "</tbody><tfoot><tr><th scope=\"row\">Together</th><td colspan=\"5\">{} USD per month</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td></td></tr></tfoot></table></div></section>",
        usd_per_month(whole),
        grouped(nodes as u128),
        usd(whole)
    );
}

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
pub(super) fn waste(out: &mut String, plan: &Plan, sizes: &Sizes) {
    if plan.launch.is_empty() {
        return;
    }
    out.push_str(
        "<section id=\"dunnage-waste\"><h2>Requested and free</h2><p>Over all nodes to launch. A \
         node's price buys all of its resources: the last column is what is paid for the free part \
         if that resource alone had the price, and it has no sum.</p><p class=\"legend\">\
         <span class=\"key k0\"></span> pods <span class=\"key daemons\"></span> DaemonSets \
         <span class=\"key free\"></span> free</p><div class=\"wide\" role=\"region\" tabindex=\"0\" \
         aria-label=\"Requested and free\"><table><thead><tr><th scope=\"col\">Resource</th>\
         <th scope=\"col\" class=\"n\">Pods</th><th scope=\"col\" class=\"n\">DaemonSets</th>\
         <th scope=\"col\" class=\"n\">Allocatable</th><th scope=\"col\" class=\"n\">Free</th>\
         <th scope=\"col\" class=\"n\">Used</th><th scope=\"col\">Used and free</th>\
         <th scope=\"col\" class=\"n\">USD/h for the free part</th></tr></thead><tbody>",
    );
    for (column, name) in sizes.resources.iter().enumerate() {
        let sum = wasted(plan, sizes, column);
        if sum.pods + sum.daemons > 0 {
            waste_row(out, name, &sum, plan.cost.launch_per_hour.0.is_some());
        }
    }
    out.push_str("</tbody></table></div></section>");
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
    let text = |amount: i128| readable(name, i64::try_from(amount).unwrap_or(i64::MAX));
    let used = sum.pods + sum.daemons;
    let free = (sum.allocatable - used).max(0);
    let share = percent(used, sum.allocatable);
    let _ = write!(
        out,
        "<tr><th scope=\"row\">{}</th><td class=\"n\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\"><b>{share}</b></td><td class=\"share\">",
        Safe(name),
        text(sum.pods),
        text(sum.daemons),
        text(sum.allocatable),
        text(free),
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
    let paid = if is_priced { cents(sum.free_microusd) } else { "unknown".to_owned() };
    let _ = write!(out, "</td><td class=\"n\">{paid}</td></tr>");
}
