//! What each restriction of a NodePool costs: the plan, and plans of the same input without one
//! restriction at a time.
//!
//! Each figure is the difference of two plans made in the same way, so it holds whatever else
//! restricts; restrictions that only bite together show in the row of all of them.

use std::collections::BTreeSet;

use dunnage_api::NodePool;
use dunnage_api::labels::{Provider, well_known_labels};
use dunnage_api::node_pool::Requirement;
use k8s_openapi::api::core::v1::{NodeSelectorTerm, Pod};
use serde::Serialize;

use super::{ExplainError, find, percent};
use crate::options::Options;
use crate::plan::{Failure, Money, Plan, plan};
use crate::snapshot::Snapshot;

/// Most restrictions that are planned without. LIMIT: each costs a plan; the report counts those
/// that are left out.
const MOST_PLANS: usize = 64;

/// What the restrictions of a NodePool cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PoolReport {
    /// The pool.
    pub node_pool: String,
    /// The plan as it is.
    pub now: Outcome,
    /// Nodes that the plan launches from this pool.
    pub launches: usize,
    /// Each restriction of the pool, what costs most first.
    pub restrictions: Vec<Narrowness>,
    /// All restrictions of the pool at once, but for its taints: absent with fewer than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<Narrowness>,
    /// Labels that pending pods ask their nodes for, each for all pods at once.
    pub pods: Vec<Narrowness>,
    /// Restrictions that were not planned without.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What a plan comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// USD per hour of all launches.
    pub launch_per_hour: Money,
    /// Nodes.
    pub launches: usize,
    /// Pods that fit nowhere.
    pub unplaced: usize,
}

impl Outcome {
    fn of(plan: &Plan) -> Self {
        Self {
            launch_per_hour: plan.cost.launch_per_hour,
            launches: plan.launch.len(),
            unplaced: plan.unplaced.len(),
        }
    }
}

/// The plan without a restriction.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Narrowness {
    /// `requirement`, `minValues`, `limit`, `label`, `weight`, `taints`, `all` or `podLabel`.
    pub kind: &'static str,
    /// The restriction in words: `karpenter.k8s.aws/instance-category In [c, m, r]`.
    pub restriction: String,
    /// The plan without it.
    pub without: Outcome,
    /// USD per hour that it costs: nothing where the plan without it is no cheaper, and unknown
    /// where other pods are placed.
    pub costs_per_hour: Money,
    /// The same as a percentage of the plan as it is.
    pub costs_percent: Option<f64>,
    /// Pods more that are placed without it.
    #[serde(skip_serializing_if = "is_zero")]
    pub places_more: usize,
}

/// A change of the input that takes a restriction away.
struct Without {
    kind: &'static str,
    restriction: String,
    snapshot: Snapshot,
}

/// What the restrictions of the NodePool of that name cost, and those of pods.
///
/// # Errors
/// As [`crate::plan::plan`]; a name that means no NodePool.
pub fn explain_pool(
    snapshot: &Snapshot,
    options: &Options,
    name: &str,
) -> Result<PoolReport, ExplainError> {
    let names = snapshot.node_pools.iter().filter_map(|pool| pool.metadata.name.as_deref());
    let name = find("pool", name, names)?;
    let is_own = |pool: &NodePool| pool.metadata.name.as_deref() == Some(&name);
    let row = snapshot.node_pools.iter().position(|pool| is_own(pool)).unwrap_or(0);
    let first = plan(snapshot, options)?;
    let now = Outcome::of(&first);
    let (own, all) = of_pool(snapshot, row);
    let pods = of_pods(snapshot);
    let left_out = (own.len() + pods.len()).saturating_sub(MOST_PLANS);
    let planned = |rows: Vec<Without>, most: usize| -> Result<Vec<Narrowness>, Failure> {
        let rows = rows.into_iter().take(most);
        let rows: Result<Vec<_>, _> = rows.map(|row| narrowness(&now, row, options)).collect();
        let mut rows = rows?;
        rows.sort_by(|a, b| {
            (b.places_more, b.costs_per_hour.0, &a.restriction).cmp(&(
                a.places_more,
                a.costs_per_hour.0,
                &b.restriction,
            ))
        });
        Ok(rows)
    };
    let few = own.len() < 2;
    let room = MOST_PLANS.saturating_sub(own.len());
    Ok(PoolReport {
        launches: first.launch.iter().filter(|launch| launch.node_pool == name).count(),
        node_pool: name,
        now,
        restrictions: planned(own, MOST_PLANS)?,
        together: if few { None } else { Some(narrowness(&now, all, options)?) },
        pods: planned(pods, room)?,
        left_out,
    })
}

fn narrowness(now: &Outcome, row: Without, options: &Options) -> Result<Narrowness, Failure> {
    let without = Outcome::of(&plan(&row.snapshot, options)?);
    let places_more = now.unplaced.saturating_sub(without.unplaced);
    let prices = now.launch_per_hour.0.zip(without.launch_per_hour.0);
    // A plan under the restriction is one without it, too: what the search misses costs nothing.
    let costs = prices.map(|(now, then)| (now - then).max(0)).filter(|_| places_more == 0);
    Ok(Narrowness {
        kind: row.kind,
        restriction: row.restriction,
        without,
        costs_per_hour: Money(costs),
        costs_percent: costs.zip(now.launch_per_hour.0).and_then(|(c, n)| percent(c, n)),
        places_more,
    })
}

