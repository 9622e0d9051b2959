//! CapacityBuffer (`autoscaling.x-k8s.io/v1beta1`): room that is kept free for pods to come.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, some_quantities};

/// The one strategy that is handled, and the default.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// How much room is kept, in units of which pod.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "autoscaling.x-k8s.io",
    version = "v1beta1",
    kind = "CapacityBuffer",
    plural = "capacitybuffers",
    shortname = "cb",
    namespaced,
    status = "CapacityBufferStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferSpec {
    /// How the room is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning_strategy: Option<String>,
    /// A PodTemplate of the same namespace; not together with `scalableRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_ref: Option<PodTemplateRef>,
    /// A workload whose pod template is used; not together with `podTemplateRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalable_ref: Option<ScalableRef>,
    /// A fixed number of units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// A number of units as percentage of the workload's replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentage: Option<i64>,
    /// The most the whole buffer may ask for, per resource.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    pub limits: Option<BTreeMap<String, Quantity>>,
}

/// Names a PodTemplate.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PodTemplateRef {
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
}

/// Names a Deployment, ReplicaSet or StatefulSet of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ScalableRef {
    /// API group; absent or empty means `apps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    /// Kind.
    #[serde(default, deserialize_with = "null_as_default")]
    pub kind: String,
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
}

/// What is known of a buffer.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferStatus {
    /// The PodTemplate in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_ref: Option<PodTemplateRef>,
    /// Its generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_generation: Option<i64>,
    /// The number of units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
    /// The strategy in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning_strategy: Option<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub conditions: Vec<Condition>,
}

impl CapacityBuffer {
    /// Fills every absent field that has a default, as the API server does.
    pub fn apply_defaults(&mut self) {
        self.spec.provisioning_strategy.get_or_insert_with(|| ACTIVE_CAPACITY.into());
    }

    /// The strategy, with the default applied.
    pub fn provisioning_strategy(&self) -> &str {
        self.spec.provisioning_strategy.as_deref().unwrap_or(ACTIVE_CAPACITY)
    }
}
