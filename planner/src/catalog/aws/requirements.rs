//! Labels that nodes of an AWS type carry, as requirements.
//!
//! A label that the type never has is said to be absent (`DoesNotExist`): a pool that asks
//! for it must not match.

use super::super::{Region, labels, one_of};
use super::facts::{Device, TypeFacts};
use super::settings::{AwsNodeSettings, Reservation, SubnetZone};
use crate::instance_type::TypeRequirement;

/// Everything but zone and capacity type comes from the table and the image family.
pub(super) fn requirements(
    region: Region,
    facts: &TypeFacts,
    settings: &AwsNodeSettings,
    zones: &[&SubnetZone],
    reservations: &[&Reservation],
) -> Vec<TypeRequirement> {
    let mut all = Vec::with_capacity(40);
    all.push(one_of(labels::INSTANCE_TYPE, [facts.name]));
    all.push(one_of(labels::ARCH, [facts.arch]));
    let windows = settings.ami_family.windows_build();
    all.push(match windows {
        Some(_) => one_of(labels::OS, (facts.arch == "amd64").then_some("windows")),
        None => one_of(labels::OS, ["linux"]),
    });
    all.push(one_of(labels::WINDOWS_BUILD, windows));
    all.push(one_of(labels::REGION, [region.name()]));
    all.push(one_of(labels::ZONE, zones.iter().map(|z| z.zone.as_str())));
    let ids: Vec<&str> = zones.iter().filter_map(|z| z.zone_id.as_deref()).collect();
    if !ids.is_empty() {
        all.push(one_of(labels::aws::ZONE_ID, ids));
    }
    let capacity_types = [
        Some("on-demand"),
        facts.has_spot.then_some("spot"),
        (!reservations.is_empty()).then_some("reserved"),
    ];
    all.push(one_of(labels::CAPACITY_TYPE, capacity_types.into_iter().flatten()));
    name_parts(facts.name, &mut all);
    hardware(facts, &mut all);
    devices(facts, &mut all);
    reserved(reservations, &mut all);
    all.push(one_of(labels::aws::TENANCY, ["default", "dedicated"]));
    if let Some(id) = &settings.placement_group_id {
        all.push(one_of(labels::aws::PLACEMENT_GROUP_ID, [id.as_str()]));
    }
    all
}

/// `category`, then digits of the generation, as in `m5.large`, `c7gn.xlarge`, `u-6tb1.metal`.
/// `None` if the name is built otherwise.
fn category_and_generation(name: &str) -> Option<(&str, &str)> {
    let family = name.rsplit_once('.')?.0;
    let letters = family.bytes().take_while(u8::is_ascii_lowercase).count();
    if letters == 0 {
        return None;
    }
    let (category, rest) = family.split_at(letters);
    let digits_of = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match rest.strip_prefix('-') {
        Some(size) => match size[digits_of(size)..].strip_prefix("tb") {
            Some(after) if digits_of(size) > 0 => after,
            _ => return None,
        },
        None => rest,
    };
    let digits = digits_of(rest);
    (digits > 0).then(|| (category, &rest[..digits]))
}

fn name_parts(name: &str, all: &mut Vec<TypeRequirement>) {
    let parts = category_and_generation(name);
    all.push(one_of(labels::aws::CATEGORY, parts.map(|p| p.0)));
    all.push(one_of(labels::aws::GENERATION, parts.map(|p| p.1)));
    let halves = name.split_once('.').filter(|(_, size)| !size.contains('.'));
    all.push(one_of(labels::aws::FAMILY, halves.map(|h| h.0)));
    all.push(one_of(labels::aws::SIZE, halves.map(|h| h.1)));
    let is_flex = halves.is_some_and(|h| h.0.contains("-flex"));
    all.push(one_of(labels::aws::FLEX, [is_flex.to_string()]));
}

fn hardware(facts: &TypeFacts, all: &mut Vec<TypeRequirement>) {
    let number = |n: Option<u64>| n.map(|n| n.to_string());
    let local = facts.local_storage_gb.filter(|_| facts.has_local_nvme).map(|gb| gb as u64);
    all.push(one_of(labels::aws::CPU, [facts.vcpu.to_string()]));
    all.push(one_of(labels::aws::CPU_MAKER, [facts.cpu_maker]));
    all.push(one_of(labels::aws::CPU_CLOCK, [facts.clock_mhz.to_string()]));
    all.push(one_of(labels::aws::MEMORY, [facts.memory_mib.to_string()]));
    all.push(one_of(labels::aws::EBS_MBPS, number(facts.ebs_mbps)));
    all.push(one_of(labels::aws::NETWORK_MBPS, number(facts.network_mbps)));
    all.push(one_of(labels::aws::LOCAL_NVME, number(local)));
    // Bare metal carries the label with an empty value.
    all.push(one_of(labels::aws::HYPERVISOR, [facts.hypervisor]));
    all.push(one_of(labels::aws::ENCRYPTS_TRANSIT, [facts.encrypts_transit.to_string()]));
    all.push(one_of(labels::aws::NITRO_SANDBOX, [facts.has_enclaves.to_string()]));
}

fn devices(facts: &TypeFacts, all: &mut Vec<TypeRequirement>) {
    let count = |d: &Option<Device>| d.as_ref().map(|d| d.count.to_string());
    let gpu = facts.gpu.as_ref();
    all.push(one_of(labels::aws::GPU_NAME, gpu.map(|d| d.name)));
    all.push(one_of(labels::aws::GPU_MAKER, gpu.map(|d| d.maker)));
    all.push(one_of(labels::aws::GPU_COUNT, count(&facts.gpu)));
    let memory = gpu.and_then(|d| d.memory_mib).map(|mib| mib.to_string());
    all.push(one_of(labels::aws::GPU_MEMORY, memory));
    let accelerator = facts.accelerator.as_ref();
    all.push(one_of(labels::aws::ACCELERATOR_NAME, accelerator.map(|d| d.name)));
    all.push(one_of(labels::aws::ACCELERATOR_MAKER, accelerator.map(|d| d.maker)));
    all.push(one_of(labels::aws::ACCELERATOR_COUNT, count(&facts.accelerator)));
}

fn reserved(reservations: &[&Reservation], all: &mut Vec<TypeRequirement>) {
    let mut kinds: Vec<&str> = reservations.iter().map(|r| r.kind.as_str()).collect();
    let mut flags: Vec<String> =
        reservations.iter().map(|r| r.is_interruptible.to_string()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    flags.sort_unstable();
    flags.dedup();
    let ids = reservations.iter().map(|r| r.id.as_str());
    all.push(one_of(labels::aws::RESERVATION_ID, ids));
    all.push(one_of(labels::aws::RESERVATION_TYPE, kinds));
    all.push(one_of(labels::aws::RESERVATION_INTERRUPTIBLE, flags));
}

#[cfg(test)]
mod tests {
    use super::category_and_generation;

    #[test]
    fn names_come_apart() {
        for (name, want) in [
            ("m5.large", Some(("m", "5"))),
            ("c7gn.xlarge", Some(("c", "7"))),
            ("hpc7a.96xlarge", Some(("hpc", "7"))),
            ("inf2.48xlarge", Some(("inf", "2"))),
            ("u-6tb1.metal", Some(("u", "1"))),
            ("u7i-12tb.224xlarge", Some(("u", "7"))),
            ("m10x.large", Some(("m", "10"))),
            ("mac-m4.metal", None),
            ("u-tb1.metal", None),
            ("5m.large", None),
            ("large", None),
        ] {
            assert_eq!(category_and_generation(name), want, "{name}");
        }
    }
}
