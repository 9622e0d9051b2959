//! CapacityBuffer (`autoscaling.x-k8s.io/v1beta1`): room that is kept free for pods to come.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, some_quantities};
use crate::schema;

/// The one strategy that is handled, and the default.
pub const ACTIVE_CAPACITY: &str = "buffer.x-k8s.io/active-capacity";

/// How much room is kept, in units of which pod.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "autoscaling.x-k8s.io",
    version = "v1beta1",
    kind = "CapacityBuffer",
    doc = "Room that is kept free for pods to come.",
    printcolumn(name = "Strategy", type_ = "string", json_path = ".spec.provisioningStrategy"),
    printcolumn(name = "Replicas", type_ = "integer", json_path = ".spec.replicas"),
    printcolumn(
        name = "Status",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"ReadyForProvisioning\")].reason"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    plural = "capacitybuffers",
    shortname = "cb",
    namespaced,
    status = "CapacityBufferStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)"
    ).message(
        "`podTemplateRef` needs `replicas` or `limits`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!(has(self.podTemplateRef) && has(self.scalableRef))"
    ).message(
        "give `podTemplateRef` or `scalableRef`, not both"
    )
)]
pub struct CapacityBufferSpec {
    /// How the room is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "buffer.x-k8s.io/active-capacity"))]
    pub provisioning_strategy: Option<String>,
    /// A PodTemplate of the same namespace; not together with `scalableRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_template_ref: Option<PodTemplateRef>,
    /// A workload whose pod template is used; not together with `podTemplateRef`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scalable_ref: Option<ScalableRef>,
    /// A fixed number of units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub replicas: Option<i64>,
    /// A number of units as percentage of the workload's replicas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub percentage: Option<i64>,
    /// The most the whole buffer may ask for, per resource.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    #[schemars(schema_with = "schema::quantities")]
    pub limits: Option<BTreeMap<String, Quantity>>,
}

/// Names a PodTemplate.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["name"]))]
pub struct PodTemplateRef {
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
    pub name: String,
}

/// Names a Deployment, ReplicaSet or StatefulSet of the same namespace.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["kind", "name"]))]
pub struct ScalableRef {
    /// API group; absent or empty means `apps`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    /// Kind.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
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
    #[schemars(extend("format" = "int32"))]
    pub replicas: Option<i64>,
    /// The strategy in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning_strategy: Option<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::conditions")]
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
