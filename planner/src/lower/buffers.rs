//! CapacityBuffers as pods that do not exist: room that is planned as if they did.

use std::collections::BTreeMap;

use dunnage_api::CapacityBuffer;
use dunnage_api::labels::{
    CAPACITY_BUFFER_FAKE_POD, CAPACITY_BUFFER_NAME, CAPACITY_BUFFER_NAMESPACE,
};
use k8s_openapi::api::core::v1::{Pod, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time};

use crate::error::Warning;
use crate::pod::requests_of;
use crate::quantity::{Rounding, parse_resource};
use crate::snapshot::Snapshot;

/// Most virtual pods of one buffer. LIMIT: a typing error in `replicas` must not fill memory.
pub const MAX_PODS: i64 = 100_000;

/// A buffer's pod, and how many there are of it.
#[derive(Clone, Debug)]
pub struct BufferPods {
    /// Namespace of the buffer.
    pub namespace: String,
    /// Start of the pods' names, to which the number is added.
    pub name_prefix: String,
    /// Start of their UIDs.
    pub uid_prefix: String,
    /// The pod, without name.
    pub pod: Pod,
    /// How many.
    pub count: u32,
}

/// The buffers' pods, by namespace and name; none when the gate CapacityBuffer is off.
pub fn buffer_pods(
    snapshot: &Snapshot,
    is_mended: bool,
    warnings: &mut Vec<Warning>,
) -> Vec<BufferPods> {
    let gate = snapshot.settings.feature_gates.capacity_buffer;
    if !gate {
        if !snapshot.capacity_buffers.is_empty() {
            warnings.push(Warning::new(
                "BuffersOff",
                format!("{} CapacityBuffers", snapshot.capacity_buffers.len()),
                "feature gate CapacityBuffer is off, so they do not count: set featureGates \
                 to `CapacityBuffer=true`",
            ));
        }
        return Vec::new();
    }
    let mut all = Vec::new();
    for buffer in &snapshot.capacity_buffers {
        match buffer_pod(snapshot, buffer, is_mended) {
            Ok(pods) => all.extend(pods),
            Err(why) => {
                let name = crate::snapshot::full_name(&buffer.metadata);
                let object = format!("CapacityBuffer {name}");
                warnings.push(Warning::new("BufferNotReady", object, why));
            }
        }
    }
    all.sort_by(|a, b| (&a.namespace, &a.name_prefix).cmp(&(&b.namespace, &b.name_prefix)));
    all
}

fn buffer_pod(
    snapshot: &Snapshot,
    buffer: &CapacityBuffer,
    is_mended: bool,
) -> Result<Option<BufferPods>, String> {
    if buffer.provisioning_strategy() != dunnage_api::capacity_buffer::ACTIVE_CAPACITY {
        return Ok(None);
    }
    let namespace = buffer.metadata.namespace.as_deref().unwrap_or("default");
    let name = buffer.metadata.name.as_deref().unwrap_or_default();
    let (template, replicas) = template(snapshot, buffer, namespace)?;
    let size = size(buffer, &template, replicas)?;
    if size > MAX_PODS {
        return Err(format!("{size} pods are wanted and {MAX_PODS} are considered"));
    }
    let mut labels = if is_mended {
        template.metadata.as_ref().and_then(|m| m.labels.clone()).unwrap_or_default()
    } else {
        BTreeMap::new()
    };
    labels.insert(CAPACITY_BUFFER_NAME.to_owned(), name.to_owned());
    labels.insert(CAPACITY_BUFFER_NAMESPACE.to_owned(), namespace.to_owned());
    let mut spec = template.spec.unwrap_or_default();
    if let Some(volumes) = &mut spec.volumes {
        volumes.retain(|v| v.persistent_volume_claim.is_none() && v.ephemeral.is_none());
    }
    spec.priority = Some(i32::MIN);
    let fake = BTreeMap::from([(CAPACITY_BUFFER_FAKE_POD.to_owned(), "true".to_owned())]);
    let metadata = ObjectMeta {
        namespace: Some(namespace.to_owned()),
        labels: Some(labels),
        annotations: Some(fake),
        creation_timestamp: Some(Time(snapshot.now)),
        ..ObjectMeta::default()
    };
    Ok((size > 0).then(|| BufferPods {
        namespace: namespace.to_owned(),
        name_prefix: format!("capacity-buffer-{name}-"),
        uid_prefix: format!("{}-", buffer.metadata.uid.as_deref().unwrap_or_default()),
        pod: Pod { metadata, spec: Some(spec), status: None },
        count: size as u32,
    }))
}

