//! What proves the lower bound of a plan, so that another program can verify it: a value for
//! each pod, and the machines. No machine holds pods of more value than its price; so whatever
//! nodes hold all the pods cost at least the value of all.

use std::collections::BTreeMap;

use dunnage_engine_core::problem::{CapacityType, GroupKind, NONE, PodClass, Problem, Template};
use dunnage_engine_core::requirements::Layout;
use dunnage_engine_core::taints;
use serde::{Deserialize, Serialize};

use super::money::Money;
use crate::explain::{daemons_of_type, with_words};
use crate::lower::Lowered;
use crate::raise::{Words, is_usable};
use crate::solve::OwnedDecision;

/// Values of pods and the machines that they are values for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DualPrices {
    /// What the values prove, in USD per hour: up to ten pods it can be less than what the plan
    /// states, which then tried every division of the pods.
    pub lower_bound_per_hour: Money,
    /// Pods on new nodes that ask for the same.
    pub pods: Vec<DualPods>,
    /// Machines that no other one beats in price, size and pods that it takes.
    pub machines: Vec<DualMachine>,
}

/// Pods that ask for the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DualPods {
    /// `namespace/name` of the first.
    pub pod: String,
    /// How many the bound covers.
    pub count: u32,
    /// Value of one in USD per hour.
    pub value_per_hour: f64,
    /// What one requests: cpu in thousandths, others in whole units.
    pub requests: BTreeMap<String, i64>,
    /// Pods of one slot are never two on a node: anti-affinity or a host port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot: Option<String>,
}

/// A machine in one place at one price.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DualMachine {
    /// NodePool.
    pub node_pool: String,
    /// Instance type.
    pub instance_type: String,
    /// Zone; empty for none.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// USD per hour.
    pub price_per_hour: Money,
    /// What is left for pods beside DaemonSets, in the units of `requests`.
    pub capacity: BTreeMap<String, i64>,
    /// Rows of `pods` that it may hold.
    pub takes: Vec<u32>,
    /// Machines that its reservation holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub units: Option<u32>,
    /// The reservation, when machines share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reservation: Option<String>,
}

/// What proves the bound of `decision`.
pub(super) fn prices(lowered: &Lowered, decision: &OwnedDecision) -> DualPrices {
    with_words(lowered, |w| {
        let covered: Vec<usize> = (0..w.p.classes.len())
            .filter(|&c| decision.duals.get(c).is_some_and(|d| d.pods > 0))
            .collect();
        let columns = columns(w, &covered);
        let pods = covered.iter().map(|&class| pods(w, decision, class, &columns)).collect();
        let mut machines = machines(w, &covered, &columns);
        drop_beaten(&mut machines);
        let bound = decision.bound.map_or(0, |b| b.dual_microusd);
        DualPrices { lower_bound_per_hour: Money::of_price(bound), pods, machines }
    })
}

/// Resources that some pod asks for.
fn columns(w: &Words, covered: &[usize]) -> Vec<usize> {
    let asks =
        |column: usize| covered.iter().any(|&c| w.cell(w.p.classes[c].requests, column as u32) > 0);
    (0..w.p.resources.len()).filter(|&column| asks(column)).collect()
}

fn pods(w: &Words, decision: &OwnedDecision, class: usize, columns: &[usize]) -> DualPods {
    let own = &w.p.classes[class];
    let dual = decision.duals[class];
    let row = w.row(own.requests);
    DualPods {
        pod: w.names.pods[class].first().cloned().unwrap_or_default(),
        count: dual.pods,
        value_per_hour: dual.value_microusd / 1e6,
        requests: columns.iter().map(|&i| (w.resource(i as u32).to_owned(), row[i])).collect(),
        slot: slot(&w.p, own),
    }
}

/// The slot of which each pod takes one on its node.
fn slot(p: &Problem, class: &PodClass) -> Option<String> {
    let matches = class.matches.of(p.matches);
    let apart = class.links.of(p.links).iter().find(|link| {
        let group = &p.groups[link.group as usize];
        link.weight == 0
            && group.is_hostname
            && group.kind == GroupKind::AntiAffinity
            && matches.binary_search(&link.group).is_ok()
    });
    match apart {
        Some(link) => Some(format!("group {}", link.group)),
        None if class.ports.len > 0 => Some(format!("port {}", class.ports.start)),
        None => None,
    }
}

