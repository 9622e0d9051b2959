//! One pod of a workload, and the volume claims that come with it.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{
    PersistentVolumeClaim, PersistentVolumeClaimVolumeSource, Pod, Volume,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::Workload;

/// Makes pod number `ordinal`. `taken` holds the names in use; the new one is added.
pub(super) fn make(
    workload: &Workload<'_>,
    ordinal: i64,
    taken: &mut BTreeSet<String>,
) -> (Pod, Vec<PersistentVolumeClaim>) {
    let namespace = workload.metadata.namespace.clone().unwrap_or_default();
    let name = free_name(workload, &namespace, ordinal, taken);
    let template = workload.template;
    let mut spec = template.spec.clone().unwrap_or_default();
    let mut claims: Vec<PersistentVolumeClaim> = Vec::new();
    for claim in workload.claims {
        let volume = claim.metadata.name.clone().unwrap_or_default();
        let mut made = claim.clone();
        made.metadata.name = Some(format!("{volume}-{name}"));
        made.metadata.namespace = Some(namespace.clone());
        made.status = None;
        let source = PersistentVolumeClaimVolumeSource {
            claim_name: format!("{volume}-{name}"),
            ..PersistentVolumeClaimVolumeSource::default()
        };
        // A claim template takes the place of a volume of its name.
        let volumes = spec.volumes.get_or_insert_default();
        volumes.retain(|v| v.name != volume);
        volumes.push(Volume {
            name: volume,
            persistent_volume_claim: Some(source),
            ..Volume::default()
        });
        claims.push(made);
    }
    for volume in spec.volumes.iter().flatten() {
        let template = volume.ephemeral.as_ref().and_then(|e| e.volume_claim_template.as_ref());
        if let Some(template) = template {
            let metadata = template.metadata.clone().unwrap_or_default();
            claims.push(PersistentVolumeClaim {
                metadata: ObjectMeta {
                    name: Some(format!("{name}-{}", volume.name)),
                    namespace: Some(namespace.clone()),
                    labels: metadata.labels,
                    annotations: metadata.annotations,
                    ..ObjectMeta::default()
                },
                spec: Some(template.spec.clone()),
                status: None,
            });
        }
    }
    let pod = Pod {
        metadata: metadata_of(workload, name, namespace, ordinal),
        spec: Some(spec),
        status: None,
    };
    (pod, claims)
}

/// `<workload>-<i>`, or `<workload>-<kind>-<i>` when another pod has that name.
fn free_name(
    workload: &Workload<'_>,
    namespace: &str,
    ordinal: i64,
    taken: &mut BTreeSet<String>,
) -> String {
    let base = workload.metadata.name.as_deref().unwrap_or_default();
    let mut name = format!("{base}-{ordinal}");
    let kind = workload.kind.to_lowercase();
    let mut step = 0;
    while !taken.insert(format!("{namespace}/{name}")) {
        step += 1;
        let again = if step == 1 { String::new() } else { format!("-{step}") };
        name = format!("{base}-{kind}{again}-{ordinal}");
    }
    name
}

fn metadata_of(
    workload: &Workload<'_>,
    name: String,
    namespace: String,
    ordinal: i64,
) -> ObjectMeta {
    let template = workload.template.metadata.clone().unwrap_or_default();
    let owner = workload.metadata.name.clone().unwrap_or_default();
    let mut labels = template.labels.unwrap_or_default();
    match workload.kind {
        "StatefulSet" => {
            labels.insert("statefulset.kubernetes.io/pod-name".to_owned(), name.clone());
            labels.insert("apps.kubernetes.io/pod-index".to_owned(), ordinal.to_string());
        }
        "Job" | "CronJob" => {
            labels.insert("batch.kubernetes.io/job-name".to_owned(), owner.clone());
            labels.insert("job-name".to_owned(), owner.clone());
        }
        _ => {}
    }
    ObjectMeta {
        name: Some(name),
        namespace: Some(namespace),
        labels: (!labels.is_empty()).then_some(labels),
        annotations: template.annotations,
        owner_references: Some(vec![OwnerReference {
            api_version: workload.api_version.to_owned(),
            kind: workload.kind.to_owned(),
            name: owner,
            uid: workload.metadata.uid.clone().unwrap_or_default(),
            controller: Some(true),
            block_owner_deletion: None,
        }]),
        ..ObjectMeta::default()
    }
}
