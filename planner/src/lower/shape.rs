//! What one pod asks for, in names. Pods of equal shape are read once.
//!
//! A shape leaves out labels and volumes, which often differ between pods that are otherwise
//! alike: they are numbered on their own.

use k8s_openapi::api::core::v1::{Container, NodeSelectorTerm, Pod, PodSpec};
use serde::Serialize;

use super::dialect::{Dialect, Refusal};
use super::needs::{Need, Needs};
use super::rules::{Rule, RuleReader, namespace_of, weight};
use super::tolerations::{Tolerated, tolerated};
use crate::pod::{self, Amounts, HostPort, RequestError};
use dunnage_api::labels::{CAPACITY_TYPE, CAPACITY_TYPE_SPOT, NODE_POOL};

/// What a pod asks for.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Requests, `pods` included.
    pub amounts: Amounts,
    /// Node selector.
    pub selector: Needs,
    /// Required node-affinity terms in list order.
    pub required: Vec<Needs>,
    /// Preferred terms, heaviest first.
    pub preferred: Vec<(u32, Needs)>,
    /// Tolerations.
    pub tolerations: Vec<Tolerated>,
    /// Host ports.
    pub ports: Vec<HostPort>,
    /// Topology rules.
    pub rules: Vec<Rule>,
    /// It claims devices.
    pub has_device_claims: bool,
    /// Why it is not placed at all.
    pub refusal: Option<Refusal>,
}

impl Shape {
    /// Reads a pod.
    pub fn of(pod: &Pod, reader: &RuleReader) -> Result<Self, RequestError> {
        let none = PodSpec::default();
        let spec = pod.spec.as_ref().unwrap_or(&none);
        let dialect = reader.dialect;
        let selector = dialect.labels(spec.node_selector.iter().flatten());
        let required = required(spec, dialect);
        let preferred =
            if reader.respects_preferences { preferred(spec, dialect) } else { Vec::new() };
        let filter = filter(&selector, &required);
        let refusal = unwanted(&selector, &required, &preferred, reader.is_mended)
            .or_else(|| refusal(spec, dialect));
        Ok(Self {
            amounts: pod::requests(pod)?,
            rules: reader.rules(pod, spec, &filter),
            tolerations: tolerated(spec.tolerations.as_ref()),
            ports: pod::host_ports(spec, reader.is_mended),
            has_device_claims: spec.resource_claims.as_ref().is_some_and(|c| !c.is_empty()),
            selector,
            required,
            preferred,
            refusal,
        })
    }
}

impl Shape {
    /// Adds the wish for capacity that is not spot, heavier than any of the pod's own.
    pub fn avoid_spot(&mut self) {
        let mut needs = Needs::default();
        needs.add(CAPACITY_TYPE, Need::none_of([CAPACITY_TYPE_SPOT]));
        self.preferred.insert(0, (HEAVIEST, needs));
    }
}

/// More than the weight that a pod may write.
const HEAVIEST: u32 = 101;

/// Required node-affinity terms of a spec, in list order; a term without expressions
/// restricts nothing.
pub fn required(spec: &PodSpec, dialect: &Dialect) -> Vec<Needs> {
    terms(spec).iter().map(|term| dialect.needs(term.match_expressions.as_ref())).collect()
}

fn terms(spec: &PodSpec) -> &[NodeSelectorTerm] {
    spec.affinity
        .as_ref()
        .and_then(|a| a.node_affinity.as_ref())
        .and_then(|a| a.required_during_scheduling_ignored_during_execution.as_ref())
        .map_or(&[], |selector| &selector.node_selector_terms)
}

fn preferred(spec: &PodSpec, dialect: &Dialect) -> Vec<(u32, Needs)> {
    let list = spec
        .affinity
        .as_ref()
        .and_then(|a| a.node_affinity.as_ref())
        .and_then(|a| a.preferred_during_scheduling_ignored_during_execution.as_ref());
    let mut terms: Vec<_> = list.into_iter().flatten().collect();
    terms.sort_by_key(|term| std::cmp::Reverse(term.weight));
    terms
        .iter()
        .map(|t| (weight(t.weight), dialect.needs(t.preference.match_expressions.as_ref())))
        .collect()
}

/// Node selector and each required term together: what a spread's nodes must satisfy.
fn filter(selector: &Needs, required: &[Needs]) -> Vec<Needs> {
    if required.is_empty() {
        return if selector.0.is_empty() { Vec::new() } else { vec![selector.clone()] };
    }
    let mut all: Vec<Needs> = Vec::new();
    for term in required {
        let mut needs = selector.clone();
        needs.add_all(term);
        if needs.0.is_empty() {
            return Vec::new();
        }
        all.push(needs);
    }
    all
}

