//! The Azure tables: sizes, prices, supported GPUs, sampled capabilities and spot ratios.

use std::sync::OnceLock;

use super::super::table::{Cells, TableError, rows};
use super::capabilities::Capabilities;
use super::sku_name::SkuName;

const SIZES: &str = include_str!("../../../data/azure/sizes.csv");
const GPUS: &str = include_str!("../../../data/azure/gpus.csv");
const CAPABILITIES: &str = include_str!("../../../data/azure/capabilities.csv");
const RATIOS: &str = include_str!("../../../data/azure/spot_ratios.csv");
const REGIONS: &str = "eastus,westus2,westus3,westeurope,germanywestcentral";

/// A GPU that AKS supports on a size.
#[derive(Clone, Copy)]
pub(super) struct GpuFacts {
    /// `nvidia` or `amd`.
    pub(super) maker: &'static str,
    /// Node images with a driver for it, joined by `+`.
    pub(super) images: &'static str,
}

/// One VM size.
pub(super) struct SizeFacts {
    pub(super) name: &'static str,
    pub(super) sku: Option<SkuName>,
    pub(super) vcpus: i64,
    pub(super) memory_mib: i64,
    pub(super) arch: &'static str,
    pub(super) gpus: i64,
    pub(super) gpu: Option<GpuFacts>,
    /// On-demand list price by region column; `None` where the size is not sold.
    pub(super) ondemand_microusd: [Option<i64>; 5],
    pub(super) capabilities: Capabilities,
}

/// Spot price in thousandths of the on-demand price, by family and region column.
pub(super) struct RatioFacts {
    pub(super) family: &'static str,
    pub(super) permille: [Option<i64>; 5],
}

fn read_size(c: &mut Cells) -> Result<SizeFacts, TableError> {
    let name = c.name()?;
    let (vcpus, memory_mib) = (c.number()? as i64, c.number()? as i64);
    let (arch, gpus) = (c.name()?, c.number()? as i64);
    let mut ondemand_microusd = [None; 5];
    for price in &mut ondemand_microusd {
        *price = c.optional_price_microusd()?;
    }
    // Memory of less than 1 GiB stands as 0: the source cuts to whole GiB.
    if !matches!(arch, "amd64" | "arm64") || vcpus == 0 {
        return Err(c.refuse("has an unknown architecture or no vCPUs"));
    }
    if ondemand_microusd.iter().all(Option::is_none) {
        return Err(c.refuse("is sold nowhere"));
    }
    let sku = SkuName::parse(name);
    let capabilities = Capabilities::by_rule(sku.as_ref(), vcpus, arch);
    let gpu = None;
    Ok(SizeFacts { name, sku, vcpus, memory_mib, arch, gpus, gpu, ondemand_microusd, capabilities })
}

fn load() -> Result<Vec<SizeFacts>, TableError> {
    let header = format!("name,vcpus,memory_mib,arch,gpus,{REGIONS}");
    let mut sizes = rows("azure/sizes.csv", SIZES, &header, read_size)?;
    sizes.sort_by_key(|s| s.name);
    let gpus = rows("azure/gpus.csv", GPUS, "name,maker,images", |c| {
        let (name, maker) = (c.name()?, c.name()?);
        if !matches!(maker, "nvidia" | "amd") {
            return Err(c.refuse("has an unknown maker"));
        }
        Ok((name, GpuFacts { maker, images: c.name()? }))
    })?;
    let header = "name,accelerated_networking,premium_io,ephemeral_os_disk,placements,\
                  cached_disk_bytes,resource_volume_mib,nvme_disk_mib,hyperv,low_priority,\
                  encryption_at_host,trusted_launch_disabled,ultra_ssd";
    let sampled = rows("azure/capabilities.csv", CAPABILITIES, header, |c| {
        Ok((c.name()?, Capabilities::sampled(c)?))
    })?;
    for size in &mut sizes {
        let lower = size.name.to_ascii_lowercase();
        size.gpu = gpus.iter().find(|(name, _)| *name == lower).map(|(_, gpu)| *gpu);
        if let Some((_, own)) = sampled.iter().find(|(name, _)| *name == size.name) {
            size.capabilities = *own;
        }
    }
    Ok(sizes)
}

