//! NodePool (`karpenter.sh/v1`): which nodes may be made, how many, and how they are disrupted.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Taint;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::labels::{Provider, class_label};
use crate::lenient::{null_as_default, quantities, some_quantities};
use crate::schema;

/// What a pool is allowed to make and how its nodes are replaced.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.sh",
    version = "v1",
    kind = "NodePool",
    doc = "Which nodes may be made, how many, and how they are disrupted.",
    scale(spec_replicas_path = ".spec.replicas", status_replicas_path = ".status.nodes"),
    printcolumn(
        name = "NodeClass",
        type_ = "string",
        json_path = ".spec.template.spec.nodeClassRef.name"
    ),
    printcolumn(name = "Nodes", type_ = "string", json_path = ".status.resources.nodes"),
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1),
    printcolumn(name = "CPU", type_ = "string", json_path = ".status.resources.cpu", priority = 1),
    printcolumn(
        name = "Memory",
        type_ = "string",
        json_path = ".status.resources.memory",
        priority = 1
    ),
    plural = "nodepools",
    category = "karpenter",
    status = "NodePoolStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["template"]))]
#[x_kube(
    validation = Rule::new(
        "has(self.replicas) == has(oldSelf.replicas)"
    ).message(
        "a pool cannot become static or stop being static: `replicas` can be neither added nor \
         removed"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.replicas) || !has(self.weight)"
    ).message(
        "a static pool (`replicas`) takes no `weight`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.replicas) || !has(self.limits) || self.limits.all(k, k == 'nodes')"
    ).message(
        "a static pool (`replicas`) takes no limit but `nodes`"
    )
)]
pub struct NodePoolSpec {
    /// The template of every node claim of the pool.
    #[serde(default, deserialize_with = "null_as_default")]
    pub template: NodeClaimTemplate,
    /// How nodes of the pool may be disrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = {"consolidateAfter": "0s"}))]
    pub disruption: Option<Disruption>,
    /// The most the pool may hold, per resource; `nodes` counts nodes.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    #[schemars(schema_with = "schema::quantities")]
    pub limits: Option<BTreeMap<String, Quantity>>,
    /// Pools with a greater weight are tried first; 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    #[schemars(extend("format" = "int32"))]
    pub weight: Option<i64>,
    /// A fixed number of nodes: the pool is static when this is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub replicas: Option<i64>,
}

/// The template of a node claim.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["spec"]))]
pub struct NodeClaimTemplate {
    /// Labels and annotations that every claim of the pool gets.
    #[serde(
        default,
        skip_serializing_if = "TemplateMetadata::is_empty",
        deserialize_with = "null_as_default"
    )]
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
    #[schemars(schema_with = "schema::labels")]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'] || \
             !k.find('^([^/]+)').endsWith('karpenter.sh'))"
        ).message(
            "the label domain `karpenter.sh` is restricted: only `karpenter.sh/capacity-type` \
             may be set"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != 'karpenter.sh/nodepool')"
        ).message(
            "the label `karpenter.sh/nodepool` is restricted: a pool cannot choose itself"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != 'kubernetes.io/hostname')"
        ).message(
            "the label `kubernetes.io/hostname` is restricted: it names one node"
        )
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

impl TemplateMetadata {
    fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.annotations.is_empty()
    }
}

/// What a claim made from the template asks for.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["nodeClassRef", "requirements"]))]
pub struct NodeClaimTemplateSpec {
    /// Taints of the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::taints")]
    pub taints: Vec<Taint>,
    /// Taints that something removes during start-up; pods need not tolerate them.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::taints")]
    pub startup_taints: Vec<Taint>,
    /// Restrictions on the labels of the node.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    #[schemars(transform = schema::key_rule(
        "self != 'karpenter.sh/nodepool'",
        "the label `karpenter.sh/nodepool` is restricted: a pool cannot choose itself"
    ))]
    pub requirements: Vec<Requirement>,
    /// The node class that says how the cloud makes the node.
    #[serde(default, deserialize_with = "null_as_default")]
    #[x_kube(
        validation = Rule::new(
            "self.group == oldSelf.group"
        ).message(
            "`group` cannot change: make a new pool"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.kind == oldSelf.kind"
        ).message(
            "`kind` cannot change: make a new pool"
        )
    )]
    pub node_class_ref: NodeClassReference,
    /// How long a drain may last before pods are deleted by force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::DURATION))]
    pub termination_grace_period: Option<String>,
    /// The age at which a node is deleted, or `Never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::DURATION_OR_NEVER))]
    #[schemars(extend("default" = "720h"))]
    pub expire_after: Option<String>,
}

