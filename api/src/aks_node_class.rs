//! AKSNodeClass (`karpenter.azure.com/v1beta1`): how Azure makes a node.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::NodeSelectorRequirement;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;
use crate::schema;

/// Image, disk, network, kubelet and operating system settings of a node.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.azure.com",
    version = "v1beta1",
    kind = "AKSNodeClass",
    doc = "How Azure makes a node.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(
        name = "ImageFamily",
        type_ = "string",
        json_path = ".spec.imageFamily",
        priority = 1
    ),
    plural = "aksnodeclasses",
    shortname = "aksnc",
    shortname = "aksncs",
    category = "karpenter",
    category = "nap",
    status = "AKSNodeClassStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.fipsMode) || self.fipsMode != 'FIPS' || (has(self.imageFamily) && self.imageFamily != 'Ubuntu2404')").message("FIPS is not possible with `imageFamily: Ubuntu2404`"))]
#[x_kube(validation = Rule::new("!has(self.fipsMode) || self.fipsMode != 'FIPS' || !has(self.imageFamily) || self.imageFamily != 'Ubuntu2204' || (has(self.security) && has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && self.security.trustedLaunch.secureBoot)))").message("FIPS with `imageFamily: Ubuntu2204` needs `security.trustedLaunch`"))]
#[x_kube(validation = Rule::new("!has(self.fipsMode) || self.fipsMode != 'FIPS' || !has(self.imageFamily) || self.imageFamily in ['Ubuntu', 'Ubuntu2204'] || !(has(self.security) && has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && self.security.trustedLaunch.secureBoot)))").message("FIPS with `security.trustedLaunch` needs `imageFamily` `Ubuntu` or `Ubuntu2204`"))]
#[x_kube(validation = Rule::new("!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSize) || (has(self.kubelet) && has(self.kubelet.failSwapOn) && !self.kubelet.failSwapOn)").message("`linuxOSConfig.swapFileSize` needs `kubelet.failSwapOn: false`"))]
pub struct AKSNodeClassSpec {
    /// ARM id of the subnet; absent means the cluster's own.
    #[serde(default, rename = "vnetSubnetID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(
        pattern = r"(?i)^/subscriptions/[^/]+/resourceGroups/[a-zA-Z0-9_().-]{0,89}[a-zA-Z0-9_()-]/providers/Microsoft[.]Network/virtualNetworks/[^/]+/subnets/[^/]+$"
    ))]
    pub vnet_subnet_id: Option<String>,
    /// Size of the OS disk in GB; 30 to 2048.
    #[serde(default, rename = "osDiskSizeGB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 2048))]
    #[schemars(extend("default" = 128))]
    #[schemars(extend("format" = "int32"))]
    pub os_disk_size_gb: Option<i64>,
    /// `Ubuntu`, `Ubuntu2204`, `Ubuntu2404` or `AzureLinux`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"]))]
    #[schemars(extend("default" = "Ubuntu"))]
    pub image_family: Option<String>,
    /// `FIPS` or `Disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["FIPS", "Disabled"]))]
    pub fips_mode: Option<String>,
    /// The most pods a node may hold; 10 to 250.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 250))]
    #[schemars(extend("format" = "int32"))]
    pub max_pods: Option<i64>,
    /// Tags of everything that is made for a node.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[x_kube(validation = Rule::new("self.all(k, size(k) <= 512)").message("tag keys may have 512 characters at most"))]
    #[x_kube(validation = Rule::new("self.all(k, !k.matches('[<>%&?]'))").message("tag keys must not contain `<`, `>`, `%`, `&` or `?`"))]
    #[x_kube(validation = Rule::new("self.all(k, !k.contains('\\\\'))").message("tag keys must not contain a backslash"))]
    #[x_kube(validation = Rule::new("self.all(k, size(self[k]) <= 256)").message("tag values may have 256 characters at most"))]
    pub tags: BTreeMap<String, String>,
    /// Kubelet settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubelet: Option<AKSKubeletConfiguration>,
    /// Encryption and trusted launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security: Option<Security>,
    /// GPU settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GPU>,
    /// Streaming of container images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact_streaming: Option<ArtifactStreaming>,
    /// The DNS cache of the node.
    #[serde(default, rename = "localDNS", skip_serializing_if = "Option::is_none")]
    pub local_dns: Option<LocalDNS>,
    /// Settings of the Linux kernel.
    #[serde(default, rename = "linuxOSConfig", skip_serializing_if = "Option::is_none")]
    pub linux_os_config: Option<LinuxOSConfiguration>,
}

