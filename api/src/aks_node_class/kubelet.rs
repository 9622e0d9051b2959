//! Kubelet settings that AKS lets a user change.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;
use crate::schema;

/// Kubelet settings that AKS lets a user change.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || \
         self.imageGCHighThresholdPercent > self.imageGCLowThresholdPercent"
    ).message(
        "`imageGCHighThresholdPercent` must be greater than `imageGCLowThresholdPercent`"
    )
)]
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
