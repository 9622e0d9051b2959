//! What new nodes may take together, as rules over offerings: quotas of the cloud account,
//! limits of the whole cluster, spot nodes of one kind.

use std::collections::BTreeMap;

use dunnage_api::labels::{
    CAPACITY_TYPE, CAPACITY_TYPE_RESERVED, CAPACITY_TYPE_SPOT, INSTANCE_TYPE, ZONE,
};
use dunnage_engine_core::problem::{Charge, Quota};

use super::cluster::StateNode;
use super::types::{OfferingRow, TypeRow};
use crate::settings::{self, Settings, amount};

/// What a quota counts in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// Thousandths of a CPU.
    #[default]
    MilliCpu,
    /// Bytes.
    Bytes,
    /// Machines.
    Nodes,
    /// Micro-dollars per hour.
    Microusd,
}

impl Unit {
    /// The amount with its unit: `48 vCPU`, `1.5 USD/h`.
    pub fn words(self, amount: i64) -> String {
        let plain = self.plain(amount);
        match self {
            Self::MilliCpu => format!("{plain} vCPU"),
            Self::Bytes => plain,
            Self::Nodes => format!("{plain} node(s)"),
            Self::Microusd => format!("{plain} USD/h"),
        }
    }

    /// The unit of [`Unit::plain`].
    pub fn name(self) -> &'static str {
        match self {
            Self::MilliCpu => "vCPU",
            Self::Bytes => "bytes",
            Self::Nodes => "nodes",
            Self::Microusd => "USD/h",
        }
    }

    /// The amount as a Kubernetes quantity, or as USD.
    pub fn plain(self, amount: i64) -> String {
        match self {
            Self::MilliCpu => crate::quantity::format_resource("cpu", amount),
            Self::Bytes => crate::quantity::format_resource("memory", amount),
            Self::Nodes => amount.to_string(),
            Self::Microusd => crate::quantity::format_usd(amount),
        }
    }
}

/// A quota in the users' words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaName {
    /// What the cloud calls it, or which setting it is.
    pub name: String,
    /// What its amounts count.
    pub unit: Unit,
    /// Region, when it holds for one alone.
    pub region: Option<String>,
    /// The settings made it; else the cloud account has it.
    pub is_wish: bool,
    /// One of many, for one type in one zone.
    pub is_per_offering: bool,
}

/// Whom a quota counts.
#[derive(Clone, Debug)]
enum Counts {
    /// Every node of a NodePool.
    Cluster,
    /// Machines of families.
    Families(settings::Quota),
    /// Spot machines of a type in a zone.
    Spot(String, String),
}

/// A quota as a rule.
#[derive(Clone, Debug)]
pub struct QuotaRule {
    pub name: QuotaName,
    pub row: Quota,
    counts: Counts,
}

/// Rules of the settings, with what the nodes that exist take.
pub fn rules(settings: &Settings, nodes: &[StateNode], types: &[&TypeRow]) -> Vec<QuotaRule> {
    let mut rules = cluster(settings);
    rules.extend(settings.quotas.iter().map(|own| QuotaRule {
        name: QuotaName {
            name: own.name.clone(),
            unit: Unit::MilliCpu,
            region: own.region.clone(),
            is_wish: false,
            is_per_offering: false,
        },
        row: Quota { limit: i64::from(own.vcpu) * 1000, usage: 0 },
        counts: Counts::Families(own.clone()),
    }));
    if let Some(most) = settings.spot_nodes_per_offering {
        rules.extend(spot(most, types));
    }
    let prices = prices(types);
    for rule in &mut rules {
        rule.row.usage = match &rule.counts {
            Counts::Families(settings::Quota { used: Some(used), .. }) => i64::from(*used) * 1000,
            _ => nodes.iter().map(|node| rule.taken_by_node(node, &prices)).sum(),
        };
    }
    rules
}