/// The pod template, and the replicas of the workload that it comes from.
fn template(
    snapshot: &Snapshot,
    buffer: &CapacityBuffer,
    namespace: &str,
) -> Result<(PodTemplateSpec, Option<i64>), String> {
    let is = |m: &ObjectMeta, name: &str| {
        m.name.as_deref() == Some(name) && m.namespace.as_deref().unwrap_or("default") == namespace
    };
    if let Some(reference) = &buffer.spec.pod_template_ref {
        let found = snapshot.pod_templates.iter().find(|t| is(&t.metadata, &reference.name));
        let template = found.and_then(|t| t.template.clone());
        return template
            .map(|t| (t, None))
            .ok_or_else(|| format!("PodTemplate `{}` does not exist", reference.name));
    }
    let Some(reference) = &buffer.spec.scalable_ref else {
        return Err("it names neither podTemplateRef nor scalableRef".to_owned());
    };
    if !matches!(reference.api_group.as_deref(), None | Some("" | "apps")) {
        return Err(format!("`{}` of another API group cannot be a buffer's", reference.kind));
    }
    macro_rules! find {
        ($list:expr, $template:expr) => {
            $list.iter().find(|o| is(&o.metadata, &reference.name)).and_then(|o| {
                let spec = o.spec.as_ref()?;
                Some(($template(spec)?, Some(i64::from(spec.replicas.unwrap_or(1)))))
            })
        };
    }
    use k8s_openapi::api::apps::v1::{DeploymentSpec, ReplicaSetSpec, StatefulSetSpec};
    let found = match reference.kind.as_str() {
        "Deployment" => {
            find!(snapshot.deployments, |s: &DeploymentSpec| Some(s.template.clone()))
        }
        "ReplicaSet" => find!(snapshot.replica_sets, |s: &ReplicaSetSpec| s.template.clone()),
        "StatefulSet" => {
            find!(snapshot.stateful_sets, |s: &StatefulSetSpec| Some(s.template.clone()))
        }
        kind => return Err(format!("kind `{kind}` cannot be a buffer's")),
    };
    found.ok_or_else(|| format!("{} `{}` does not exist", reference.kind, reference.name))
}

/// Pods of a buffer: the greater of replicas and percentage, capped by the limits.
fn size(
    buffer: &CapacityBuffer,
    template: &PodTemplateSpec,
    scalable: Option<i64>,
) -> Result<i64, String> {
    let spec = &buffer.spec;
    let part = match (spec.percentage, scalable) {
        (Some(percent), Some(replicas)) if percent > 0 && replicas > 0 => {
            let product = percent.saturating_mul(replicas);
            Some(((product.saturating_add(99)) / 100).max(1))
        }
        (Some(0), Some(replicas)) if replicas > 0 => Some(0),
        _ => None,
    };
    let desired = match (spec.replicas, part) {
        (None, None) => None,
        (replicas, part) => Some(replicas.unwrap_or(0).max(part.unwrap_or(0))),
    };
    let cap = cap(buffer, template)?;
    Ok(match (desired, cap) {
        (Some(desired), Some(cap)) => desired.min(cap),
        (Some(size), None) | (None, Some(size)) => size,
        (None, None) => 0,
    })
}

/// How many pods the limits hold; `None` when they restrict nothing.
fn cap(buffer: &CapacityBuffer, template: &PodTemplateSpec) -> Result<Option<i64>, String> {
    let Some(limits) = &buffer.spec.limits else { return Ok(None) };
    let none = Default::default();
    let requests = requests_of(template.spec.as_ref().unwrap_or(&none), None)
        .map_err(|e| format!("{} of the template: `{}` {}", e.path, e.value, e.error))?;
    let mut cap = None;
    for (name, limit) in limits {
        let limit = parse_resource(name, &limit.0, Rounding::Down)
            .map_err(|error| format!("limit of {name}: `{}` {error}", limit.0))?;
        if let Some(request) = requests.get(name).filter(|request| **request > 0) {
            let own = limit / request;
            cap = Some(cap.map_or(own, |cap: i64| cap.min(own)));
        }
    }
    Ok(cap)
}
