//! What a drawing of a plan needs beside the plan: how large pods and machines are, and what
//! DaemonSets take of them. All of it is read from the tables that the plan was decided on.

use std::collections::{BTreeMap, BTreeSet};

use dunnage_api::labels::{CAPACITY_TYPE, INSTANCE_TYPE, ZONE};
use dunnage_engine_core::problem::ABSENT;

use crate::explain::{daemons_due, daemons_of_type, with_words};
use crate::instance_type::PriceSource;
use crate::lower::{StateNode, state_nodes};
use crate::options::Options;
use crate::plan::{Choice, Decided, Failure, Launch, Money, Plan, decide};
use crate::pod::Amounts;
use crate::raise::Words;
use crate::snapshot::Snapshot;

/// Amounts in the order of [`Sizes::resources`].
pub(crate) type Row = Vec<i64>;

/// Sizes of what a plan names.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Resource names: cpu, memory, the rest by name, pods last.
    pub(crate) resources: Vec<String>,
    /// What pods request, each row once, the largest first.
    pub(crate) shapes: Vec<Row>,
    /// Row of `shapes` of each pod.
    pub(crate) pods: BTreeMap<String, u32>,
    /// Machines, parallel to `Plan::launch`.
    pub(crate) launches: Vec<Machine>,
    /// Where prices come from, parallel to `Plan::static_launch`.
    pub(crate) static_sources: Vec<PriceSource>,
    /// Existing nodes that take pods, by name.
    pub(crate) nodes: BTreeMap<String, Standing>,
}

/// The machine that a launch is counted as: its cheapest.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Machine {
    /// What pods and DaemonSets can use.
    pub allocatable: Row,
    /// What the DaemonSets that run on it request.
    pub daemons: Row,
    /// Where its price comes from.
    pub price_source: PriceSource,
}

/// An existing node before the plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing {
    /// What pods can use.
    pub allocatable: Row,
    /// What its pods request, without those of DaemonSets.
    pub running: Row,
    /// Number of all its pods.
    pub pods: usize,
    /// What DaemonSets take, and will take once their pods are there.
    pub daemons: Row,
    /// Instance type, capacity type and zone, as far as its labels say.
    pub place: Vec<String>,
}

/// A plan, and the sizes to draw it with: see [`super::html`].
///
/// # Errors
/// As [`crate::plan::plan`].
pub fn plan_with_sizes(snapshot: &Snapshot, options: &Options) -> Result<(Plan, Sizes), Failure> {
    let decided = decide(snapshot, options)?;
    let sizes = sizes(snapshot, &decided)?;
    Ok((decided.plan, sizes))
}

/// What a drawing of the plan needs beside it.
pub(crate) fn sizes(snapshot: &Snapshot, decided: &Decided) -> Result<Sizes, Failure> {
    let nodes = state_nodes(snapshot).map_err(Failure::Input)?;
    let mut sizes = with_words(&decided.lowered, |w| Reader::of(w).sizes(&decided.plan, &nodes));
    let choices = decided.lowered.static_launches.iter().flat_map(|launch| &launch.choices);
    sizes.static_sources = choices.map(|(_, offering)| offering.price_source).collect();
    Ok(sizes)
}

fn is_same_machine(a: &Launch, b: &Launch) -> bool {
    a.node_pool == b.node_pool && a.node_class == b.node_class && a.cheapest == b.cheapest
}

/// Reads rows of the tables in the order in which they are shown.
struct Reader<'a, 'w> {
    w: &'a Words<'w>,
    /// Columns of the tables, in the order shown.
    columns: Vec<usize>,
}

impl<'a, 'w> Reader<'a, 'w> {
    fn of(w: &'a Words<'w>) -> Self {
        let mut columns: Vec<usize> = (0..w.names.resources.len()).collect();
        let rank = |name: &str| match name {
            "cpu" => 0,
            "memory" => 1,
            "pods" => 3,
            _ => 2,
        };
        columns.sort_by_key(|&at| (rank(&w.names.resources[at]), &w.names.resources[at]));
        Self { w, columns }
    }

    fn row(&self, cells: &[i64]) -> Row {
        let cell = |at: &usize| cells.get(*at).copied().filter(|amount| *amount != ABSENT);
        self.columns.iter().map(|at| cell(at).unwrap_or(0)).collect()
    }

    fn named(&self, amounts: &Amounts) -> Row {
        let names = self.columns.iter().map(|at| &self.w.names.resources[*at]);
        names.map(|name| amounts.get(name).copied().unwrap_or(0)).collect()
    }