/// Kubelet settings that AKS lets a user change.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent").message("`imageGCHighThresholdPercent` must be greater than `imageGCLowThresholdPercent`"))]
pub struct AKSKubeletConfiguration {
    /// `none` or `static`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["none", "static"]))]
    #[schemars(extend("default" = "none"))]
    pub cpu_manager_policy: Option<String>,
    /// Whether CPU limits are enforced by quota.
    #[serde(default, rename = "cpuCFSQuota", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub cpu_cfs_quota: Option<bool>,
    /// The period of that quota.
    #[serde(default, rename = "cpuCFSQuotaPeriod", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "100ms"))]
    pub cpu_cfs_quota_period: Option<String>,
    /// Percentage of disk use above which images are collected.
    #[serde(
        default,
        rename = "imageGCHighThresholdPercent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 100))]
    #[schemars(extend("format" = "int32"))]
    pub image_gc_high_threshold_percent: Option<i64>,
    /// Percentage of disk use down to which images are collected.
    #[serde(
        default,
        rename = "imageGCLowThresholdPercent",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 0, max = 100))]
    #[schemars(extend("format" = "int32"))]
    pub image_gc_low_threshold_percent: Option<i64>,
    /// `none`, `restricted`, `best-effort` or `single-numa-node`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["restricted", "best-effort", "none", "single-numa-node"]))]
    #[schemars(extend("default" = "none"))]
    pub topology_manager_policy: Option<String>,
    /// Unsafe sysctls that pods may set.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub allowed_unsafe_sysctls: Vec<String>,
    /// Size at which a container log is rotated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::SIZE_WITH_UNIT))]
    #[schemars(extend("default" = "50Mi"))]
    pub container_log_max_size: Option<String>,
    /// Log files kept for a container; at least 2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2))]
    #[schemars(extend("default" = 5))]
    #[schemars(extend("format" = "int32"))]
    pub container_log_max_files: Option<i64>,
    /// Processes of a pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod_pids_limit: Option<i64>,
    /// Whether the kubelet refuses to start on a machine with swap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail_swap_on: Option<bool>,
}

/// Encryption and trusted launch.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Security {
    /// Whether disks are encrypted on the host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption_at_host: Option<bool>,
    /// Protected boot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_launch: Option<TrustedLaunch>,
}

/// Protected boot.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TrustedLaunch {
    /// Whether the machine has a virtual TPM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vtpm: Option<bool>,
    /// Whether only signed boot components start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secure_boot: Option<bool>,
}

/// GPU settings.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct GPU {
    /// `Driver` installs the driver, `None` leaves it to the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Driver", "None"]))]
    #[schemars(extend("default" = "Driver"))]
    pub mode: Option<String>,
}

/// Streaming of container images.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactStreaming {
    /// Whether it is on; never on arm64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
}

/// The DNS cache of a node.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["kubeDNSOverrides", "mode", "vnetDNSOverrides"]))]
pub struct LocalDNS {
    /// `Preferred`, `Required` or `Disabled`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Preferred", "Required", "Disabled"]))]
    pub mode: String,
    /// Zones asked by the node and by pods with the node's DNS.
    #[serde(default, rename = "vnetDNSOverrides", deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["zone"]))]
    #[x_kube(validation = Rule::new("['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))").message("the zones `.` and `cluster.local` must be there"))]
    #[x_kube(validation = Rule::new("!self.exists(x, x.zone == '.' && x.forwardDestination == 'ClusterCoreDNS')").message("the zone `.` cannot go to `ClusterCoreDNS` here"))]
    #[x_kube(validation = Rule::new("!self.exists(x, x.zone != '.' && !x.zone.endsWith('cluster.local') && x.forwardDestination == 'ClusterCoreDNS')").message("zones outside the cluster cannot go to `ClusterCoreDNS` here"))]
    pub vnet_dns_overrides: Vec<LocalDNSZoneOverride>,
    /// Zones asked by pods with the cluster's DNS.
    #[serde(default, rename = "kubeDNSOverrides", deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["zone"]))]
    #[x_kube(validation = Rule::new("['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))").message("the zones `.` and `cluster.local` must be there"))]
    pub kube_dns_overrides: Vec<LocalDNSZoneOverride>,
}

