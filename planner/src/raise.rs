//! Numbers to names: the engine's decision becomes a plan that people and programs read.
//!
//! Nothing is decided here. Types of a node are put in the order of their price and cut to
//! what a cloud request holds; requirements are written as a NodeClaim has them; every pod
//! that was left over gets its reasons in words.

mod codes;
mod offerings;
mod reasons;
mod relaxation;
mod requirements;
mod static_pools;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use dunnage_engine_core::Decision;
use dunnage_engine_core::decision::{NewNode, Placement, Target};
use dunnage_engine_core::limits::TYPES_PER_NEW_NODE;
use dunnage_engine_core::problem::NONE;
use dunnage_engine_core::requirements::Layout;

pub use codes::{CODES, CodeDoc, LAUNCH_CODES, REJECTED_CODES};
pub(crate) use offerings::{is_usable, usable};
use reasons::because;
pub(crate) use requirements::words as requirement_words;
pub(crate) use words::{Words, readable};

use crate::error::Warning;
use crate::instance_type::PriceSource;
use crate::lower::Lowered;
use crate::options::Strategy;
use crate::plan::{Because, Bind, Choice, Cost, Effort, Launch, Money, Notice, Plan, UnplacedPod};

/// The plan that `decision` makes of `lowered`.
pub fn raise(
    lowered: &Lowered,
    decision: &Decision,
    strategy: Strategy,
    warnings: &[Warning],
) -> Plan {
    let problem = lowered.tables.problem();
    let mut numbers = vec![0; Layout::numbers(&problem)];
    let layout = Layout::build(&problem, &mut numbers);
    let words = Words { p: problem, names: &lowered.names, layout };
    let places = Places::of(&words, decision);
    let mut launch: Vec<Launch> = Vec::with_capacity(decision.new_nodes.len());
    for node in 0..decision.new_nodes.len() {
        // Nodes that were opened as copies stand in a row.
        let own = match launch.last() {
            Some(last) if is_alike(decision, node, &places) => {
                Launch { pods: pods(&places, node), ..last.clone() }
            }
            _ => self::launch(&words, decision, node, &places, strategy),
        };
        launch.push(own);
    }
    let mut warnings = warnings.to_vec();
    warnings.extend(borrowed_prices(lowered, decision));
    let static_launch = static_pools::launches(lowered);
    let static_price = Money::sum(static_launch.iter().map(|l| l.cheapest.price_per_hour));
    let cost = Cost {
        static_per_hour: (!static_launch.is_empty()).then_some(static_price),
        launch_per_hour: Money::sum(launch.iter().map(|l| l.cheapest.price_per_hour)),
        ..Cost::default()
    };
    Plan {
        launch,
        static_launch,
        bind: bind(&words, &places),
        unplaced: unplaced(&words, lowered, decision, &places),
        quotas: Vec::new(),
        dual: None,
        replay: None,
        warnings: notices(&warnings),
        cost,
        effort: Effort { steps: decision.effort.steps, memory_bytes: decision.effort.memory_bytes },
    }
}

/// Launches whose price is not the provider's list price of the region.
fn borrowed_prices(lowered: &Lowered, decision: &Decision) -> Option<Warning> {
    let sources = &lowered.names.price_sources;
    let mut counts: BTreeMap<PriceSource, usize> = BTreeMap::new();
    for node in decision.new_nodes {
        *counts.entry(sources.get(node.offering as usize).copied()?).or_default() += 1;
    }
    let borrowed: Vec<String> = counts
        .into_iter()
        .filter_map(|(source, count)| {
            let what = match source {
                PriceSource::OtherRegion => "with the list price of another region",
                PriceSource::EstimatedSpot => "with a spot price estimated from the list price",
                PriceSource::Synthetic => "with a price made by rule, for want of a source",
                PriceSource::List | PriceSource::User | PriceSource::Missing => return None,
            };
            Some(format!("{count} {what}"))
        })
        .collect();
    (!borrowed.is_empty()).then(|| {
        let message = format!(
            "of {} launches {}: the cost is an estimate; give a price file for prices of your own",
            decision.new_nodes.len(),
            borrowed.join(", ")
        );
        Warning::new("BorrowedPrices", "plan", message)
    })
}

fn notices(warnings: &[Warning]) -> Vec<Notice> {
    let mut rows: Vec<Notice> = warnings
        .iter()
        .map(|w| Notice {
            code: w.code.to_owned(),
            message: w.message.clone(),
            object: w.object.clone(),
        })
        .collect();
    rows.sort();
    rows.dedup();
    rows
}

