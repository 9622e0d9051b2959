//! NodeOverlay (`karpenter.sh/v1alpha1`): other prices or more capacity for some instance types.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, some_quantities};
use crate::node_pool::Requirement;
use crate::schema;

/// Which instance types are touched and what changes for them.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.sh",
    version = "v1alpha1",
    kind = "NodeOverlay",
    doc = "Other prices or more capacity for some instance types.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Weight", type_ = "integer", json_path = ".spec.weight", priority = 1),
    plural = "nodeoverlays",
    shortname = "overlays",
    category = "karpenter",
    status = "NodeOverlayStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["requirements"]))]
#[x_kube(
    validation = Rule::new(
        "!has(self.price) || !has(self.priceAdjustment)"
    ).message(
        "give `price` or `priceAdjustment`, not both"
    )
)]
pub struct NodeOverlaySpec {
    /// Which pools, instance types and offerings are touched.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    pub requirements: Vec<OverlayRequirement>,
    /// The new price in dollars per hour; excludes `priceAdjustment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+(\.\d+)?$"))]
    pub price: Option<String>,
    /// A change of the price: `+1.5`, `-0.2`, `+10%`, `-25%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = r"^([+-](\d+(\.\d+)?|\.\d+)|\+(\d+(\.\d+)?|\.\d+)%|-\d{1,2}(\.\d+)?%|-100%)$"
    ))]
    pub price_adjustment: Option<String>,
    /// Resources the instance types have on top of their own.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    #[schemars(schema_with = "schema::quantities")]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, !(k in ['cpu', 'memory', 'ephemeral-storage', 'pods']))"
        ).message(
            "`cpu`, `memory`, `ephemeral-storage` and `pods` cannot be overlaid"
        )
    )]
    pub capacity: Option<BTreeMap<String, Quantity>>,
    /// Overlays with a greater weight win; 1 to 10000, absent means 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10000))]
    #[schemars(extend("format" = "int32"))]
    pub weight: Option<i64>,
}

/// A restriction on one label.
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
        "self.operator != 'NotIn' || (has(self.values) && self.values.size() > 0)"
    ).message(
        "operator `NotIn` needs at least one value"
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
pub struct OverlayRequirement {
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
}

impl From<&OverlayRequirement> for Requirement {
    fn from(of: &OverlayRequirement) -> Self {
        Self {
            key: of.key.clone(),
            operator: of.operator.clone(),
            values: of.values.clone(),
            min_values: None,
        }
    }
}

/// What is known of an overlay.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlayStatus {
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

impl NodeOverlay {
    /// Weight; 0 when the overlay says nothing.
    pub fn weight(&self) -> i64 {
        self.spec.weight.unwrap_or(0)
    }
}
