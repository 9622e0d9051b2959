//! Kubelet settings of an EC2NodeClass, which the CRD leaves open.

use serde_json::{Map, Value};

use super::runtime::Findings;
use crate::ec2_node_class::family_of_alias;

const AT: &str = "spec.kubelet";

/// Signals that eviction thresholds may name.
const SIGNALS: [&str; 6] = [
    "memory.available",
    "nodefs.available",
    "nodefs.inodesFree",
    "imagefs.available",
    "imagefs.inodesFree",
    "pid.available",
];
/// Resources that may be reserved.
const RESERVABLE: [&str; 4] = ["cpu", "memory", "ephemeral-storage", "pid"];
/// Fields that every image family can set.
const MANAGED: [&str; 12] = [
    "clusterDNS",
    "maxPods",
    "podsPerCore",
    "systemReserved",
    "kubeReserved",
    "evictionHard",
    "evictionSoft",
    "evictionSoftGracePeriod",
    "evictionMaxPodGracePeriod",
    "imageGCHighThresholdPercent",
    "imageGCLowThresholdPercent",
    "cpuCFSQuota",
];

/// Checks `spec.kubelet`.
pub(super) fn check(found: &mut Findings<'_>) {
    let Some(kubelet) = found.at(AT).and_then(Value::as_object) else { return };
    check_fields(found, kubelet);
    for name in ["systemReserved", "kubeReserved"] {
        check_map(found, kubelet, name, &RESERVABLE, |text| {
            is_quantity(text).then_some(()).ok_or("must be a quantity that is not negative")
        });
    }
    for name in ["evictionHard", "evictionSoft"] {
        check_map(found, kubelet, name, &SIGNALS, |text| {
            let is_threshold = match text.strip_suffix('%') {
                Some(percent) => percent.parse::<f64>().is_ok_and(|p| (0.0..=100.0).contains(&p)),
                None => is_quantity(text),
            };
            let message = "must be a quantity that is not negative, or `0%` to `100%`";
            is_threshold.then_some(()).ok_or(message)
        });
    }
    check_map(found, kubelet, "evictionSoftGracePeriod", &SIGNALS, |text| {
        is_go_duration(text).then_some(()).ok_or("must be a duration like `1m30s`")
    });
    check_soft(found, kubelet);
    check_numbers(found, kubelet);
}

fn check_fields(found: &mut Findings<'_>, kubelet: &Map<String, Value>) {
    let family = family(found);
    for name in kubelet.keys() {
        if name == "registerWithTaints" {
            found.push(
                &format!("{AT}.{name}"),
                "is set by the controller: use taints of the NodePool",
            );
        } else if !MANAGED.contains(&name.as_str()) && !OTHER_FIELDS.contains(&name.as_str()) {
            found.push(&format!("{AT}.{name}"), "is not a field of the kubelet's configuration");
        } else if !MANAGED.contains(&name.as_str())
            && matches!(
                family,
                "AL2" | "Bottlerocket" | "Windows2019" | "Windows2022" | "Windows2025"
            )
        {
            let message = format!("`amiFamily` {family} cannot set this field: AL2023 can");
            found.push(&format!("{AT}.{name}"), message);
        }
    }
    let dns = kubelet.get("clusterDNS");
    if let Some(dns) = dns {
        let is_list = dns.as_array().is_some_and(|list| list.iter().all(Value::is_string));
        if !is_list {
            found.push(&format!("{AT}.clusterDNS"), "must be a list of addresses");
        }
        let count = dns.as_array().map_or(0, Vec::len);
        if count > 1 && !matches!(family, "AL2023" | "Custom") {
            let message = format!("`amiFamily` {family} takes one address, not {count}");
            found.push(&format!("{AT}.clusterDNS"), message);
        }
    }
    if kubelet.get("cpuCFSQuota").is_some_and(|value| !value.is_boolean()) {
        found.push(&format!("{AT}.cpuCFSQuota"), "must be true or false");
    }
}

