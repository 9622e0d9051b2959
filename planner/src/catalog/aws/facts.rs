//! The AWS tables: what EC2 says of each type, where it is sold and for how much.

use std::sync::OnceLock;

use super::super::Region;
use super::super::table::{Cells, TableError, rows};

const TYPES: &str = include_str!("../../../data/aws/types.csv");
const TYPES_HEADER: &str = "name,vcpu,memory_mib,arch,cpu_maker,clock_mhz,hypervisor,bare_metal,\
usage,gpu_name,gpu_maker,gpu_count,gpu_memory_mib,accelerator_name,accelerator_maker,\
accelerator_count,neuron_devices,neuron_cores,local_storage_gb,local_nvme,network_cards,enis,\
ipv4_per_eni,efa_max,pod_eni,ena,encrypts_transit,enclaves,network_mbps,ebs_mbps,placement,\
nested_virt,us-east-1,us-west-2,eu-west-1,eu-central-1";
const ONDEMAND: &str = include_str!("../../../data/aws/ondemand.csv");
const SPOT: &str = include_str!("../../../data/aws/spot_advisor.csv");
const ZONES: &str = include_str!("../../../data/aws/zones.csv");

/// Regions of the advisor table in the order in which one stands in for another.
pub(super) const ADVISOR_REGIONS: [&str; 5] =
    ["us-east-1", "us-east-2", "us-west-2", "eu-west-1", "eu-central-1"];

/// A GPU or an accelerator as the labels name it.
pub(super) struct Device {
    pub(super) name: &'static str,
    pub(super) maker: &'static str,
    /// Whole devices; 0 for a fraction of one.
    pub(super) count: u64,
    /// MiB of one device; `None` for accelerators.
    pub(super) memory_mib: Option<u64>,
}

/// One EC2 type.
pub(super) struct TypeFacts {
    pub(super) name: &'static str,
    pub(super) vcpu: i64,
    pub(super) memory_mib: i64,
    pub(super) arch: &'static str,
    pub(super) cpu_maker: &'static str,
    pub(super) clock_mhz: u64,
    pub(super) hypervisor: &'static str,
    pub(super) is_bare_metal: bool,
    pub(super) has_spot: bool,
    pub(super) gpu: Option<Device>,
    pub(super) accelerator: Option<Device>,
    pub(super) neuron_devices: i64,
    pub(super) neuron_cores: i64,
    pub(super) local_storage_gb: Option<i64>,
    pub(super) has_local_nvme: bool,
    pub(super) network_cards: u32,
    pub(super) enis: i64,
    pub(super) ipv4_per_eni: i64,
    pub(super) efa_max: i64,
    pub(super) pod_eni: i64,
    pub(super) has_ena: bool,
    pub(super) encrypts_transit: bool,
    pub(super) has_enclaves: bool,
    pub(super) network_mbps: Option<u64>,
    pub(super) ebs_mbps: Option<u64>,
    /// First letters of the placement group strategies: `c`, `p`, `s`.
    pub(super) placement: &'static str,
    pub(super) has_nested_virt: bool,
    /// Zone letters by region column; empty where the type is not sold.
    pub(super) zones: [&'static str; 4],
    /// List price of us-east-1.
    pub(super) ondemand_microusd: Option<i64>,
    /// Saving in percent and interruption band by column of [`ADVISOR_REGIONS`].
    pub(super) advice: [Option<(i64, u8)>; 5],
}

/// A zone name and the id it has in the example account.
pub struct ZoneFacts {
    /// For example `us-east-1a`.
    pub name: &'static str,
    /// For example `use1-az2`.
    pub id: &'static str,
}

fn device(
    name: &'static str,
    maker: &'static str,
    count: Option<u64>,
    memory_mib: Option<u64>,
) -> Option<Device> {
    (!name.is_empty()).then_some(Device { name, maker, count: count.unwrap_or(0), memory_mib })
}

fn read_type(c: &mut Cells) -> Result<TypeFacts, TableError> {
    let name = c.name()?;
    let (vcpu, memory_mib) = (c.number()? as i64, c.number()? as i64);
    let arch = c.name()?;
    let (cpu_maker, clock_mhz) = (c.name()?, c.number()?);
    let (hypervisor, is_bare_metal) = (c.text()?, c.flag()?);
    let usage = c.name()?;
    let gpu = device(c.text()?, c.text()?, c.optional()?, c.optional()?);
    let accelerator = device(c.text()?, c.text()?, c.optional()?, None);
    let neuron_devices = c.optional()?.unwrap_or(0) as i64;
    let neuron_cores = c.optional()?.unwrap_or(0) as i64;
    let local_storage_gb = c.optional()?.map(|gb| gb as i64);
    let has_local_nvme = c.flag()?;
    let network_cards = c.number()? as u32;
    let (enis, ipv4_per_eni) = (c.number()? as i64, c.number()? as i64);
    let efa_max = c.optional()?.unwrap_or(0) as i64;
    let pod_eni = c.optional()?.unwrap_or(0) as i64;
    let (has_ena, encrypts_transit, has_enclaves) = (c.flag()?, c.flag()?, c.flag()?);
    let (network_mbps, ebs_mbps) = (c.optional()?, c.optional()?);
    let placement = c.name()?;
    let has_nested_virt = c.flag()?;
    let zones = [c.text()?, c.text()?, c.text()?, c.text()?];
    if !matches!(arch, "amd64" | "arm64") || !usage.contains('o') {
        return Err(c.refuse("has an unknown architecture or is not sold on demand"));
    }
    if vcpu == 0 || memory_mib == 0 || enis == 0 || ipv4_per_eni == 0 {
        return Err(c.refuse("has a size of zero"));
    }
    Ok(TypeFacts {
        name,
        vcpu,
        memory_mib,
        arch,
        cpu_maker,
        clock_mhz,
        hypervisor,
        is_bare_metal,
        has_spot: usage.contains('s'),
        gpu,
        accelerator,
        neuron_devices,
        neuron_cores,
        local_storage_gb,
        has_local_nvme,
        network_cards,
        enis,
        ipv4_per_eni,
        efa_max,
        pod_eni,
        has_ena,
        encrypts_transit,
        has_enclaves,
        network_mbps,
        ebs_mbps,
        placement,
        has_nested_virt,
        zones,
        ondemand_microusd: None,
        advice: [None; 5],
    })
}

fn read_advice(c: &mut Cells) -> Result<Option<(i64, u8)>, TableError> {
    let cell = c.text()?;
    if cell.is_empty() {
        return Ok(None);
    }
    let parts = cell.split_once('/').and_then(|(saving, band)| {
        Some((saving.parse::<u8>().ok()?, band.parse::<u8>().ok().filter(|b| *b <= 4)?))
    });
    match parts {
        Some((saving, band)) if saving < 100 => Ok(Some((i64::from(saving), band))),
        _ => Err(c.refuse("has no saving below 100 with a band up to 4")),
    }
}

fn load() -> Result<Vec<TypeFacts>, TableError> {
    let mut types = rows("aws/types.csv", TYPES, TYPES_HEADER, read_type)?;
    types.sort_by_key(|t| t.name);
    let position = |c: &Cells, name: &str| {
        types
            .binary_search_by_key(&name, |t| t.name)
            .map_err(|_| c.refuse("names a type that aws/types.csv lacks"))
    };
    let ondemand = rows("aws/ondemand.csv", ONDEMAND, "type,usd_per_hour", |c| {
        let at = c.name().and_then(|name| position(c, name))?;
        Ok((at, c.optional_price_microusd()?))
    })?;
    let header = format!("type,{}", ADVISOR_REGIONS.join(","));
    let advice = rows("aws/spot_advisor.csv", SPOT, &header, |c| {
        let at = c.name().and_then(|name| position(c, name))?;
        let mut cells = [None; 5];
        for cell in &mut cells {
            *cell = read_advice(c)?;
        }
        Ok((at, cells))
    })?;
    for (at, price) in ondemand {
        types[at].ondemand_microusd = price;
    }
    for (at, cells) in advice {
        types[at].advice = cells;
    }
    Ok(types)
}

/// Every type by name.
pub(super) fn types() -> &'static [TypeFacts] {
    static TYPES: OnceLock<Vec<TypeFacts>> = OnceLock::new();
    // INVARIANT: the tables are part of the program and a test reads every row of them.
    TYPES.get_or_init(|| load().expect("the built-in AWS tables are well formed"))
}