/// Which pods, by name, went where. Equal pods are handed out in the order of the queue.
struct Places<'a> {
    /// Names by new node.
    new: Vec<Vec<&'a str>>,
    /// Names by existing node.
    existing: BTreeMap<u32, Vec<&'a str>>,
    /// Placements by new node.
    rows: Vec<Vec<Placement>>,
    /// Names that are left, by class.
    left: Vec<&'a [String]>,
}

impl<'a> Places<'a> {
    fn of(w: &Words<'a>, decision: &Decision) -> Self {
        let mut left: Vec<&[String]> = w.names.pods.iter().map(Vec::as_slice).collect();
        let mut new = vec![Vec::new(); decision.new_nodes.len()];
        let mut rows = vec![Vec::new(); decision.new_nodes.len()];
        let mut existing: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
        for placement in decision.placements {
            let Some(names) = left.get_mut(placement.class as usize) else { continue };
            let (taken, rest) = names.split_at((placement.count as usize).min(names.len()));
            *names = rest;
            let taken = taken.iter().map(String::as_str);
            match placement.target {
                Target::Node(node) => existing.entry(node).or_default().extend(taken),
                Target::New(node) => {
                    if let Some(pods) = new.get_mut(node as usize) {
                        pods.extend(taken);
                        rows[node as usize].push(*placement);
                    }
                }
            }
        }
        Self { new, existing, rows, left }
    }
}

fn bind(w: &Words, places: &Places) -> Vec<Bind> {
    let named = places.existing.iter().map(|(node, pods)| Bind {
        node: w.names.nodes.get(*node as usize).cloned().unwrap_or_default(),
        pods: pods.iter().map(|&name| name.to_owned()).collect(),
    });
    named.collect()
}

/// The stretch of row `index` in a table with `width` cells for each row.
pub(crate) fn stretch<T>(table: &[T], width: usize, index: usize) -> &[T] {
    table.get(index * width..(index + 1) * width).unwrap_or(&[])
}

/// True when the node is in everything but its pods' names like the one before.
fn is_alike(decision: &Decision, node: usize, places: &Places) -> bool {
    let Some(before) = node.checked_sub(1) else { return false };
    let row = |p: &Placement| (p.class, p.count, p.relaxed);
    let same = |rows: &[u64], width| stretch(rows, width, node) == stretch(rows, width, before);
    let width = decision.requests.len() / decision.new_nodes.len();
    decision.new_nodes[node] == decision.new_nodes[before]
        && same(decision.sets, decision.set_words)
        && same(decision.type_masks, decision.type_words)
        && stretch(decision.requests, width, node) == stretch(decision.requests, width, before)
        && places.rows[node].iter().map(row).eq(places.rows[before].iter().map(row))
}

/// Names of the pods on a new node.
fn pods(places: &Places, node: usize) -> Vec<String> {
    places.new[node].iter().map(|&name| name.to_owned()).collect()
}

fn launch(
    w: &Words,
    decision: &Decision,
    index: usize,
    places: &Places,
    strategy: Strategy,
) -> Launch {
    let (p, node) = (&w.p, &decision.new_nodes[index]);
    let set = stretch(decision.sets, decision.set_words, index);
    let mask = stretch(decision.type_masks, decision.type_words, index);
    let mut types = offerings::by_price(p, &w.layout, set, mask, node.is_reserved);
    // A type whose offerings are sold with and without a zone is two rows of one name.
    let mut named = BTreeSet::new();
    types.retain(|&t| w.names.types.get(t).is_some_and(|name| named.insert(name)));
    types.truncate(TYPES_PER_NEW_NODE);
    let instance_types: Vec<String> =
        types.iter().filter_map(|&t| w.names.types.get(t).cloned()).collect();
    let capacity_types = capacity_types(w, set, &types, node);
    let requirements = requirements::emit(
        p,
        w.names,
        &w.layout,
        set,
        strategy.emits_bounded_exclusions(),
        &capacity_types,
        &instance_types,
    );
    let template = w.names.templates.get(node.template as usize).cloned().unwrap_or_default();
    Launch {
        node_pool: template.node_pool,
        node_class: template.node_class,
        cheapest: choice(w, node),
        requirements,
        instance_types,
        requests: requests(w, stretch(decision.requests, p.resources.len(), index)),
        pods: pods(places, index),
        because: launch_because(w, decision, index, &places.rows[index], set),
    }
}

fn choice(w: &Words, node: &NewNode) -> Choice {
    let at = node.offering as usize;
    Choice {
        instance_type: w.names.types.get(node.instance_type as usize).cloned().unwrap_or_default(),
        zone: w.names.zones.get(at).cloned().unwrap_or_default(),
        capacity_type: w.names.capacity_types.get(at).cloned().unwrap_or_default(),
        price_per_hour: Money::of_price(node.price_microusd),
    }
}