/// How one DNS zone is answered.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["cacheDuration", "forwardDestination", "forwardPolicy", "maxConcurrent", "protocol", "queryLogging", "serveStale", "serveStaleDuration", "zone"]))]
#[x_kube(validation = Rule::new("!(self.zone.endsWith('cluster.local') && self.forwardDestination == 'VnetDNS')").message("`cluster.local` cannot go to `VnetDNS`"))]
#[x_kube(validation = Rule::new("!(self.serveStale == 'Verify' && self.protocol == 'ForceTCP')").message("`serveStale: Verify` is not possible with `protocol: ForceTCP`"))]
pub struct LocalDNSZoneOverride {
    /// The zone, `.` for all others.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1, max = 254))]
    #[schemars(regex(
        pattern = r"^(\.|[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]{0,61}[A-Za-z0-9])?)*\.?)$"
    ))]
    pub zone: String,
    /// `Error` or `Log`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Error", "Log"]))]
    pub query_logging: String,
    /// `PreferUDP` or `ForceTCP`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["PreferUDP", "ForceTCP"]))]
    pub protocol: String,
    /// `ClusterCoreDNS` or `VnetDNS`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["ClusterCoreDNS", "VnetDNS"]))]
    pub forward_destination: String,
    /// `Sequential`, `RoundRobin` or `Random`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Sequential", "RoundRobin", "Random"]))]
    pub forward_policy: String,
    /// Queries at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub max_concurrent: Option<i64>,
    /// How long an answer is kept.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = schema::DURATION))]
    pub cache_duration: String,
    /// How long an answer may be served after that.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = schema::DURATION))]
    pub serve_stale_duration: String,
    /// `Verify`, `Immediate` or `Disable`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Verify", "Immediate", "Disable"]))]
    pub serve_stale: String,
}

/// Settings of the Linux kernel.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LinuxOSConfiguration {
    /// Size of the swap file; needs `kubelet.failSwapOn: false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::SIZE_WITH_UNIT))]
    pub swap_file_size: Option<String>,
    /// `always`, `madvise` or `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["always", "madvise", "never"]))]
    pub transparent_huge_page_enabled: Option<String>,
    /// `always`, `defer`, `defer+madvise`, `madvise` or `never`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["always", "defer", "defer+madvise", "madvise", "never"]))]
    pub transparent_huge_page_defrag: Option<String>,
    /// Kernel parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sysctls: Option<SysctlConfiguration>,
}

