//! NodePools, NodeClaims, NodeOverlays, CapacityBuffers: the schema and the CEL rules of their
//! CRDs. What the original only finds out at run time (restricted provider labels, cron lines)
//! is kept and judged later.

use dunnage_api::node_pool::{Budget, NodeClassReference, Requirement};
use dunnage_api::{AKSNodeClass, CapacityBuffer, EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use k8s_openapi::api::core::v1::Taint;

use super::labels::{check_key, check_labels, check_value};
use super::pod::check_effect;
use super::{Check, Issues, Path, check_metadata};
use crate::duration::{DurationError, parse_crd, parse_crd_secs};
use crate::error::ErrorCode;
use crate::quantity::{MoneyError, parse_microusd};

const OPERATORS: [&str; 8] = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"];
const MAX_ENTRIES: usize = 100;
const MAX_BUDGETS: usize = 50;
const MAX_MIN_VALUES: i64 = 50;
const MAX_KEY_LEN: usize = 316;

impl Check for NodePool {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let spec = Path::Root.field("spec");
        let template = spec.field("template");
        let metadata = template.field("metadata");
        let labels = metadata.field("labels");
        check_labels(labels, Some(&self.spec.template.metadata.labels), issues);
        too_many(labels, self.spec.template.metadata.labels.len(), MAX_ENTRIES, issues);
        for key in self.spec.template.metadata.labels.keys() {
            check_reserved(labels.field(key), key, false, issues);
        }
        let inner = &self.spec.template.spec;
        let path = template.field("spec");
        check_taints(path.field("taints"), &inner.taints, issues);
        check_taints(path.field("startupTaints"), &inner.startup_taints, issues);
        check_requirements(path.field("requirements"), &inner.requirements, false, issues);
        // A pool without any reference gets the default one; see the defaults.
        if inner.node_class_ref != NodeClassReference::default() {
            check_class_ref(path.field("nodeClassRef"), &inner.node_class_ref, issues);
        }
        check_lifetimes(
            path,
            inner.termination_grace_period.as_deref(),
            inner.expire_after.as_deref(),
            issues,
        );
        if let Some(disruption) = &self.spec.disruption {
            let path = spec.field("disruption");
            if let Some(after) = &disruption.consolidate_after {
                let fault = parse_crd(after).err();
                check_duration(path.field("consolidateAfter"), after, fault, issues);
            }
            if let Some(policy) = &disruption.consolidation_policy {
                issues.one_of(
                    ErrorCode::InvalidValue,
                    path.field("consolidationPolicy"),
                    policy,
                    &["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"],
                );
            }
            let list = path.field("budgets");
            let budgets = disruption.budgets.as_deref().unwrap_or_default();
            too_many(list, budgets.len(), MAX_BUDGETS, issues);
            for (i, budget) in budgets.iter().enumerate() {
                check_budget(list.index(i), budget, issues);
            }
        }
        issues.quantities(spec.field("limits"), self.spec.limits.as_ref());
        check_range(spec.field("weight"), self.spec.weight, 1, 100, issues);
        self.check_replicas(spec, issues);
    }
}

trait CheckReplicas {
    fn check_replicas(&self, spec: Path<'_>, issues: &mut Issues);
}

impl CheckReplicas for NodePool {
    fn check_replicas(&self, spec: Path<'_>, issues: &mut Issues) {
        let Some(replicas) = self.spec.replicas else { return };
        issues.at_least(spec.field("replicas"), Some(replicas), 0);
        if self.spec.weight.is_some() {
            issues.add(
                ErrorCode::InvalidValue,
                spec.field("weight"),
                "a pool with replicas has no weight; remove one of them",
            );
        }
        if let Some(name) =
            self.spec.limits.iter().flatten().map(|(k, _)| k).find(|k| *k != "nodes")
        {
            issues.add(
                ErrorCode::InvalidValue,
                spec.field("limits").field(name),
                "a pool with replicas may only limit `nodes`",
            );
        }
    }
}

impl Check for NodeClaim {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        check_taints(path.field("taints"), &self.spec.taints, issues);
        check_taints(path.field("startupTaints"), &self.spec.startup_taints, issues);
        check_requirements(path.field("requirements"), &self.spec.requirements, true, issues);
        if self.spec.node_class_ref != NodeClassReference::default() {
            check_class_ref(path.field("nodeClassRef"), &self.spec.node_class_ref, issues);
        }
        let requests = self.spec.resources.as_ref().map(|r| &r.requests);
        issues.quantities(path.field("resources").field("requests"), requests);
        check_lifetimes(
            path,
            self.spec.termination_grace_period.as_deref(),
            self.spec.expire_after.as_deref(),
            issues,
        );
        if let Some(status) = &self.status {
            let path = Path::Root.field("status");
            issues.quantities(path.field("capacity"), Some(&status.capacity));
            issues.quantities(path.field("allocatable"), Some(&status.allocatable));
        }
    }
}