/// The type of this name.
pub(super) fn find(name: &str) -> Option<&'static TypeFacts> {
    let types = types();
    types.binary_search_by_key(&name, |t| t.name).ok().map(|at| &types[at])
}

/// The zones of a region by name.
pub fn zones(region: Region) -> &'static [ZoneFacts] {
    static ALL: OnceLock<Vec<ZoneFacts>> = OnceLock::new();
    // INVARIANT: as in `types`.
    let all = ALL.get_or_init(|| {
        rows("aws/zones.csv", ZONES, "zone,zone_id", |c| {
            Ok(ZoneFacts { name: c.name()?, id: c.name()? })
        })
        .expect("the built-in AWS zone table is well formed")
    });
    let is_ours = |z: &ZoneFacts| z.name.starts_with(region.name());
    let start = all.iter().position(is_ours).unwrap_or(all.len());
    let len = all[start..].iter().take_while(|z| is_ours(z)).count();
    &all[start..start + len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_read_and_sorted_by_name() {
        let types = load().expect("tables parse");
        assert_eq!(types.len(), 1386);
        assert!(types.windows(2).all(|w| w[0].name < w[1].name), "names are unique");
        assert_eq!(types.iter().filter(|t| t.ondemand_microusd.is_some()).count(), 1340);
        assert_eq!(types.iter().filter(|t| t.advice.iter().any(Option::is_some)).count(), 879);
        let sold = |at: usize| types.iter().filter(|t| !t.zones[at].is_empty()).count();
        assert_eq!([sold(0), sold(1), sold(2), sold(3)], [1366, 1345, 1181, 1163]);
    }

    #[test]
    fn zones_of_a_type_are_zones_of_its_region() {
        for region in super::super::super::regions() {
            let Some(at) = ["us-east-1", "us-west-2", "eu-west-1", "eu-central-1"]
                .iter()
                .position(|r| *r == region.name())
            else {
                continue;
            };
            assert_eq!(at, region.column());
            let known: Vec<&str> =
                zones(*region).iter().map(|z| &z.name[region.name().len()..]).collect();
            assert_eq!(known.len(), [6, 4, 3, 3][at]);
            for facts in types() {
                for letter in facts.zones[at].chars() {
                    assert!(known.contains(&letter.to_string().as_str()), "{}", facts.name);
                }
            }
        }
    }
}