/// The input without each restriction of the pool, and without all but its taints.
fn of_pool(snapshot: &Snapshot, row: usize) -> (Vec<Without>, Without) {
    let pool = &snapshot.node_pools[row].object;
    let mut all = snapshot.clone();
    let mut rows = Vec::new();
    let mut add = |kind, restriction: String, edit: &dyn Fn(&mut NodePool)| {
        let mut own = snapshot.clone();
        edit(&mut own.node_pools[row].object);
        if kind != "taints" {
            edit(&mut all.node_pools[row].object);
        }
        rows.push(Without { kind, restriction, snapshot: own });
    };
    for own in pool.spec.template.spec.requirements.clone() {
        let values = own.values.join(", ");
        let words = match own.values.len() {
            0 => format!("{} {}", own.key, own.operator),
            _ => format!("{} {} [{values}]", own.key, own.operator),
        };
        if let Some(least) = own.min_values {
            let words = format!("minValues {least} of {}", own.key);
            add("minValues", words, &|pool| {
                let rows = &mut pool.spec.template.spec.requirements;
                rows.iter_mut().filter(|x| **x == own).for_each(|x| x.min_values = None);
            });
        }
        add("requirement", words, &|pool| {
            let is_other = |x: &Requirement| {
                (&x.key, &x.operator, &x.values) != (&own.key, &own.operator, &own.values)
            };
            pool.spec.template.spec.requirements.retain(is_other);
        });
    }
    for (key, value) in &pool.spec.template.metadata.labels {
        // A label of the users' own is what pods select the pool by; it narrows no machine.
        if narrows(snapshot, key) {
            add("label", format!("label {key}={value}"), &|pool| {
                pool.spec.template.metadata.labels.remove(key);
            });
        }
    }
    for (resource, most) in pool.spec.limits.iter().flatten() {
        add("limit", format!("limit {resource} {}", most.0), &|pool| {
            if let Some(limits) = &mut pool.spec.limits {
                limits.remove(resource);
            }
        });
    }
    if let Some(weight) = pool.spec.weight {
        add("weight", format!("weight {weight}"), &|pool| pool.spec.weight = None);
    }
    let taints = &pool.spec.template.spec.taints;
    if !taints.is_empty() {
        let keys: Vec<&str> = taints.iter().map(|taint| taint.key.as_str()).collect();
        add("taints", format!("taints {}", keys.join(", ")), &|pool| {
            pool.spec.template.spec.taints.clear();
        });
    }
    let restriction = "all of these, but for taints".to_owned();
    (rows, Without { kind: "all", restriction, snapshot: all })
}

/// The input without each label that pending pods ask their nodes for.
fn of_pods(snapshot: &Snapshot) -> Vec<Without> {
    let is_pending = |pod: &Pod| crate::pod::node_name(pod).is_none();
    let pending = || snapshot.pods.iter().filter(|pod| is_pending(pod));
    let keys: BTreeSet<&str> = pending().flat_map(|pod| asked(pod)).collect();
    let without = |key: &&str| {
        let pods = pending().filter(|pod| asked(pod).any(|own| own == *key)).count();
        let mut own = snapshot.clone();
        let rows = own.pods.iter_mut().filter(|pod| is_pending(pod));
        rows.for_each(|pod| forget(&mut pod.object, key));
        let restriction = format!("{key} of {pods} pod(s)");
        Without { kind: "podLabel", restriction, snapshot: own }
    };
    keys.iter().filter(|key| narrows(snapshot, key)).map(without).collect()
}

/// Machines differ by the label: others only say which pool is meant.
fn narrows(snapshot: &Snapshot, key: &str) -> bool {
    let own = snapshot.instance_types.iter().flatten().flat_map(|ty| &ty.requirements);
    let known = [Provider::Aws, Provider::Azure].map(well_known_labels);
    known.iter().any(|keys| keys.contains(&key)) || own.into_iter().any(|x| x.key == key)
}

fn terms(pod: &Pod) -> impl Iterator<Item = &NodeSelectorTerm> {
    let affinity =
        pod.spec.as_ref().and_then(|spec| spec.affinity.as_ref()?.node_affinity.as_ref());
    let required = affinity
        .and_then(|affinity| affinity.required_during_scheduling_ignored_during_execution.as_ref());
    required.into_iter().flat_map(|required| &required.node_selector_terms)
}

/// Keys that the pod requires of its node.
fn asked(pod: &Pod) -> impl Iterator<Item = &str> {
    let selector = pod.spec.iter().filter_map(|spec| spec.node_selector.as_ref()).flatten();
    let expressions = terms(pod).flat_map(|term| term.match_expressions.iter().flatten());
    selector.map(|(key, _)| key.as_str()).chain(expressions.map(|own| own.key.as_str()))
}

fn forget(pod: &mut Pod, key: &str) {
    let Some(spec) = &mut pod.spec else { return };
    if let Some(selector) = &mut spec.node_selector {
        selector.remove(key);
    }
    let affinity = spec.affinity.as_mut().and_then(|affinity| affinity.node_affinity.as_mut());
    let Some(affinity) = affinity else { return };
    let required = &mut affinity.required_during_scheduling_ignored_during_execution;
    let Some(selector) = required else { return };
    for term in &mut selector.node_selector_terms {
        if let Some(rows) = &mut term.match_expressions {
            rows.retain(|own| own.key != key);
        }
    }
    // A term without expressions matches no node; one that asked for nothing else asks for nothing.
    let asks = |term: &NodeSelectorTerm| {
        term.match_expressions.as_ref().is_some_and(|rows| !rows.is_empty())
            || term.match_fields.as_ref().is_some_and(|rows| !rows.is_empty())
    };
    if !selector.node_selector_terms.iter().all(asks) {
        *required = None;
    }
}
