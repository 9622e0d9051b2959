//! What a file may leave out, filled in as an API server and a healthy cluster would have it.
//!
//! The same for every command. Values that are there are never changed; only absent ones are
//! filled in. What the objects mean is decided elsewhere.

pub(crate) mod requests;
mod time;

use std::collections::{BTreeMap, BTreeSet, HashSet};

use dunnage_api::node_pool::NodeClassReference;
use dunnage_api::{NodeClaim, NodePool, conditions, labels};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{Node, NodeCondition, PodCondition};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

pub use time::newest_time;

use crate::error::Warning;
use crate::snapshot::{NodeClass, Snapshot, Sourced};

/// Creation time of pods and nodes that have none: 2026-01-01T00:00:00Z, as the oracle has it.
const EPOCH_SECS: i64 = 1_767_225_600;

/// Classes that every cluster has.
const SYSTEM_PRIORITIES: [(&str, i32); 2] =
    [("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000)];

/// Annotation that makes a storage class the default one.
const DEFAULT_STORAGE_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// Fills in everything that may be left out. `now` and the workloads' pods come before.
pub fn apply(snapshot: &mut Snapshot) {
    sort(snapshot);
    node_pools(snapshot);
    storage_classes(snapshot);
    requests::apply(snapshot);
    pods(snapshot);
    nodes(snapshot);
    claims_behind_nodes(snapshot);
    snapshot.warnings.sort();
}

/// The order of the input must not matter, so it is forgotten.
fn sort(snapshot: &mut Snapshot) {
    macro_rules! by_name {
        ($($list:ident)+) => {
            $(snapshot.$list.sort_by_cached_key(|o| {
                (o.metadata.namespace.clone(), o.metadata.name.clone())
            });)+
        };
    }
    by_name!(node_pools node_claims node_overlays capacity_buffers nodes pods daemon_sets
        deployments stateful_sets replica_sets jobs cron_jobs pod_templates
        persistent_volume_claims persistent_volumes storage_classes csi_nodes
        pod_disruption_budgets priority_classes namespaces limit_ranges);
    snapshot
        .node_classes
        .sort_by_cached_key(|class| (class.group(), class.kind(), class.metadata().name.clone()));
    if let Some(types) = &mut snapshot.instance_types {
        types.sort_by(|a, b| a.name.cmp(&b.name));
    }
}

/// True for a creation time that the input did not say.
pub(crate) fn is_made_up(time: &Time) -> bool {
    *time == epoch()
}

fn epoch() -> Time {
    Time(Timestamp::from_second(EPOCH_SECS).unwrap_or(Timestamp::UNIX_EPOCH))
}

fn condition(type_: &str, is_true: bool, since: &Time) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: if is_true { "True" } else { "False" }.to_owned(),
        reason: type_.to_owned(),
        message: String::new(),
        last_transition_time: since.clone(),
        observed_generation: None,
    }
}

fn is_true(conditions: &[Condition], type_: &str) -> bool {
    conditions.iter().any(|c| c.type_ == type_ && c.status == "True")
}

fn fill_condition(conditions: &mut Vec<Condition>, type_: &str, is_true: bool, since: &Time) {
    if !conditions.iter().any(|c| c.type_ == type_) {
        conditions.push(condition(type_, is_true, since));
    }
}

fn node_pools(snapshot: &mut Snapshot) {
    let Snapshot { node_pools, node_classes, warnings, .. } = snapshot;
    for pool in node_pools {
        let name = pool.metadata.name.clone().unwrap_or_default();
        let object = format!("NodePool {name}");
        pool.apply_defaults();
        let reference = &mut pool.spec.template.spec.node_class_ref;
        if *reference == NodeClassReference::default() {
            *reference = default_class(node_classes);
            let message = format!(
                "has no nodeClassRef, which an API server would refuse; {} {} is assumed",
                reference.kind, reference.name
            );
            warnings.push(Warning::new("DefaultNodeClassRef", object.clone(), message));
        }
        let class = class_of(node_classes, &pool.spec.template.spec.node_class_ref);
        if class.is_none() {
            let reference = &pool.spec.template.spec.node_class_ref;
            let message = format!(
                "its node class {} {} is not in the input; it counts as ready",
                reference.kind, reference.name
            );
            warnings.push(Warning::new("NodeClassNotFound", object, message));
        }
        pool.metadata.uid.get_or_insert_with(|| format!("nodepool-{name}"));
        make_ready(pool, class.is_none_or(is_class_ready));
    }
}

