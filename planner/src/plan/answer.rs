//! The answer to `plan`, in the shape of the contract: names only, fields in a fixed order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dual::DualPrices;
use super::money::Money;
use crate::replay::Replay;

/// What would be launched for the pending pods, what is bound to nodes that exist, and why
/// the rest waits. Equal inputs give equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Nodes to launch, in the order of opening.
    pub launch: Vec<Launch>,
    /// Nodes that NodePools with `replicas` lack (gate StaticCapacity): without pods, by pool.
    /// They are in no sum of `launch`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub static_launch: Vec<Launch>,
    /// Existing nodes that take pods, by name.
    pub bind: Vec<Bind>,
    /// Pods that fit nowhere, by name.
    pub unplaced: Vec<UnplacedPod>,
    /// What the launches take from quotas and cluster limits; absent without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quotas: Vec<QuotaUse>,
    /// What is worth knowing about the input.
    pub warnings: Vec<Notice>,
    /// What the launches cost.
    pub cost: Cost,
    /// What proves the lower bound; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dual: Option<DualPrices>,
    /// What kube-scheduler makes of the plan; absent unless asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Replay>,
    /// What deciding took.
    pub effort: Effort,
}

/// One node to launch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launch {
    /// NodePool that opens it.
    pub node_pool: String,
    /// Node class of the pool.
    pub node_class: String,
    /// Types that the cloud may choose from, cheapest first, at most 600.
    pub instance_types: Vec<String>,
    /// The cheapest offering of those types.
    pub cheapest: Choice,
    /// What the node must satisfy, by key. The list of instance types stands above and is
    /// repeated here only when it has a `minValues`.
    pub requirements: Vec<Requirement>,
    /// Requests of the pods and of the least DaemonSet overhead, as Kubernetes quantities.
    pub requests: BTreeMap<String, String>,
    /// `namespace/name` of its pods, in the order of placing.
    pub pods: Vec<String>,
    /// Why this pool, and what was given up.
    pub because: Vec<Because>,
}

/// An instance type in one place at one price.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// Name of the type.
    pub instance_type: String,
    /// Zone; empty where the cloud names none.
    pub zone: String,
    /// `on-demand`, `spot` or `reserved`.
    pub capacity_type: String,
    /// USD per hour; `null` when nobody knows the price.
    pub price_per_hour: Money,
}

/// A requirement as a NodeClaim has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// Label key.
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gte` or `Lte`.
    pub operator: String,
    /// Values, ascending; empty for `Exists` and `DoesNotExist`.
    #[serde(default)]
    pub values: Vec<String>,
    /// So many distinct values must stay possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<u16>,
}

/// Pods for a node that exists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bind {
    /// Name of the node, or of the NodeClaim while there is no node.
    pub node: String,
    /// `namespace/name`, in the order of placing.
    pub pods: Vec<String>,
}

/// A pod that fits nowhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnplacedPod {
    /// `namespace/name`.
    pub pod: String,
    /// One entry for each NodePool in the order in which they are tried, or one alone.
    pub because: Vec<Because>,
}

/// One reason: a stable code, the numbers, one sentence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Because {
    /// One of [`crate::raise::CODES`].
    pub code: String,
    /// What is needed, the best there is, and what to change.
    pub message: String,
    /// NodePool that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_pool: Option<String>,
    /// What the reason is about: a label key, a resource, a taint or a topology rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What is needed, as a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub need: Option<String>,
    /// The best there is, as a Kubernetes quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<String>,
    /// How many instance types of the pool pass each test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub types: Option<TypesTested>,
}

/// How many instance types of a pool pass each test on its own, and two together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypesTested {
    /// Types asked.
    pub asked: u32,
    /// Labels fit.
    pub labels: u32,
    /// Large enough.
    pub large: u32,
    /// An offering can be used.
    pub offered: u32,
    /// Labels fit and large enough.
    pub labels_large: u32,
    /// Labels fit and an offering can be used.
    pub labels_offered: u32,
    /// Large enough and an offering can be used.
    pub large_offered: u32,
}

/// What the launches take from one quota. Amounts are Kubernetes quantities, or USD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QuotaUse {
    /// What the cloud calls it, or the setting.
    pub name: String,
    /// Region, when it holds for one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// `vCPU`, `bytes`, `nodes` or `USD/h`.
    pub unit: String,
    /// Most that may be taken.
    pub limit: String,
    /// Taken by what exists.
    pub used: String,
    /// Taken by the launches, each counted as its cheapest machine.
    pub planned: String,
    /// What a better plan would need beyond the limit; absent when the quota costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
}

/// A warning of the answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Notice {
    /// Stable code, such as `DefaultRegion`.
    pub code: String,
    /// One sentence.
    pub message: String,
    /// The object meant.
    pub object: String,
}

/// What the launches cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Sum of the cheapest offerings, in USD per hour.
    pub launch_per_hour: Money,
    /// The same of `staticLaunch`; absent without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub static_per_hour: Option<Money>,
    /// What no plan can go below; `null` while no bound is computed.
    pub lower_bound_per_hour: Money,
    /// `launchPerHour / lowerBoundPerHour − 1`; `null` without a bound.
    pub gap: Option<f64>,
}

impl Cost {
    /// States a proven bound and the gap to it.
    pub(crate) fn set_bound(&mut self, bound: Money) {
        self.lower_bound_per_hour = bound;
        self.gap = match (self.launch_per_hour.0, bound.0) {
            (Some(0), Some(0)) => Some(0.0),
            // Six places, as money: the last digits of a quotient say nothing.
            (Some(cost), Some(bound)) if bound > 0 => {
                Some(((cost as f64 / bound as f64 - 1.0) * 1e6).round() / 1e6)
            }
            _ => None,
        };
    }
}

/// What deciding took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Effort {
    /// Acceptance tests of a pod on a node, each over all remaining types.
    pub steps: u64,
    /// Bytes of working memory at the peak.
    pub memory_bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reads_back_and_writes_the_same_bytes() {
        let plan = Plan {
            launch: vec![Launch {
                node_pool: "default".into(),
                requirements: vec![Requirement { key: "a".into(), ..Requirement::default() }],
                requests: [("cpu".into(), "150m".into())].into(),
                because: vec![Because { code: "poolChosen".into(), ..Because::default() }],
                ..Launch::default()
            }],
            cost: Cost { launch_per_hour: Money(Some(192_000)), ..Cost::default() },
            ..Plan::default()
        };
        let text = serde_json::to_string(&plan).unwrap();
        let again: Plan = serde_json::from_str(&text).unwrap();
        assert_eq!(again, plan);
        assert_eq!(serde_json::to_string(&again).unwrap(), text);
        assert!(text.starts_with(r#"{"launch":[{"nodePool":"default","nodeClass":"","#), "{text}");
        assert!(text.ends_with(
            r#""cost":{"launchPerHour":0.192,"lowerBoundPerHour":null,"gap":null},"effort":{"steps":0,"memoryBytes":0}}"#
        ));
    }
}
