//! What the nodes that exist say to a pod, and what stands on one of them.

use std::collections::BTreeMap;

use dunnage_engine_core::problem::{ABSENT, HostPort, NONE, Node, PodClass, VolumeUse};
use dunnage_engine_core::requirements::Incompatible;
use dunnage_engine_core::taints;
use serde::Serialize;

use super::fresh::{any_term, shortest};
use crate::plan::Plan;
use crate::raise::{Words, readable};

/// An existing node's word on a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRefusal {
    /// Name of the node.
    pub node: String,
    /// First test that fails before anything is placed: `taint`, `volumeLimit`, `hostPort`,
    /// `resources` or `labels`; none when all of these pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'static str>,
    /// The test in words.
    pub message: String,
}

/// What stands on a node, and what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeExplanation {
    /// Name of the node.
    pub node: String,
    /// It is initialized: tried before those that are not.
    pub initialized: bool,
    /// Pods on it, by name.
    pub pods: Vec<String>,
    /// Pods that the plan binds to it, in the order of placing.
    pub takes: Vec<String>,
    /// Allocatable less the requests of all pods on it, before the plan.
    pub free: BTreeMap<String, String>,
    /// What DaemonSets that belong here have not taken yet.
    pub daemon_overhead: BTreeMap<String, String>,
    /// What is left for pods: `free` less `daemonOverhead`.
    pub remaining: BTreeMap<String, String>,
}

/// Every existing node's word on the class, by name.
pub(super) fn nodes(w: &Words, class: &PodClass, plan: &Plan) -> Vec<NodeRefusal> {
    let rows = w.p.nodes.iter().enumerate();
    rows.map(|(row, node)| {
        let name = w.names.nodes.get(row).cloned().unwrap_or_default();
        let taken = plan.bind.iter().find(|b| b.node == name).map_or(0, |b| b.pods.len());
        let (rule, message) = match refusal(w, class, node) {
            Some((rule, message)) => (Some(rule), message),
            None if taken > 0 => {
                (None, format!("passes by itself; takes {taken} pod(s) of this plan"))
            }
            None => {
                (None, "passes by itself; a topology rule or the order of pods decides".to_owned())
            }
        };
        NodeRefusal { node: name, rule, message }
    })
    .collect()
}

fn refusal(w: &Words, class: &PodClass, node: &Node) -> Option<(&'static str, String)> {
    let tolerations = class.tolerations.of(w.p.tolerations);
    if let Some(at) = taints::untolerated(node.taints.of(w.p.taints), tolerations, false) {
        let taint = w.taint(node.taints.start + at as u32);
        return Some(("taint", format!("taint `{taint}` is not tolerated")));
    }
    if let Some(message) = volume_limit(w, class, node) {
        return Some(("volumeLimit", message));
    }
    if let Some(message) = host_port(w, class, node) {
        return Some(("hostPort", message));
    }
    let remaining = remaining(w, node);
    if let Some((column, need, best, _)) = shortest(w.row(class.requests), &remaining) {
        let have = readable(w.resource(column), best.max(0));
        return Some(("resources", format!("needs {} and {have} is left", w.amount(column, need))));
    }
    labels(w, class, node).map(|message| ("labels", message))
}

fn volume_limit(w: &Words, class: &PodClass, node: &Node) -> Option<String> {
    let claims = node.claims.of(w.p.node_claims);
    node.volumes.of(w.p.node_volumes).iter().find_map(|volume| {
        let uses = class.volume_uses.of(w.p.volume_uses).iter();
        let is_new = |u: &&VolumeUse| {
            u.driver == volume.driver
                && (u.claim == NONE || claims.binary_search(&u.claim).is_err())
        };
        let more: u32 = uses.filter(is_new).map(|u| u.count).sum();
        (more > 0 && volume.used.saturating_add(more) > volume.limit).then(|| {
            let driver = w.names.drivers.get(volume.driver as usize).map_or("", String::as_str);
            format!(
                "attaches {more} more volume(s) of `{driver}` and {} of {} are in use",
                volume.used, volume.limit
            )
        })
    })
}

