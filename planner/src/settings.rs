//! How to decide: the settings that change an answer, by their names in files and environment.
//!
//! Settings that only concern a running controller (ports, log levels, batch windows) are not
//! here; their names are known, so that a controller's environment can be handed over whole.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::TopologySpreadConstraint;
use serde::{Serialize, Serializer};
use serde_json::Value;
use thiserror::Error;

/// What to do with preferences: try to meet them, or act as if they were not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum PreferencePolicy {
    /// Hard until nothing else helps.
    #[default]
    Respect,
    /// Not looked at.
    Ignore,
}

/// What to do when minValues cannot be met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum MinValuesPolicy {
    /// The pool cannot serve the pod.
    #[default]
    Strict,
    /// Lower minValues to what can be had.
    BestEffort,
}

/// Features that can be switched, with Karpenter's defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct FeatureGates {
    /// Capacity reservations are used.
    pub reserved_capacity: bool,
    /// Spot nodes may be replaced by cheaper spot nodes.
    pub spot_to_spot_consolidation: bool,
    /// Unhealthy nodes are replaced.
    pub node_repair: bool,
    /// NodeOverlays count.
    pub node_overlay: bool,
    /// Pools with replicas are filled.
    pub static_capacity: bool,
    /// CapacityBuffers count.
    pub capacity_buffer: bool,
}

impl Default for FeatureGates {
    fn default() -> Self {
        Self {
            reserved_capacity: true,
            spot_to_spot_consolidation: false,
            node_repair: false,
            node_overlay: false,
            static_capacity: false,
            capacity_buffer: false,
        }
    }
}

impl FeatureGates {
    /// Names of the gates.
    pub const NAMES: [&'static str; 6] = [
        "ReservedCapacity",
        "SpotToSpotConsolidation",
        "NodeRepair",
        "NodeOverlay",
        "StaticCapacity",
        "CapacityBuffer",
    ];

    fn gate(&mut self, name: &str) -> Option<&mut bool> {
        Some(match name {
            "ReservedCapacity" => &mut self.reserved_capacity,
            "SpotToSpotConsolidation" => &mut self.spot_to_spot_consolidation,
            "NodeRepair" => &mut self.node_repair,
            "NodeOverlay" => &mut self.node_overlay,
            "StaticCapacity" => &mut self.static_capacity,
            "CapacityBuffer" => &mut self.capacity_buffer,
            _ => return None,
        })
    }
}

/// A share in millionths, so that every machine computes with the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ShareMillionths(pub u32);

impl ShareMillionths {
    /// The share as a number: 75000 is 0.075.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1_000_000.0
    }
}

impl Serialize for ShareMillionths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_f64())
    }
}

/// Settings that change answers. `Default` is Karpenter's defaults.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Settings {
    /// What preferences are worth.
    pub preference_policy: PreferencePolicy,
    /// What minValues are worth.
    pub min_values_policy: MinValuesPolicy,
    /// Pods with device claims are reported as not supported. The only value for now.
    #[serde(rename = "ignoreDRARequests")]
    pub ignore_dra_requests: bool,
    /// Switches.
    pub feature_gates: FeatureGates,
    /// Part of a machine's memory that its hypervisor keeps.
    pub vm_memory_overhead_percent: ShareMillionths,
    /// Network interfaces per machine that pods cannot use (AWS).
    #[serde(rename = "reservedENIs")]
    pub reserved_enis: u32,
    /// Name of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster_name: Option<String>,
    /// Cloud region, for objects that name none of the catalog's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// Spread constraints of pods that bring none of their own, as kube-scheduler has them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub default_spread_constraints: Vec<TopologySpreadConstraint>,
    /// What a node counts as beyond its price while `cheapest` chooses, in micro-dollars per
    /// hour: agents, licences, and the wish for fewer nodes. Never in a reported price.
    #[serde(rename = "nodeSurcharge", serialize_with = "as_usd")]
    pub node_surcharge_microusd: u32,
    /// Gates that were named and are none, ascending: they change nothing, and a plan tells them.
    #[serde(skip)]
    pub unknown_gates: BTreeSet<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            preference_policy: PreferencePolicy::default(),
            min_values_policy: MinValuesPolicy::default(),
            ignore_dra_requests: true,
            feature_gates: FeatureGates::default(),
            vm_memory_overhead_percent: ShareMillionths(75_000),
            reserved_enis: 0,
            node_surcharge_microusd: 20_000,
            cluster_name: None,
            region: None,
            default_spread_constraints: Vec::new(),
            unknown_gates: BTreeSet::new(),
        }
    }
}