impl Check for NodeOverlay {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        let requirements: Vec<Requirement> =
            self.spec.requirements.iter().map(Requirement::from).collect();
        check_requirements(path.field("requirements"), &requirements, true, issues);
        for (i, requirement) in requirements.iter().enumerate() {
            if requirement.operator == "NotIn" && requirement.values.is_empty() {
                issues.add(
                    ErrorCode::InvalidValue,
                    path.field("requirements").index(i).field("values"),
                    "`NotIn` needs at least one value",
                );
            }
        }
        if let Some(price) = &self.spec.price {
            match parse_microusd(price) {
                Ok(_) if !price.starts_with('+') => {}
                Ok(_) => check_price(path.field("price"), price, MoneyError::Malformed, issues),
                Err(error) => check_price(path.field("price"), price, error, issues),
            }
        }
        if let Some(adjustment) = &self.spec.price_adjustment {
            if self.spec.price.is_some() {
                issues.add(
                    ErrorCode::InvalidValue,
                    path.field("priceAdjustment"),
                    "an overlay has a price or a priceAdjustment, not both",
                );
            }
            if !is_adjustment(adjustment) {
                issues.value(
                    ErrorCode::InvalidValue,
                    path.field("priceAdjustment"),
                    adjustment,
                    "is no adjustment; write `+0.5`, `-0.5`, `+10%` or `-10%` (at most `-100%`)",
                );
            }
        }
        let capacity = path.field("capacity");
        issues.quantities(capacity, self.spec.capacity.as_ref());
        for name in self.spec.capacity.iter().flatten().map(|(name, _)| name) {
            if ["cpu", "memory", "ephemeral-storage", "pods"].contains(&name.as_str()) {
                issues.add(
                    ErrorCode::InvalidValue,
                    capacity.field(name),
                    "an overlay cannot change this resource; only extended ones",
                );
            }
        }
        check_range(path.field("weight"), self.spec.weight, 1, 10_000, issues);
    }
}

fn check_price(path: Path<'_>, price: &str, error: MoneyError, issues: &mut Issues) {
    issues.value(ErrorCode::InvalidValue, path, price, &error.to_string());
}

/// `+d`, `-d` with a decimal d, `+d%`, or `-d%` with a d up to 100.
fn is_adjustment(text: &str) -> bool {
    let (is_negative, rest) = match text.as_bytes().first() {
        Some(b'+') => (false, &text[1..]),
        Some(b'-') => (true, &text[1..]),
        _ => return false,
    };
    let (number, is_percent) = match rest.strip_suffix('%') {
        Some(number) => (number, true),
        None => (rest, false),
    };
    if !number.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return false;
    }
    match parse_microusd(number) {
        Ok(amount) => !(is_percent && is_negative) || amount <= 100_000_000,
        Err(_) => false,
    }
}

