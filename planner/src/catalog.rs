//! The built-in catalog: facts about what AWS and Azure sell, turned into [`InstanceType`]s.
//!
//! Offline and pure: the tables are part of the program (`planner/data`), so the same class
//! gives the same types everywhere. Labels, capacity and reservations follow the formulas of
//! Karpenter's providers. What is not a fact is marked: prices by their
//! [`PriceSource`](crate::instance_type::PriceSource), everything else by [`notes`].
//! NodeOverlays, and which type is chosen, are decided elsewhere.

pub mod aws;
pub mod azure;
pub mod prices;

mod class_view;
mod labels;
mod table;

use serde_json::Value;
use thiserror::Error;

pub use aws::AwsNodeSettings;
pub use azure::AzureNodeSettings;

use crate::instance_type::{InstanceType, TypeRequirement};

/// Price that stands in an offering whose price nobody knows, in USD per hour. Such an
/// offering is marked `missing` and is not available.
pub const UNKNOWN_PRICE_USD: f64 = 999.0;

/// A cloud of which the catalog knows types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Provider {
    /// Amazon EC2, node class EC2NodeClass.
    Aws,
    /// Microsoft Azure, node class AKSNodeClass.
    Azure,
}

impl Provider {
    /// The provider whose node classes are of this kind.
    pub fn of_class_kind(kind: &str) -> Option<Self> {
        match kind {
            "EC2NodeClass" => Some(Self::Aws),
            "AKSNodeClass" => Some(Self::Azure),
            _ => None,
        }
    }

    /// The region assumed when the input names none.
    pub fn default_region(self) -> Region {
        match self {
            Self::Aws => Region::UsEast1,
            Self::Azure => Region::EastUs,
        }
    }
}

/// A region that the catalog covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // the names are the documentation
pub enum Region {
    UsEast1,
    UsWest2,
    EuWest1,
    EuCentral1,
    EastUs,
    WestUs2,
    WestUs3,
    WestEurope,
    GermanyWestCentral,
}

const REGIONS: [Region; 9] = [
    Region::UsEast1,
    Region::UsWest2,
    Region::EuWest1,
    Region::EuCentral1,
    Region::EastUs,
    Region::WestUs2,
    Region::WestUs3,
    Region::WestEurope,
    Region::GermanyWestCentral,
];

/// Every region of the catalog, AWS first.
pub fn regions() -> &'static [Region] {
    &REGIONS
}

impl Region {
    /// The provider's own name, for example `us-east-1` or `westeurope`.
    pub fn name(self) -> &'static str {
        match self {
            Self::UsEast1 => "us-east-1",
            Self::UsWest2 => "us-west-2",
            Self::EuWest1 => "eu-west-1",
            Self::EuCentral1 => "eu-central-1",
            Self::EastUs => "eastus",
            Self::WestUs2 => "westus2",
            Self::WestUs3 => "westus3",
            Self::WestEurope => "westeurope",
            Self::GermanyWestCentral => "germanywestcentral",
        }
    }

    /// Whose region it is.
    pub fn provider(self) -> Provider {
        match self {
            Self::UsEast1 | Self::UsWest2 | Self::EuWest1 | Self::EuCentral1 => Provider::Aws,
            _ => Provider::Azure,
        }
    }

    /// The zones of the region by name, in order. Azure's are the three that its regions
    /// have, named as on nodes; the regional pseudo-zone `0` is not among them.
    pub fn zones(self) -> Vec<String> {
        match self.provider() {
            Provider::Aws => aws::zones(self).iter().map(|z| z.name.to_owned()).collect(),
            Provider::Azure => azure::zones(self).to_vec(),
        }
    }

    /// Position among the provider's own regions: the column in the tables.
    fn column(self) -> usize {
        match self {
            Self::UsEast1 | Self::EastUs => 0,
            Self::UsWest2 | Self::WestUs2 => 1,
            Self::EuWest1 | Self::WestUs3 => 2,
            Self::EuCentral1 | Self::WestEurope => 3,
            Self::GermanyWestCentral => 4,
        }
    }

    /// AWS's short form, the start of its zone ids; empty for Azure.
    fn zone_id_prefix(self) -> &'static str {
        match self {
            Self::UsEast1 => "use1-",
            Self::UsWest2 => "usw2-",
            Self::EuWest1 => "euw1-",
            Self::EuCentral1 => "euc1-",
            _ => "",
        }
    }
}