/// Why a setting was refused. The caller knows where it stood.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SettingError {
    /// No setting of that name.
    #[error("is not a setting; known are {}", NAMES.join(", "))]
    Unknown,
    /// A value that the setting does not take; what it takes.
    #[error("must be {0}")]
    Invalid(&'static str),
}

/// What became of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It counts.
    Used,
    /// It belongs to a running controller and changes no answer.
    NotOurs,
}

/// Names of the settings, as files write them.
pub const NAMES: [&str; 10] = [
    "preferencePolicy",
    "minValuesPolicy",
    "ignoreDRARequests",
    "featureGates",
    "vmMemoryOverheadPercent",
    "reservedENIs",
    "clusterName",
    "region",
    "defaultSpreadConstraints",
    "nodeSurcharge",
];

/// Karpenter's other settings, by their names in the environment.
const CONTROLLER_ONLY: [&str; 25] = [
    "BATCH_MAX_DURATION",
    "BATCH_IDLE_DURATION",
    "CPU_REQUESTS",
    "MEMORY_LIMIT",
    "KUBE_CLIENT_QPS",
    "KUBE_CLIENT_BURST",
    "METRICS_PORT",
    "HEALTH_PROBE_PORT",
    "DISABLE_LEADER_ELECTION",
    "LEADER_ELECTION_NAME",
    "LEADER_ELECTION_NAMESPACE",
    "DISABLE_CONTROLLER_WARMUP",
    "DISABLE_CLUSTER_STATE_OBSERVABILITY",
    "ENABLE_PROFILING",
    "LOG_LEVEL",
    "LOG_OUTPUT_PATHS",
    "LOG_ERROR_OUTPUT_PATHS",
    "CLUSTER_ENDPOINT",
    "CLUSTER_CA_BUNDLE",
    "ISOLATED_VPC",
    "EKS_CONTROL_PLANE",
    "INTERRUPTION_QUEUE",
    "DISABLE_DRY_RUN",
    "AMI_REFRESH_INTERVAL",
    "SUBNET_REFRESH_INTERVAL",
];

