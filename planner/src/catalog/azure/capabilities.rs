//! What a VM size can do: sampled from Azure where there is a sample, else made by rule.
//!
//! The rules follow Azure's naming scheme and what the sampled sizes of the same kind have;
//! [`Capabilities::notes`] says so value by value. They are good for planning, not facts.

use super::super::Note;
use super::super::table::{Cells, TableError};
use super::sku_name::SkuName;

const GIB: i64 = 1 << 30;
const MIB: i64 = 1 << 20;

/// Where an ephemeral OS disk can lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Local NVMe disk.
    NvmeDisk,
    /// Host cache.
    CacheDisk,
    /// Temporary disk.
    ResourceDisk,
}

/// The capabilities that the catalog looks at.
#[derive(Clone, Copy)]
pub(super) struct Capabilities {
    pub(super) has_accelerated_networking: bool,
    pub(super) has_premium_io: bool,
    /// Largest ephemeral OS disk: where and how many bytes.
    pub(super) ephemeral_os: Option<(Placement, i64)>,
    pub(super) has_hyperv1: bool,
    pub(super) has_hyperv2: bool,
    pub(super) is_spot_capable: bool,
    pub(super) has_encryption_at_host: bool,
    pub(super) has_trusted_launch: bool,
    pub(super) has_ultra_ssd: bool,
    /// True if the values are Azure's own.
    pub(super) is_sampled: bool,
}

/// The first that applies of NVMe, cache and temporary disk.
fn ephemeral_os(nvme: i64, cache: i64, resource: i64) -> Option<(Placement, i64)> {
    let sizes = [
        (Placement::NvmeDisk, nvme),
        (Placement::CacheDisk, cache),
        (Placement::ResourceDisk, resource),
    ];
    sizes.into_iter().find(|(_, bytes)| *bytes > 0)
}

impl Capabilities {
    /// Reads the cells of a sampled size after its name.
    pub(super) fn sampled(c: &mut Cells) -> Result<Self, TableError> {
        let (has_accelerated_networking, has_premium_io) = (c.flag()?, c.flag()?);
        let is_supported = c.flag()?;
        let on_nvme = c.text()?.split('+').any(|p| p == "Nvme");
        let cache = c.optional()?.unwrap_or(0) as i64;
        let resource = c.optional()?.unwrap_or(0) as i64 * MIB;
        let nvme = c.optional()?.filter(|_| on_nvme).unwrap_or(0) as i64 * MIB;
        let hyperv = c.name()?;
        let (is_spot_capable, has_encryption_at_host) = (c.flag()?, c.flag()?);
        let is_trusted_launch_off = c.optional_flag()?.unwrap_or(false);
        let has_ultra_ssd = c.optional_flag()?.unwrap_or(false);
        let has_hyperv2 = hyperv.contains("V2");
        Ok(Self {
            has_accelerated_networking,
            has_premium_io,
            ephemeral_os: ephemeral_os(nvme, cache, resource).filter(|_| is_supported),
            has_hyperv1: hyperv.contains("V1"),
            has_hyperv2,
            is_spot_capable,
            has_encryption_at_host,
            has_trusted_launch: has_hyperv2 && !is_trusted_launch_off,
            has_ultra_ssd,
            is_sampled: true,
        })
    }

