//! Where an AWS type is sold, and for how much.
//!
//! One offering per zone and capacity type. On-demand prices are us-east-1's list prices and
//! marked so elsewhere; spot prices are estimated from the advisor's saving, the same in every
//! zone. What nobody prices is not available until a user's price file prices it.

use std::collections::BTreeMap;

use super::super::{Region, UNKNOWN_PRICE_USD, labels};
use super::facts::{ADVISOR_REGIONS, TypeFacts};
use super::settings::{AmiFamily, AwsNodeSettings, Reservation, SubnetZone};
use crate::instance_type::{Offering, PriceSource};
use crate::quantity::usd_from_microusd;

/// A reservation is paid already: it costs this part of the on-demand price in the choice, so
/// that it comes first and reservations still rank among each other.
const RESERVED_PART: f64 = 10_000_000.0;

/// What the spot advisor says of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpotAdvice {
    /// Saving against on-demand, percent.
    pub saving_percent: i64,
    /// How often instances are taken back each month: 0 below 5 %, then steps of 5 %, 4 above 20 %.
    pub interruption_band: u8,
    /// Region whose row it is: the one asked for, or the first that has one.
    pub region: &'static str,
}

pub(super) fn spot_advice_of(region: Region, facts: &TypeFacts) -> Option<SpotAdvice> {
    let own = ADVISOR_REGIONS.iter().position(|r| *r == region.name());
    let order = own.into_iter().chain(0..ADVISOR_REGIONS.len());
    order.into_iter().find_map(|at| {
        facts.advice[at].map(|(saving_percent, interruption_band)| SpotAdvice {
            saving_percent,
            interruption_band,
            region: ADVISOR_REGIONS[at],
        })
    })
}

pub(super) fn ondemand(region: Region, facts: &TypeFacts) -> Option<(i64, PriceSource)> {
    let source =
        if region == Region::UsEast1 { PriceSource::List } else { PriceSource::OtherRegion };
    facts.ondemand_microusd.map(|price| (price, source))
}

pub(super) fn spot(region: Region, facts: &TypeFacts) -> Option<(i64, PriceSource)> {
    let price = facts.ondemand_microusd?;
    let advice = spot_advice_of(region, facts)?;
    let estimate = (price * (100 - advice.saving_percent) + 50) / 100;
    Some((estimate, PriceSource::EstimatedSpot))
}

/// True unless the class asks for something that the type does not have.
pub(super) fn suits(facts: &TypeFacts, settings: &AwsNodeSettings) -> bool {
    let is_nitro = facts.hypervisor == "nitro" || facts.is_bare_metal;
    // AL2023 does not boot on first-generation Arm.
    let runs_image = settings.ami_family != AmiFamily::Al2023 || !facts.name.starts_with("a1.");
    let has_interfaces = settings.network_interfaces.as_ref().is_none_or(|all| {
        let efas = all.iter().filter(|i| i.is_efa_only).count() as i64;
        // Cards other than the first are taken to be like it: the tables hold no others.
        facts.has_ena
            && efas <= facts.efa_max
            && all.iter().all(|i| i.card < facts.network_cards && i64::from(i.device) < facts.enis)
    });
    let has_place =
        settings.placement_strategy.is_none_or(|own| facts.placement.contains(own.letter()));
    runs_image
        && has_interfaces
        && has_place
        && (is_nitro || !settings.has_connection_tracking)
        && (facts.has_nested_virt || !settings.has_nested_virtualization)
}

/// The offerings of a type in the zones where it is sold.
pub(super) fn offerings(
    region: Region,
    facts: &TypeFacts,
    settings: &AwsNodeSettings,
    sold: &[&SubnetZone],
    is_class_zone: impl Fn(&str) -> bool,
    reservations: &[&Reservation],
) -> Vec<Offering> {
    let kinds = [
        Some(("on-demand", ondemand(region, facts))),
        facts.has_spot.then(|| ("spot", spot(region, facts))),
    ];
    let is_suited = suits(facts, settings);
    let mut all = Vec::with_capacity(sold.len() * 2 + reservations.len());
    for zone in sold {
        let is_usable = is_suited && is_class_zone(&zone.zone);
        for (capacity_type, price) in kinds.into_iter().flatten() {
            // An unknown price is the only thing that a price file mends: an offering that
            // is out for another reason as well would come back with it, so it is left out.
            if price.is_none() && !is_usable {
                continue;
            }
            all.push(offering(zone, capacity_type, price, is_usable));
        }
    }
    for reservation in reservations {
        let Some(zone) = sold.iter().find(|z| z.zone == reservation.zone) else { continue };
        let Some((price, source)) = ondemand(region, facts) else { continue };
        let is_usable = is_suited && is_class_zone(&zone.zone);
        let mut one = offering(zone, "reserved", Some((price, source)), is_usable);
        one.price /= RESERVED_PART;
        one.available &= reservation.left > 0 && !reservation.is_expiring;
        one.reservation_id = Some(reservation.id.clone());
        one.reservation_capacity = reservation.left;
        let interruptible = reservation.is_interruptible.to_string();
        for (key, value) in [
            (labels::aws::RESERVATION_ID, reservation.id.clone()),
            (labels::aws::RESERVATION_TYPE, reservation.kind.clone()),
            (labels::aws::RESERVATION_INTERRUPTIBLE, interruptible),
        ] {
            one.labels.insert(key.to_owned(), value);
        }
        all.push(one);
    }
    all
}

fn offering(
    zone: &SubnetZone,
    capacity_type: &str,
    price: Option<(i64, PriceSource)>,
    is_usable: bool,
) -> Offering {
    let (usd, price_source) = match price {
        Some((microusd, source)) => (usd_from_microusd(microusd), source),
        None => (UNKNOWN_PRICE_USD, PriceSource::Missing),
    };
    let mut labels = BTreeMap::new();
    if let Some(id) = &zone.zone_id {
        labels.insert(labels::aws::ZONE_ID.to_owned(), id.clone());
    }
    Offering {
        zone: zone.zone.clone(),
        capacity_type: capacity_type.to_owned(),
        price: usd,
        available: is_usable && price.is_some(),
        reservation_id: None,
        reservation_capacity: 0,
        labels,
        price_source,
    }
}
