//! How to decide: the settings that change an answer, by their names in files and environment.
//!
//! Settings that only concern a running controller (ports, log levels, batch windows) are not
//! here; their names are known, so that a controller's environment can be handed over whole.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::TopologySpreadConstraint;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use serde::Serialize;
use serde_json::Value;
use thiserror::Error;

use crate::error::{ErrorCode, Origin, PlanError};
use crate::read::Source;

mod gates;
mod limits;
mod values;

pub use gates::FeatureGates;
pub(crate) use limits::amount;
pub use limits::{ClusterLimits, Quota};
pub use values::ShareMillionths;

use values::{as_maybe_usd, as_usd, quantity, share, truth, usd, whole, word};

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

/// What `cheapest` goes by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Goal {
    /// The lowest price.
    #[default]
    Cost,
    /// As few nodes as can be, and the lowest price among those.
    FewestNodes,
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
    /// What is sought.
    pub goal: Goal,
    /// Share of its price that spot capacity counts as dearer while choosing: what the risk of
    /// an interruption is worth. Never in a reported price.
    pub spot_penalty: ShareMillionths,
    /// Share of each workload's pods that may be placed on spot capacity by preference; the
    /// rest prefers other capacity where there is some.
    pub spot_share: ShareMillionths,
    /// Most spot nodes of one instance type in one zone, those that exist included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot_nodes_per_offering: Option<u32>,
    /// Largest machine by CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_node_cpu: Option<Quantity>,
    /// Largest machine by memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_node_memory: Option<Quantity>,
    /// Dearest machine, in micro-dollars per hour.
    #[serde(
        rename = "maxNodePrice",
        skip_serializing_if = "Option::is_none",
        serialize_with = "as_maybe_usd"
    )]
    pub max_node_price_microusd: Option<u32>,
    /// Limits over all NodePools.
    #[serde(skip_serializing_if = "ClusterLimits::is_empty")]
    pub cluster_limits: ClusterLimits,
    /// Quotas of the cloud account.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<Quota>,
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
            goal: Goal::default(),
            spot_penalty: ShareMillionths(0),
            spot_share: ShareMillionths(1_000_000),
            spot_nodes_per_offering: None,
            max_node_cpu: None,
            max_node_memory: None,
            max_node_price_microusd: None,
            cluster_limits: ClusterLimits::default(),
            quotas: Vec::new(),
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
pub const NAMES: [&str; 19] = [
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
    "goal",
    "spotPenalty",
    "spotShare",
    "spotNodesPerOffering",
    "maxNodeCpu",
    "maxNodeMemory",
    "maxNodePrice",
    "clusterLimits",
    "quotas",
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
            Some(name) => self.set_wish(name, value)?,
            _ if CONTROLLER_ONLY.contains(&upper_snake(name).as_str()) => {
                return Ok(Taken::NotOurs);
            }
            _ => return Err(SettingError::Unknown),
        }
        Ok(Taken::Used)
    }

    /// The settings that Karpenter does not have.
    fn set_wish(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
        const SHARE: SettingError = SettingError::Invalid("a number from 0 to 1");
        const WHOLE: SettingError = SettingError::Invalid("a whole number from 0");
        const USD: SettingError = SettingError::Invalid("USD per hour from 0 to 1000");
        match name {
            "goal" => {
                self.goal = match value.as_str() {
                    Some("cost") => Goal::Cost,
                    Some("fewestNodes") => Goal::FewestNodes,
                    _ => return Err(SettingError::Invalid("`cost` or `fewestNodes`")),
                }
            }
            "nodeSurcharge" => self.node_surcharge_microusd = usd(value).ok_or(USD)?,
            "spotPenalty" => self.spot_penalty = share(value).ok_or(SHARE)?,
            "spotShare" => self.spot_share = share(value).ok_or(SHARE)?,
            "spotNodesPerOffering" => {
                self.spot_nodes_per_offering = Some(whole(value).ok_or(WHOLE)?);
            }
            "maxNodeCpu" => self.max_node_cpu = Some(quantity("cpu", value)?),
            "maxNodeMemory" => self.max_node_memory = Some(quantity("memory", value)?),
            "maxNodePrice" => self.max_node_price_microusd = Some(usd(value).ok_or(USD)?),
            "clusterLimits" => self.cluster_limits = limits::cluster_limits(value)?,
            "quotas" => self.quotas = limits::quotas(value)?,
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    /// Takes the quotas of a file, JSON or YAML.
    ///
    /// # Errors
    /// Text that cannot be read, or is no list of quotas.
    pub fn read_quotas(&mut self, source: &Source) -> Result<(), Box<PlanError>> {
        let value = crate::read::value(source)?;
        self.quotas = limits::quotas(&value).map_err(|why| {
            let origin = Origin { file: source.name.as_str().into(), ..Origin::default() };
            let message = format!("{}: {why}", source.name);
            Box::new(PlanError::at(ErrorCode::InvalidValue, origin, "quotas", message))
        })?;
        Ok(())
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

#[cfg(test)]
mod tests;
