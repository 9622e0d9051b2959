//! Nodes, workloads, volumes, budgets and the rest of what a cluster holds; instance types.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::{CronJob, Job, JobSpec};
use k8s_openapi::api::core::v1::{
    LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use super::labels::{check_key, check_selector, check_value};
use super::pod::{check_effect, check_template, check_terms};
use super::{Check, Issues, Path, check_metadata};
use crate::error::ErrorCode;
use crate::instance_type::InstanceType;
use crate::quantity::microusd_from_usd;

impl Check for Node {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let list = Path::Root.field("spec");
        let list = list.field("taints");
        let taints = self.spec.as_ref().and_then(|s| s.taints.as_ref());
        for (i, taint) in taints.into_iter().flatten().enumerate() {
            let path = list.index(i);
            check_key(path.field("key"), &taint.key, issues);
            check_value(path.field("value"), taint.value.as_deref().unwrap_or_default(), issues);
            check_effect(path.field("effect"), &taint.effect, false, issues);
        }
        if let Some(status) = &self.status {
            let path = Path::Root.field("status");
            issues.quantities(path.field("capacity"), status.capacity.as_ref());
            issues.quantities(path.field("allocatable"), status.allocatable.as_ref());
        }
    }
}

impl Check for DaemonSet {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let Some(spec) = &self.spec else { return issues.missing(path, "a spec is required") };
        check_selector(path.field("selector"), Some(&spec.selector), issues);
        check_template(path.field("template"), Some(&spec.template), issues);
    }
}

impl Check for Deployment {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let Some(spec) = &self.spec else { return issues.missing(path, "a spec is required") };
        issues.at_least(path.field("replicas"), spec.replicas.map(i64::from), 0);
        check_selector(path.field("selector"), Some(&spec.selector), issues);
        check_template(path.field("template"), Some(&spec.template), issues);
    }
}

impl Check for StatefulSet {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let Some(spec) = &self.spec else { return issues.missing(path, "a spec is required") };
        issues.at_least(path.field("replicas"), spec.replicas.map(i64::from), 0);
        check_selector(path.field("selector"), Some(&spec.selector), issues);
        check_template(path.field("template"), Some(&spec.template), issues);
        let list = path.field("volumeClaimTemplates");
        for (i, claim) in spec.volume_claim_templates.iter().flatten().enumerate() {
            if claim.metadata.name.as_deref().unwrap_or_default().is_empty() {
                let path = list.index(i);
                issues.missing(path.field("metadata").field("name"), "a claim needs a name");
            }
        }
    }
}

impl Check for ReplicaSet {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let Some(spec) = &self.spec else { return issues.missing(path, "a spec is required") };
        issues.at_least(path.field("replicas"), spec.replicas.map(i64::from), 0);
        check_selector(path.field("selector"), Some(&spec.selector), issues);
        check_template(path.field("template"), spec.template.as_ref(), issues);
    }
}

impl Check for Job {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        check_job(Path::Root.field("spec"), self.spec.as_ref(), issues);
    }
}

impl Check for CronJob {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let job = self.spec.job_template.spec.as_ref();
        check_job(path.field("jobTemplate").field("spec"), job, issues);
    }
}

fn check_job(path: Path<'_>, spec: Option<&JobSpec>, issues: &mut Issues) {
    let Some(spec) = spec else { return issues.missing(path, "a spec is required") };
    issues.at_least(path.field("parallelism"), spec.parallelism.map(i64::from), 0);
    issues.at_least(path.field("completions"), spec.completions.map(i64::from), 0);
    check_selector(path.field("selector"), spec.selector.as_ref(), issues);
    check_template(path.field("template"), Some(&spec.template), issues);
}

impl Check for PersistentVolumeClaim {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let resources = self.spec.as_ref().and_then(|s| s.resources.as_ref());
        let requests = resources.and_then(|r| r.requests.as_ref());
        issues.quantities(path.field("resources").field("requests"), requests);
    }
}

impl Check for PersistentVolume {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let affinity = self.spec.as_ref().and_then(|s| s.node_affinity.as_ref());
        if let Some(required) = affinity.and_then(|a| a.required.as_ref()) {
            let path = Path::Root.field("spec");
            let path = path.field("nodeAffinity");
            check_terms(path.field("required"), &required.node_selector_terms, issues);
        }
    }
}

