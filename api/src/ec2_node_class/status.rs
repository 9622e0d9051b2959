//! What the selectors of an EC2NodeClass found.

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;
use crate::schema;

/// What the selectors found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct EC2NodeClassStatus {
    /// Subnets.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub subnets: Vec<Subnet>,
    /// Security groups.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub security_groups: Vec<SecurityGroup>,
    /// Images.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub amis: Vec<AMI>,
    /// Instance profile in use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_profile: Option<String>,
    /// Capacity reservations.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub capacity_reservations: Vec<CapacityReservation>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

/// A subnet that was found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["id", "zone"]))]
pub struct Subnet {
    /// Id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    /// Zone name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub zone: String,
    /// Zone id, the same in every account.
    #[serde(default, rename = "zoneID", skip_serializing_if = "Option::is_none")]
    pub zone_id: Option<String>,
}

/// A security group that was found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["id"]))]
pub struct SecurityGroup {
    /// Id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// An image that was found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["id", "requirements"]))]
pub struct AMI {
    /// Id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    /// Name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// True when the owner advises against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated: Option<bool>,
    /// The instance types it fits.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::image_requirements")]
    pub requirements: Vec<NodeSelectorRequirement>,
}

/// A capacity reservation that was found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&[
    "availabilityZone",
    "id",
    "instanceMatchCriteria",
    "instanceType",
    "ownerID",
]))]
pub struct CapacityReservation {
    /// Id.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = r"^cr-[0-9a-z]+$"))]
    pub id: String,
    /// Zone name.
    #[serde(default, deserialize_with = "null_as_default")]
    pub availability_zone: String,
    /// Instance type.
    #[serde(default, deserialize_with = "null_as_default")]
    pub instance_type: String,
    /// `open` or `targeted`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["open", "targeted"]))]
    pub instance_match_criteria: String,
    /// Account that owns it.
    #[serde(default, rename = "ownerID", deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = r"^[0-9]{12}$"))]
    pub owner_id: String,
    /// `default` or `capacity-block`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["default", "capacity-block"]))]
    #[schemars(extend("default" = "default"))]
    pub reservation_type: Option<String>,
    /// True when EC2 may take it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interruptible: Option<bool>,
    /// `active` or `expiring`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["active", "expiring"]))]
    #[schemars(extend("default" = "active"))]
    pub state: Option<String>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_time: Option<Time>,
}