/// A pod that does not want a node of any pool. Karpenter also refuses one that only prefers
/// it so, or that has it in its first term only.
fn unwanted(
    selector: &Needs,
    required: &[Needs],
    preferred: &[(u32, Needs)],
    is_mended: bool,
) -> Option<Refusal> {
    let forbids = |sets: &[&Needs]| {
        let mut needs = selector.clone();
        sets.iter().for_each(|set| needs.add_all(set));
        // A contradiction is no wish for other nodes: the engine says what excludes what.
        needs
            .get(NODE_POOL)
            .is_some_and(|need| need.is_nothing() && (!is_mended || need.lets_lack()))
    };
    let is_unwanted = if is_mended {
        forbids(&[]) || (!required.is_empty() && required.iter().all(|term| forbids(&[term])))
    } else {
        let first = required.first().into_iter();
        let heaviest = preferred.first().map(|(_, term)| term).into_iter();
        forbids(&first.chain(heaviest).collect::<Vec<_>>())
    };
    is_unwanted.then(|| Refusal {
        code: "notForManagedNodes",
        message: format!(
            "the pod asks for nodes without label `{NODE_POOL}`: no NodePool can serve it; \
             drop that requirement, or wait for a node of your own"
        ),
    })
}

fn refusal(spec: &PodSpec, dialect: &Dialect) -> Option<Refusal> {
    let selector = spec.node_selector.iter().flatten();
    let found = selector
        .filter_map(|(key, value)| dialect.refusal(key, "In", std::slice::from_ref(value)))
        .next();
    if let Some(mut refusal) = found {
        refusal.message.push_str("; change spec.nodeSelector");
        return Some(refusal);
    }
    for (i, term) in terms(spec).iter().enumerate() {
        if term.match_fields.as_ref().is_some_and(|fields| !fields.is_empty()) {
            return Some(Refusal {
                code: "matchFieldsNotSupported",
                message: format!(
                    "required node-affinity term {i} has matchFields, which no new node can \
                     satisfy: use matchExpressions"
                ),
            });
        }
        for e in term.match_expressions.iter().flatten() {
            let values = e.values.as_deref().unwrap_or_default();
            if let Some(mut refusal) = dialect.refusal(&e.key, &e.operator, values) {
                refusal.message.push_str(&format!("; change required node-affinity term {i}"));
                return Some(refusal);
            }
        }
    }
    None
}

/// Everything of a pod that its shape depends on, as bytes to compare. `with_owner` adds
/// the owner, for default spread constraints.
pub fn shape_bytes(pod: &Pod, with_owner: bool, into: &mut Vec<u8>) {
    into.clear();
    into.extend(namespace_of(pod).as_bytes());
    into.push(0);
    let Some(spec) = &pod.spec else { return };
    write(into, b's', spec.node_selector.as_ref());
    write(into, b'a', spec.affinity.as_ref());
    write(into, b't', spec.tolerations.as_ref().filter(|list| !list.is_empty()));
    write(into, b'd', spec.topology_spread_constraints.as_ref().filter(|list| !list.is_empty()));
    for constraint in spec.topology_spread_constraints.iter().flatten() {
        for key in constraint.match_label_keys.iter().flatten() {
            write(into, b'k', pod.metadata.labels.as_ref().and_then(|l| l.get(key)));
        }
    }
    write(into, b'o', spec.overhead.as_ref());
    write(into, b'r', spec.resources.as_ref());
    write(into, b'n', spec.host_network.as_ref());
    let claims = spec.resource_claims.as_ref().filter(|list| !list.is_empty());
    write(into, b'c', claims.map(|_| &true));
    spec.containers.iter().for_each(|c| container_bytes(c, into));
    into.push(b'|');
    spec.init_containers.iter().flatten().for_each(|c| container_bytes(c, into));
    if let Some(status) = &pod.status {
        let all = [&status.container_statuses, &status.init_container_statuses];
        for own in all.into_iter().flatten().flatten() {
            if own.resources.is_some() || own.allocated_resources.is_some() {
                write(into, b'N', Some(&own.name));
                write(into, b'R', own.resources.as_ref());
                write(into, b'A', own.allocated_resources.as_ref());
            }
        }
        let resize = status.conditions.iter().flatten().find(|c| c.type_ == "PodResizePending");
        write(into, b'z', resize.map(|c| (&c.status, &c.reason)).as_ref());
    }
    if with_owner {
        let owners = pod.metadata.owner_references.iter().flatten();
        for owner in owners.filter(|owner| owner.controller == Some(true)) {
            write(into, b'w', Some(&(&owner.kind, &owner.name)));
        }
    }
}

fn container_bytes(container: &Container, into: &mut Vec<u8>) {
    into.push(b'C');
    // A resize is found by the container's name.
    into.extend(container.name.as_bytes());
    into.push(0);
    write(into, b'r', container.resources.as_ref());
    write(into, b'p', container.ports.as_ref().filter(|list| !list.is_empty()));
    write(into, b'x', container.restart_policy.as_ref());
}

fn write<T: Serialize>(into: &mut Vec<u8>, tag: u8, part: Option<&T>) {
    if let Some(part) = part {
        into.push(tag);
        serde_json::to_writer(&mut *into, part)
            .expect("INVARIANT: Kubernetes types have string keys only, and memory does not fail");
    }
}