/// Kernel parameters.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new("!has(self.netCoreRmemDefault) || !has(self.netCoreRmemMax) || self.netCoreRmemDefault <= self.netCoreRmemMax").message("`netCoreRmemDefault` is greater than `netCoreRmemMax`"))]
#[x_kube(validation = Rule::new("!has(self.netCoreWmemDefault) || !has(self.netCoreWmemMax) || self.netCoreWmemDefault <= self.netCoreWmemMax").message("`netCoreWmemDefault` is greater than `netCoreWmemMax`"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4NeighDefaultGcThresh1) || !has(self.netIPv4NeighDefaultGcThresh2) || self.netIPv4NeighDefaultGcThresh1 <= self.netIPv4NeighDefaultGcThresh2").message("`netIPv4NeighDefaultGcThresh1` is greater than `netIPv4NeighDefaultGcThresh2`"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4NeighDefaultGcThresh2) || !has(self.netIPv4NeighDefaultGcThresh3) || self.netIPv4NeighDefaultGcThresh2 <= self.netIPv4NeighDefaultGcThresh3").message("`netIPv4NeighDefaultGcThresh2` is greater than `netIPv4NeighDefaultGcThresh3`"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4NeighDefaultGcThresh1) || !has(self.netIPv4NeighDefaultGcThresh3) || self.netIPv4NeighDefaultGcThresh1 <= self.netIPv4NeighDefaultGcThresh3").message("`netIPv4NeighDefaultGcThresh1` is greater than `netIPv4NeighDefaultGcThresh3`"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[0]) >= 1024 && int(self.netIPv4IPLocalPortRange.split(' ')[0]) <= 60999)").message("the first port of `netIPv4IPLocalPortRange` must be 1024 to 60999"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[1]) >= 32768 && int(self.netIPv4IPLocalPortRange.split(' ')[1]) <= 65535)").message("the last port of `netIPv4IPLocalPortRange` must be 32768 to 65535"))]
#[x_kube(validation = Rule::new("!has(self.netIPv4IPLocalPortRange) || int(self.netIPv4IPLocalPortRange.split(' ')[0]) <= int(self.netIPv4IPLocalPortRange.split(' ')[1])").message("the first port of `netIPv4IPLocalPortRange` is greater than the last"))]
pub struct SysctlConfiguration {
    /// Asynchronous I/O requests. 65536 to 6553500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 65536, max = 6553500))]
    pub fs_aio_max_nr: Option<i64>,
    /// File handles of the kernel. 8192 to 12000500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8192, max = 12000500))]
    pub fs_file_max: Option<i64>,
    /// File watches of a user. 781250 to 2097152.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 781250, max = 2097152))]
    pub fs_inotify_max_user_watches: Option<i64>,
    /// File handles of a process. 8192 to 20000500.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8192, max = 20000500))]
    pub fs_nr_open: Option<i64>,
    /// Threads. 20 to 513785.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 20, max = 513785))]
    pub kernel_threads_max: Option<i64>,
    /// Packets waiting on the input side. 1000 to 3240000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1000, max = 3240000))]
    pub net_core_netdev_max_backlog: Option<i64>,
    /// Bytes of ancillary buffer of a socket. 20480 to 4194304.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 20480, max = 4194304))]
    pub net_core_optmem_max: Option<i64>,
    /// Bytes of receive buffer of a new socket. 212992 to 134217728.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 212992, max = 134217728))]
    pub net_core_rmem_default: Option<i64>,
    /// Bytes of receive buffer a socket may ask for. 212992 to 134217728.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 212992, max = 134217728))]
    pub net_core_rmem_max: Option<i64>,
    /// Connections waiting on a listening socket. 4096 to 3240000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4096, max = 3240000))]
    pub net_core_somaxconn: Option<i64>,
    /// Bytes of send buffer of a new socket. 212992 to 134217728.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 212992, max = 134217728))]
    pub net_core_wmem_default: Option<i64>,
    /// Bytes of send buffer a socket may ask for. 212992 to 134217728.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 212992, max = 134217728))]
    pub net_core_wmem_max: Option<i64>,
    /// First and last local port, `1024 65535`.
    #[serde(default, rename = "netIPv4IPLocalPortRange", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+ \d+$"))]
    #[schemars(length(max = 11))]
    pub net_ipv4_ip_local_port_range: Option<String>,
    /// ARP entries that are always kept. 128 to 80000.
    #[serde(
        default,
        rename = "netIPv4NeighDefaultGcThresh1",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 128, max = 80000))]
    pub net_ipv4_neigh_default_gc_thresh1: Option<i64>,
    /// ARP entries that may stand for a while. 512 to 90000.
    #[serde(
        default,
        rename = "netIPv4NeighDefaultGcThresh2",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 512, max = 90000))]
    pub net_ipv4_neigh_default_gc_thresh2: Option<i64>,
    /// ARP entries at most. 1024 to 100000.
    #[serde(
        default,
        rename = "netIPv4NeighDefaultGcThresh3",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1024, max = 100000))]
    pub net_ipv4_neigh_default_gc_thresh3: Option<i64>,
    /// Seconds an orphaned connection waits. 5 to 120.
    #[serde(default, rename = "netIPv4TCPFinTimeout", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 5, max = 120))]
    pub net_ipv4_tcp_fin_timeout: Option<i64>,
    /// Seconds between keep-alive probes. 10 to 90.
    #[serde(default, rename = "netIPv4TCPKeepaliveIntvl", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 10, max = 90))]
    pub net_ipv4_tcp_keepalive_intvl: Option<i64>,
    /// Keep-alive probes before a connection counts as broken. 1 to 15.
    #[serde(
        default,
        rename = "netIPv4TCPKeepaliveProbes",
        skip_serializing_if = "Option::is_none"
    )]
    #[schemars(range(min = 1, max = 15))]
    pub net_ipv4_tcp_keepalive_probes: Option<i64>,
    /// Seconds of silence before the first keep-alive probe. 30 to 432000.
    #[serde(default, rename = "netIPv4TCPKeepaliveTime", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 432000))]
    pub net_ipv4_tcp_keepalive_time: Option<i64>,
    /// Half-open connections. 128 to 3240000.
    #[serde(default, rename = "netIPv4TCPMaxSynBacklog", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 128, max = 3240000))]
    pub net_ipv4_tcp_max_syn_backlog: Option<i64>,
    /// Sockets in TIME_WAIT. 8000 to 1440000.
    #[serde(default, rename = "netIPv4TCPMaxTwBuckets", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 8000, max = 1440000))]
    pub net_ipv4_tcp_max_tw_buckets: Option<i64>,
    /// Whether a socket in TIME_WAIT may be used again.
    #[serde(default, rename = "netIPv4TCPTwReuse", skip_serializing_if = "Option::is_none")]
    pub net_ipv4_tcp_tw_reuse: Option<bool>,
    /// Buckets of the connection tracking table. 65536 to 524288.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 65536, max = 524288))]
    pub net_netfilter_nf_conntrack_buckets: Option<i64>,
    /// Tracked connections. 131072 to 2097152.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 131072, max = 2097152))]
    pub net_netfilter_nf_conntrack_max: Option<i64>,
    /// Memory areas of a process. 65530 to 262144.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 65530, max = 262144))]
    pub vm_max_map_count: Option<i64>,
    /// How readily memory is swapped out. 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub vm_swappiness: Option<i64>,
    /// How readily directory caches are dropped. 0 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub vm_vfs_cache_pressure: Option<i64>,
}