/// Capacity types of the usable offerings of `types`, ascending by name.
fn capacity_types(w: &Words, set: &[u64], types: &[usize], node: &NewNode) -> Vec<String> {
    let rows = types.iter().filter_map(|&t| w.p.types.get(t));
    let mut found: Vec<String> = rows
        .flat_map(|row| offerings::usable(&w.p, &w.layout, set, row, node.is_reserved))
        .filter_map(|o| w.names.capacity_types.get(o).cloned())
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

fn requests(w: &Words, row: &[i64]) -> BTreeMap<String, String> {
    let cells = row.iter().enumerate().filter(|(_, amount)| **amount != 0);
    cells
        .map(|(column, amount)| {
            let column = column as u32;
            (w.resource(column).to_owned(), w.quantity(column, *amount))
        })
        .collect()
}

fn launch_because(
    w: &Words,
    decision: &Decision,
    index: usize,
    rows: &[Placement],
    set: &[u64],
) -> Vec<Because> {
    let node = &decision.new_nodes[index];
    let mut said = vec![pool_chosen(w, decision, node)];
    said.extend(given_up(w, rows));
    if node.is_min_values_lowered {
        said.push(Because {
            code: "minValuesLowered".to_owned(),
            message: format!(
                "minValues of pool `{}` was lowered to what the types that fit can offer",
                w.pool(node.template)
            ),
            ..Because::default()
        });
    }
    if node.is_reserved {
        said.push(reservation_used(w, set));
    }
    said
}

fn pool_chosen(w: &Words, decision: &Decision, node: &NewNode) -> Because {
    let pool = w.pool(node.template);
    let weight = |t: u32| w.p.templates.get(t as usize).map_or(0, |row| row.weight);
    let heavier: Vec<String> = (0..node.template)
        .map(|t| {
            let why = match decision.templates.get(t as usize) {
                Some(dunnage_engine_core::decision::TemplateState::NoTypes) => {
                    "no instance type satisfies it"
                }
                Some(dunnage_engine_core::decision::TemplateState::MinValues) => {
                    "too few instance types for its minValues"
                }
                _ => "it could not take the first pod",
            };
            format!("`{}` (weight {}; {why})", w.pool(t), weight(t))
        })
        .collect();
    let before = if heavier.is_empty() {
        "the first in the order of pools".to_owned()
    } else {
        format!("the first that could take the pods, after {}", heavier.join(", "))
    };
    Because {
        code: "poolChosen".to_owned(),
        message: format!("pool `{pool}` (weight {}) is {before}", weight(node.template)),
        node_pool: Some(pool.to_owned()),
        ..Because::default()
    }
}

/// One entry for each class whose pods gave something up to be here.
fn given_up(w: &Words, rows: &[Placement]) -> Vec<Because> {
    let mut seen: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.relaxed > 0) {
        *seen.entry((row.class, row.relaxed)).or_default() += row.count;
    }
    let said = seen.into_iter().filter_map(|((class, relaxed), count)| {
        let class = w.p.classes.get(class as usize)?;
        Some(Because {
            code: "preferenceGivenUp".to_owned(),
            message: format!(
                "{count} pod(s) fit nowhere with all their preferences: {}",
                relaxation::relaxation(w, class, relaxed)
            ),
            ..Because::default()
        })
    });
    said.collect()
}

fn reservation_used(w: &Words, set: &[u64]) -> Because {
    let key = w.p.well.reservation;
    let held = (key != NONE && (key as usize) < w.layout.keys())
        .then(|| requirement_words(&w.p, w.names, key as usize, w.layout.get(set, key as usize)));
    Because {
        code: "reservationUsed".to_owned(),
        message: format!(
            "the node is launched into a capacity reservation{}",
            held.map_or_else(String::new, |ids| format!(" ({ids})"))
        ),
        ..Because::default()
    }
}

fn unplaced(
    w: &Words,
    lowered: &Lowered,
    decision: &Decision,
    places: &Places,
) -> Vec<UnplacedPod> {
    let mut rows: Vec<UnplacedPod> = lowered
        .rejected
        .iter()
        .map(|r| UnplacedPod {
            pod: r.pod.clone(),
            because: vec![Because {
                code: r.code.to_owned(),
                message: r.message.clone(),
                ..Because::default()
            }],
        })
        .collect();
    for row in decision.unplaced {
        let Some(class) = w.p.classes.get(row.class as usize) else { continue };
        let why: Vec<Because> =
            row.reasons.of(decision.reasons).iter().map(|r| because(w, class, r)).collect();
        let names = places.left.get(row.class as usize).copied().unwrap_or_default();
        rows.extend(names.iter().map(|pod| UnplacedPod { pod: pod.clone(), because: why.clone() }));
    }
    rows.sort_by(|a, b| a.pod.cmp(&b.pod));
    rows
}