impl Check for CapacityBuffer {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        let path = Path::Root.field("spec");
        issues.at_least(path.field("replicas"), self.spec.replicas, 0);
        issues.at_least(path.field("percentage"), self.spec.percentage, 0);
        issues.quantities(path.field("limits"), self.spec.limits.as_ref());
        if let Some(template) = &self.spec.pod_template_ref {
            let field = path.field("podTemplateRef");
            if template.name.is_empty() {
                issues.missing(field.field("name"), "the name of a PodTemplate is required");
            }
            if self.spec.scalable_ref.is_some() {
                issues.add(
                    ErrorCode::InvalidValue,
                    field,
                    "a buffer refers to a podTemplateRef or a scalableRef, not to both",
                );
            }
            if self.spec.replicas.is_none() && self.spec.limits.is_none() {
                issues.missing(path, "a buffer with a podTemplateRef needs replicas or limits");
            }
        }
        if let Some(scalable) = &self.spec.scalable_ref {
            for (name, text) in [("kind", &scalable.kind), ("name", &scalable.name)] {
                if text.is_empty() {
                    let field = path.field("scalableRef");
                    issues.missing(field.field(name), "kind and name of the workload are required");
                }
            }
        }
    }
}

impl Check for EC2NodeClass {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
    }
}

impl Check for AKSNodeClass {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
    }
}

fn too_many(path: Path<'_>, count: usize, most: usize, issues: &mut Issues) {
    if count > most {
        issues.add(ErrorCode::InvalidValue, path, format!("has {count} entries; at most {most}"));
    }
}

fn check_range(path: Path<'_>, value: Option<i64>, least: i64, most: i64, issues: &mut Issues) {
    if let Some(n) = value.filter(|n| !(least..=most).contains(n)) {
        let message = format!("is out of range; it goes from {least} to {most}");
        issues.value(ErrorCode::InvalidValue, path, &n.to_string(), &message);
    }
}

/// Keys that a template or requirement may not name because they are set by the controller.
fn check_reserved(path: Path<'_>, key: &str, may_name_pool: bool, issues: &mut Issues) {
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_ours = domain.ends_with("karpenter.sh")
        && key != "karpenter.sh/capacity-type"
        && !(may_name_pool && key == "karpenter.sh/nodepool");
    if is_ours {
        issues.value(
            ErrorCode::InvalidLabel,
            path,
            key,
            "is reserved; of the domain karpenter.sh only karpenter.sh/capacity-type may be used",
        );
    } else if key == "kubernetes.io/hostname" {
        issues.value(ErrorCode::InvalidLabel, path, key, "is reserved; it names one node");
    }
}

fn check_requirements(
    path: Path<'_>,
    requirements: &[Requirement],
    may_name_pool: bool,
    issues: &mut Issues,
) {
    too_many(path, requirements.len(), MAX_ENTRIES, issues);
    for (i, requirement) in requirements.iter().enumerate() {
        let path = path.index(i);
        let key = path.field("key");
        if requirement.key.len() > MAX_KEY_LEN {
            let message = format!("is too long; a key has at most {MAX_KEY_LEN} characters");
            issues.value(ErrorCode::InvalidLabel, key, &requirement.key, &message);
        } else {
            check_key(key, &requirement.key, issues);
        }
        check_reserved(key, &requirement.key, may_name_pool, issues);
        let operator = requirement.operator.as_str();
        issues.one_of(ErrorCode::UnknownOperator, path.field("operator"), operator, &OPERATORS);
        check_requirement_values(path, requirement, issues);
    }
}

fn check_requirement_values(path: Path<'_>, requirement: &Requirement, issues: &mut Issues) {
    let (operator, values) = (requirement.operator.as_str(), &requirement.values);
    let list = path.field("values");
    match operator {
        "In" if values.is_empty() => {
            issues.add(ErrorCode::InvalidValue, list, "`In` needs at least one value");
        }
        "Gt" | "Lt" | "Gte" | "Lte" => match values.as_slice() {
            [value] => {
                let digits = value.strip_prefix('+').unwrap_or(value);
                if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                    let message = format!("is no bound; `{operator}` takes a whole number from 0");
                    issues.value(ErrorCode::InvalidValue, list.index(0), value, &message);
                }
                return check_min_values(path, requirement, issues);
            }
            _ => {
                let message = format!("`{operator}` needs exactly one value");
                issues.add(ErrorCode::InvalidValue, list, message);
            }
        },
        _ => {}
    }
    for (j, value) in values.iter().enumerate() {
        check_value(list.index(j), value, issues);
    }
    check_min_values(path, requirement, issues);
}