/// What a node of the template is with a pod of the class, as far as that leaves no choice.
fn joined(w: &Words, class: &PodClass, template: &Template) -> Option<Vec<u64>> {
    let tolerations = class.tolerations.of(w.p.tolerations);
    if taints::untolerated(template.taints.of(w.p.taints), tolerations, true).is_some() {
        return None;
    }
    let mut pod = w.dense(class.selector);
    let terms = class.required.of(w.p.terms);
    let places = class.volume_alternatives.of(w.p.volume_alternatives);
    let sets = terms.iter().filter(|_| terms.len() == 1).map(|term| term.set);
    for set in sets.chain(places.iter().copied().filter(|_| places.len() == 1)) {
        w.layout.add(&mut pod, &w.dense(set), &w.p);
    }
    let mut node = w.dense(template.set);
    if w.layout.incompatible(&node, &pod, true, &w.p).is_some() {
        return None;
    }
    w.layout.add(&mut node, &pod, &w.p);
    Some(node)
}

fn machines(w: &Words, covered: &[usize], columns: &[usize]) -> Vec<DualMachine> {
    let p = &w.p;
    let layout: &Layout = &w.layout;
    let mut all = Vec::new();
    for (row, template) in p.templates.iter().enumerate() {
        let nodes: Vec<Option<Vec<u64>>> =
            covered.iter().map(|&c| joined(w, &p.classes[c], template)).collect();
        for &t in template.types.of(p.template_types) {
            let of_type = &p.types[t as usize];
            let labels = w.dense(of_type.set);
            let fits: Vec<Option<&Vec<u64>>> = nodes
                .iter()
                .map(|node| node.as_ref().filter(|n| layout.conflict(&labels, n, p).is_none()))
                .collect();
            if fits.iter().all(Option::is_none) {
                continue;
            }
            let daemons = daemons_of_type(w, template, of_type);
            for at in of_type.offerings.range() {
                let offering = &p.offerings[at];
                let takes: Vec<u32> = (0..)
                    .zip(&fits)
                    .filter(|(_, node)| node.is_some_and(|n| is_usable(p, layout, n, offering)))
                    .map(|(row, _)| row)
                    .collect();
                let variants = of_type.variants.of(p.variants);
                let Some(variant) = variants.get(offering.variant as usize) else { continue };
                if takes.is_empty() || offering.price_microusd == i64::MAX {
                    continue;
                }
                let whole = w.row(variant.allocatable);
                let left = |i: usize| whole[i].saturating_sub(daemons[i]).max(0);
                let draws = offering.capacity_type == CapacityType::Reserved;
                let reservation = Some(offering.reservation).filter(|&r| draws && r != NONE);
                all.push(DualMachine {
                    node_pool: w.pool(row as u32).to_owned(),
                    instance_type: w.names.types[t as usize].clone(),
                    zone: w.names.zones[at].clone(),
                    capacity_type: w.names.capacity_types[at].clone(),
                    price_per_hour: Money::of_price(offering.price_microusd),
                    capacity: columns
                        .iter()
                        .map(|&i| (w.resource(i as u32).to_owned(), left(i)))
                        .collect(),
                    takes,
                    units: reservation.map(|r| p.reservations[r as usize]),
                    reservation: reservation.map(|r| w.names.reservations[r as usize].clone()),
                });
            }
        }
    }
    all
}

/// Keeps the machines that no other one beats.
fn drop_beaten(machines: &mut Vec<DualMachine>) {
    machines.sort_by(|a, b| {
        let key = |m: &DualMachine| (m.price_per_hour, m.instance_type.clone(), m.zone.clone());
        key(a).cmp(&key(b)).then_with(|| a.capacity_type.cmp(&b.capacity_type))
    });
    let mut kept: Vec<DualMachine> = Vec::new();
    for new in machines.drain(..) {
        let beats = |old: &DualMachine| {
            old.units.is_none()
                && old.capacity.values().zip(new.capacity.values()).all(|(o, n)| o >= n)
                && new.takes.iter().all(|row| old.takes.binary_search(row).is_ok())
        };
        if !kept.iter().any(beats) {
            kept.push(new);
        }
    }
    *machines = kept;
}