    /// What the name lets expect. Names that cannot be taken apart get nothing: such sizes
    /// are never offered.
    pub(super) fn by_rule(sku: Option<&SkuName>, vcpus: i64, arch: &str) -> Self {
        let mut all = Self {
            has_accelerated_networking: false,
            has_premium_io: false,
            ephemeral_os: None,
            has_hyperv1: false,
            has_hyperv2: false,
            is_spot_capable: false,
            has_encryption_at_host: false,
            has_trusted_launch: false,
            has_ultra_ssd: false,
            is_sampled: false,
        };
        let Some(sku) = sku else { return all };
        let (version, is_arm) = (sku.effective_version(), arch == "arm64");
        let (family, is_premium) = (sku.family(), sku.is_premium());
        let is_old_burstable = family == "B" && version == 1;
        all.has_premium_io = is_premium;
        let lacks_fast_network = matches!(family, "A" | "G") || (is_old_burstable && vcpus < 12);
        all.has_accelerated_networking = !lacks_fast_network;
        let is_big_gpu = matches!(sku.accelerator, Some("A100" | "H100" | "H200" | "MI300X"));
        all.has_hyperv1 = version <= 5 && !is_arm && !is_big_gpu;
        all.has_hyperv2 = version >= 4 || is_premium || is_arm;
        all.is_spot_capable = !is_old_burstable;
        all.has_encryption_at_host = version >= 4 || is_premium;
        let is_old_memory = family == "M" && version <= 2;
        all.has_trusted_launch = all.has_hyperv2 && !(is_arm && version <= 5) && !is_old_memory;
        let is_new_with_disk = version >= 6 && sku.has_feature('d');
        all.has_ultra_ssd = version == 5 || (sku.has_feature('s') && !is_new_with_disk);
        all.ephemeral_os = Self::disks_by_rule(sku, vcpus, version);
        all
    }

    /// Local disks as the sampled sizes of the same age have them, per vCPU.
    fn disks_by_rule(sku: &SkuName, vcpus: i64, version: u32) -> Option<(Placement, i64)> {
        let (is_premium, has_disk) = (sku.is_premium(), sku.has_feature('d'));
        match version {
            6.. if has_disk => ephemeral_os(vcpus * 56_320 * MIB, 0, 0),
            4..=5 if has_disk && is_premium => ephemeral_os(0, vcpus * 25 * GIB, 0),
            4..=5 if has_disk => ephemeral_os(0, 0, vcpus * 38_400 * MIB),
            1 if sku.family() == "B" && is_premium => ephemeral_os(0, 30 * GIB, 0),
            ..=3 if sku.family() == "F" && is_premium => ephemeral_os(0, vcpus * 16 * GIB, 0),
            ..=3 if is_premium => ephemeral_os(0, vcpus * 25 * GIB, 0),
            _ => None,
        }
    }

    /// One note for every value that was made by rule.
    pub(super) fn notes(&self) -> Vec<Note> {
        if self.is_sampled {
            return Vec::new();
        }
        let generations = match (self.has_hyperv1, self.has_hyperv2) {
            (true, true) => "V1,V2",
            (true, false) => "V1",
            (false, true) => "V2",
            (false, false) => "",
        };
        let disk = match self.ephemeral_os {
            None => "none".to_owned(),
            Some((placement, bytes)) => format!("{placement:?}, {} GB", bytes / 1_000_000_000),
        };
        let note = |subject, value: String, origin: &str| Note {
            subject,
            value,
            origin: format!("by rule: {origin}"),
        };
        vec![
            note(
                "AcceleratedNetworkingEnabled",
                self.has_accelerated_networking.to_string(),
                "all but families A and G and first-generation B below 12 vCPUs",
            ),
            note("PremiumIO", self.has_premium_io.to_string(), "feature s in the name"),
            note(
                "ephemeral OS disk",
                disk,
                "per vCPU as the sampled sizes of the same age have it: NVMe 56,320 MiB from v6, \
                 cache 25 GiB (F: 16 GiB), temporary disk 38,400 MiB; B v1: 30 GiB of cache",
            ),
            note(
                "HyperVGenerations",
                generations.to_owned(),
                "generation 1 up to v5 on x86, but not with A100, H100, H200 or MI300X; \
                 generation 2 from v4, with premium storage or on Arm",
            ),
            note(
                "LowPriorityCapable",
                self.is_spot_capable.to_string(),
                "all but first-generation B",
            ),
            note(
                "EncryptionAtHostSupported",
                self.has_encryption_at_host.to_string(),
                "from v4 or with premium storage",
            ),
            note(
                "trusted launch",
                self.has_trusted_launch.to_string(),
                "generation 2, but not Arm up to v5 and not M up to v2",
            ),
            note(
                "UltraSSDAvailable",
                self.has_ultra_ssd.to_string(),
                "all of v5, and feature s except from v6 with a local disk",
            ),
        ]
    }
}