fn family<'o>(found: &Findings<'o>) -> &'o str {
    let of_alias = || found.text("spec.amiSelectorTerms[0].alias").and_then(family_of_alias);
    found.text("spec.amiFamily").or_else(of_alias).unwrap_or("Custom")
}

fn check_map(
    found: &mut Findings<'_>,
    kubelet: &Map<String, Value>,
    name: &str,
    keys: &[&str],
    check: impl Fn(&str) -> Result<(), &'static str>,
) {
    let Some(value) = kubelet.get(name) else { return };
    let path = format!("{AT}.{name}");
    let Some(map) = value.as_object() else {
        return found.push(&path, "must be a map of strings");
    };
    for (key, value) in map {
        if !keys.contains(&key.as_str()) {
            found.push_key(&path, key, format!("must be one of `{}`", keys.join("`, `")));
            continue;
        }
        let verdict = value.as_str().ok_or("must be a string (put it in quotes)").and_then(&check);
        if let Err(message) = verdict {
            found.push_key(&path, key, format!("`{value}`: {message}"));
        }
    }
}

fn check_soft(found: &mut Findings<'_>, kubelet: &Map<String, Value>) {
    let keys = |name: &str| kubelet.get(name).and_then(Value::as_object);
    let (soft, grace) = (keys("evictionSoft"), keys("evictionSoftGracePeriod"));
    let pairs = [
        (soft, grace, "evictionSoft", "evictionSoftGracePeriod"),
        (grace, soft, "evictionSoftGracePeriod", "evictionSoft"),
    ];
    for (one, other, name, other_name) in pairs {
        for key in one.into_iter().flatten().map(|(key, _)| key) {
            if !other.is_some_and(|other| other.contains_key(key)) {
                let path = format!("{AT}.{name}");
                found.push_key(&path, key, format!("has no entry in `{other_name}`"));
            }
        }
    }
}

fn check_numbers(found: &mut Findings<'_>, kubelet: &Map<String, Value>) {
    let percents = ["imageGCHighThresholdPercent", "imageGCLowThresholdPercent"];
    let counts = ["maxPods", "podsPerCore", "evictionMaxPodGracePeriod"];
    for name in counts.into_iter().chain(percents) {
        let Some(value) = kubelet.get(name) else { continue };
        let most = if percents.contains(&name) { 100 } else { i64::from(i32::MAX) };
        if !value.as_i64().is_some_and(|number| (0..=most).contains(&number)) {
            let message = format!("must be a whole number from 0 to {most}");
            found.push(&format!("{AT}.{name}"), message);
        }
    }
    let [high, low] = percents.map(|name| kubelet.get(name).and_then(Value::as_i64));
    if let (Some(high), Some(low)) = (high, low)
        && high <= low
    {
        let message = format!("must be greater than imageGCLowThresholdPercent ({low})");
        found.push(&format!("{AT}.imageGCHighThresholdPercent"), message);
    }
}

/// True for a quantity that is not negative.
fn is_quantity(text: &str) -> bool {
    let text = text.strip_prefix('+').unwrap_or(text);
    let end = text.bytes().take_while(|c| c.is_ascii_digit() || *c == b'.').count();
    let (number, unit) = text.split_at(end);
    let is_number = number.bytes().any(|c| c.is_ascii_digit()) && number.matches('.').count() <= 1;
    let is_exponent = unit.strip_prefix(['e', 'E']).is_some_and(|e| e.parse::<i32>().is_ok());
    let units =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    is_number && (units.contains(&unit) || is_exponent)
}

/// True for a duration as Go writes it, not negative: `1m30s`, `1.5h`, `0`.
fn is_go_duration(text: &str) -> bool {
    let mut rest = text.strip_prefix('+').unwrap_or(text);
    if rest == "0" {
        return true;
    }
    let is_empty = rest.is_empty();
    while !rest.is_empty() {
        let end = rest.bytes().take_while(|c| c.is_ascii_digit() || *c == b'.').count();
        let (number, after) = rest.split_at(end);
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
        let Some(unit) = units.iter().find(|unit| after.starts_with(**unit)) else { return false };
        if number.parse::<f64>().is_err() {
            return false;
        }
        rest = &after[unit.len()..];
    }
    !is_empty
}

