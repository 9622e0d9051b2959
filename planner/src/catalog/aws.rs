//! AWS: instance types of a region as nodes of an EC2NodeClass.

mod capacity;
mod facts;
mod offerings;
mod requirements;
mod settings;

pub use facts::{ZoneFacts, zones};
pub use offerings::SpotAdvice;
pub use settings::{
    AmiFamily, AwsNodeSettings, Eviction, KubeletSettings, NetworkInterface, PlacementStrategy,
    Reservation, Reserved, SubnetZone,
};

use super::{CatalogError, Note, Region};
use crate::instance_type::InstanceType;
use crate::quantity::format_usd;

/// The types sold in the region whose name is wanted, by name.
///
/// # Errors
/// A memory overhead that is negative or no number.
pub fn instance_types(
    region: Region,
    settings: &AwsNodeSettings,
    mut is_wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<InstanceType>, CatalogError> {
    check(settings)?;
    let places = Places::of(region, settings);
    let is_sold = |t: &&facts::TypeFacts| !t.zones[region.column()].is_empty();
    Ok(facts::types()
        .iter()
        .filter(is_sold)
        .filter(|t| is_wanted(t.name))
        .map(|t| build(region, t, settings, &places))
        .collect())
}

/// The type of this name, without offerings if the region does not sell it. `None` for a
/// name that the table does not have.
///
/// # Errors
/// As [`instance_types`].
pub fn instance_type(
    region: Region,
    name: &str,
    settings: &AwsNodeSettings,
) -> Result<Option<InstanceType>, CatalogError> {
    check(settings)?;
    let places = Places::of(region, settings);
    Ok(facts::find(name).map(|t| build(region, t, settings, &places)))
}

/// Types with a price of which no source tells interfaces and size any more: old generations,
/// and AMD's and Xilinx' accelerators.
const WITHOUT_FACTS: [&str; 27] = [
    "cr1.8xlarge",
    "dl1.24xlarge",
    "f1.16xlarge",
    "f1.2xlarge",
    "f1.4xlarge",
    "g2.2xlarge",
    "g2.8xlarge",
    "g3.16xlarge",
    "g3.4xlarge",
    "g3.8xlarge",
    "g3s.xlarge",
    "g4ad.16xlarge",
    "g4ad.2xlarge",
    "g4ad.4xlarge",
    "g4ad.8xlarge",
    "g4ad.xlarge",
    "i3.metal",
    "p2.16xlarge",
    "p2.8xlarge",
    "p2.xlarge",
    "p3.16xlarge",
    "p3.2xlarge",
    "p3.8xlarge",
    "u-12tb1.112xlarge",
    "u-18tb1.112xlarge",
    "u-24tb1.112xlarge",
    "u-9tb1.112xlarge",
];

/// Why a type that exists is in no region of the catalog; `None` for all others.
pub(super) fn why_absent(name: &str) -> Option<String> {
    if WITHOUT_FACTS.contains(&name) {
        return Some(
            "is left out: its price is public, its size and network interfaces are in no source \
             of the catalog; give it in `instanceTypes`"
                .to_owned(),
        );
    }
    if name.starts_with("mac") && name.contains('.') {
        return Some("is left out: it runs macOS, and no Kubernetes node".to_owned());
    }
    let is_sold_elsewhere = facts::find(name)?.zones.iter().all(|zones| zones.is_empty());
    is_sold_elsewhere.then(|| "is sold in none of the catalog's regions".to_owned())
}

/// Every name of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    facts::types().iter().map(|t| t.name)
}

/// Saving and interruption band of a type on spot. `None` where no region has advice, or for
/// types that are not sold as spot.
pub fn spot_advice(region: Region, name: &str) -> Option<SpotAdvice> {
    let facts = facts::find(name).filter(|t| t.has_spot)?;
    offerings::spot_advice_of(region, facts)
}

fn check(settings: &AwsNodeSettings) -> Result<(), CatalogError> {
    let overhead = settings.vm_memory_overhead_percent;
    if overhead.is_finite() && overhead >= 0.0 {
        return Ok(());
    }
    Err(CatalogError::Setting {
        name: "vm-memory-overhead-percent",
        value: overhead.to_string(),
        why: "must be a fraction from 0 up, such as 0.075",
    })
}

/// The zones of the region, each with the id that the class's status or the example account
/// gives it and whether the class has a subnet there.
struct Places {
    zones: Vec<(SubnetZone, bool)>,
}

impl Places {
    fn of(region: Region, settings: &AwsNodeSettings) -> Self {
        let place = |zone: &ZoneFacts| match &settings.zones {
            None => {
                (SubnetZone { zone: zone.name.to_owned(), zone_id: Some(zone.id.to_owned()) }, true)
            }
            Some(own) => match own.iter().find(|z| z.zone == zone.name) {
                Some(own) => (own.clone(), true),
                None => (SubnetZone { zone: zone.name.to_owned(), zone_id: None }, false),
            },
        };
        Self { zones: zones(region).iter().map(place).collect() }
    }
}

fn build(
    region: Region,
    facts: &facts::TypeFacts,
    settings: &AwsNodeSettings,
    places: &Places,
) -> InstanceType {
    let letters = facts.zones[region.column()];
    let sells =
        |zone: &str| zone.chars().next_back().is_some_and(|letter| letters.contains(letter));
    let (mut sold, mut usable) = (Vec::with_capacity(6), Vec::with_capacity(6));
    for (zone, is_class_zone) in places.zones.iter().filter(|(z, _)| sells(&z.zone)) {
        sold.push(zone);
        if *is_class_zone {
            usable.push(zone);
        }
    }
    let reservations: Vec<&Reservation> =
        settings.reservations.iter().filter(|r| r.instance_type == facts.name).collect();
    let sizes = capacity::Sizes::of(facts, settings);
    let is_class_zone = |zone: &str| usable.iter().any(|z| z.zone == zone);
    InstanceType {
        name: facts.name.to_owned(),
        requirements: requirements::requirements(region, facts, settings, &usable, &reservations),
        capacity: sizes.capacity(facts, settings),
        overhead: sizes.overhead(facts, settings),
        offerings: offerings::offerings(
            region,
            facts,
            settings,
            &sold,
            is_class_zone,
            &reservations,
        ),
    }
}

/// What is estimated or borrowed for one type.
pub fn notes(region: Region, name: &str) -> Vec<Note> {
    let Some(facts) = facts::find(name) else { return Vec::new() };
    let mut all = vec![Note {
        subject: "zone ids",
        value: zones(region).iter().map(|z| z.id).collect::<Vec<_>>().join(", "),
        origin: "one example account; a class status with subnets replaces them".to_owned(),
    }];
    match offerings::ondemand(region, facts) {
        Some(_) if region == Region::UsEast1 => {}
        Some((price, _)) => all.push(Note {
            subject: "on-demand price",
            value: format_usd(price),
            origin: "list price of us-east-1: there is none for this region".to_owned(),
        }),
        None => all.push(Note {
            subject: "on-demand price",
            value: "unknown".to_owned(),
            origin: "no source names it: not available until a price file does".to_owned(),
        }),
    }
    if let Some((price, _)) = offerings::spot(region, facts).filter(|_| facts.has_spot)
        && let Some(advice) = offerings::spot_advice_of(region, facts)
    {
        all.push(Note {
            subject: "spot price",
            value: format_usd(price),
            origin: format!(
                "on-demand price less {} %, the spot advisor's saving in {} of 2025-07-28",
                advice.saving_percent, advice.region
            ),
        });
    }
    all
}