impl Settings {
    /// Sets one setting by its name in files (`preferencePolicy`) or in Karpenter's
    /// environment (`PREFERENCE_POLICY`). Numbers and truth values may be text, as they are
    /// in an environment.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<Taken, SettingError> {
        match canonical(name) {
            Some("preferencePolicy") => {
                self.preference_policy = match value.as_str() {
                    Some("Respect") => PreferencePolicy::Respect,
                    Some("Ignore") => PreferencePolicy::Ignore,
                    _ => return Err(SettingError::Invalid("`Respect` or `Ignore`")),
                }
            }
            Some("minValuesPolicy") => {
                self.min_values_policy = match value.as_str() {
                    Some("Strict") => MinValuesPolicy::Strict,
                    Some("BestEffort") => MinValuesPolicy::BestEffort,
                    _ => return Err(SettingError::Invalid("`Strict` or `BestEffort`")),
                }
            }
            Some("ignoreDRARequests") => match truth(value) {
                Some(true) => self.ignore_dra_requests = true,
                Some(false) => {
                    return Err(SettingError::Invalid(
                        "true: device claims are reported, not scheduled",
                    ));
                }
                None => return Err(SettingError::Invalid("true or false")),
            },
            Some("featureGates") => self.set_gates(value)?,
            Some("vmMemoryOverheadPercent") => {
                self.vm_memory_overhead_percent =
                    share(value).ok_or(SettingError::Invalid("a number from 0 to 1"))?;
            }
            Some("reservedENIs") => {
                self.reserved_enis =
                    whole(value).ok_or(SettingError::Invalid("a whole number from 0"))?;
            }
            Some("clusterName") => self.cluster_name = Some(word(value)?),
            Some("region") => self.region = Some(word(value)?),
            Some("defaultSpreadConstraints") => {
                self.default_spread_constraints = serde_json::from_value(value.clone())
                    .map_err(|_| SettingError::Invalid("a list of topology spread constraints"))?;
            }
            Some("nodeSurcharge") => {
                self.node_surcharge_microusd =
                    usd(value).ok_or(SettingError::Invalid("USD per hour from 0 to 1000"))?;
            }
            _ if CONTROLLER_ONLY.contains(&upper_snake(name).as_str()) => {
                return Ok(Taken::NotOurs);
            }
            _ => return Err(SettingError::Unknown),
        }
        Ok(Taken::Used)
    }

    fn set_gates(&mut self, value: &Value) -> Result<(), SettingError> {
        const FORM: SettingError =
            SettingError::Invalid("`Name=true,Name=false` or a mapping of names to true or false");
        match value {
            Value::String(text) => {
                for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                    let (name, on) = part.split_once('=').ok_or(FORM)?;
                    let on = truth(&Value::from(on.trim())).ok_or(FORM)?;
                    self.set_gate(name.trim(), on);
                }
                Ok(())
            }
            Value::Object(gates) => {
                for (name, on) in gates {
                    self.set_gate(name, truth(on).ok_or(FORM)?);
                }
                Ok(())
            }
            _ => Err(FORM),
        }
    }

    /// Unknown gates are ignored, as in Karpenter: charts of other versions name other gates.
    /// Their names are kept, since one may be a typing error.
    fn set_gate(&mut self, name: &str, on: bool) {
        match self.feature_gates.gate(name) {
            Some(gate) => *gate = on,
            None => {
                self.unknown_gates.insert(crate::error::quoted(name));
            }
        }
    }
}

/// The name in files for either form of a name.
fn canonical(name: &str) -> Option<&'static str> {
    let wanted = upper_snake(name);
    NAMES.into_iter().find(|known| *known == name || upper_snake(known) == wanted)
}

/// `reservedENIs`, `reserved-enis` and `RESERVED_ENIS` are all `RESERVED_ENIS`.
fn upper_snake(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::with_capacity(name.len() + 4);
    for (i, c) in chars.iter().enumerate() {
        let follows_small = i > 0 && (chars[i - 1].is_lowercase() || chars[i - 1].is_numeric());
        // `DRAR…`: the last capital before a small letter starts a word; a plural `s` does not.
        let starts_word = i > 0
            && chars[i - 1].is_uppercase()
            && chars.get(i + 1).is_some_and(|n| n.is_lowercase())
            && !(i + 2 == chars.len() && chars[i + 1] == 's');
        if c.is_uppercase() && (follows_small || starts_word) {
            out.push('_');
        }
        out.extend(if *c == '-' { '_' } else { *c }.to_uppercase());
    }
    out
}

/// Dollars as micro-dollars, up to a thousand.
fn usd(value: &Value) -> Option<u32> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (0.0..=1000.0).contains(&number).then(|| (number * 1e6).round() as u32)
}

fn as_usd<S: Serializer>(microusd: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*microusd) / 1e6)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(on) => Some(*on),
        Value::String(text) => match text.as_str() {
            "true" | "True" | "TRUE" | "t" | "T" | "1" => Some(true),
            "false" | "False" | "FALSE" | "f" | "F" | "0" => Some(false),
            _ => None,
        },
        _ => None,
    }
}

