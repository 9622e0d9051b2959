//! NodePool (`karpenter.sh/v1`): which nodes may be made, how many, and how they are disrupted.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, quantities, some_quantities};

/// What a pool is allowed to make and how its nodes are replaced.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.sh",
    version = "v1",
    kind = "NodePool",
    plural = "nodepools",
    category = "karpenter",
    status = "NodePoolStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolSpec {
    /// The template of every node claim of the pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub template: NodeClaimTemplate,
    /// How nodes of the pool may be disrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disruption: Option<Disruption>,
    /// The most the pool may hold, per resource; `nodes` counts nodes.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    pub limits: Option<BTreeMap<String, Quantity>>,
    /// Pools with a greater weight are tried first; 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
    /// A fixed number of nodes: the pool is static when this is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
}

/// The template of a node claim.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimTemplate {
    /// Labels and annotations that every claim of the pool gets.
    #[serde(default, deserialize_with = "null_as_default")]
    pub metadata: TemplateMetadata,
    /// What the claim asks for.
    #[serde(default, deserialize_with = "null_as_default")]
    pub spec: NodeClaimTemplateSpec,
}

/// Labels and annotations of a template.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TemplateMetadata {
    /// Labels; each one is also a requirement.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub labels: BTreeMap<String, String>,
    /// Annotations.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    pub annotations: BTreeMap<String, String>,
}

/// What a claim made from the template asks for.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimTemplateSpec {
    /// Taints of the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub taints: Vec<Taint>,
    /// Taints that something removes during start-up; pods need not tolerate them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub startup_taints: Vec<Taint>,
    /// Restrictions on the labels of the node.
    #[serde(default, deserialize_with = "null_as_default")]
    pub requirements: Vec<Requirement>,
    /// The node class that says how the cloud makes the node.
    #[serde(default, deserialize_with = "null_as_default")]
    pub node_class_ref: NodeClassReference,
    /// How long a drain may last before pods are deleted by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination_grace_period: Option<String>,
    /// The age at which a node is deleted, or `Never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expire_after: Option<String>,
}

/// A restriction on one label, with how many values must stay possible.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The label.
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub operator: String,
    /// The values the operator works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub values: Vec<String>,
    /// How many different values the chosen instance types must offer; 1 to 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<i64>,
}

/// Names a node class.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeClassReference {
    /// API group without version.
    #[serde(default, deserialize_with = "null_as_default")]
    pub group: String,
    /// Kind.
    #[serde(default, deserialize_with = "null_as_default")]
    pub kind: String,
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    pub name: String,
}

/// How nodes of a pool may be disrupted.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// How long a node must see no pod come or go before it may be consolidated, or `Never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidate_after: Option<String>,
    /// `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consolidation_policy: Option<String>,
    /// How many nodes may be disrupted at once; absent means 10 %, an empty list means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Vec<Budget>>,
}

/// How many nodes may be disrupted at once, when, and for which reasons.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// A number of nodes or a percentage of the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<String>,
    /// The reasons it holds for; absent means all, an empty list means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<Vec<String>>,
    /// When the budget starts to hold: a cron line in UTC; needs `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<String>,
    /// For how long it holds after each start; needs `schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
}

/// What is known of a pool.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// The sum of the resources of the pool's nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "quantities")]
    pub resources: BTreeMap<String, Quantity>,
    /// The number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<i64>,
    /// The generation of the node class that the registration health was judged for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_class_observed_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub conditions: Vec<Condition>,
}

/// The age at which a node is deleted when a pool says nothing.
pub const DEFAULT_EXPIRE_AFTER: &str = "720h";
/// How long a node must be calm when a pool says nothing.
pub const DEFAULT_CONSOLIDATE_AFTER: &str = "0s";
/// The consolidation policy when a pool says nothing.
pub const DEFAULT_CONSOLIDATION_POLICY: &str = "WhenEmptyOrUnderutilized";
/// The number of nodes of a budget that says nothing.
pub const DEFAULT_BUDGET_NODES: &str = "10%";

impl Disruption {
    /// Fills every absent field with its default.
    pub fn apply_defaults(&mut self) {
        self.consolidate_after.get_or_insert_with(|| DEFAULT_CONSOLIDATE_AFTER.into());
        self.consolidation_policy.get_or_insert_with(|| DEFAULT_CONSOLIDATION_POLICY.into());
        for budget in self.budgets.get_or_insert_with(|| vec![Budget::default()]) {
            budget.nodes.get_or_insert_with(|| DEFAULT_BUDGET_NODES.into());
        }
    }
}

impl NodePool {
    /// Fills every absent field that has a default, as the API server does.
    pub fn apply_defaults(&mut self) {
        self.spec.disruption.get_or_insert_default().apply_defaults();
        let template = &mut self.spec.template.spec;
        template.expire_after.get_or_insert_with(|| DEFAULT_EXPIRE_AFTER.into());
    }

    /// Weight; 0 when the pool says nothing.
    pub fn weight(&self) -> i64 {
        self.spec.weight.unwrap_or(0)
    }

    /// True for a pool with a fixed number of nodes.
    pub fn is_static(&self) -> bool {
        self.spec.replicas.is_some()
    }

    /// How nodes of the pool may be disrupted, with defaults applied.
    pub fn disruption(&self) -> Disruption {
        let mut disruption = self.spec.disruption.clone().unwrap_or_default();
        disruption.apply_defaults();
        disruption
    }

    /// The age at which a node is deleted, with the default applied; may be `Never`.
    pub fn expire_after(&self) -> &str {
        self.spec.template.spec.expire_after.as_deref().unwrap_or(DEFAULT_EXPIRE_AFTER)
    }
}
