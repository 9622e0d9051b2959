//! PodDisruptionBudgets that never let a pod go.
//!
//! Such a pod stays with its node, so no room is planned for it elsewhere. How many evictions
//! a budget allows now is not asked here.

use std::collections::HashMap;

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::selector::Selector;
use crate::snapshot::Snapshot;

/// The budgets that block fully, by namespace.
#[derive(Debug, Default)]
pub struct Blocking<'a> {
    by_namespace: HashMap<&'a str, Vec<(Selector, bool)>>,
}

impl<'a> Blocking<'a> {
    /// The fully blocking budgets of the Snapshot.
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let mut own = Self::default();
        for budget in &snapshot.pod_disruption_budgets {
            let Some(spec) = &budget.spec else { continue };
            let is = |value: &Option<IntOrString>, number: Option<i32>, text: &str| match value {
                Some(IntOrString::Int(n)) => Some(*n) == number,
                Some(IntOrString::String(s)) => s == text,
                None => false,
            };
            let blocks =
                is(&spec.max_unavailable, Some(0), "0%") || is(&spec.min_available, None, "100%");
            if blocks {
                let namespace = budget.metadata.namespace.as_deref().unwrap_or("default");
                let lets_unready_go =
                    spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow");
                own.by_namespace
                    .entry(namespace)
                    .or_default()
                    .push((Selector::of(spec.selector.as_ref()), lets_unready_go));
            }
        }
        own
    }

    /// True when a budget never lets the pod go.
    pub fn blocks(&self, pod: &Pod) -> bool {
        let namespace = pod.metadata.namespace.as_deref().unwrap_or("default");
        let Some(budgets) = self.by_namespace.get(namespace) else { return false };
        let labels = pod.metadata.labels.clone().unwrap_or_default();
        budgets.iter().any(|(selector, lets_unready_go)| {
            !(*lets_unready_go && is_unready(pod)) && selector.selects(&labels)
        })
    }
}

fn is_unready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|s| s.conditions.as_ref());
    conditions.into_iter().flatten().any(|c| c.type_ == "Ready" && c.status == "False")
}
