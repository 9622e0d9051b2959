//! Selector terms of an EC2NodeClass: terms of a list are alternatives, fields of a term add up.

use std::collections::BTreeMap;

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;

/// Chooses subnets; the fields of a term must all match.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SubnetSelectorTerm {
    /// Tags; the value `*` matches any.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[schemars(extend("maxProperties" = 20))]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != '' && self[k] != '')"
        ).message(
            "tag keys and values must not be empty"
        )
    )]
    pub tags: BTreeMap<String, String>,
    /// Id of the subnet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"subnet-[0-9a-z]+"))]
    pub id: Option<String>,
}

/// Chooses security groups; the fields of a term must all match.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SecurityGroupSelectorTerm {
    /// Tags; the value `*` matches any.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[schemars(extend("maxProperties" = 20))]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != '' && self[k] != '')"
        ).message(
            "tag keys and values must not be empty"
        )
    )]
    pub tags: BTreeMap<String, String>,
    /// Id of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"sg-[0-9a-z]+"))]
    pub id: Option<String>,
    /// Name of the group (not its `Name` tag).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Chooses images; the fields of a term must all match.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct AMISelectorTerm {
    /// `family@version`, for example `al2023@latest`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 30))]
    #[x_kube(
        validation = Rule::new(
            "self.matches('^[a-zA-Z0-9]+@.+$')"
        ).message(
            "an alias is written `family@version`, for example `al2023@latest`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.split('@')[0] in ['al2', 'al2023', 'bottlerocket', 'windows2019', \
             'windows2022', 'windows2025']"
        ).message(
            "the family of an alias must be `al2`, `al2023`, `bottlerocket`, `windows2019`, \
             `windows2022` or `windows2025`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "!self.startsWith('windows') || self.endsWith('@latest')"
        ).message(
            "Windows aliases know no version but `latest`"
        )
    )]
    pub alias: Option<String>,
    /// Tags; the value `*` matches any.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[schemars(extend("maxProperties" = 20))]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != '' && self[k] != '')"
        ).message(
            "tag keys and values must not be empty"
        )
    )]
    pub tags: BTreeMap<String, String>,
    /// Id of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"ami-[0-9a-z]+"))]
    pub id: Option<String>,
    /// Name of the image (not its `Name` tag).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Account that owns the image, or `self` or `amazon`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// SSM parameter that holds the id of the image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssm_parameter: Option<String>,
}

/// Chooses capacity reservations; the fields of a term must all match.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct CapacityReservationSelectorTerm {
    /// Tags; the value `*` matches any.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[schemars(extend("maxProperties" = 20))]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, k != '' && self[k] != '')"
        ).message(
            "tag keys and values must not be empty"
        )
    )]
    pub tags: BTreeMap<String, String>,
    /// Id of the reservation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^cr-[0-9a-z]+$"))]
    pub id: Option<String>,
    /// Account that owns the reservation: 12 digits.
    #[serde(default, rename = "ownerID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9]{12}$"))]
    pub owner_id: Option<String>,
    /// `open` or `targeted`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["open", "targeted"]))]
    pub instance_match_criteria: Option<String>,
}

/// Chooses one placement group, by name or by id.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "has(self.name) != has(self.id)"
    ).message(
        "give exactly one of `name` and `id`"
    )
)]
pub struct PlacementGroupSelector {
    /// Name of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// Id of the group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^pg-[0-9a-z]+$"))]
    pub id: Option<String>,
}