fn host_port(w: &Words, class: &PodClass, node: &Node) -> Option<String> {
    let wanted = class.ports.range().zip(class.ports.of(w.p.ports));
    let taken = node.ports.of(w.p.ports);
    let clash = |a: &HostPort, b: &HostPort| {
        a.port == b.port
            && a.protocol == b.protocol
            && (a.address == b.address || a.address == 0 || b.address == 0)
    };
    wanted.into_iter().find(|(_, port)| taken.iter().any(|t| clash(port, t))).map(|(row, _)| {
        let name = w.names.ports.get(row).map_or("", String::as_str);
        format!("host port `{name}` is in use")
    })
}

fn labels(w: &Words, class: &PodClass, node: &Node) -> Option<String> {
    let own = w.dense(node.set);
    let terms = class.required.of(w.p.terms);
    let sets: Vec<Option<u32>> =
        if terms.is_empty() { vec![None] } else { terms.iter().map(|t| Some(t.set)).collect() };
    let mut first = None;
    for term in sets {
        let mut pod = w.dense(class.selector);
        if let Some(set) = term {
            w.layout.add(&mut pod, &w.dense(set), &w.p);
        }
        let refusal = w.layout.incompatible(&own, &pod, false, &w.p)?;
        first.get_or_insert(refusal);
    }
    let (Incompatible::Unknown(key) | Incompatible::Conflict(key)) = first?;
    let asked = w.asked(class, key).unwrap_or_else(|| "a value".to_owned());
    let has = w.said(node.set, key).unwrap_or_else(|| "no such label".to_owned());
    Some(format!("the pod asks for `{}` {asked}, the node has {has}", w.key(key)))
}

/// What DaemonSets that belong on the node have not taken yet.
pub(crate) fn daemons_due(w: &Words, node: &Node) -> Vec<i64> {
    let own = w.dense(node.set);
    let mut due = vec![0i64; w.p.resources.len()];
    for daemon in w.p.daemons {
        let tolerations = daemon.tolerations.of(w.p.tolerations);
        let is_tolerated =
            taints::untolerated(node.taints.of(w.p.taints), tolerations, true).is_none();
        if is_tolerated
            && any_term(w, daemon, |pod| w.layout.incompatible(&own, pod, false, &w.p).is_none())
        {
            dunnage_engine_core::resources::add(&mut due, w.row(daemon.requests));
        }
    }
    for (column, cell) in due.iter_mut().enumerate() {
        *cell = cell.saturating_sub(w.cell(node.daemon_requests, column as u32)).max(0);
    }
    due
}

fn remaining(w: &Words, node: &Node) -> Vec<i64> {
    let due = daemons_due(w, node);
    let free = w.row(node.available).iter().zip(due);
    free.map(|(free, due)| if *free == ABSENT { 0 } else { free.saturating_sub(due) }).collect()
}

/// What stands on the node of that name; `pods` are those bound to it, by name.
pub(crate) fn node(w: &Words, plan: &Plan, name: &str, pods: Vec<String>) -> NodeExplanation {
    let mut said = NodeExplanation { node: name.to_owned(), pods, ..NodeExplanation::default() };
    let taken = plan.bind.iter().find(|bind| bind.node == name);
    said.takes = taken.map_or_else(Vec::new, |bind| bind.pods.clone());
    let row = w.names.nodes.iter().position(|known| known == name);
    let Some(node) = row.and_then(|row| w.p.nodes.get(row)) else { return said };
    said.initialized = node.is_initialized;
    let named = |row: &[i64]| -> BTreeMap<String, String> {
        let cells = row.iter().enumerate().filter(|(_, amount)| **amount != ABSENT);
        cells
            .map(|(column, amount)| {
                (w.resource(column as u32).to_owned(), w.quantity(column as u32, *amount))
            })
            .collect()
    };
    said.free = named(w.row(node.available));
    said.daemon_overhead = named(&daemons_due(w, node));
    said.daemon_overhead.retain(|_, amount| amount != "0");
    said.remaining = named(&remaining(w, node));
    said.remaining.retain(|resource, _| said.free.contains_key(resource));
    said
}
