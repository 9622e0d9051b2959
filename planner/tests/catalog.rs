//! The catalog against tables made outside of it: published labels and allocatable of every
//! AWS type, worked examples for other settings and for Azure, and rules over all regions.
//!
//! A binary of its own because it needs nothing but the public catalog and reads a large
//! reference table; what is private (each row of each table) is tested beside the code.

#[path = "catalog/aws.rs"]
mod aws;
#[path = "catalog/azure.rs"]
mod azure;
#[path = "catalog/prices.rs"]
mod prices;
#[path = "catalog/reference.rs"]
mod reference;

use std::collections::BTreeMap;

use dunnage_planner::catalog::{self, NodeSettings, Provider, Region};
use dunnage_planner::instance_type::{InstanceType, PriceSource};
use dunnage_planner::quantity::{Rounding, parse_resource};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Every type of a region for a class that says nothing.
fn default_types(region: Region) -> Vec<InstanceType> {
    let settings = NodeSettings::default_of(region.provider());
    catalog::instance_types(region, &settings).expect("default settings are valid")
}

/// The values of a label; `None` if the type says that it is absent.
fn label<'a>(one: &'a InstanceType, key: &str) -> Option<&'a [String]> {
    let found = one.requirements.iter().find(|r| r.key == key);
    let found = found.unwrap_or_else(|| panic!("{} says nothing of {key}", one.name));
    match found.operator.as_str() {
        "In" => Some(&found.values),
        "DoesNotExist" => None,
        other => panic!("{}: {key} has operator {other}", one.name),
    }
}

/// Capacity and overhead in the planner's units (thousandths of a CPU, bytes, pieces).
fn amounts(one: &InstanceType) -> (BTreeMap<&str, i64>, BTreeMap<&str, i64>) {
    fn read(map: &BTreeMap<String, Quantity>) -> BTreeMap<&str, i64> {
        let parse = |key: &str, text: &str| parse_resource(key, text, Rounding::Down);
        map.iter()
            .map(|(key, value)| (key.as_str(), parse(key, &value.0).expect("a quantity")))
            .collect()
    }
    (read(&one.capacity), read(&one.overhead))
}

/// Capacity less overhead of one resource.
fn allocatable(one: &InstanceType, resource: &str) -> i64 {
    let (capacity, overhead) = amounts(one);
    capacity.get(resource).unwrap_or(&0) - overhead.get(resource).unwrap_or(&0)
}

#[test]
fn every_region_answers_in_order_and_with_sound_prices() {
    for &region in catalog::regions() {
        let types = default_types(region);
        let least = if region.provider() == Provider::Aws { 1100 } else { 600 };
        assert!(types.len() > least, "{}: {}", region.name(), types.len());
        assert!(types.windows(2).all(|w| w[0].name < w[1].name), "{}", region.name());
        for one in &types {
            check_type(region, one);
        }
        assert_eq!(types, default_types(region), "the same every time");
    }
}

/// What holds for every type of every region.
fn check_type(region: Region, one: &InstanceType) {
    let what = || format!("{} in {}", one.name, region.name());
    let (capacity, overhead) = amounts(one);
    for resource in ["cpu", "memory", "ephemeral-storage"] {
        let (all, kept) = (capacity[resource], overhead.get(resource).unwrap_or(&0));
        assert!(all > 0 && *kept >= 0, "{}: {resource}", what());
    }
    assert!(capacity["pods"] > 0, "{}", what());
    assert_eq!(label(one, "topology.kubernetes.io/region"), Some(&[region.name().to_owned()][..]));
    let zones = label(one, "topology.kubernetes.io/zone").expect("a zone");
    let mut ondemand = BTreeMap::new();
    for offering in &one.offerings {
        assert!(offering.price > 0.0 && offering.price.is_finite(), "{}", what());
        assert!(zones.contains(&offering.zone), "{}: {}", what(), offering.zone);
        if offering.price_source == PriceSource::Missing {
            assert!(!offering.available, "{}", what());
            assert_eq!(offering.price, catalog::UNKNOWN_PRICE_USD);
            continue;
        }
        match offering.capacity_type.as_str() {
            "on-demand" => {
                let borrowed = region.provider() == Provider::Aws && region != Region::UsEast1;
                let want = if borrowed { PriceSource::OtherRegion } else { PriceSource::List };
                assert_eq!(offering.price_source, want, "{}", what());
                ondemand.insert(offering.zone.as_str(), offering.price);
            }
            "spot" => {
                let marks = [PriceSource::EstimatedSpot, PriceSource::Synthetic];
                assert!(marks.contains(&offering.price_source), "{}", what());
            }
            other => panic!("{}: {other}", what()),
        }
    }
    for offering in one.offerings.iter().filter(|o| o.capacity_type == "spot") {
        let Some(&list) = ondemand.get(offering.zone.as_str()) else { continue };
        if offering.price_source == PriceSource::Missing {
            continue;
        }
        // The advisor's saving for a1 is 0 %.
        let is_cheaper = offering.price < list || one.name.starts_with("a1.");
        assert!(is_cheaper, "{}: {} of {list}", what(), offering.price);
    }
}

#[test]
fn only_what_is_wanted_is_built() {
    let settings = NodeSettings::default_of(Provider::Aws);
    let some =
        catalog::instance_types_where(Region::UsEast1, &settings, |name| name.starts_with("m5."));
    let some = some.expect("default settings are valid");
    let all = default_types(Region::UsEast1);
    let want: Vec<_> = all.into_iter().filter(|t| t.name.starts_with("m5.")).collect();
    assert_eq!(want.len(), 9);
    assert_eq!(some, want);
}

#[test]
fn a_class_of_the_other_provider_is_refused() {
    let settings = NodeSettings::default_of(Provider::Azure);
    let error = catalog::instance_types(Region::UsWest2, &settings).expect_err("must not mix");
    let want = "region `us-west-2` does not belong to the provider of the node class";
    assert_eq!(error.to_string(), want);
    let class = serde_json::json!({"kind": "GCENodeClass"});
    let error = NodeSettings::from_node_class(&class).expect_err("unknown kind");
    let want = "`kind`: `GCENodeClass` must be EC2NodeClass or AKSNodeClass";
    assert_eq!(error.to_string(), want);
}

#[test]
fn one_region_is_built_quickly() {
    // 10 ms in a release build; a debug build and a busy machine get room.
    let limit = if cfg!(debug_assertions) { 1500 } else { 100 };
    let _ = (default_types(Region::UsEast1), default_types(Region::EastUs));
    let once = |_| {
        let clock = std::time::Instant::now();
        let types = default_types(Region::UsEast1);
        let took = clock.elapsed();
        assert!(types.len() > 1300);
        took
    };
    let best = (0..10).map(once).min().expect("ten runs");
    println!("built in {best:?}");
    assert!(best.as_millis() < limit, "{best:?}");
}