fn cluster(settings: &Settings) -> Vec<QuotaRule> {
    let limits = &settings.cluster_limits;
    let of = |name: &str, quantity: &Option<_>| quantity.as_ref().and_then(|q| amount(name, q));
    let price = limits.price_per_hour.map(|usd| (usd * 1e6).round() as i64);
    let all = [
        ("cpu", Unit::MilliCpu, of("cpu", &limits.cpu)),
        ("memory", Unit::Bytes, of("memory", &limits.memory)),
        ("nodes", Unit::Nodes, limits.nodes.map(i64::from)),
        ("pricePerHour", Unit::Microusd, price),
    ];
    let named = all.into_iter().filter_map(|(name, unit, limit)| Some((name, unit, limit?)));
    named
        .map(|(name, unit, limit)| QuotaRule {
            name: QuotaName {
                name: format!("clusterLimits.{name}"),
                unit,
                region: None,
                is_wish: true,
                is_per_offering: false,
            },
            row: Quota { limit, usage: 0 },
            counts: Counts::Cluster,
        })
        .collect()
}

fn spot(most: u32, types: &[&TypeRow]) -> Vec<QuotaRule> {
    let mut kinds: Vec<(&str, &str)> = types
        .iter()
        .flat_map(|row| row.offerings.iter().map(move |o| (row, o)))
        .filter(|(_, o)| o.capacity_type == CAPACITY_TYPE_SPOT)
        .map(|(row, o)| (row.name.as_str(), o.zone.as_str()))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
        .into_iter()
        .map(|(name, zone)| QuotaRule {
            name: QuotaName {
                name: format!("spotNodesPerOffering of {name} in {zone}"),
                unit: Unit::Nodes,
                region: None,
                is_wish: true,
                is_per_offering: true,
            },
            row: Quota { limit: i64::from(most), usage: 0 },
            counts: Counts::Spot(name.to_owned(), zone.to_owned()),
        })
        .collect()
}

/// Least price by type, zone and capacity type.
type Prices<'a> = BTreeMap<(&'a str, &'a str, &'a str), i64>;

fn prices<'a>(types: &[&'a TypeRow]) -> Prices<'a> {
    let mut all = Prices::new();
    for (row, o) in types.iter().flat_map(|row| row.offerings.iter().map(move |o| (row, o))) {
        let least = all.entry((&row.name, &o.zone, &o.capacity_type)).or_insert(i64::MAX);
        *least = (*least).min(o.price_microusd);
    }
    all
}

impl QuotaRule {
    /// What a node of the offering takes; nothing when it does not count.
    fn taken(&self, row: &TypeRow, o: &OfferingRow) -> Option<i64> {
        let counts = match &self.counts {
            Counts::Cluster => true,
            Counts::Families(quota) => {
                is_of(quota, &row.name, &o.capacity_type) && is_in(quota, &o.zone)
            }
            Counts::Spot(name, zone) => {
                o.capacity_type == CAPACITY_TYPE_SPOT && *name == row.name && *zone == o.zone
            }
        };
        let capacity = |name: &str| row.capacity.get(name).copied().unwrap_or(0).max(0);
        counts.then(|| match self.name.unit {
            Unit::MilliCpu => capacity("cpu"),
            Unit::Bytes => capacity("memory"),
            Unit::Nodes => 1,
            Unit::Microusd => o.price_microusd.max(0),
        })
    }

    /// What a node that exists takes.
    fn taken_by_node(&self, node: &StateNode, prices: &Prices) -> i64 {
        let label = |key: &str| node.labels.get(key).map_or("", String::as_str);
        let (name, zone, kind) = (label(INSTANCE_TYPE), label(ZONE), label(CAPACITY_TYPE));
        // A node that Karpenter did not launch says nothing of capacity types: at list price.
        let kind = if kind.is_empty() { "on-demand" } else { kind };
        let counts = match &self.counts {
            Counts::Cluster => node.pool().is_some(),
            Counts::Families(quota) => is_of(quota, name, kind) && is_in(quota, zone),
            Counts::Spot(own, place) => kind == CAPACITY_TYPE_SPOT && own == name && place == zone,
        };
        let capacity = |name: &str| node.capacity.get(name).copied().unwrap_or(0).max(0);
        if !counts {
            return 0;
        }
        match self.name.unit {
            Unit::MilliCpu => capacity("cpu"),
            Unit::Bytes => capacity("memory"),
            Unit::Nodes => 1,
            Unit::Microusd => {
                prices.get(&(name, zone, kind)).copied().map_or(0, |x| x.min(1 << 50))
            }
        }
    }
}

