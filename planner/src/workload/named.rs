//! Workloads by name, their pods and their templates: for those who change one.

use k8s_openapi::api::core::v1::{Pod, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::owner::{controller, is_made_from};
use crate::snapshot::Snapshot;

/// A workload by kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    kind: &'static str,
    namespace: String,
    name: String,
}

impl Named {
    fn of(kind: &'static str, metadata: &ObjectMeta) -> Self {
        Self {
            kind,
            namespace: metadata.namespace.clone().unwrap_or_default(),
            name: metadata.name.clone().unwrap_or_default(),
        }
    }

    /// `namespace/name`, or the name alone without a namespace.
    pub fn short(&self) -> String {
        match self.namespace.is_empty() {
            true => self.name.clone(),
            false => format!("{}/{}", self.namespace, self.name),
        }
    }

    /// `Kind/namespace/name`.
    pub fn full(&self) -> String {
        format!("{}/{}", self.kind, self.short())
    }

    /// `Kind namespace/name`, as objects are named in messages.
    pub fn object(&self) -> String {
        format!("{} {}", self.kind, self.short())
    }

    /// True when a caller may call it so: by its full name, without the kind, or by name alone.
    pub fn is_called(&self, name: &str) -> bool {
        self.full() == name || self.short() == name || self.name == name
    }

    fn is(&self, kind: &str, metadata: &ObjectMeta) -> bool {
        self.kind == kind
            && metadata.name.as_deref().unwrap_or_default() == self.name
            && metadata.namespace.as_deref().unwrap_or_default() == self.namespace
    }
}

/// Every workload, by kind, namespace and name.
pub(crate) fn named(snapshot: &Snapshot) -> Vec<Named> {
    let s = snapshot;
    let mut all: Vec<Named> = Vec::new();
    all.extend(s.deployments.iter().map(|own| Named::of("Deployment", &own.metadata)));
    all.extend(s.stateful_sets.iter().map(|own| Named::of("StatefulSet", &own.metadata)));
    all.extend(s.replica_sets.iter().map(|own| Named::of("ReplicaSet", &own.metadata)));
    all.extend(s.jobs.iter().map(|own| Named::of("Job", &own.metadata)));
    all.extend(s.cron_jobs.iter().map(|own| Named::of("CronJob", &own.metadata)));
    all.sort_unstable();
    all
}

/// True when the pod is the workload's, by its owner or by the owner of that.
pub(crate) fn is_of(snapshot: &Snapshot, pod: &Pod, workload: &Named) -> bool {
    let Some(owner) = controller(&pod.metadata) else { return false };
    if pod.metadata.namespace.as_deref().unwrap_or_default() != workload.namespace {
        return false;
    }
    if owner.kind == workload.kind {
        return owner.name == workload.name;
    }
    let child: Option<&ObjectMeta> = match (workload.kind, owner.kind.as_str()) {
        ("Deployment", "ReplicaSet") => snapshot
            .replica_sets
            .iter()
            .map(|own| &own.object.metadata)
            .find(|own| is_named(own, pod, &owner.name)),
        ("CronJob", "Job") => snapshot
            .jobs
            .iter()
            .map(|own| &own.object.metadata)
            .find(|own| is_named(own, pod, &owner.name)),
        _ => return false,
    };
    match child {
        Some(child) => controller(child).is_some_and(|own| own.name == workload.name),
        // Without the child in the input its name alone tells.
        None => is_made_from(&owner.name, &workload.name),
    }
}

fn is_named(child: &ObjectMeta, pod: &Pod, name: &str) -> bool {
    child.name.as_deref() == Some(name) && child.namespace == pod.metadata.namespace
}

/// The specification of the workload's pods.
pub(crate) fn template_of<'s>(
    snapshot: &'s mut Snapshot,
    workload: &Named,
) -> Option<&'s mut PodSpec> {
    let s = snapshot;
    let template = match workload.kind {
        "Deployment" => {
            let own = s.deployments.iter_mut().find(|own| workload.is("Deployment", &own.metadata));
            &mut own?.object.spec.as_mut()?.template
        }
        "StatefulSet" => {
            let own =
                s.stateful_sets.iter_mut().find(|own| workload.is("StatefulSet", &own.metadata));
            &mut own?.object.spec.as_mut()?.template
        }
        "ReplicaSet" => {
            let own =
                s.replica_sets.iter_mut().find(|own| workload.is("ReplicaSet", &own.metadata));
            own?.object.spec.as_mut()?.template.as_mut()?
        }
        "Job" => {
            let own = s.jobs.iter_mut().find(|own| workload.is("Job", &own.metadata));
            &mut own?.object.spec.as_mut()?.template
        }
        _ => {
            let own = s.cron_jobs.iter_mut().find(|own| workload.is("CronJob", &own.metadata));
            &mut own?.object.spec.job_template.spec.as_mut()?.template
        }
    };
    Some(template.spec.get_or_insert_default())
}

/// Gives every workload that many pods.
pub(crate) fn set_replicas(snapshot: &mut Snapshot, replicas: u32) {
    let count = i32::try_from(replicas).unwrap_or(i32::MAX);
    let s = snapshot;
    for own in &mut s.deployments {
        own.object.spec.get_or_insert_default().replicas = Some(count);
    }
    for own in &mut s.stateful_sets {
        own.object.spec.get_or_insert_default().replicas = Some(count);
    }
    for own in &mut s.replica_sets {
        own.object.spec.get_or_insert_default().replicas = Some(count);
    }
    for own in &mut s.jobs {
        own.object.spec.get_or_insert_default().parallelism = Some(count);
    }
    for own in &mut s.cron_jobs {
        let job = own.object.spec.job_template.spec.get_or_insert_default();
        job.parallelism = Some(count);
    }
}