    fn sizes(&self, plan: &Plan, nodes: &[StateNode]) -> Sizes {
        let (shapes, pods) = self.shapes();
        let mut known: Vec<(&Launch, Machine)> = Vec::new();
        let mut machine = |launch| {
            let is_alike = |(own, _): &&(&Launch, Machine)| is_same_machine(own, launch);
            if let Some((_, machine)) = known.iter().find(is_alike) {
                return machine.clone();
            }
            let machine = self.machine(launch);
            known.push((launch, machine.clone()));
            machine
        };
        let launches = plan.launch.iter().map(&mut machine).collect();
        let taking: BTreeSet<&str> = plan.bind.iter().map(|bind| bind.node.as_str()).collect();
        let standing = nodes.iter().filter(|node| taking.contains(node.name.as_str()));
        Sizes {
            resources: self.columns.iter().map(|at| self.w.names.resources[*at].clone()).collect(),
            shapes,
            pods,
            launches,
            static_sources: Vec::new(),
            nodes: standing.map(|node| (node.name.clone(), self.standing(node))).collect(),
        }
    }

    fn shapes(&self) -> (Vec<Row>, BTreeMap<String, u32>) {
        let of_class = |class: usize| {
            let class = self.w.p.classes.get(class);
            class.map_or_else(Row::new, |class| self.row(self.w.row(class.requests)))
        };
        let rows: Vec<Row> = (0..self.w.names.pods.len()).map(of_class).collect();
        let mut shapes = rows.clone();
        shapes.sort_unstable_by(|a, b| b.cmp(a));
        shapes.dedup();
        let mut pods = BTreeMap::new();
        for (names, row) in self.w.names.pods.iter().zip(&rows) {
            let Ok(shape) = shapes.binary_search_by(|own| row.cmp(own)) else { continue };
            pods.extend(names.iter().map(|name| (name.clone(), shape as u32)));
        }
        (shapes, pods)
    }

    /// The machine that the launch's cheapest choice names.
    fn machine(&self, launch: &Launch) -> Machine {
        let (p, names) = (&self.w.p, self.w.names);
        let is_own = |t: &usize| {
            let name = &names.templates[*t];
            name.node_pool == launch.node_pool && name.node_class == launch.node_class
        };
        let Some(at) = (0..names.templates.len()).find(is_own) else { return Machine::default() };
        let Some(template) = p.templates.get(at) else { return Machine::default() };
        for &row in template.types.of(p.template_types) {
            if names.types.get(row as usize) != Some(&launch.cheapest.instance_type) {
                continue;
            }
            let Some(of_type) = p.types.get(row as usize) else { continue };
            let is_chosen = |o: &usize| self.choice(&launch.cheapest, *o) == launch.cheapest;
            let Some(chosen) = of_type.offerings.range().find(is_chosen) else { continue };
            let variant = p.offerings.get(chosen).map_or(0, |o| usize::from(o.variant));
            let variant = of_type.variants.of(p.variants).get(variant).copied();
            return Machine {
                allocatable: self.row(self.w.row(variant.unwrap_or_default().allocatable)),
                daemons: self.row(&daemons_of_type(self.w, template, of_type)),
                price_source: names.price_sources.get(chosen).copied().unwrap_or_default(),
            };
        }
        Machine::default()
    }

    /// Offering `at` of the type that `like` names, as a choice.
    fn choice(&self, like: &Choice, at: usize) -> Choice {
        let price = self.w.p.offerings.get(at).map_or(i64::MAX, |o| o.price_microusd);
        Choice {
            instance_type: like.instance_type.clone(),
            zone: self.w.names.zones.get(at).cloned().unwrap_or_default(),
            capacity_type: self.w.names.capacity_types.get(at).cloned().unwrap_or_default(),
            price_per_hour: Money::of_price(price),
        }
    }

    fn standing(&self, own: &StateNode) -> Standing {
        let allocatable = self.named(&own.allocatable);
        let place = [INSTANCE_TYPE, CAPACITY_TYPE, ZONE].into_iter();
        let mut standing = Standing {
            running: vec![0; allocatable.len()],
            daemons: vec![0; allocatable.len()],
            allocatable,
            pods: own.pods.len(),
            place: place.filter_map(|key| own.labels.get(key).cloned()).collect(),
        };
        // Nodes stand in the order of their names.
        let row = self.w.names.nodes.binary_search(&own.name);
        let Some(node) = row.ok().and_then(|row| self.w.p.nodes.get(row)) else { return standing };
        let available = self.row(self.w.row(node.available));
        let theirs = self.row(self.w.row(node.daemon_requests));
        let due = self.row(&daemons_due(self.w, node));
        for column in 0..self.columns.len() {
            let taken = standing.allocatable[column].saturating_sub(available[column]);
            standing.running[column] = taken.saturating_sub(theirs[column]).max(0);
            standing.daemons[column] = theirs[column].saturating_add(due[column]);
        }
        standing
    }
}