fn check_min_values(path: Path<'_>, requirement: &Requirement, issues: &mut Issues) {
    let Some(min) = requirement.min_values else { return };
    let path = path.field("minValues");
    check_range(path, Some(min), 1, MAX_MIN_VALUES, issues);
    if requirement.operator == "In" && min > requirement.values.len() as i64 {
        let message = format!("is more than the {} values listed", requirement.values.len());
        issues.value(ErrorCode::InvalidValue, path, &min.to_string(), &message);
    }
}

fn check_taints(path: Path<'_>, taints: &[Taint], issues: &mut Issues) {
    for (i, taint) in taints.iter().enumerate() {
        let path = path.index(i);
        check_key(path.field("key"), &taint.key, issues);
        check_value(path.field("value"), taint.value.as_deref().unwrap_or_default(), issues);
        check_effect(path.field("effect"), &taint.effect, false, issues);
    }
}

fn check_class_ref(path: Path<'_>, reference: &NodeClassReference, issues: &mut Issues) {
    for (name, text) in
        [("group", &reference.group), ("kind", &reference.kind), ("name", &reference.name)]
    {
        if text.is_empty() {
            issues.missing(
                path.field(name),
                "karpenter.sh/v1 needs group, kind and name; add `group: karpenter.k8s.aws` and \
                 `kind: EC2NodeClass` (AWS) or `group: karpenter.azure.com` and \
                 `kind: AKSNodeClass` (Azure)",
            );
        }
    }
    if reference.group.contains('/') {
        issues.value(
            ErrorCode::InvalidValue,
            path.field("group"),
            &reference.group,
            "is no group; write it without the version",
        );
    }
}

fn check_lifetimes(
    path: Path<'_>,
    grace: Option<&str>,
    expire_after: Option<&str>,
    issues: &mut Issues,
) {
    if let Some(text) = grace {
        let fault = parse_crd_secs(text).err();
        check_duration(path.field("terminationGracePeriod"), text, fault, issues);
    }
    if let Some(text) = expire_after {
        check_duration(path.field("expireAfter"), text, parse_crd(text).err(), issues);
    }
}

fn check_duration(path: Path<'_>, text: &str, fault: Option<DurationError>, issues: &mut Issues) {
    if let Some(fault) = fault {
        issues.value(ErrorCode::InvalidDuration, path, text, &fault.to_string());
    }
}

fn check_budget(path: Path<'_>, budget: &Budget, issues: &mut Issues) {
    if let Some(nodes) = &budget.nodes {
        let digits = nodes.strip_suffix('%').unwrap_or(nodes);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let is_share = digits.len() <= 3 && digits.parse::<u32>().is_ok_and(|n| n <= 100);
        if !is_number || (nodes.ends_with('%') && !is_share) {
            issues.value(
                ErrorCode::InvalidValue,
                path.field("nodes"),
                nodes,
                "is no number of nodes; write `5` or `10%`",
            );
        }
    }
    for (i, reason) in budget.reasons.iter().flatten().enumerate() {
        issues.one_of(
            ErrorCode::InvalidValue,
            path.field("reasons").index(i),
            reason,
            &["Underutilized", "Empty", "Drifted"],
        );
    }
    if budget.schedule.is_some() != budget.duration.is_some() {
        issues.add(
            ErrorCode::InvalidValue,
            path,
            "a budget has both a schedule and a duration, or neither",
        );
    }
    if let Some(schedule) = &budget.schedule {
        let known = ["annually", "yearly", "monthly", "weekly", "daily", "midnight", "hourly"];
        let is_macro = schedule.strip_prefix('@').is_some_and(|name| known.contains(&name));
        if !is_macro && schedule.split_whitespace().count() != 5 {
            issues.value(
                ErrorCode::InvalidValue,
                path.field("schedule"),
                schedule,
                "is no schedule; write five fields such as `0 9 * * mon-fri`, or `@daily`",
            );
        }
    }
    if let Some(duration) = &budget.duration {
        let whole = duration.strip_suffix("0s").unwrap_or(duration);
        let has_seconds = whole.contains('s');
        let fault = match parse_crd_secs(whole) {
            Ok(_) if has_seconds => Some(DurationError::NotWhole),
            Ok(_) => None,
            Err(fault) => Some(fault),
        };
        check_duration(path.field("duration"), duration, fault, issues);
    }
}
