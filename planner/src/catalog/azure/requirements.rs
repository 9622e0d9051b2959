//! Labels that nodes of an Azure size carry, in both of Azure's domains, as requirements.
//!
//! A label that the size never has is said to be absent (`DoesNotExist`).

use super::super::{Region, labels, one_of};
use super::facts::SizeFacts;
use super::settings::AzureNodeSettings;
use super::sku_name::SkuName;
use super::zones;
use crate::instance_type::TypeRequirement;

pub(super) fn requirements(
    region: Region,
    facts: &SizeFacts,
    sku: &SkuName,
    settings: &AzureNodeSettings,
) -> Vec<TypeRequirement> {
    let can = &facts.capabilities;
    let places = zones(region).iter().map(String::as_str).chain(["0"]);
    let spot = can.is_spot_capable.then_some("spot");
    let either = |is: bool| if is { &["true", "false"][..] } else { &["false"][..] };
    let mut all = vec![
        one_of(labels::INSTANCE_TYPE, [facts.name]),
        one_of(labels::ARCH, [facts.arch]),
        one_of(labels::OS, ["linux"]),
        one_of(labels::REGION, [region.name()]),
        one_of(labels::ZONE, places),
        one_of(labels::CAPACITY_TYPE, ["on-demand"].into_iter().chain(spot)),
        one_of(labels::azure::PLACEMENT_SCOPE, ["zonal", "regional"]),
        one_of(labels::azure::NAME, [facts.name]),
        one_of(labels::azure::FAMILY, [sku.family()]),
        one_of(labels::azure::SERIES, [sku.series()]),
        one_of(labels::azure::VERSION, [sku.effective_version().to_string()]),
        one_of(labels::azure::CPU, [facts.vcpus.to_string()]),
        one_of(labels::azure::MEMORY, [facts.memory_mib.to_string()]),
        one_of(labels::azure::ACCELERATED_NETWORKING, [can.has_accelerated_networking.to_string()]),
        one_of(labels::azure::PREMIUM_STORAGE, [can.has_premium_io.to_string()]),
        one_of(
            labels::azure::EPHEMERAL_OS_MAX_SIZE,
            can.ephemeral_os.map(|(_, bytes)| (bytes / 1_000_000_000).to_string()),
        ),
        one_of(labels::azure::ULTRA_SSD, either(can.has_ultra_ssd).iter().copied()),
        one_of(
            labels::azure::HYPERV,
            can.has_hyperv1.then_some("1").into_iter().chain(can.has_hyperv2.then_some("2")),
        ),
    ];
    let gpu = facts.gpu;
    let gpu_name = sku.accelerator.filter(|_| gpu.is_some());
    let gpu_count = if gpu.is_some() { facts.gpus } else { 0 };
    all.push(one_of(labels::azure::GPU_NAME, gpu_name));
    all.push(one_of(labels::azure::GPU_MAKER, gpu.map(|g| g.maker)));
    all.push(one_of(labels::azure::GPU_COUNT, [gpu_count.to_string()]));
    let priorities = ["regular"].into_iter().chain(spot);
    all.push(one_of(labels::azure::AKS_CPU, [facts.vcpus.to_string()]));
    all.push(one_of(labels::azure::AKS_MEMORY, [facts.memory_mib.to_string()]));
    all.push(one_of(labels::azure::AKS_MODE, ["system", "user"]));
    all.push(one_of(labels::azure::AKS_SCALE_SET_PRIORITY, priorities.clone()));
    all.push(one_of(labels::azure::AKS_PRIORITY, priorities));
    all.push(one_of(labels::azure::AKS_OS_SKU, [settings.image_family.os_sku()]));
    all.push(one_of(labels::azure::AKS_FIPS, settings.has_fips.then_some("true")));
    if let Some(cluster) = &settings.cluster {
        all.push(one_of(labels::azure::AKS_CLUSTER, [cluster.as_str()]));
    }
    all
}