/// The only class there is, or the oracle's.
fn default_class(classes: &[Sourced<NodeClass>]) -> NodeClassReference {
    match classes {
        [only] => NodeClassReference {
            group: only.group().to_owned(),
            kind: only.kind().to_owned(),
            name: only.metadata().name.clone().unwrap_or_default(),
        },
        _ => NodeClassReference {
            group: labels::AWS_GROUP.to_owned(),
            kind: "EC2NodeClass".to_owned(),
            name: "default".to_owned(),
        },
    }
}

fn class_of<'a>(
    classes: &'a [Sourced<NodeClass>],
    reference: &NodeClassReference,
) -> Option<&'a NodeClass> {
    classes.iter().map(|class| &class.object).find(|class| {
        class.group() == reference.group
            && class.kind() == reference.kind
            && class.metadata().name.as_deref() == Some(&reference.name)
    })
}

/// A class that says nothing about itself is ready.
fn is_class_ready(class: &NodeClass) -> bool {
    let conditions = match class {
        NodeClass::Ec2(class) => class.status.as_ref().map(|s| s.conditions.as_slice()),
        NodeClass::Aks(class) => class.status.as_ref().map(|s| s.conditions.as_slice()),
    };
    conditions
        .and_then(|list| list.iter().find(|c| c.type_ == conditions::READY))
        .is_none_or(|ready| ready.status == "True")
}

fn make_ready(pool: &mut NodePool, is_class_ready: bool) {
    let since = pool.metadata.creation_timestamp.clone().unwrap_or_else(epoch);
    let list = &mut pool.status.get_or_insert_default().conditions;
    fill_condition(list, conditions::VALIDATION_SUCCEEDED, true, &since);
    fill_condition(list, conditions::NODE_CLASS_READY, is_class_ready, &since);
    fill_condition(list, conditions::NODE_REGISTRATION_HEALTHY, true, &since);
    let is_ready = is_true(list, conditions::VALIDATION_SUCCEEDED)
        && is_true(list, conditions::NODE_CLASS_READY);
    fill_condition(list, conditions::READY, is_ready, &since);
}

/// Unbound claims without a class get the default one, as Kubernetes gives it to them.
fn storage_classes(snapshot: &mut Snapshot) {
    let is_default = |annotations: &BTreeMap<String, String>| {
        annotations.get(DEFAULT_STORAGE_CLASS).is_some_and(|on| on == "true")
    };
    let default = snapshot
        .storage_classes
        .iter()
        .filter(|class| class.metadata.annotations.as_ref().is_some_and(is_default))
        .filter_map(|class| class.metadata.name.clone())
        .next();
    let Some(default) = default else { return };
    for claim in &mut snapshot.persistent_volume_claims {
        let Some(spec) = &mut claim.object.spec else { continue };
        let is_bound = spec.volume_name.as_deref().is_some_and(|name| !name.is_empty());
        if spec.storage_class_name.is_none() && !is_bound {
            spec.storage_class_name = Some(default.clone());
        }
    }
}