/// What the class resolves to.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AKSNodeClassStatus {
    /// Images in order of preference.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    pub images: Vec<NodeImage>,
    /// Kubernetes version of new nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
    /// `Enabled` or `Disabled`.
    #[serde(default, rename = "localDNSState", skip_serializing_if = "Option::is_none")]
    pub local_dns_state: Option<String>,
    /// Conditions.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::conditions")]
    pub conditions: Vec<Condition>,
}

/// An image that was found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["id", "requirements"]))]
pub struct NodeImage {
    /// Id.
    #[serde(default, deserialize_with = "null_as_default")]
    pub id: String,
    /// The instance types it fits.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(schema_with = "schema::image_requirements")]
    pub requirements: Vec<NodeSelectorRequirement>,
}

/// Size of the OS disk in GB when a class says nothing.
pub const DEFAULT_OS_DISK_SIZE_GB: i64 = 128;
/// Image family when a class says nothing.
pub const DEFAULT_IMAGE_FAMILY: &str = "Ubuntu";
/// GPU mode when a class says nothing.
pub const DEFAULT_GPU_MODE: &str = "Driver";

impl AKSNodeClass {
    /// Fills every absent field that has a default, as the API server does.
    pub fn apply_defaults(&mut self) {
        self.spec.os_disk_size_gb.get_or_insert(DEFAULT_OS_DISK_SIZE_GB);
        self.spec.image_family.get_or_insert_with(|| DEFAULT_IMAGE_FAMILY.into());
        if let Some(gpu) = &mut self.spec.gpu {
            gpu.mode.get_or_insert_with(|| DEFAULT_GPU_MODE.into());
        }
        if let Some(kubelet) = &mut self.spec.kubelet {
            kubelet.cpu_manager_policy.get_or_insert_with(|| "none".into());
            kubelet.cpu_cfs_quota.get_or_insert(true);
            kubelet.cpu_cfs_quota_period.get_or_insert_with(|| "100ms".into());
            kubelet.topology_manager_policy.get_or_insert_with(|| "none".into());
            kubelet.container_log_max_size.get_or_insert_with(|| "50Mi".into());
            kubelet.container_log_max_files.get_or_insert(5);
        }
    }

    /// Size of the OS disk in GB, with the default applied.
    pub fn os_disk_size_gb(&self) -> i64 {
        self.spec.os_disk_size_gb.unwrap_or(DEFAULT_OS_DISK_SIZE_GB)
    }

    /// Image family, with the default applied.
    pub fn image_family(&self) -> &str {
        self.spec.image_family.as_deref().unwrap_or(DEFAULT_IMAGE_FAMILY)
    }

    /// GPU mode, with the default applied.
    pub fn gpu_mode(&self) -> &str {
        let mode = self.spec.gpu.as_ref().and_then(|gpu| gpu.mode.as_deref());
        mode.unwrap_or(DEFAULT_GPU_MODE)
    }
}
