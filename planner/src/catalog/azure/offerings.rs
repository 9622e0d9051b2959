//! Where an Azure size is sold, and for how much.
//!
//! Every size is offered in the region's three zones and, without a zone, as the regional
//! offering with zone label `0`. Prices do not differ between zones. Azure's tables here have
//! no spot prices: they are estimated by ratio.

use std::collections::BTreeMap;

use super::super::{Region, labels};
use super::facts::{SizeFacts, ratios};
use super::sku_name::SkuName;
use super::zones;
use crate::instance_type::{Offering, PriceSource};
use crate::quantity::usd_from_microusd;

/// Zone label of an offering without a zone.
const REGIONAL: &str = "0";

/// An estimated spot price.
pub(super) struct SpotEstimate {
    pub(super) microusd: i64,
    pub(super) permille: i64,
    pub(super) source: PriceSource,
}

/// The sampled ratio of the size's family in the region; else the family's highest, else D's.
pub(super) fn spot(
    region: Region,
    facts: &SizeFacts,
    sku: &SkuName,
    ondemand_microusd: i64,
) -> SpotEstimate {
    let is_arm_d = facts.arch == "arm64" && sku.letters == "D";
    let kind = if is_arm_d { "Dp" } else { sku.letters };
    let row = |kind: &str| ratios().iter().find(|r| r.family == kind);
    let sampled = row(kind).and_then(|r| r.permille[region.column()]);
    let (permille, source) = match sampled {
        Some(permille) => (permille, PriceSource::EstimatedSpot),
        None => {
            let like = row(kind).or_else(|| row("D")).map(|r| r.permille).unwrap_or_default();
            let highest = like.iter().flatten().copied().max();
            let own = like[region.column()].or(highest);
            (own.unwrap_or(1000), PriceSource::Synthetic)
        }
    };
    let microusd = ((ondemand_microusd * permille + 500) / 1000).max(1);
    SpotEstimate { microusd, permille, source }
}

/// The offerings of a size that the region sells at this price.
pub(super) fn offerings(
    region: Region,
    facts: &SizeFacts,
    sku: &SkuName,
    ondemand_microusd: i64,
) -> Vec<Offering> {
    let spot = spot(region, facts, sku, ondemand_microusd);
    let kinds = [
        ("on-demand", "regular", "regular", ondemand_microusd, PriceSource::List, true),
        ("spot", "spot", "spot", spot.microusd, spot.source, facts.capabilities.is_spot_capable),
    ];
    let places = zones(region).iter().map(String::as_str).chain([REGIONAL]);
    let mut all = Vec::with_capacity(8);
    for zone in places {
        for (capacity_type, scale_set, priority, price, price_source, available) in kinds {
            let scope = if zone == REGIONAL { "regional" } else { "zonal" };
            let mut labels = BTreeMap::from([
                (labels::azure::PLACEMENT_SCOPE.to_owned(), scope.to_owned()),
                (labels::azure::AKS_SCALE_SET_PRIORITY.to_owned(), scale_set.to_owned()),
                (labels::azure::AKS_PRIORITY.to_owned(), priority.to_owned()),
            ]);
            // In a zone the disk is the claim's choice, so that the label has no one value;
            // without a zone there is no such disk.
            if facts.capabilities.has_ultra_ssd && zone == REGIONAL {
                labels.insert(labels::azure::ULTRA_SSD.to_owned(), "false".to_owned());
            }
            all.push(Offering {
                zone: zone.to_owned(),
                capacity_type: capacity_type.to_owned(),
                price: usd_from_microusd(price),
                available,
                reservation_id: None,
                reservation_capacity: 0,
                labels,
                price_source,
            });
        }
    }
    all
}
