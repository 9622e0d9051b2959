//! AKSNodeClass (`karpenter.azure.com/v1beta1`): how Azure makes a node.

mod kubelet;
mod linux;
mod local_dns;

pub use kubelet::AKSKubeletConfiguration;
pub use linux::{LinuxOSConfiguration, SysctlConfiguration};
pub use local_dns::{LocalDNS, LocalDNSZoneOverride};

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
#[x_kube(
    validation = Rule::new(
        "!has(self.fipsMode) || self.fipsMode != 'FIPS' || (has(self.imageFamily) && \
         self.imageFamily != 'Ubuntu2404')"
    ).message(
        "FIPS is not possible with `imageFamily: Ubuntu2404`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.fipsMode) || self.fipsMode != 'FIPS' || !has(self.imageFamily) || \
         self.imageFamily != 'Ubuntu2204' || (has(self.security) && \
         has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && \
         self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && \
         self.security.trustedLaunch.secureBoot)))"
    ).message(
        "FIPS with `imageFamily: Ubuntu2204` needs `security.trustedLaunch`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.fipsMode) || self.fipsMode != 'FIPS' || !has(self.imageFamily) || \
         self.imageFamily in ['Ubuntu', 'Ubuntu2204'] || !(has(self.security) && \
         has(self.security.trustedLaunch) && ((has(self.security.trustedLaunch.vtpm) && \
         self.security.trustedLaunch.vtpm) || (has(self.security.trustedLaunch.secureBoot) && \
         self.security.trustedLaunch.secureBoot)))"
    ).message(
        "FIPS with `security.trustedLaunch` needs `imageFamily` `Ubuntu` or `Ubuntu2204`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.linuxOSConfig) || !has(self.linuxOSConfig.swapFileSize) || \
         (has(self.kubelet) && has(self.kubelet.failSwapOn) && !self.kubelet.failSwapOn)"
    ).message(
        "`linuxOSConfig.swapFileSize` needs `kubelet.failSwapOn: false`"
    )
)]
pub struct AKSNodeClassSpec {
    /// ARM id of the subnet; absent means the cluster's own.
    #[serde(default, rename = "vnetSubnetID", skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = schema::ARM_SUBNET_ID))]
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
    #[x_kube(
        validation = Rule::new(
            "self.all(k, size(k) <= 512)"
        ).message(
            "tag keys may have 512 characters at most"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, !k.matches('[<>%&?]'))"
        ).message(
            "tag keys must not contain `<`, `>`, `%`, `&` or `?`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, !k.contains('\\\\'))"
        ).message(
            "tag keys must not contain a backslash"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, size(self[k]) <= 256)"
        ).message(
            "tag values may have 256 characters at most"
        )
    )]
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