fn whole(value: &Value) -> Option<u32> {
    match value {
        Value::Number(n) => n.as_u64()?.try_into().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn share(value: &Value) -> Option<ShareMillionths> {
    let text = match value {
        Value::Number(n) => n.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    let millionths = crate::quantity::parse_microusd(&text).ok()?;
    let millionths = u32::try_from(millionths).ok()?;
    (millionths <= 1_000_000).then_some(ShareMillionths(millionths))
}

fn word(value: &Value) -> Result<String, SettingError> {
    match value.as_str() {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(SettingError::Invalid("a name")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_forms_of_a_name_are_known() {
        for (a, b) in [
            ("preferencePolicy", "PREFERENCE_POLICY"),
            ("ignoreDRARequests", "IGNORE_DRA_REQUESTS"),
            ("reservedENIs", "RESERVED_ENIS"),
            ("nodeSurcharge", "NODE_SURCHARGE"),
            ("vmMemoryOverheadPercent", "VM_MEMORY_OVERHEAD_PERCENT"),
            ("featureGates", "feature-gates"),
        ] {
            assert_eq!(upper_snake(a), upper_snake(b));
            assert_eq!(canonical(a), Some(a));
            assert_eq!(canonical(b), Some(a));
        }
    }

    #[test]
    fn settings_take_values_and_text() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("PREFERENCE_POLICY", json!("Ignore")),
            ("minValuesPolicy", json!("BestEffort")),
            ("featureGates", json!("NodeOverlay=true, ReservedCapacity=false,Unknown=true")),
            ("VM_MEMORY_OVERHEAD_PERCENT", json!("0.1")),
            ("reservedENIs", json!(1)),
            ("nodeSurcharge", json!("0.05")),
            ("clusterName", json!("blue")),
            ("region", json!("eu-west-1")),
            (
                "defaultSpreadConstraints",
                json!([{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway"}]),
            ),
        ] {
            assert_eq!(settings.set(name, &value), Ok(Taken::Used), "{name}");
        }
        assert_eq!(settings.preference_policy, PreferencePolicy::Ignore);
        assert_eq!(settings.min_values_policy, MinValuesPolicy::BestEffort);
        assert!(settings.feature_gates.node_overlay && !settings.feature_gates.reserved_capacity);
        assert_eq!(settings.vm_memory_overhead_percent, ShareMillionths(100_000));
        assert_eq!(settings.reserved_enis, 1);
        assert_eq!(settings.node_surcharge_microusd, 50_000);
        assert_eq!(settings.default_spread_constraints.len(), 1);
        assert_eq!(settings.unknown_gates, BTreeSet::from(["Unknown".to_owned()]));
        assert!(FeatureGates::NAMES.iter().all(|name| settings.feature_gates.gate(name).is_some()));
        settings.set("featureGates", &json!({"StaticCapacity": true})).unwrap();
        assert!(settings.feature_gates.static_capacity && settings.feature_gates.node_overlay);
        assert_eq!(settings.set("BATCH_IDLE_DURATION", &json!("1s")), Ok(Taken::NotOurs));
        assert_eq!(settings.set("logLevel", &json!("debug")), Ok(Taken::NotOurs));
    }

    #[test]
    fn bad_values_are_refused() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("preferencePolicy", json!("respect")),
            ("minValuesPolicy", json!(1)),
            ("ignoreDRARequests", json!(false)),
            ("featureGates", json!("NodeOverlay")),
            ("featureGates", json!({"NodeOverlay": "maybe"})),
            ("vmMemoryOverheadPercent", json!(-0.1)),
            ("vmMemoryOverheadPercent", json!(7.5)),
            ("reservedENIs", json!(-1)),
            ("nodeSurcharge", json!(-0.01)),
            ("nodeSurcharge", json!("1001")),
            ("region", json!("")),
            ("defaultSpreadConstraints", json!("zone")),
        ] {
            let refused = settings.set(name, &value);
            assert!(matches!(refused, Err(SettingError::Invalid(_))), "{name}: {refused:?}");
        }
        assert_eq!(settings.set("prefPolicy", &json!("Ignore")), Err(SettingError::Unknown));
        assert_eq!(settings, Settings::default(), "a refused value changes nothing");
    }

    #[test]
    fn settings_read_back_from_their_json() {
        let mut settings = Settings::default();
        settings.set("featureGates", &json!("NodeRepair=true")).unwrap();
        settings.set("region", &json!("eastus")).unwrap();
        let mut again = Settings::default();
        for (name, value) in serde_json::to_value(&settings).unwrap().as_object().unwrap() {
            assert_eq!(again.set(name, value), Ok(Taken::Used), "{name}");
        }
        assert_eq!(again, settings);
    }
}
