//! The whole chain for one object: which pools and nodes were asked, which test each failed,
//! what came nearest and what would have to change.
//!
//! The decision itself is the plan's. The chain repeats each test on an empty node of each
//! pool and on each existing node as it stands before the plan, one test at a time, so that
//! every count is of that test alone; topology rules and limits, which depend on what was
//! placed before, are quoted from the decision.

mod choice;
mod existing;
mod fresh;
mod narrow;
mod text;
mod waste;

use std::collections::BTreeMap;

use dunnage_engine_core::requirements::Layout;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;

use crate::instance_type::InstanceType;
use crate::lower::Lowered;
use crate::options::Options;
use crate::plan::{Because, Bind, Launch, Plan, UnplacedPod, decide};
use crate::quantity::{Rounding, format_resource, parse_resource};
use crate::raise::Words;
use crate::snapshot::{Snapshot, full_name};

use choice::classes;

pub use choice::{CheaperMachine, Counts, LaunchExplanation, NextBest, Refused};
pub(crate) use existing::daemons_due;
pub use existing::{NodeExplanation, NodeRefusal};
pub use fresh::{NearestMiss, PoolExplanation, TypeTests};
pub(crate) use fresh::{daemons_of_type, sold_as};
pub use narrow::{Narrowness, Outcome, PoolReport, explain_pool};
pub use waste::{
    Further, LaunchWaste, ResourceUse, ShapeWaste, Smaller, WasteReport, explain_waste,
};

/// The chain for one pod.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodExplanation {
    /// `namespace/name`.
    pub pod: String,
    /// What becomes of it.
    pub outcome: PodOutcome,
    /// Existing node that it is bound to, when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The launch that it is part of, when it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// Why that launch is counted as its machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<LaunchExplanation>,
    /// Why it is left over; empty when it is placed.
    pub because: Vec<Because>,
    /// What it requests.
    pub requests: BTreeMap<String, String>,
    /// Pools in the order in which they are tried.
    pub pools: Vec<PoolExplanation>,
    /// Existing nodes by name: the first test that each fails.
    pub nodes: Vec<NodeRefusal>,
}

/// What becomes of a pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum PodOutcome {
    /// A new node is launched for it.
    Launched,
    /// An existing node takes it.
    Bound,
    /// It fits nowhere.
    #[default]
    Unplaced,
    /// It is on a node already, or finished: nothing is decided about it.
    Running,
}

/// A name that means no object of the input, or several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// No such object.
    #[error("no {kind} is named `{name}`{}", similar(.near))]
    Unknown {
        /// `pod`, `node` or `pool`.
        kind: &'static str,
        /// The name asked for.
        name: String,
        /// A similar name.
        near: Option<String>,
    },
    /// Several objects.
    #[error("`{name}` names several pods: use one of {}", listed(.names))]
    Several {
        /// The name asked for.
        name: String,
        /// Their full names.
        names: Vec<String>,
    },
    /// No launch of that number.
    #[error("no launch has number {number}: {}", numbered(*.launches))]
    Launch {
        /// The number asked for.
        number: usize,
        /// How many launches there are.
        launches: usize,
    },
}

fn numbered(launches: usize) -> String {
    match launches {
        0 => "the plan launches nothing".to_owned(),
        1 => "the plan has one launch, number 1".to_owned(),
        _ => format!("the plan has launches 1 to {launches}"),
    }
}

fn similar(near: &Option<String>) -> String {
    near.as_ref().map_or_else(String::new, |name| format!(" (did you mean `{name}`?)"))
}

fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().take(5).map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

/// Finds the one of `names` that `name` means: itself, or what follows the namespace.
fn find<'n>(
    kind: &'static str,
    name: &str,
    names: impl Iterator<Item = &'n str>,
) -> Result<String, NameError> {
    let (mut hits, mut near) = (Vec::new(), None::<&str>);
    for full in names {
        if full == name {
            return Ok(full.to_owned());
        }
        let short = full.rsplit('/').next().unwrap_or(full);
        if short == name {
            hits.push(full.to_owned());
        } else if short.contains(name) || name.contains(short) {
            near = Some(near.map_or(full, |n| n.min(full)));
        }
    }
    hits.sort_unstable();
    hits.dedup();
    match hits.len() {
        0 => Err(NameError::Unknown { kind, name: name.to_owned(), near: near.map(str::to_owned) }),
        1 => Ok(hits.remove(0)),
        _ => Err(NameError::Several { name: name.to_owned(), names: hits }),
    }
}

/// The chain for the pod of that full name, out of a finished plan.
fn pod(w: &Words, lowered: &Lowered, plan: &Plan, name: &str) -> PodExplanation {
    let mut said = PodExplanation { pod: name.to_owned(), ..PodExplanation::default() };
    let holds = |pods: &[String]| pods.iter().any(|pod| pod == name);
    let at = plan.launch.iter().position(|launch| holds(&launch.pods));
    let launch = at.and_then(|at| plan.launch.get(at));
    let bind = plan.bind.iter().find(|bind: &&Bind| holds(&bind.pods));
    let left = plan.unplaced.iter().find(|row: &&UnplacedPod| row.pod == name);
    said.outcome = match (launch, bind, left) {
        (Some(_), ..) => PodOutcome::Launched,
        (_, Some(_), _) => PodOutcome::Bound,
        (_, _, Some(_)) => PodOutcome::Unplaced,
        _ => PodOutcome::Running,
    };
    said.launch = launch.cloned();
    said.choice = at.and_then(|at| choice::launch(w, plan, at));
    said.node = bind.map(|bind| bind.node.clone());
    said.because = left.map_or_else(Vec::new, |row| row.because.clone());
    let class = lowered.names.pods.iter().position(|pods| holds(pods));
    if let Some(class) = class.and_then(|row| w.p.classes.get(row)) {
        said.requests = requests(w, class.requests);
        said.pools = fresh::pools(w, class);
        said.nodes = existing::nodes(w, class, plan);
    }
    said
}