/// The region that a region name, a zone name, an AWS zone id or an AWS provider id names:
/// `us-east-1`, `us-east-1a`, `us-west-2-lax-1a`, `use1-az4`, `aws:///us-east-1a/i-0abc`,
/// `westus2`, `westus2-1`. `None` for what the catalog does not cover.
pub fn region_from(text: &str) -> Option<Region> {
    let place = match text.strip_prefix("aws:///") {
        Some(rest) => rest.split('/').next().unwrap_or_default(),
        None => text,
    };
    REGIONS.into_iter().find(|region| {
        let is_zone_id = !region.zone_id_prefix().is_empty()
            && place
                .strip_prefix(region.zone_id_prefix())
                .is_some_and(|rest| rest.starts_with("az") && rest.len() > 2);
        let is_place = match place.strip_prefix(region.name()) {
            None => false,
            Some("") => true,
            Some(rest) => match region.provider() {
                Provider::Aws => is_aws_zone_suffix(rest),
                Provider::Azure => {
                    rest.strip_prefix('-').is_some_and(|n| matches!(n, "1" | "2" | "3"))
                }
            },
        };
        is_zone_id || is_place
    })
}

/// `a` of a zone, or `-lax-1a`, `-wl1-bos-wlz-1` of a local or wavelength zone.
fn is_aws_zone_suffix(rest: &str) -> bool {
    match rest.as_bytes() {
        [letter] => letter.is_ascii_lowercase(),
        [b'-', first, ..] => first.is_ascii_lowercase(),
        _ => false,
    }
}

/// What a node class and the provider's own settings say about the nodes.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeSettings {
    /// From an EC2NodeClass.
    Aws(Box<AwsNodeSettings>),
    /// From an AKSNodeClass.
    Azure(AzureNodeSettings),
}

impl NodeSettings {
    /// What a class that says nothing would give: for a class that the input does not have.
    pub fn default_of(provider: Provider) -> Self {
        match provider {
            Provider::Aws => Self::Aws(Box::default()),
            Provider::Azure => Self::Azure(AzureNodeSettings::default()),
        }
    }

    /// Reads a node class object; its `kind` says whose it is.
    ///
    /// # Errors
    /// An unknown kind, or a field that cannot be used, with its path and value.
    pub fn from_node_class(class: &Value) -> Result<Self, CatalogError> {
        let kind = class_view::Field::root(class).get("kind");
        match kind.text()?.and_then(Provider::of_class_kind) {
            Some(Provider::Aws) => {
                Ok(Self::Aws(Box::new(AwsNodeSettings::from_node_class(class)?)))
            }
            Some(Provider::Azure) => Ok(Self::Azure(AzureNodeSettings::from_node_class(class)?)),
            None => Err(kind.refuse("must be EC2NodeClass or AKSNodeClass")),
        }
    }

    /// Whose class it was.
    pub fn provider(&self) -> Provider {
        match self {
            Self::Aws(_) => Provider::Aws,
            Self::Azure(_) => Provider::Azure,
        }
    }
}

/// Why the catalog gives no types.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CatalogError {
    /// A field of the node class cannot be used.
    #[error("`{path}`: `{value}` {why}")]
    Class {
        /// Path into the class object.
        path: String,
        /// What stands there; empty if nothing does.
        value: String,
        /// What is wrong with it.
        why: String,
    },
    /// A setting of the provider cannot be used.
    #[error("setting `{name}`: `{value}` {why}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A class of one provider with a region of the other.
    #[error("region `{region}` does not belong to the provider of the node class")]
    OtherProvider {
        /// Name of the region asked for.
        region: &'static str,
    },
}

/// Every instance type sold in the region, as nodes of such a class would have it, by name.
///
/// # Errors
/// Settings of the other provider, or settings that make no sense.
pub fn instance_types(
    region: Region,
    settings: &NodeSettings,
) -> Result<Vec<InstanceType>, CatalogError> {
    instance_types_where(region, settings, |_| true)
}

/// As [`instance_types`], but only those whose name is wanted are built.
///
/// # Errors
/// As [`instance_types`].
pub fn instance_types_where(
    region: Region,
    settings: &NodeSettings,
    is_wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<InstanceType>, CatalogError> {
    match (region.provider(), settings) {
        (Provider::Aws, NodeSettings::Aws(own)) => aws::instance_types(region, own, is_wanted),
        (Provider::Azure, NodeSettings::Azure(own)) => {
            azure::instance_types(region, own, is_wanted)
        }
        _ => Err(CatalogError::OtherProvider { region: region.name() }),
    }
}

/// A value of the catalog that is no fact of the provider: where it comes from instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What the value is of, for example `spot price` or `HyperVGenerations`.
    pub subject: &'static str,
    /// The value used.
    pub value: String,
    /// The rule or the other source it comes from.
    pub origin: String,
}

