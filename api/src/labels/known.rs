//! Well-known labels of each provider, and the labels whose values are a closed set.

use super::{
    ARCH, CAPACITY_TYPE, CAPACITY_TYPE_ON_DEMAND, CAPACITY_TYPE_RESERVED, CAPACITY_TYPE_SPOT,
    INSTANCE_TYPE, NODE_POOL, OS, Provider, REGION, WINDOWS_BUILD, ZONE,
};

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => {
        $($(#[$doc])* pub const $name: &str = $value;)*
    };
}

/// Labels of AWS.
pub mod aws {
    names! {
        /// Zone id, the same in every account.
        ZONE_ID = "topology.k8s.aws/zone-id";
        /// The letters of the family: `c`, `m`, `r`, …
        INSTANCE_CATEGORY = "karpenter.k8s.aws/instance-category";
        /// The part of the type before the dot.
        INSTANCE_FAMILY = "karpenter.k8s.aws/instance-family";
        /// The part of the type after the dot.
        INSTANCE_SIZE = "karpenter.k8s.aws/instance-size";
        /// The number in the family.
        INSTANCE_GENERATION = "karpenter.k8s.aws/instance-generation";
        /// `true` for flex families.
        INSTANCE_CAPABILITY_FLEX = "karpenter.k8s.aws/instance-capability-flex";
        /// Number of vCPUs.
        INSTANCE_CPU = "karpenter.k8s.aws/instance-cpu";
        /// Maker of the processor.
        INSTANCE_CPU_MANUFACTURER = "karpenter.k8s.aws/instance-cpu-manufacturer";
        /// Clock in MHz.
        INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ =
            "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz";
        /// Memory in MiB as EC2 reports it.
        INSTANCE_MEMORY = "karpenter.k8s.aws/instance-memory";
        /// Mbit/s to EBS.
        INSTANCE_EBS_BANDWIDTH = "karpenter.k8s.aws/instance-ebs-bandwidth";
        /// Baseline Mbit/s.
        INSTANCE_NETWORK_BANDWIDTH = "karpenter.k8s.aws/instance-network-bandwidth";
        /// GB of local NVMe.
        INSTANCE_LOCAL_NVME = "karpenter.k8s.aws/instance-local-nvme";
        /// `nitro`, `xen` or empty.
        INSTANCE_HYPERVISOR = "karpenter.k8s.aws/instance-hypervisor";
        /// `true` when traffic between instances is encrypted.
        INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED =
            "karpenter.k8s.aws/instance-encryption-in-transit-supported";
        /// `true` when enclaves are possible.
        NITRO_SANDBOX = "karpenter.k8s.aws/nitro-sandbox";
        /// GPU name.
        INSTANCE_GPU_NAME = "karpenter.k8s.aws/instance-gpu-name";
        /// GPU maker.
        INSTANCE_GPU_MANUFACTURER = "karpenter.k8s.aws/instance-gpu-manufacturer";
        /// Number of GPUs.
        INSTANCE_GPU_COUNT = "karpenter.k8s.aws/instance-gpu-count";
        /// MiB of each GPU.
        INSTANCE_GPU_MEMORY = "karpenter.k8s.aws/instance-gpu-memory";
        /// Accelerator name.
        INSTANCE_ACCELERATOR_NAME = "karpenter.k8s.aws/instance-accelerator-name";
        /// Accelerator maker.
        INSTANCE_ACCELERATOR_MANUFACTURER = "karpenter.k8s.aws/instance-accelerator-manufacturer";
        /// Number of accelerators.
        INSTANCE_ACCELERATOR_COUNT = "karpenter.k8s.aws/instance-accelerator-count";
        /// `default` or `dedicated`.
        INSTANCE_TENANCY = "karpenter.k8s.aws/instance-tenancy";
        /// Capacity reservation.
        CAPACITY_RESERVATION_ID = "karpenter.k8s.aws/capacity-reservation-id";
        /// `default` or `capacity-block`.
        CAPACITY_RESERVATION_TYPE = "karpenter.k8s.aws/capacity-reservation-type";
        /// `true` when EC2 may take the reservation back.
        CAPACITY_RESERVATION_INTERRUPTIBLE =
            "karpenter.k8s.aws/capacity-reservation-interruptible";
        /// Placement group.
        PLACEMENT_GROUP_ID = "karpenter.k8s.aws/placement-group-id";
        /// Partition of the placement group.
        PLACEMENT_GROUP_PARTITION = "karpenter.k8s.aws/placement-group-partition";
    }
}

/// Labels of Azure.
pub mod azure {
    names! {
        /// Size, `Standard_D4s_v5`.
        SKU_NAME = "karpenter.azure.com/sku-name";
        /// First letter of the size.
        SKU_FAMILY = "karpenter.azure.com/sku-family";
        /// Size without its number of vCPUs, `Ds_v5`.
        SKU_SERIES = "karpenter.azure.com/sku-series";
        /// Version of the size; 1 when the name has none.
        SKU_VERSION = "karpenter.azure.com/sku-version";
        /// Number of vCPUs.
        SKU_CPU = "karpenter.azure.com/sku-cpu";
        /// Memory in MiB.
        SKU_MEMORY = "karpenter.azure.com/sku-memory";
        /// `true` with accelerated networking.
        SKU_NETWORKING_ACCELERATED = "karpenter.azure.com/sku-networking-accelerated";
        /// `true` when premium disks are possible.
        SKU_STORAGE_PREMIUM_CAPABLE = "karpenter.azure.com/sku-storage-premium-capable";
        /// GB of the greatest ephemeral OS disk.
        SKU_STORAGE_EPHEMERALOS_MAXSIZE = "karpenter.azure.com/sku-storage-ephemeralos-maxsize";
        /// `true` when ultra disks are possible.
        SKU_STORAGE_ULTRA_SSD = "karpenter.azure.com/sku-storage-ultra-ssd";
        /// GPU name.
        SKU_GPU_NAME = "karpenter.azure.com/sku-gpu-name";
        /// GPU maker.
        SKU_GPU_MANUFACTURER = "karpenter.azure.com/sku-gpu-manufacturer";
        /// Number of GPUs.
        SKU_GPU_COUNT = "karpenter.azure.com/sku-gpu-count";
        /// `zonal` or `regional`.
        PLACEMENT_SCOPE = "karpenter.azure.com/placement-scope";
        /// Hyper-V generation: for matching images only, users may not set it.
        SKU_HYPERV_GENERATION = "karpenter.azure.com/sku-hyperv-generation";
        /// Cluster: the node resource group.
        CLUSTER = "kubernetes.azure.com/cluster";
        /// `system` or `user`.
        MODE = "kubernetes.azure.com/mode";
        /// `regular` or `spot`.
        SCALE_SET_PRIORITY = "kubernetes.azure.com/scalesetpriority";
        /// `regular` or `spot`.
        PRIORITY = "kubernetes.azure.com/priority";
        /// `Ubuntu` or `AzureLinux`.
        OS_SKU = "kubernetes.azure.com/os-sku";
        /// `true` on FIPS nodes, absent on others.
        FIPS_ENABLED = "kubernetes.azure.com/fips_enabled";
        /// Number of vCPUs.
        AKS_SKU_CPU = "kubernetes.azure.com/sku-cpu";
        /// Memory in MiB.
        AKS_SKU_MEMORY = "kubernetes.azure.com/sku-memory";
    }
}

const CORE: &[&str] =
    &[NODE_POOL, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, CAPACITY_TYPE, WINDOWS_BUILD];

const AWS: &[&str] = &[
    NODE_POOL,
    ZONE,
    REGION,
    INSTANCE_TYPE,
    ARCH,
    OS,
    CAPACITY_TYPE,
    WINDOWS_BUILD,
    aws::ZONE_ID,
    aws::INSTANCE_CATEGORY,
    aws::INSTANCE_FAMILY,
    aws::INSTANCE_SIZE,
    aws::INSTANCE_GENERATION,
    aws::INSTANCE_CAPABILITY_FLEX,
    aws::INSTANCE_CPU,
    aws::INSTANCE_CPU_MANUFACTURER,
    aws::INSTANCE_CPU_SUSTAINED_CLOCK_SPEED_MHZ,
    aws::INSTANCE_MEMORY,
    aws::INSTANCE_EBS_BANDWIDTH,
    aws::INSTANCE_NETWORK_BANDWIDTH,
    aws::INSTANCE_LOCAL_NVME,
    aws::INSTANCE_HYPERVISOR,
    aws::INSTANCE_ENCRYPTION_IN_TRANSIT_SUPPORTED,
    aws::NITRO_SANDBOX,
    aws::INSTANCE_GPU_NAME,
    aws::INSTANCE_GPU_MANUFACTURER,
    aws::INSTANCE_GPU_COUNT,
    aws::INSTANCE_GPU_MEMORY,
    aws::INSTANCE_ACCELERATOR_NAME,
    aws::INSTANCE_ACCELERATOR_MANUFACTURER,
    aws::INSTANCE_ACCELERATOR_COUNT,
    aws::INSTANCE_TENANCY,
    aws::CAPACITY_RESERVATION_ID,
    aws::CAPACITY_RESERVATION_TYPE,
    aws::CAPACITY_RESERVATION_INTERRUPTIBLE,
    aws::PLACEMENT_GROUP_ID,
    aws::PLACEMENT_GROUP_PARTITION,
];

const AZURE: &[&str] = &[
    NODE_POOL,
    ZONE,
    REGION,
    INSTANCE_TYPE,
    ARCH,
    OS,
    CAPACITY_TYPE,
    WINDOWS_BUILD,
    azure::SKU_NAME,
    azure::SKU_FAMILY,
    azure::SKU_SERIES,
    azure::SKU_VERSION,
    azure::SKU_CPU,
    azure::SKU_MEMORY,
    azure::SKU_NETWORKING_ACCELERATED,
    azure::SKU_STORAGE_PREMIUM_CAPABLE,
    azure::SKU_STORAGE_EPHEMERALOS_MAXSIZE,
    azure::SKU_STORAGE_ULTRA_SSD,
    azure::SKU_GPU_NAME,
    azure::SKU_GPU_MANUFACTURER,
    azure::SKU_GPU_COUNT,
    azure::PLACEMENT_SCOPE,
    azure::CLUSTER,
    azure::MODE,
    azure::SCALE_SET_PRIORITY,
    azure::PRIORITY,
    azure::OS_SKU,
    azure::FIPS_ENABLED,
    azure::AKS_SKU_CPU,
    azure::AKS_SKU_MEMORY,
];

/// Labels that every instance type or offering of the provider may carry: a pod may ask for them
/// although no pool names them.
pub fn well_known_labels(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Core => CORE,
        Provider::Aws => AWS,
        Provider::Azure => AZURE,
    }
}

/// All values a label can have, when that is a closed set; `None` for every other label.
pub fn known_values(provider: Provider, key: &str) -> Option<&'static [&'static str]> {
    if key == CAPACITY_TYPE {
        return Some(&[CAPACITY_TYPE_ON_DEMAND, CAPACITY_TYPE_SPOT, CAPACITY_TYPE_RESERVED]);
    }
    if provider != Provider::Azure {
        return None;
    }
    match key {
        azure::SKU_NETWORKING_ACCELERATED
        | azure::SKU_STORAGE_PREMIUM_CAPABLE
        | azure::SKU_STORAGE_ULTRA_SSD => Some(&["true", "false"]),
        azure::SKU_GPU_MANUFACTURER => Some(&["nvidia", "amd"]),
        azure::PLACEMENT_SCOPE => Some(&["zonal", "regional"]),
        azure::MODE => Some(&["system", "user"]),
        azure::SCALE_SET_PRIORITY | azure::PRIORITY => Some(&["regular", "spot"]),
        azure::OS_SKU => Some(&["Ubuntu", "AzureLinux"]),
        azure::FIPS_ENABLED => Some(&["true"]),
        _ => None,
    }
}
