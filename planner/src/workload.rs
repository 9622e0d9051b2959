//! Pods of workloads that have none in the input: what a controller would create for them.
//!
//! A workload with pods of its own in the input, or with a child workload that will bring
//! them, is left alone. Expanded pods are named `<workload>-<i>` and are pending.

mod named;
mod names;
mod owner;
mod pods;

pub(crate) use named::{Named, is_of, named, set_replicas, template_of};

use std::collections::BTreeSet;

use k8s_openapi::api::batch::v1::JobSpec;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};

use crate::error::{ErrorCode, Origin, PlanError};
use crate::snapshot::{Snapshot, Sourced};
pub use names::by_workload;
use owner::Owners;
pub(crate) use owner::{controller, selects};

/// Most pods of one Snapshot, expanded ones included. LIMIT: more than the largest cluster
/// that Kubernetes is tested with (150,000 pods) holds.
pub const MAX_PODS: usize = 250_000;

/// A workload seen as what matters here: how many pods, and of what form.
struct Workload<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: &'a ObjectMeta,
    origin: &'a Origin,
    selector: Option<&'a LabelSelector>,
    template: &'a PodTemplateSpec,
    replicas: i64,
    first_ordinal: i64,
    claims: &'a [PersistentVolumeClaim],
}

/// Adds the pods, and the volume claims of StatefulSets, that controllers would create. Fails
/// when the pods are more than [`MAX_PODS`].
pub fn expand(snapshot: &mut Snapshot) -> Result<(), Vec<PlanError>> {
    let given = snapshot.pods.len();
    if given > MAX_PODS {
        return Err(vec![too_many(given as i64, Origin::default(), "")]);
    }
    let mut new_pods = Vec::new();
    let mut new_claims = Vec::new();
    {
        let owners = Owners::of(snapshot);
        let mut workloads = workloads(snapshot);
        workloads.retain(|w| w.replicas > 0 && !owners.has_pods(w));
        // Names are given out in an order that does not depend on the input's.
        workloads.sort_by_key(|w| (w.kind, w.metadata.namespace.clone(), w.metadata.name.clone()));
        let mut total = given as i64;
        for workload in &workloads {
            total = total.saturating_add(workload.replicas);
            if total > MAX_PODS as i64 {
                let name = workload.metadata.name.as_deref().unwrap_or_default();
                let what = format!("{} {name}", workload.kind);
                return Err(vec![too_many(total, workload.origin.clone(), &what)]);
            }
        }
        let mut taken: BTreeSet<String> =
            snapshot.pods.iter().map(|pod| crate::snapshot::full_name(&pod.metadata)).collect();
        let known_claims: BTreeSet<String> = snapshot
            .persistent_volume_claims
            .iter()
            .map(|claim| crate::snapshot::full_name(&claim.metadata))
            .collect();
        for workload in &workloads {
            for i in 0..workload.replicas {
                let (pod, claims) = pods::make(workload, workload.first_ordinal + i, &mut taken);
                let origin = workload.origin;
                new_pods.push(Sourced { object: pod, origin: origin.clone() });
                new_claims.extend(
                    claims
                        .into_iter()
                        .filter(|c| {
                            !known_claims.contains(&crate::snapshot::full_name(&c.metadata))
                        })
                        .map(|object| Sourced { object, origin: origin.clone() }),
                );
            }
        }
    }
    snapshot.pods.extend(new_pods);
    snapshot.persistent_volume_claims.extend(new_claims);
    Ok(())
}

fn too_many(count: i64, origin: Origin, what: &str) -> PlanError {
    let with = if what.is_empty() { String::new() } else { format!(" with those of {what}") };
    let message = format!("the input has {count} pods{with}; at most {MAX_PODS} can be planned");
    PlanError::new(ErrorCode::TooManyObjects, origin, message)
}

fn workloads(snapshot: &Snapshot) -> Vec<Workload<'_>> {
    let mut all = Vec::new();
    for set in &snapshot.deployments {
        if let Some(spec) = &set.spec {
            all.push(Workload {
                api_version: "apps/v1",
                kind: "Deployment",
                metadata: &set.metadata,
                origin: &set.origin,
                selector: Some(&spec.selector),
                template: &spec.template,
                replicas: i64::from(spec.replicas.unwrap_or(1)),
                first_ordinal: 0,
                claims: &[],
            });
        }
    }
    for set in &snapshot.replica_sets {
        if let Some(spec) = &set.spec
            && let Some(template) = &spec.template
        {
            all.push(Workload {
                api_version: "apps/v1",
                kind: "ReplicaSet",
                metadata: &set.metadata,
                origin: &set.origin,
                selector: Some(&spec.selector),
                template,
                replicas: i64::from(spec.replicas.unwrap_or(1)),
                first_ordinal: 0,
                claims: &[],
            });
        }
    }
    for set in &snapshot.stateful_sets {
        if let Some(spec) = &set.spec {
            let ordinals = spec.ordinals.as_ref();
            all.push(Workload {
                api_version: "apps/v1",
                kind: "StatefulSet",
                metadata: &set.metadata,
                origin: &set.origin,
                selector: Some(&spec.selector),
                template: &spec.template,
                replicas: i64::from(spec.replicas.unwrap_or(1)),
                first_ordinal: i64::from(ordinals.and_then(|o| o.start).unwrap_or(0)),
                claims: spec.volume_claim_templates.as_deref().unwrap_or_default(),
            });
        }
    }
    for job in &snapshot.jobs {
        if let Some(spec) = &job.spec {
            let status = job.status.as_ref();
            let is_finished = status.is_some_and(|s| {
                s.completion_time.is_some()
                    || s.conditions.iter().flatten().any(|c| {
                        matches!(c.type_.as_str(), "Complete" | "Failed") && c.status == "True"
                    })
            });
            let done = i64::from(status.and_then(|s| s.succeeded).unwrap_or(0));
            let replicas = if is_finished { 0 } else { job_pods(spec, done) };
            all.push(of_job("Job", &job.metadata, &job.origin, spec, replicas));
        }
    }
    for cron in &snapshot.cron_jobs {
        let spec = &cron.spec;
        if let Some(job) = &spec.job_template.spec {
            let replicas = if spec.suspend == Some(true) { 0 } else { job_pods(job, 0) };
            all.push(of_job("CronJob", &cron.metadata, &cron.origin, job, replicas));
        }
    }
    all
}

fn of_job<'a>(
    kind: &'static str,
    metadata: &'a ObjectMeta,
    origin: &'a Origin,
    spec: &'a JobSpec,
    replicas: i64,
) -> Workload<'a> {
    Workload {
        api_version: "batch/v1",
        kind,
        metadata,
        origin,
        selector: None,
        template: &spec.template,
        replicas,
        first_ordinal: 0,
        claims: &[],
    }
}

/// Pods that run at once: never more than are still to be completed.
fn job_pods(spec: &JobSpec, done: i64) -> i64 {
    if spec.suspend == Some(true) {
        return 0;
    }
    let at_once = i64::from(spec.parallelism.unwrap_or(1));
    match spec.completions {
        Some(completions) => at_once.min((i64::from(completions) - done).max(0)),
        None => at_once,
    }
}

#[cfg(test)]
mod tests;