impl Check for StorageClass {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let root = Path::Root;
        if self.provisioner.is_empty() {
            issues.missing(root.field("provisioner"), "a provisioner is required");
        }
        if let Some(mode) = &self.volume_binding_mode {
            issues.one_of(
                ErrorCode::InvalidValue,
                root.field("volumeBindingMode"),
                mode,
                &["Immediate", "WaitForFirstConsumer"],
            );
        }
        let list = root.field("allowedTopologies");
        for (i, term) in self.allowed_topologies.iter().flatten().enumerate() {
            let inner = list.index(i);
            let inner = inner.field("matchLabelExpressions");
            for (j, expression) in term.match_label_expressions.iter().flatten().enumerate() {
                let path = inner.index(j);
                check_key(path.field("key"), &expression.key, issues);
                if expression.values.is_empty() {
                    issues.missing(path.field("values"), "at least one value is required");
                }
            }
        }
    }
}

impl Check for CSINode {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let list = Path::Root.field("spec");
        let list = list.field("drivers");
        for (i, driver) in self.spec.drivers.iter().enumerate() {
            let count = driver.allocatable.as_ref().and_then(|a| a.count);
            let path = list.index(i);
            issues.at_least(path.field("allocatable").field("count"), count.map(i64::from), 0);
        }
    }
}

impl Check for PodDisruptionBudget {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let Some(spec) = &self.spec else { return };
        let path = Path::Root.field("spec");
        check_selector(path.field("selector"), spec.selector.as_ref(), issues);
        check_share(path.field("minAvailable"), spec.min_available.as_ref(), issues);
        check_share(path.field("maxUnavailable"), spec.max_unavailable.as_ref(), issues);
        if spec.min_available.is_some() && spec.max_unavailable.is_some() {
            issues.add(
                ErrorCode::InvalidValue,
                path,
                "a budget has minAvailable or maxUnavailable, not both",
            );
        }
        if let Some(policy) = &spec.unhealthy_pod_eviction_policy {
            issues.one_of(
                ErrorCode::InvalidValue,
                path.field("unhealthyPodEvictionPolicy"),
                policy,
                &["IfHealthyBudget", "AlwaysAllow"],
            );
        }
    }
}

/// A number of pods from 0, or a percentage from 0 to 100.
fn check_share(path: Path<'_>, share: Option<&IntOrString>, issues: &mut Issues) {
    match share {
        Some(IntOrString::Int(n)) => issues.at_least(path, Some((*n).into()), 0),
        Some(IntOrString::String(text)) => {
            let percent = text.strip_suffix('%').and_then(|digits| digits.parse::<u32>().ok());
            if percent.is_none_or(|n| n > 100) {
                let message = "is no number of pods; write `1` without quotes, or `\"10%\"`";
                issues.value(ErrorCode::InvalidValue, path, text, message);
            }
        }
        None => {}
    }
}

impl Check for PriorityClass {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
    }
}

impl Check for Namespace {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
    }
}

impl Check for LimitRange {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let list = Path::Root.field("spec");
        let list = list.field("limits");
        let limits = self.spec.as_ref().map(|s| s.limits.as_slice()).unwrap_or_default();
        for (i, limit) in limits.iter().enumerate() {
            let path = list.index(i);
            issues.quantities(path.field("default"), limit.default.as_ref());
            issues.quantities(path.field("defaultRequest"), limit.default_request.as_ref());
        }
    }
}

/// What a provider sells has no API server; these are the rules of the input contract.
pub(crate) fn check_instance_type(it: &InstanceType, issues: &mut Issues) {
    let root = Path::Root;
    if it.name.is_empty() {
        issues.add(ErrorCode::MissingName, root.field("name"), "an instance type needs a name");
    }
    let list = root.field("requirements");
    for (i, requirement) in it.requirements.iter().enumerate() {
        let path = list.index(i);
        check_key(path.field("key"), &requirement.key, issues);
        issues.one_of(
            ErrorCode::UnknownOperator,
            path.field("operator"),
            &requirement.operator,
            &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"],
        );
    }
    issues.quantities(root.field("capacity"), Some(&it.capacity));
    issues.quantities(root.field("overhead"), Some(&it.overhead));
    let list = root.field("offerings");
    for (i, offering) in it.offerings.iter().enumerate() {
        let path = list.index(i);
        if offering.capacity_type.is_empty() {
            issues.missing(path.field("capacityType"), "on-demand, spot or reserved is required");
        }
        if let Err(error) = microusd_from_usd(offering.price) {
            issues.value(
                ErrorCode::InvalidValue,
                path.field("price"),
                &offering.price.to_string(),
                &error.to_string(),
            );
        }
    }
}
