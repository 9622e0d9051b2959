//! NodeOverlay (`karpenter.sh/v1alpha1`): other prices or more capacity for some instance types.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::{null_as_default, some_quantities};
use crate::node_pool::Requirement;

/// Which instance types are touched and what changes for them.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.sh",
    version = "v1alpha1",
    kind = "NodeOverlay",
    plural = "nodeoverlays",
    shortname = "overlays",
    category = "karpenter",
    status = "NodeOverlayStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlaySpec {
    /// Which pools, instance types and offerings are touched.
    #[serde(default, deserialize_with = "null_as_default")]
    pub requirements: Vec<OverlayRequirement>,
    /// The new price in dollars per hour; excludes `priceAdjustment`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<String>,
    /// A change of the price: `+1.5`, `-0.2`, `+10%`, `-25%`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_adjustment: Option<String>,
    /// Resources the instance types have on top of their own.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "some_quantities"
    )]
    pub capacity: Option<BTreeMap<String, Quantity>>,
    /// Overlays with a greater weight win; 1 to 10000, absent means 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<i64>,
}

/// A restriction on one label.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OverlayRequirement {
    /// The label.
    #[serde(default, deserialize_with = "null_as_default")]
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub operator: String,
    /// The values the operator works on.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
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
    pub conditions: Vec<Condition>,
}

impl NodeOverlay {
    /// Weight; 0 when the overlay says nothing.
    pub fn weight(&self) -> i64 {
        self.spec.weight.unwrap_or(0)
    }
}
