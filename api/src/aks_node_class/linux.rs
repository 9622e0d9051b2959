//! Linux settings of an Azure node: swap, huge pages, kernel parameters.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::schema;

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
#[x_kube(
    validation = Rule::new(
        "!has(self.netCoreRmemDefault) || !has(self.netCoreRmemMax) || self.netCoreRmemDefault \
         <= self.netCoreRmemMax"
    ).message(
        "`netCoreRmemDefault` is greater than `netCoreRmemMax`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netCoreWmemDefault) || !has(self.netCoreWmemMax) || self.netCoreWmemDefault \
         <= self.netCoreWmemMax"
    ).message(
        "`netCoreWmemDefault` is greater than `netCoreWmemMax`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4NeighDefaultGcThresh1) || !has(self.netIPv4NeighDefaultGcThresh2) || \
         self.netIPv4NeighDefaultGcThresh1 <= self.netIPv4NeighDefaultGcThresh2"
    ).message(
        "`netIPv4NeighDefaultGcThresh1` is greater than `netIPv4NeighDefaultGcThresh2`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4NeighDefaultGcThresh2) || !has(self.netIPv4NeighDefaultGcThresh3) || \
         self.netIPv4NeighDefaultGcThresh2 <= self.netIPv4NeighDefaultGcThresh3"
    ).message(
        "`netIPv4NeighDefaultGcThresh2` is greater than `netIPv4NeighDefaultGcThresh3`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4NeighDefaultGcThresh1) || !has(self.netIPv4NeighDefaultGcThresh3) || \
         self.netIPv4NeighDefaultGcThresh1 <= self.netIPv4NeighDefaultGcThresh3"
    ).message(
        "`netIPv4NeighDefaultGcThresh1` is greater than `netIPv4NeighDefaultGcThresh3`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[0]) \
         >= 1024 && int(self.netIPv4IPLocalPortRange.split(' ')[0]) <= 60999)"
    ).message(
        "the first port of `netIPv4IPLocalPortRange` must be 1024 to 60999"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4IPLocalPortRange) || (int(self.netIPv4IPLocalPortRange.split(' ')[1]) \
         >= 32768 && int(self.netIPv4IPLocalPortRange.split(' ')[1]) <= 65535)"
    ).message(
        "the last port of `netIPv4IPLocalPortRange` must be 32768 to 65535"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.netIPv4IPLocalPortRange) || int(self.netIPv4IPLocalPortRange.split(' ')[0]) \
         <= int(self.netIPv4IPLocalPortRange.split(' ')[1])"
    ).message(
        "the first port of `netIPv4IPLocalPortRange` is greater than the last"
    )
)]
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
