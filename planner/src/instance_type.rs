//! Instance types as data: what a provider sells, in the shape of the input contract.
//!
//! The built-in catalog produces these, a Snapshot may carry its own, and `lower` turns
//! them into the engine's tables. Nothing here decides anything.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::{Deserialize, Serialize};

/// One machine type: its labels, its size and the places and prices at which it is sold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstanceType {
    /// Provider's name, for example `m5.large` or `Standard_D4s_v5`.
    pub name: String,
    /// Labels that a node of this type can carry; several values of one key are alternatives.
    #[serde(default)]
    pub requirements: Vec<TypeRequirement>,
    /// Whole machine, before any reservation.
    #[serde(default)]
    pub capacity: BTreeMap<String, Quantity>,
    /// Sum of kube-reserved, system-reserved and eviction threshold.
    #[serde(default)]
    pub overhead: BTreeMap<String, Quantity>,
    /// Where and how the type is sold.
    #[serde(default)]
    pub offerings: Vec<Offering>,
}

/// One requirement of an instance type. The operator is `In` when left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeRequirement {
    /// Label key.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gt`, `Lt`, `Gte` or `Lte`.
    #[serde(default = "operator_in")]
    pub operator: String,
    /// Values, as the operator needs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

fn operator_in() -> String {
    "In".to_owned()
}

/// An instance type in one zone with one capacity type at one price.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Offering {
    /// Zone name; empty for a regional offering without a zone.
    #[serde(default)]
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// USD per hour. Rounded to whole micro-dollars when lowered; NaN counts as infinite.
    pub price: f64,
    /// False while sold out or blocked.
    #[serde(default = "yes")]
    pub available: bool,
    /// Reservation that this offering draws on, for `reserved` only.
    #[serde(rename = "reservationID", default, skip_serializing_if = "Option::is_none")]
    pub reservation_id: Option<String>,
    /// Machines left in that reservation.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reservation_capacity: u32,
    /// Further single-valued labels of nodes bought this way (zone id, placement scope, …).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Where the price comes from; `list` is the provider's own price of this region.
    #[serde(default, skip_serializing_if = "PriceSource::is_list")]
    pub price_source: PriceSource,
}

/// How far a price can be trusted.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum PriceSource {
    /// The provider's list price of this region.
    #[default]
    List,
    /// List price of another region, as the provider falls back.
    OtherRegion,
    /// Estimated spot price: on-demand less the advisor's saving.
    EstimatedSpot,
    /// Made by rule because no source names it.
    Synthetic,
    /// Given by the user: a price file, a discount or a NodeOverlay.
    User,
    /// No source names one: `price` is a placeholder, and the offering is unavailable for no
    /// other reason. A price of the user's makes it available.
    Missing,
}

impl PriceSource {
    fn is_list(&self) -> bool {
        *self == Self::List
    }
}

fn yes() -> bool {
    true
}

fn is_zero(n: &u32) -> bool {
    *n == 0
}
