//! Reading on past objects that an API server would refuse: for those who report them.
//!
//! A text that cannot be read at all is an error as ever. An object that can be named and is
//! refused is left out and told; the rest of the input is read as if it were not there.

use super::{ReadOptions, Reader, Source, completed};
use crate::error::{ErrorCode, Origin, PlanError};
use crate::snapshot::{NodeClass, Snapshot, Sourced, full_name};

/// An input with what is wrong with its objects.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// The objects that can be used.
    pub snapshot: Snapshot,
    /// What an API server would refuse.
    pub refused: Vec<Refused>,
}

/// Something that an API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// `Kind namespace/name`.
    pub object: String,
    /// What is wrong with it.
    pub error: PlanError,
}

/// As [`super::read_with`], except that what is wrong with single objects is told beside the
/// rest of the input, and that what a file may leave out for a plan is wrong as well where an
/// API server insists on it. Objects given twice are left out altogether: which of them counts
/// would depend on the order of the input.
///
/// # Errors
/// Texts that cannot be read, and everything else that belongs to no object.
pub fn read_with_refused(
    sources: &[Source],
    options: &ReadOptions<'_>,
) -> Result<Reading, Vec<PlanError>> {
    let mut reader = Reader::new(options.open);
    reader.is_strict = true;
    reader.most_errors = usize::MAX;
    for source in sources {
        reader.source(source);
    }
    let read = reader.finish();
    let (mut snapshot, mut refused, mut errors) = (read.snapshot, Vec::new(), Vec::new());
    for (object, error) in read.errors {
        match object {
            Some(object) => refused.push(Refused { object, error }),
            None => errors.push(error),
        }
    }
    if !errors.is_empty() {
        errors.truncate(crate::error::MAX_ERRORS);
        return Err(errors);
    }
    let twice = refused.iter().filter(|r| r.error.code == ErrorCode::DuplicateObject);
    for Refused { object, .. } in twice {
        remove(&mut snapshot, object);
    }
    let snapshot = completed(snapshot, options.now.or(read.now))?;
    Ok(Reading { snapshot, refused })
}

macro_rules! each_list {
    ($snapshot:ident, $do:ident) => {
        $do!($snapshot, "NodePool", node_pools);
        $do!($snapshot, "NodeClaim", node_claims);
        $do!($snapshot, "NodeOverlay", node_overlays);
        $do!($snapshot, "CapacityBuffer", capacity_buffers);
        $do!($snapshot, "Node", nodes);
        $do!($snapshot, "DaemonSet", daemon_sets);
        $do!($snapshot, "Deployment", deployments);
        $do!($snapshot, "StatefulSet", stateful_sets);
        $do!($snapshot, "ReplicaSet", replica_sets);
        $do!($snapshot, "Job", jobs);
        $do!($snapshot, "CronJob", cron_jobs);
        $do!($snapshot, "PodTemplate", pod_templates);
        $do!($snapshot, "PersistentVolumeClaim", persistent_volume_claims);
        $do!($snapshot, "PersistentVolume", persistent_volumes);
        $do!($snapshot, "StorageClass", storage_classes);
        $do!($snapshot, "CSINode", csi_nodes);
        $do!($snapshot, "PodDisruptionBudget", pod_disruption_budgets);
        $do!($snapshot, "PriorityClass", priority_classes);
        $do!($snapshot, "Namespace", namespaces);
        $do!($snapshot, "LimitRange", limit_ranges);
        // Last, so that what stands at a workload's place is the workload before its pods.
        $do!($snapshot, "Pod", pods);
    };
}

/// Takes the object of that name, `Kind namespace/name`, out of the Snapshot.
pub(crate) fn remove(snapshot: &mut Snapshot, object: &str) {
    macro_rules! from_list {
        ($snapshot:ident, $kind:literal, $list:ident) => {
            $snapshot.$list.retain(|o| format!("{} {}", $kind, full_name(&o.metadata)) != object);
        };
    }
    each_list!(snapshot, from_list);
    snapshot.node_classes.retain(|o| format!("{} {}", o.kind(), full_name(o.metadata())) != object);
}

/// Adds the objects of `more`, each in the place of the one of its kind and name.
pub(crate) fn merge(snapshot: &mut Snapshot, more: Snapshot) {
    macro_rules! into_list {
        ($snapshot:ident, $kind:literal, $list:ident) => {
            for object in more.$list {
                let name = full_name(&object.metadata);
                $snapshot.$list.retain(|own| full_name(&own.metadata) != name);
                $snapshot.$list.push(object);
            }
        };
    }
    each_list!(snapshot, into_list);
    for class in more.node_classes {
        let is_same = |own: &Sourced<NodeClass>| {
            own.kind() == class.kind() && full_name(own.metadata()) == full_name(class.metadata())
        };
        snapshot.node_classes.retain(|own| !is_same(own));
        snapshot.node_classes.push(class);
    }
    for ty in more.instance_types.into_iter().flatten() {
        let types = snapshot.instance_types.get_or_insert_default();
        types.retain(|own| own.name != ty.name);
        types.push(ty);
    }
    snapshot.warnings.extend(more.warnings);
}

/// Takes out what stands at that place of the input, with the pods that were made of it.
pub(crate) fn remove_at(snapshot: &mut Snapshot, origin: &Origin) {
    macro_rules! from_list {
        ($snapshot:ident, $kind:literal, $list:ident) => {
            $snapshot.$list.retain(|o| o.origin != *origin);
        };
    }
    each_list!(snapshot, from_list);
    snapshot.node_classes.retain(|o| o.origin != *origin);
}

/// `Kind namespace/name` of the object that stands at that place of the input.
pub(crate) fn name_at(snapshot: &Snapshot, origin: &Origin) -> Option<String> {
    if *origin == Origin::default() {
        return None;
    }
    macro_rules! in_list {
        ($snapshot:ident, $kind:literal, $list:ident) => {
            if let Some(found) = $snapshot.$list.iter().find(|o| o.origin == *origin) {
                return Some(format!("{} {}", $kind, full_name(&found.metadata)));
            }
        };
    }
    each_list!(snapshot, in_list);
    let class = snapshot.node_classes.iter().find(|class| class.origin == *origin)?;
    Some(format!("{} {}", class.kind(), full_name(class.metadata())))
}