fn load_ratios() -> Result<Vec<RatioFacts>, TableError> {
    rows("azure/spot_ratios.csv", RATIOS, &format!("family,{REGIONS}"), |c| {
        let family = c.name()?;
        let mut permille = [None; 5];
        for cell in &mut permille {
            *cell = c.optional()?.map(|n| n as i64);
        }
        if permille.iter().flatten().any(|n| *n == 0 || *n >= 1000) {
            return Err(c.refuse("has a ratio outside 1 to 999"));
        }
        Ok(RatioFacts { family, permille })
    })
}

/// Every size by name, those that are never offered included.
pub(super) fn sizes() -> &'static [SizeFacts] {
    static SIZES: OnceLock<Vec<SizeFacts>> = OnceLock::new();
    // INVARIANT: the tables are part of the program and a test reads every row of them.
    SIZES.get_or_init(|| load().expect("the built-in Azure tables are well formed"))
}

/// The size of this name.
pub(super) fn find(name: &str) -> Option<&'static SizeFacts> {
    let sizes = sizes();
    sizes.binary_search_by_key(&name, |s| s.name).ok().map(|at| &sizes[at])
}

/// The sampled spot ratios.
pub(super) fn ratios() -> &'static [RatioFacts] {
    static RATIOS: OnceLock<Vec<RatioFacts>> = OnceLock::new();
    // INVARIANT: as in `sizes`.
    RATIOS.get_or_init(|| load_ratios().expect("the built-in ratio table is well formed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_sorted_by_name() {
        let sizes = load().expect("tables parse");
        assert_eq!(sizes.len(), 1348);
        assert!(sizes.windows(2).all(|w| w[0].name < w[1].name), "names are unique");
        assert_eq!(load_ratios().expect("table parses").len(), 4);
        // Of the 20 sampled sizes the single-core ones have no specification here.
        let sampled: Vec<_> =
            sizes.iter().filter(|s| s.capabilities.is_sampled).map(|s| s.name).collect();
        assert!(sampled.len() >= 17, "{sampled:?}");
        assert!(sampled.contains(&"Standard_D4s_v3"));
        assert!(sizes.iter().filter(|s| s.gpu.is_some()).count() >= 35);
    }

    /// The rules must give the sampled sizes what Azure says of them, but for what is listed.
    #[test]
    fn rules_agree_with_the_sample() {
        let mut differing = Vec::new();
        // DC is never offered: no rule was made for it.
        let sampled = sizes().iter().filter(|s| s.capabilities.is_sampled);
        for size in sampled.filter(|s| !s.name.starts_with("Standard_DC")) {
            let own = &size.capabilities;
            let rule = Capabilities::by_rule(size.sku.as_ref(), size.vcpus, size.arch);
            let place = |c: &Capabilities| c.ephemeral_os.map(|(place, _)| place);
            let gb = |c: &Capabilities| c.ephemeral_os.map(|(_, bytes)| bytes / 1_000_000_000);
            for (what, is_same) in [
                ("network", own.has_accelerated_networking == rule.has_accelerated_networking),
                ("premium", own.has_premium_io == rule.has_premium_io),
                ("disk", place(own) == place(&rule)),
                ("disk size", gb(own) == gb(&rule)),
                ("hyperv1", own.has_hyperv1 == rule.has_hyperv1),
                ("hyperv2", own.has_hyperv2 == rule.has_hyperv2),
                ("spot", own.is_spot_capable == rule.is_spot_capable),
                ("host encryption", own.has_encryption_at_host == rule.has_encryption_at_host),
                ("trusted launch", own.has_trusted_launch == rule.has_trusted_launch),
                ("ultra", own.has_ultra_ssd == rule.has_ultra_ssd),
            ] {
                if !is_same {
                    differing.push((size.name, what));
                }
            }
        }
        // Cache and temporary disks of these have sizes of their own.
        let want = [
            "Standard_DS2_v2",
            "Standard_M8-2ms",
            "Standard_NC16as_T4_v3",
            "Standard_NC24ads_A100_v4",
            "Standard_NC6s_v3",
        ];
        assert_eq!(differing, want.map(|name| (name, "disk size")));
    }
}