/// What of one type in one region is estimated, borrowed or made by rule. Empty for names
/// that the catalog does not have.
pub fn notes(region: Region, name: &str) -> Vec<Note> {
    match region.provider() {
        Provider::Aws => aws::notes(region, name),
        Provider::Azure => azure::notes(region, name),
    }
}

/// Why the catalog gives no type of that name, for a class that says nothing: one sentence part
/// such as "is not sold in `eu-west-1`". Without a region, why no region has it.
pub fn why_absent(region: Option<Region>, name: &str) -> String {
    let is_aws = region.is_none_or(|r| r.provider() == Provider::Aws);
    let is_azure = region.is_none_or(|r| r.provider() == Provider::Azure);
    let known = aws::why_absent(name).filter(|_| is_aws);
    if let Some(why) = known.or_else(|| azure::why_absent(name).filter(|_| is_azure)) {
        return why;
    }
    let sold: Vec<&str> = REGIONS
        .into_iter()
        .filter(|place| {
            let settings = NodeSettings::default_of(place.provider());
            instance_types_where(*place, &settings, |own| own == name)
                .is_ok_and(|types| !types.is_empty())
        })
        .map(Region::name)
        .collect();
    match (region, sold.is_empty()) {
        (Some(region), false) => {
            format!("is not sold in `{}`; it is in {}", region.name(), sold.join(", "))
        }
        _ => {
            let names = is_aws.then(aws::names).into_iter().flatten();
            let names = names.chain(is_azure.then(azure::names).into_iter().flatten());
            format!("is not in the catalog{}", crate::nearest::hint(name, names))
        }
    }
}

/// A requirement with these values, or `DoesNotExist` when there are none: what a type says
/// of a label that its nodes never carry.
fn one_of<I>(key: &str, values: I) -> TypeRequirement
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let values: Vec<String> = values.into_iter().map(Into::into).collect();
    let operator = if values.is_empty() { "DoesNotExist" } else { "In" };
    TypeRequirement { key: key.to_owned(), operator: operator.to_owned(), values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_left_out_says_why() {
        let mut present = std::collections::BTreeSet::new();
        for region in regions() {
            let settings = NodeSettings::default_of(region.provider());
            let types = instance_types(*region, &settings).expect("default settings are valid");
            present.extend(types.into_iter().map(|one| one.name));
        }
        let mut left_out = 0;
        for name in aws::names().chain(azure::names()) {
            let why = aws::why_absent(name).or_else(|| azure::why_absent(name));
            assert_eq!(why.is_none(), present.contains(name), "{name} {why:?}");
            left_out += usize::from(why.is_some());
        }
        assert!(left_out > 100, "{left_out}");
        let known = why_absent(Some(Region::EuWest1), "Standard_D4s_v5");
        assert!(known.starts_with("is not sold in `eu-west-1`; it is in eastus"), "{known}");
    }

    #[test]
    fn a_region_is_found_in_every_kind_of_name() {
        for (text, want) in [
            ("us-east-1", Some(Region::UsEast1)),
            ("us-east-1f", Some(Region::UsEast1)),
            ("us-west-2-lax-1a", Some(Region::UsWest2)),
            ("use1-az4", Some(Region::UsEast1)),
            ("euc1-az1", Some(Region::EuCentral1)),
            ("aws:///eu-west-1b/i-0123456789abcdef0", Some(Region::EuWest1)),
            ("westus2", Some(Region::WestUs2)),
            ("westus2-1", Some(Region::WestUs2)),
            ("germanywestcentral-3", Some(Region::GermanyWestCentral)),
            ("eastus2", None),
            ("eastus2-1", None),
            ("westus", None),
            ("westus2-4", None),
            ("us-east-1-", None),
            ("us-east-10", None),
            ("us-east-1A", None),
            ("us-east-2a", None),
            ("use1-", None),
            ("use1-az", None),
            ("aws:///", None),
            ("azure:///subscriptions/1", None),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(region_from(text), want, "{text}");
        }
        for region in regions() {
            assert_eq!(region_from(region.name()), Some(*region));
            for zone in region.zones() {
                assert_eq!(region_from(&zone), Some(*region), "{zone}");
            }
        }
    }
}
