//! Azure: VM sizes of a region as nodes of an AKSNodeClass.

mod capabilities;
mod capacity;
mod facts;
mod offerings;
mod requirements;
mod settings;
mod sku_name;

use std::sync::OnceLock;

pub use capabilities::Placement;
pub use settings::{AzureNodeSettings, ImageFamily, NetworkPlugin};

use super::{CatalogError, Note, Provider, Region, regions};
use crate::instance_type::{InstanceType, PriceSource};
use crate::quantity::format_usd;

/// Sizes that AKS does not take.
const REFUSED: [&str; 9] = [
    "Standard_A0",
    "Standard_A1",
    "Standard_A1_v2",
    "Standard_B1ms",
    "Standard_B1s",
    "Standard_E64i_v3",
    "Standard_E64is_v3",
    "Standard_F1",
    "Standard_F1s",
];
const MIN_VCPUS: i64 = 2;
const MIN_MEMORY_MIB: i64 = 3584;
/// What a node with its own DNS cache needs.
const LOCAL_DNS_VCPUS: i64 = 4;
const LOCAL_DNS_MEMORY_MIB: i64 = 244;

/// The zones of a region: Azure's regions here have three.
pub(super) fn zones(region: Region) -> &'static [String] {
    static ALL: OnceLock<Vec<Vec<String>>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let own = regions().iter().filter(|r| r.provider() == Provider::Azure);
        own.map(|r| (1..=3).map(|n| format!("{}-{n}", r.name())).collect()).collect()
    });
    &all[region.column()]
}

/// True if AKS takes the size at all, whatever the class says.
fn is_supported(facts: &facts::SizeFacts) -> bool {
    let Some(sku) = facts.sku else { return false };
    let is_confidential = sku.letters.starts_with("DC") || sku.letters.starts_with("EC");
    !REFUSED.contains(&facts.name)
        && facts.vcpus >= MIN_VCPUS
        && facts.memory_mib >= MIN_MEMORY_MIB
        && (facts.gpus == 0 || facts.gpu.is_some())
        && !sku.is_constrained
        && !is_confidential
}

/// True if the size can be a node of the class.
fn suits(facts: &facts::SizeFacts, settings: &AzureNodeSettings) -> bool {
    let can = &facts.capabilities;
    let has_image = facts.gpu.is_none_or(|gpu| {
        gpu.images.split('+').any(|image| match settings.image_family {
            ImageFamily::AzureLinux => matches!(image, "azurelinux" | "azurelinux3"),
            _ => image == "ubuntu",
        })
    });
    // AKS installs drivers for NVIDIA only.
    let has_driver = facts.gpu.is_none_or(|gpu| gpu.maker == "nvidia");
    has_image
        && (has_driver || !settings.installs_gpu_driver)
        && (can.has_encryption_at_host || !settings.has_encryption_at_host)
        && (can.has_trusted_launch || !settings.has_trusted_launch)
        && (facts.arch != "arm64" || !settings.has_artifact_streaming)
        && (!settings.has_local_dns
            || (facts.vcpus >= LOCAL_DNS_VCPUS && facts.memory_mib >= LOCAL_DNS_MEMORY_MIB))
}

/// The sizes sold in the region that suit the class and whose name is wanted, by name.
///
/// # Errors
/// A memory overhead that is negative or no number.
pub fn instance_types(
    region: Region,
    settings: &AzureNodeSettings,
    mut is_wanted: impl FnMut(&str) -> bool,
) -> Result<Vec<InstanceType>, CatalogError> {
    let overhead = settings.vm_memory_overhead_percent;
    if !overhead.is_finite() || overhead < 0.0 {
        return Err(CatalogError::Setting {
            name: "vm-memory-overhead-percent",
            value: overhead.to_string(),
            why: "must be a fraction from 0 up, such as 0.075",
        });
    }
    let mut all = Vec::new();
    for facts in facts::sizes() {
        // A price is what says that the region sells the size.
        let (Some(price), Some(sku)) = (facts.ondemand_microusd[region.column()], facts.sku) else {
            continue;
        };
        if !is_supported(facts) || !suits(facts, settings) || !is_wanted(facts.name) {
            continue;
        }
        all.push(InstanceType {
            name: facts.name.to_owned(),
            requirements: requirements::requirements(region, facts, &sku, settings),
            capacity: capacity::capacity(facts, settings),
            overhead: capacity::overhead(facts),
            offerings: offerings::offerings(region, facts, &sku, price),
        });
    }
    Ok(all)
}

/// Why a size that exists is in no region of the catalog; `None` for all others.
pub(super) fn why_absent(name: &str) -> Option<String> {
    let facts = facts::find(name)?;
    let says = |why: &str| Some(format!("is left out: {why}"));
    let Some(sku) = facts.sku else {
        return says("its name does not follow Azure's scheme, so its features are not known");
    };
    let is_confidential = sku.letters.starts_with("DC") || sku.letters.starts_with("EC");
    if REFUSED.contains(&facts.name) {
        return says("AKS takes no nodes of this size");
    }
    if facts.vcpus < MIN_VCPUS || facts.memory_mib < MIN_MEMORY_MIB {
        return says("AKS wants at least 2 vCPUs and 3.5 GiB of memory");
    }
    if facts.gpus > 0 && facts.gpu.is_none() {
        return says("AKS does not support its GPU");
    }
    if sku.is_constrained {
        return says("sizes with fewer vCPUs than their machine are not offered");
    }
    if is_confidential {
        return says("confidential sizes are not offered");
    }
    // INVARIANT: `suits` refuses for a class that says nothing only what has a GPU.
    match facts.gpu {
        Some(gpu) if gpu.maker != "nvidia" => says(
            "AKS installs no driver for its AMD GPU; an AKSNodeClass with `gpu.mode: None` offers \
             it",
        ),
        _ => None,
    }
}

/// Every name of the table.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    facts::sizes().iter().map(|s| s.name)
}

/// Where the OS disk of a node lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OsDisk {
    /// On the machine itself, which is free and fast: where, and the largest size in GB.
    Ephemeral(Placement, i64),
    /// A managed disk.
    Managed,
}

/// The OS disk that a size gets for a class that asks for so many GB. `None` for names that
/// the table does not have.
pub fn os_disk(name: &str, os_disk_gb: u32) -> Option<OsDisk> {
    let facts = facts::find(name)?;
    Some(match facts.capabilities.ephemeral_os {
        Some((placement, bytes)) if i64::from(os_disk_gb) <= bytes / 1_000_000_000 => {
            OsDisk::Ephemeral(placement, bytes / 1_000_000_000)
        }
        _ => OsDisk::Managed,
    })
}

/// What is estimated or made by rule for one size.
pub fn notes(region: Region, name: &str) -> Vec<Note> {
    let Some(facts) = facts::find(name) else { return Vec::new() };
    let mut all = facts.capabilities.notes();
    all.push(Note {
        subject: "zones",
        value: zones(region).join(", "),
        origin: "by rule: every size in all three zones; no source says which".to_owned(),
    });
    if let (Some(price), Some(sku)) = (facts.ondemand_microusd[region.column()], facts.sku) {
        let spot = offerings::spot(region, facts, &sku, price);
        let from = match spot.source {
            PriceSource::EstimatedSpot => "sampled for its family in this region",
            _ => "by rule: its family or this region was not sampled",
        };
        all.push(Note {
            subject: "spot price",
            value: format_usd(spot.microusd),
            origin: format!("{} thousandths of the on-demand price, {from}", spot.permille),
        });
    }
    all
}
