//! The label keys that the catalog writes. What values they get is decided by the providers.

pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
pub const ARCH: &str = "kubernetes.io/arch";
pub const OS: &str = "kubernetes.io/os";
pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";

/// `karpenter.k8s.aws/` and `topology.k8s.aws/`.
pub mod aws {
    pub const ZONE_ID: &str = "topology.k8s.aws/zone-id";
    pub const CATEGORY: &str = "karpenter.k8s.aws/instance-category";
    pub const FAMILY: &str = "karpenter.k8s.aws/instance-family";
    pub const SIZE: &str = "karpenter.k8s.aws/instance-size";
    pub const GENERATION: &str = "karpenter.k8s.aws/instance-generation";
    pub const FLEX: &str = "karpenter.k8s.aws/instance-capability-flex";
    pub const CPU: &str = "karpenter.k8s.aws/instance-cpu";
    pub const CPU_MAKER: &str = "karpenter.k8s.aws/instance-cpu-manufacturer";
    pub const CPU_CLOCK: &str = "karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz";
    pub const MEMORY: &str = "karpenter.k8s.aws/instance-memory";
    pub const EBS_MBPS: &str = "karpenter.k8s.aws/instance-ebs-bandwidth";
    pub const NETWORK_MBPS: &str = "karpenter.k8s.aws/instance-network-bandwidth";
    pub const LOCAL_NVME: &str = "karpenter.k8s.aws/instance-local-nvme";
    pub const HYPERVISOR: &str = "karpenter.k8s.aws/instance-hypervisor";
    pub const ENCRYPTS_TRANSIT: &str = "karpenter.k8s.aws/instance-encryption-in-transit-supported";
    pub const NITRO_SANDBOX: &str = "karpenter.k8s.aws/nitro-sandbox";
    pub const GPU_NAME: &str = "karpenter.k8s.aws/instance-gpu-name";
    pub const GPU_MAKER: &str = "karpenter.k8s.aws/instance-gpu-manufacturer";
    pub const GPU_COUNT: &str = "karpenter.k8s.aws/instance-gpu-count";
    pub const GPU_MEMORY: &str = "karpenter.k8s.aws/instance-gpu-memory";
    pub const ACCELERATOR_NAME: &str = "karpenter.k8s.aws/instance-accelerator-name";
    pub const ACCELERATOR_MAKER: &str = "karpenter.k8s.aws/instance-accelerator-manufacturer";
    pub const ACCELERATOR_COUNT: &str = "karpenter.k8s.aws/instance-accelerator-count";
    pub const TENANCY: &str = "karpenter.k8s.aws/instance-tenancy";
    pub const RESERVATION_ID: &str = "karpenter.k8s.aws/capacity-reservation-id";
    pub const RESERVATION_TYPE: &str = "karpenter.k8s.aws/capacity-reservation-type";
    pub const RESERVATION_INTERRUPTIBLE: &str =
        "karpenter.k8s.aws/capacity-reservation-interruptible";
    pub const PLACEMENT_GROUP_ID: &str = "karpenter.k8s.aws/placement-group-id";
}

/// `karpenter.azure.com/` and `kubernetes.azure.com/`.
pub mod azure {
    pub const NAME: &str = "karpenter.azure.com/sku-name";
    pub const FAMILY: &str = "karpenter.azure.com/sku-family";
    pub const SERIES: &str = "karpenter.azure.com/sku-series";
    pub const VERSION: &str = "karpenter.azure.com/sku-version";
    pub const CPU: &str = "karpenter.azure.com/sku-cpu";
    pub const MEMORY: &str = "karpenter.azure.com/sku-memory";
    pub const ACCELERATED_NETWORKING: &str = "karpenter.azure.com/sku-networking-accelerated";
    pub const PREMIUM_STORAGE: &str = "karpenter.azure.com/sku-storage-premium-capable";
    pub const EPHEMERAL_OS_MAX_SIZE: &str = "karpenter.azure.com/sku-storage-ephemeralos-maxsize";
    pub const ULTRA_SSD: &str = "karpenter.azure.com/sku-storage-ultra-ssd";
    pub const GPU_NAME: &str = "karpenter.azure.com/sku-gpu-name";
    pub const GPU_MAKER: &str = "karpenter.azure.com/sku-gpu-manufacturer";
    pub const GPU_COUNT: &str = "karpenter.azure.com/sku-gpu-count";
    pub const PLACEMENT_SCOPE: &str = "karpenter.azure.com/placement-scope";
    pub const HYPERV: &str = "karpenter.azure.com/sku-hyperv-generation";
    pub const AKS_CLUSTER: &str = "kubernetes.azure.com/cluster";
    pub const AKS_MODE: &str = "kubernetes.azure.com/mode";
    pub const AKS_SCALE_SET_PRIORITY: &str = "kubernetes.azure.com/scalesetpriority";
    pub const AKS_PRIORITY: &str = "kubernetes.azure.com/priority";
    pub const AKS_OS_SKU: &str = "kubernetes.azure.com/os-sku";
    pub const AKS_FIPS: &str = "kubernetes.azure.com/fips_enabled";
    pub const AKS_CPU: &str = "kubernetes.azure.com/sku-cpu";
    pub const AKS_MEMORY: &str = "kubernetes.azure.com/sku-memory";
}