fn pods(snapshot: &mut Snapshot) {
    let priorities = Priorities::of(snapshot);
    let mut unknown_classes: BTreeSet<String> = BTreeSet::new();
    // Ties in the queue are broken by creation time and then by UID, so a pod without a UID
    // gets its rank by `namespace/name` as one text, which is the oracle's order.
    let mut names: Vec<(String, usize)> = snapshot
        .pods
        .iter()
        .enumerate()
        .map(|(i, pod)| (crate::snapshot::full_name(&pod.metadata), i))
        .collect();
    names.sort();
    for (rank, (_, i)) in names.into_iter().enumerate() {
        let pod = &mut snapshot.pods[i].object;
        if pod.metadata.uid.as_deref().unwrap_or_default().is_empty() {
            pod.metadata.uid = Some(format!("00000000-0000-0000-0000-{rank:012}"));
        }
        pod.metadata.creation_timestamp.get_or_insert_with(epoch);
        let spec = pod.spec.get_or_insert_default();
        if spec.priority.is_none() {
            let class = spec.priority_class_name.as_deref().unwrap_or_default();
            spec.priority = priorities.of_class(class);
            if spec.priority.is_none() && !class.is_empty() {
                unknown_classes.insert(class.to_owned());
            }
        }
        let is_bound = spec.node_name.as_deref().is_some_and(|name| !name.is_empty());
        let is_gated = spec.scheduling_gates.as_ref().is_some_and(|gates| !gates.is_empty());
        let status = pod.status.get_or_insert_default();
        if status.phase.as_deref().unwrap_or_default().is_empty() {
            status.phase = Some(if is_bound { "Running" } else { "Pending" }.to_owned());
        }
        let conditions = status.conditions.get_or_insert_default();
        let is_scheduled_known = conditions.iter().any(|c| c.type_ == "PodScheduled");
        let is_pending = status.phase.as_deref() == Some("Pending");
        if !is_scheduled_known && (is_bound || is_pending) {
            let reason = match (is_bound, is_gated) {
                (true, _) => None,
                (false, true) => Some("SchedulingGated".to_owned()),
                (false, false) => Some("Unschedulable".to_owned()),
            };
            conditions.push(PodCondition {
                type_: "PodScheduled".to_owned(),
                status: if is_bound { "True" } else { "False" }.to_owned(),
                reason,
                ..PodCondition::default()
            });
        }
    }
    for class in unknown_classes {
        snapshot.warnings.push(Warning::new(
            "PriorityClassNotFound",
            format!("PriorityClass {class}"),
            "pods name this class, which is not in the input; they count with priority 0",
        ));
    }
}

/// Priorities by class.
pub(crate) struct Priorities {
    by_class: BTreeMap<String, i32>,
    default: Option<i32>,
}

impl Priorities {
    /// The classes of the Snapshot, and those that every cluster has.
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let mut by_class: BTreeMap<String, i32> =
            SYSTEM_PRIORITIES.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut default: Option<i32> = None;
        for class in &snapshot.priority_classes {
            let value = class.value.unwrap_or(0);
            by_class.insert(class.metadata.name.clone().unwrap_or_default(), value);
            if class.global_default == Some(true) {
                // With several defaults Kubernetes takes the lowest.
                default = Some(default.map_or(value, |other| other.min(value)));
            }
        }
        Self { by_class, default }
    }

    /// Priority of a pod that names the class; none for a class that is not known.
    pub(crate) fn of_class(&self, class: &str) -> Option<i32> {
        if class.is_empty() { self.default } else { self.by_class.get(class).copied() }
    }
}

fn nodes(snapshot: &mut Snapshot) {
    let id_of_claim: BTreeMap<String, String> = snapshot
        .node_claims
        .iter()
        .filter_map(|claim| {
            let status = claim.status.as_ref()?;
            Some((status.node_name.clone()?, status.provider_id.clone()?))
        })
        .filter(|(_, id)| !id.is_empty())
        .collect();
    for node in &mut snapshot.nodes {
        let node = &mut node.object;
        let name = node.metadata.name.clone().unwrap_or_default();
        node.metadata.creation_timestamp.get_or_insert_with(epoch);
        let spec = node.spec.get_or_insert_default();
        if spec.provider_id.as_deref().unwrap_or_default().is_empty() {
            let id = id_of_claim.get(&name).cloned();
            spec.provider_id = Some(id.unwrap_or_else(|| format!("dunnage:///{name}")));
        }
        let hostname = node
            .metadata
            .labels
            .get_or_insert_default()
            .entry(labels::HOSTNAME.to_owned())
            .or_default();
        if hostname.is_empty() {
            *hostname = name;
        }
        let status = node.status.get_or_insert_default();
        let (capacity, allocatable) = (
            status.capacity.take().unwrap_or_default(),
            status.allocatable.take().unwrap_or_default(),
        );
        status.capacity =
            Some(if capacity.is_empty() { allocatable.clone() } else { capacity.clone() });
        status.allocatable = Some(if allocatable.is_empty() { capacity } else { allocatable });
        let conditions = status.conditions.get_or_insert_default();
        if conditions.is_empty() {
            conditions.push(NodeCondition {
                type_: "Ready".to_owned(),
                status: "True".to_owned(),
                ..NodeCondition::default()
            });
        }
    }
}