/// Fields of the kubelet's configuration besides [`MANAGED`].
const OTHER_FIELDS: &[&str] = &[
    "address",
    "allowedUnsafeSysctls",
    "apiVersion",
    "authentication",
    "authorization",
    "cgroupDriver",
    "cgroupRoot",
    "cgroupsPerQOS",
    "clusterDomain",
    "configMapAndSecretChangeDetectionStrategy",
    "containerLogMaxFiles",
    "containerLogMaxSize",
    "containerLogMaxWorkers",
    "containerLogMonitorInterval",
    "containerRuntimeEndpoint",
    "contentType",
    "cpuCFSQuotaPeriod",
    "cpuManagerPolicy",
    "cpuManagerPolicyOptions",
    "cpuManagerReconcilePeriod",
    "crashLoopBackOff",
    "enableContentionProfiling",
    "enableControllerAttachDetach",
    "enableDebugFlagsHandler",
    "enableDebuggingHandlers",
    "enableProfilingHandler",
    "enableServer",
    "enableSystemLogHandler",
    "enableSystemLogQuery",
    "enforceNodeAllocatable",
    "eventBurst",
    "eventRecordQPS",
    "evictionMinimumReclaim",
    "evictionPressureTransitionPeriod",
    "failCgroupV1",
    "failSwapOn",
    "featureGates",
    "fileCheckFrequency",
    "hairpinMode",
    "healthzBindAddress",
    "healthzPort",
    "httpCheckFrequency",
    "imageMaximumGCAge",
    "imageMinimumGCAge",
    "imagePullCredentialsVerificationPolicy",
    "imageServiceEndpoint",
    "iptablesDropBit",
    "iptablesMasqueradeBit",
    "kernelMemcgNotification",
    "kind",
    "kubeAPIBurst",
    "kubeAPIQPS",
    "kubeReservedCgroup",
    "kubeletCgroups",
    "localStorageCapacityIsolation",
    "logging",
    "makeIPTablesUtilChains",
    "maxOpenFiles",
    "maxParallelImagePulls",
    "memoryManagerPolicy",
    "memorySwap",
    "memoryThrottlingFactor",
    "mergeDefaultEvictionSettings",
    "nodeLeaseDurationSeconds",
    "nodeStatusMaxImages",
    "nodeStatusReportFrequency",
    "nodeStatusUpdateFrequency",
    "oomScoreAdj",
    "podCIDR",
    "podLogsDir",
    "podPidsLimit",
    "port",
    "preloadedImagesVerificationAllowlist",
    "protectKernelDefaults",
    "providerID",
    "qosReserved",
    "readOnlyPort",
    "registerNode",
    "registryBurst",
    "registryPullQPS",
    "reservedMemory",
    "reservedSystemCPUs",
    "resolvConf",
    "rotateCertificates",
    "runOnce",
    "runtimeRequestTimeout",
    "seccompDefault",
    "serializeImagePulls",
    "serverTLSBootstrap",
    "showHiddenMetricsForVersion",
    "shutdownGracePeriod",
    "shutdownGracePeriodByPodPriority",
    "shutdownGracePeriodCriticalPods",
    "singleProcessOOMKill",
    "staticPodPath",
    "staticPodURL",
    "staticPodURLHeader",
    "streamingConnectionIdleTimeout",
    "syncFrequency",
    "systemCgroups",
    "systemReservedCgroup",
    "tlsCertFile",
    "tlsCipherSuites",
    "tlsMinVersion",
    "tlsPrivateKeyFile",
    "topologyManagerPolicy",
    "topologyManagerPolicyOptions",
    "topologyManagerScope",
    "tracing",
    "userNamespaces",
    "volumePluginDir",
    "volumeStatsAggPeriod",
];