/// A restriction on one label, with how many values must stay possible.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["key", "operator"]))]
#[x_kube(
    validation = Rule::new(
        "self.operator != 'In' || (has(self.values) && self.values.size() > 0)"
    ).message(
        "operator `In` needs at least one value"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!(self.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(self.values) && \
         self.values.size() == 1 && self.values[0].matches('^[+]?[0-9]+$'))"
    ).message(
        "operators `Gt`, `Lt`, `Gte` and `Lte` need exactly one value, a whole number that is \
         not negative"
    )
)]
#[x_kube(
    validation = Rule::new(
        "self.operator != 'In' || !has(self.minValues) || (has(self.values) && \
         self.values.size() >= self.minValues)"
    ).message(
        "`minValues` is greater than the number of values"
    )
)]
pub struct Requirement {
    /// The label.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(max = 316))]
    #[schemars(regex(pattern = schema::QUALIFIED_NAME))]
    #[x_kube(
        validation = Rule::new(
            "self in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'] || \
             !self.find('^([^/]+)').endsWith('karpenter.sh')"
        ).message(
            "the label domain `karpenter.sh` is restricted: only `karpenter.sh/capacity-type` \
             may be asked for"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self != 'kubernetes.io/hostname'"
        ).message(
            "the label `kubernetes.io/hostname` is restricted: it names one node"
        )
    )]
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = schema::OPERATORS))]
    pub operator: String,
    /// The values the operator works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(extend("x-kubernetes-list-type" = "atomic"))]
    #[schemars(extend("items" = {"type": "string", "maxLength": 63}))]
    pub values: Vec<String>,
    /// How many different values the chosen instance types must offer; 1 to 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 50))]
    pub min_values: Option<i64>,
}

/// Names a node class.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["group", "kind", "name"]))]
pub struct NodeClassReference {
    /// API group without version.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
    #[schemars(regex(pattern = r"^[^/]*$"))]
    pub group: String,
    /// Kind.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
    pub kind: String,
    /// Name of the object.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1))]
    pub name: String,
}

/// How nodes of a pool may be disrupted.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// How long a node must see no pod come or go before it may be consolidated, or `Never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::DURATION_OR_NEVER))]
    #[schemars(extend("default" = "0s"))]
    pub consolidate_after: Option<String>,
    /// `WhenEmpty`, `WhenEmptyOrUnderutilized` or `Balanced`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"]))]
    #[schemars(extend("default" = "WhenEmptyOrUnderutilized"))]
    pub consolidation_policy: Option<String>,
    /// How many nodes may be disrupted at once; absent means 10 %, an empty list means no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50))]
    #[schemars(extend("default" = [{"nodes": "10%"}]))]
    pub budgets: Option<Vec<Budget>>,
}

/// How many nodes may be disrupted at once, when, and for which reasons.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "has(self.schedule) == has(self.duration)"
    ).message(
        "`schedule` and `duration` belong together: give both or neither"
    )
)]
pub struct Budget {
    /// A number of nodes or a percentage of the pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^((100|[0-9]{1,2})%|[0-9]+)$"))]
    #[schemars(extend("default" = "10%"))]
    pub nodes: Option<String>,
    /// The reasons it holds for; absent means all, an empty list means none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50))]
    #[schemars(extend("items" = {"type": "string", "enum": ["Underutilized", "Empty", "Drifted"]}))]
    pub reasons: Option<Vec<String>>,
    /// When the budget starts to hold: a cron line in UTC; needs `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|\S+(\s+\S+){4})$"
    ))]
    pub schedule: Option<String>,
    /// For how long it holds after each start; needs `schedule`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^([0-9]+h([0-9]+m)?|[0-9]+m)(0s)?$"))]
    pub duration: Option<String>,
}

/// What is known of a pool.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// The sum of the resources of the pool's nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "quantities")]
    #[schemars(schema_with = "schema::quantities")]
    pub resources: BTreeMap<String, Quantity>,
    /// The number of nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = 0))]
    pub nodes: Option<i64>,
    /// The generation of the node class that the registration health was judged for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_class_observed_generation: Option<i64>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::conditions")]
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

impl NodeClassReference {
    /// The cloud that the class belongs to.
    pub fn provider(&self) -> Provider {
        Provider::of_group(&self.group)
    }

    /// The label that every node of the class carries.
    pub fn label(&self) -> String {
        class_label(&self.group, &self.kind)
    }
}

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