/// A row of `quantities` by resource name, without what is zero.
fn requests(w: &Words, row: u32) -> BTreeMap<String, String> {
    let cells = w.row(row).iter().enumerate().filter(|(_, amount)| **amount != 0);
    cells
        .map(|(column, amount)| {
            (w.resource(column as u32).to_owned(), w.quantity(column as u32, *amount))
        })
        .collect()
}

/// Why there is no explanation.
#[derive(Debug, thiserror::Error)]
pub enum ExplainError {
    /// The input is wrong, or the plan broke its promise.
    #[error("{0}")]
    Plan(#[from] crate::plan::Failure),
    /// The name means nothing.
    #[error("{0}")]
    Name(#[from] NameError),
}

/// The whole chain for the pod of that name: `namespace/name`, or the name alone.
///
/// # Errors
/// As [`crate::plan::plan`]; a name that means no pod, or several.
pub fn explain_pod(
    snapshot: &Snapshot,
    options: &Options,
    name: &str,
) -> Result<PodExplanation, ExplainError> {
    let decided = decide(snapshot, options)?;
    let own: Vec<String> = snapshot.pods.iter().map(|pod| full_name(&pod.metadata)).collect();
    // Pods of capacity buffers are not in the Snapshot.
    let planned = decided.lowered.names.pods.iter().flatten();
    let name = find("pod", name, own.iter().chain(planned).map(String::as_str))?;
    Ok(with_words(&decided.lowered, |w| pod(w, &decided.lowered, &decided.plan, &name)))
}

/// What is on the node of that name, what is left of it, and what the plan binds to it.
///
/// # Errors
/// As [`crate::plan::plan`]; a name that means no node.
pub fn explain_node(
    snapshot: &Snapshot,
    options: &Options,
    name: &str,
) -> Result<NodeExplanation, ExplainError> {
    let decided = decide(snapshot, options)?;
    let known = snapshot.nodes.iter().filter_map(|node| node.metadata.name.as_deref());
    let known = known.chain(decided.lowered.names.nodes.iter().map(String::as_str));
    let name = find("node", name, known)?;
    let on_it = snapshot.pods.iter().filter(|pod| crate::pod::node_name(pod) == Some(&name));
    let mut pods: Vec<String> = on_it.map(|pod| full_name(&pod.metadata)).collect();
    pods.sort_unstable();
    Ok(with_words(&decided.lowered, |w| existing::node(w, &decided.plan, &name, pods)))
}

/// Why the launch of that number, from 1 in the order of the plan, is counted as its machine: what
/// else holds its pods and for how much more, and what keeps cheaper machines out.
///
/// # Errors
/// As [`crate::plan::plan`]; a number that no launch has.
pub fn explain_launch(
    snapshot: &Snapshot,
    options: &Options,
    number: usize,
) -> Result<LaunchExplanation, ExplainError> {
    let decided = decide(snapshot, options)?;
    let plan = &decided.plan;
    let row = number.checked_sub(1);
    let said = row.and_then(|row| with_words(&decided.lowered, |w| choice::launch(w, plan, row)));
    said.ok_or_else(|| NameError::Launch { number, launches: plan.launch.len() }.into())
}

/// `part` as a percentage of `whole`, to two places; none of nothing.
fn percent(part: i64, whole: i64) -> Option<f64> {
    (whole > 0).then(|| (part as f64 / whole as f64 * 1e4).round() / 1e2)
}

/// Calls `explain` with the tables and what their numbers mean.
pub(crate) fn with_words<T>(lowered: &Lowered, explain: impl FnOnce(&Words) -> T) -> T {
    let p = lowered.tables.problem();
    let mut numbers = vec![0; Layout::numbers(&p)];
    let layout = Layout::build(&p, &mut numbers);
    explain(&Words { p, names: &lowered.names, layout })
}

/// What pods can use of a type: capacity less overhead, by resource.
pub fn allocatable(own: &InstanceType) -> BTreeMap<String, String> {
    let amount = |name: &str, quantity: &Quantity, rounding| {
        parse_resource(name, &quantity.0, rounding).unwrap_or(0)
    };
    let huge = own.capacity.iter().filter(|(name, _)| name.starts_with("hugepages-"));
    let huge: i64 = huge.map(|(name, q)| amount(name, q, Rounding::Down)).sum();
    let cells = own.capacity.iter().map(|(name, quantity)| {
        let over = own.overhead.get(name).map_or(0, |q| amount(name, q, Rounding::Up));
        let left = amount(name, quantity, Rounding::Down).saturating_sub(over);
        let left = if name == "memory" && huge > 0 { (left - huge).max(0) } else { left };
        (name.clone(), format_resource(name, left))
    });
    cells.collect()
}