/// What a node of the offering takes from each quota.
pub fn charges(rules: &[QuotaRule], row: &TypeRow, offering: &OfferingRow) -> Vec<Charge> {
    (0..)
        .zip(rules)
        .filter_map(|(quota, rule)| Some(Charge { quota, amount: rule.taken(row, offering)? }))
        .collect()
}

fn is_in(quota: &settings::Quota, zone: &str) -> bool {
    quota.region.as_ref().is_none_or(|region| {
        let rest = zone.strip_prefix(region.as_str());
        // `us-east-1a` and Azure's `eastus-1` are in their region; `us-east-10a` is not.
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// True when the quota counts machines of the type. Reserved machines run already.
fn is_of(quota: &settings::Quota, name: &str, capacity_type: &str) -> bool {
    capacity_type != CAPACITY_TYPE_RESERVED
        && quota.capacity_type.as_ref().is_none_or(|kind| kind == capacity_type)
        && (quota.families.is_empty() || quota.families.iter().any(|f| has_family(name, f)))
}

fn has_family(name: &str, family: &str) -> bool {
    if let Some(sku) = name.strip_prefix("Standard_") {
        return family.eq_ignore_ascii_case(&azure_family(sku))
            || family.eq_ignore_ascii_case(sku)
            || family.eq_ignore_ascii_case(name);
    }
    let own = name.split('.').next().unwrap_or(name);
    let letters = &own[..own.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(own.len())];
    let kin: &[&str] = match family {
        "i" => &["im", "is"],
        "g" => &["gr"],
        _ => &[],
    };
    family == own || family == letters || kin.contains(&letters)
}

/// What Azure calls the cores of `D4ads_v5`: `standardDADSv5Family`.
fn azure_family(sku: &str) -> String {
    let mut parts = sku.split('_');
    let size = parts.next().unwrap_or("");
    let letters: String = size.chars().filter(char::is_ascii_alphabetic).collect();
    let version = parts.rfind(|part| part.starts_with('v')).unwrap_or("");
    format!("standard{}{version}Family", letters.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_told_apart() {
        for (name, family, holds) in [
            ("m7i.large", "m", true),
            ("m7i.large", "m7i", true),
            ("m7i.large", "m7", false),
            ("mac2.metal", "m", false),
            ("im4gn.large", "i", true),
            ("inf2.xlarge", "i", false),
            ("gr6.4xlarge", "g", true),
            ("u7i-12tb.224xlarge", "u", true),
            ("hpc7g.4xlarge", "h", false),
            ("Standard_D4s_v5", "standardDSv5Family", true),
            ("Standard_D4ads_v5", "standardDADSv5Family", true),
            ("Standard_D4as_v5", "standardDSv5Family", false),
            ("Standard_E8-4ds_v4", "standardEDSv4Family", true),
        ] {
            assert_eq!(has_family(name, family), holds, "{name} {family}");
        }
    }

    #[test]
    fn a_zone_is_in_its_region() {
        let quota =
            |region: &str| settings::Quota { region: Some(region.into()), ..Default::default() };
        assert!(is_in(&quota("us-east-1"), "us-east-1a") && is_in(&quota("eastus"), "eastus-1"));
        assert!(!is_in(&quota("us-east-1"), "us-east-2a") && !is_in(&quota("eastus"), "eastus2-1"));
    }
}