/// A node that carries a NodePool's label was made by one: it gets the claim it must have.
fn claims_behind_nodes(snapshot: &mut Snapshot) {
    let Snapshot { nodes, node_claims, node_pools, .. } = snapshot;
    let mut known: HashSet<String> =
        node_claims.iter().filter_map(|claim| claim.status.as_ref()?.provider_id.clone()).collect();
    for node in nodes {
        let id = node.spec.as_ref().and_then(|s| s.provider_id.clone()).unwrap_or_default();
        let Some(node_labels) = &mut node.object.metadata.labels else { continue };
        let Some(pool) = node_labels.get(labels::NODE_POOL).filter(|p| !p.is_empty()).cloned()
        else {
            continue;
        };
        if !known.insert(id) {
            continue;
        }
        for label in [labels::REGISTERED, labels::INITIALIZED] {
            let value = node_labels.entry(label.to_owned()).or_default();
            if value.is_empty() {
                *value = "true".to_owned();
            }
        }
        let pool = node_pools.iter().find(|p| p.metadata.name.as_deref() == Some(&pool));
        let claim = claim_of(&node.object, pool.map(|p| &p.object));
        node_claims.push(Sourced { object: claim, origin: node.origin.clone() });
    }
    node_claims.sort_by_cached_key(|claim| claim.metadata.name.clone());
}

fn claim_of(node: &Node, pool: Option<&NodePool>) -> NodeClaim {
    let name = node.metadata.name.clone().unwrap_or_default();
    let since = node.metadata.creation_timestamp.clone().unwrap_or_else(epoch);
    let mut claim = NodeClaim::default();
    claim.metadata.name = Some(format!("{name}-claim"));
    claim.metadata.uid = Some(format!("nodeclaim-{name}"));
    claim.metadata.labels = node.metadata.labels.clone();
    claim.metadata.annotations = node.metadata.annotations.clone();
    claim.metadata.creation_timestamp = Some(since.clone());
    // A node that goes takes its claim along.
    claim.metadata.deletion_timestamp = node.metadata.deletion_timestamp.clone();
    if let Some(pool) = pool {
        let template = &pool.spec.template.spec;
        claim.spec.taints = template.taints.clone();
        claim.spec.startup_taints = template.startup_taints.clone();
        claim.spec.requirements = template.requirements.clone();
        claim.spec.node_class_ref = template.node_class_ref.clone();
        claim.spec.termination_grace_period = template.termination_grace_period.clone();
        claim.spec.expire_after = template.expire_after.clone();
    }
    claim.apply_defaults();
    let status = claim.status.get_or_insert_default();
    status.node_name = Some(name);
    status.provider_id = node.spec.as_ref().and_then(|s| s.provider_id.clone());
    if let Some(found) = &node.status {
        status.capacity = found.capacity.clone().unwrap_or_default();
        status.allocatable = found.allocatable.clone().unwrap_or_default();
    }
    for type_ in [
        conditions::LAUNCHED,
        conditions::REGISTERED,
        conditions::INITIALIZED,
        conditions::CONSOLIDATABLE,
        conditions::READY,
    ] {
        status.conditions.push(condition(type_, true, &since));
    }
    claim
}

#[cfg(test)]
mod tests;
