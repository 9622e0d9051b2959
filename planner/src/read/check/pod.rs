//! Pods and the pod templates of workloads.

use k8s_openapi::api::core::v1::{
    Affinity, Container, NodeSelectorRequirement, NodeSelectorTerm, Pod, PodAffinityTerm, PodSpec,
    PodTemplate, PodTemplateSpec, ResourceRequirements, Toleration, TopologySpreadConstraint,
};

use super::labels::{check_key, check_labels, check_operands, check_selector, value_fault};
use super::{Check, Issues, Path, check_metadata};
use crate::error::ErrorCode;

const MAX_WEIGHT: i32 = 100;

impl Check for Pod {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        check_spec(Path::Root.field("spec"), self.spec.as_ref(), issues);
    }
}

impl Check for PodTemplate {
    fn check(&self, issues: &mut Issues) {
        check_metadata(&self.metadata, issues);
        check_template(Path::Root.field("template"), self.template.as_ref(), issues);
    }
}

pub(super) fn check_template(
    path: Path<'_>,
    template: Option<&PodTemplateSpec>,
    issues: &mut Issues,
) {
    let Some(template) = template else {
        return issues.missing(path, "a pod template is required");
    };
    let labels = template.metadata.as_ref().and_then(|m| m.labels.as_ref());
    check_labels(path.field("metadata").field("labels"), labels, issues);
    check_spec(path.field("spec"), template.spec.as_ref(), issues);
}

fn check_spec(path: Path<'_>, spec: Option<&PodSpec>, issues: &mut Issues) {
    let Some(spec) = spec else {
        return issues.missing(path, "a pod needs a spec with at least one container");
    };
    if spec.containers.is_empty() {
        issues.missing(path.field("containers"), "a pod needs at least one container");
    }
    let list = path.field("containers");
    for (i, container) in spec.containers.iter().enumerate() {
        check_container(list.index(i), container, issues);
    }
    let list = path.field("initContainers");
    for (i, container) in spec.init_containers.iter().flatten().enumerate() {
        check_container(list.index(i), container, issues);
    }
    check_resources(path.field("resources"), spec.resources.as_ref(), issues);
    issues.quantities(path.field("overhead"), spec.overhead.as_ref());
    check_labels(path.field("nodeSelector"), spec.node_selector.as_ref(), issues);
    check_affinity(path.field("affinity"), spec.affinity.as_ref(), issues);
    let list = path.field("tolerations");
    for (i, toleration) in spec.tolerations.iter().flatten().enumerate() {
        check_toleration(list.index(i), toleration, issues);
    }
    let list = path.field("topologySpreadConstraints");
    let constraints = spec.topology_spread_constraints.as_deref().unwrap_or_default();
    for (i, constraint) in constraints.iter().enumerate() {
        check_spread(list.index(i), constraint, issues);
        let is_same = |other: &TopologySpreadConstraint| {
            other.topology_key == constraint.topology_key
                && other.when_unsatisfiable == constraint.when_unsatisfiable
        };
        if constraints[..i].iter().any(is_same) {
            issues.value(
                ErrorCode::InvalidValue,
                list.index(i),
                &constraint.topology_key,
                "has two spread constraints with the same whenUnsatisfiable; keep one",
            );
        }
    }
}

fn check_container(path: Path<'_>, container: &Container, issues: &mut Issues) {
    check_resources(path.field("resources"), container.resources.as_ref(), issues);
    let list = path.field("ports");
    for (i, port) in container.ports.iter().flatten().enumerate() {
        let path = list.index(i);
        for (name, number) in
            [("containerPort", Some(port.container_port)), ("hostPort", port.host_port)]
        {
            if let Some(n) = number.filter(|n| !(0..=65535).contains(n)) {
                issues.value(
                    ErrorCode::InvalidValue,
                    path.field(name),
                    &n.to_string(),
                    "is not a port; ports go from 1 to 65535",
                );
            }
        }
        if let Some(protocol) = port.protocol.as_deref().filter(|p| !p.is_empty()) {
            issues.one_of(
                ErrorCode::InvalidValue,
                path.field("protocol"),
                protocol,
                &["TCP", "UDP", "SCTP"],
            );
        }
    }
}

fn check_resources(path: Path<'_>, resources: Option<&ResourceRequirements>, issues: &mut Issues) {
    let Some(resources) = resources else { return };
    let found = issues.0.len();
    issues.quantities(path.field("limits"), resources.limits.as_ref());
    let requests = path.field("requests");
    issues.quantities(requests, resources.requests.as_ref());
    if issues.0.len() > found {
        return;
    }
    for (name, request) in resources.requests.iter().flatten() {
        let Some(limit) = resources.limits.as_ref().and_then(|l| l.get(name)) else { continue };
        let path = requests.field(name);
        let (Some(asked), Some(most)) =
            (issues.quantity(path, name, request), issues.quantity(path, name, limit))
        else {
            continue;
        };
        if asked > most {
            let message = format!(
                "is more than the limit `{}`; raise the limit or lower the request",
                limit.0
            );
            issues.value(ErrorCode::InvalidValue, path, &request.0, &message);
        }
    }
}

fn check_toleration(path: Path<'_>, toleration: &Toleration, issues: &mut Issues) {
    let text = |field: &'_ Option<String>| field.clone().unwrap_or_default();
    let (key, operator) = (text(&toleration.key), text(&toleration.operator));
    let (value, effect) = (text(&toleration.value), text(&toleration.effect));
    issues.one_of(
        ErrorCode::UnknownOperator,
        path.field("operator"),
        if operator.is_empty() { "Equal" } else { &operator },
        &["Exists", "Equal", "Lt", "Gt"],
    );
    if key.is_empty() && operator != "Exists" {
        issues.missing(path.field("key"), "a toleration without a key needs the operator `Exists`");
    }
    if !key.is_empty() {
        check_key(path.field("key"), &key, issues);
    }
    if operator == "Exists" && !value.is_empty() {
        issues.value(
            ErrorCode::InvalidValue,
            path.field("value"),
            &value,
            "is too much: `Exists` takes no value",
        );
    } else if let Some(fault) = value_fault(&value) {
        issues.value(ErrorCode::InvalidValue, path.field("value"), &value, fault);
    }
    check_effect(path.field("effect"), &effect, true, issues);
}

/// An effect of a taint; a toleration may leave it empty.
pub(super) fn check_effect(path: Path<'_>, effect: &str, may_be_empty: bool, issues: &mut Issues) {
    if !(may_be_empty && effect.is_empty()) {
        let known = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        issues.one_of(ErrorCode::InvalidValue, path, effect, &known);
    }
}

fn check_spread(path: Path<'_>, spread: &TopologySpreadConstraint, issues: &mut Issues) {
    issues.at_least(path.field("maxSkew"), Some(spread.max_skew.into()), 1);
    check_topology_key(path.field("topologyKey"), &spread.topology_key, issues);
    issues.one_of(
        ErrorCode::InvalidValue,
        path.field("whenUnsatisfiable"),
        &spread.when_unsatisfiable,
        &["DoNotSchedule", "ScheduleAnyway"],
    );
    issues.at_least(path.field("minDomains"), spread.min_domains.map(i64::from), 1);
    if spread.min_domains.is_some() && spread.when_unsatisfiable == "ScheduleAnyway" {
        issues.add(
            ErrorCode::InvalidValue,
            path.field("minDomains"),
            "minDomains goes with `DoNotSchedule` only",
        );
    }
    for (name, policy) in [
        ("nodeAffinityPolicy", &spread.node_affinity_policy),
        ("nodeTaintsPolicy", &spread.node_taints_policy),
    ] {
        if let Some(policy) = policy {
            issues.one_of(ErrorCode::InvalidValue, path.field(name), policy, &["Honor", "Ignore"]);
        }
    }
    check_selector(path.field("labelSelector"), spread.label_selector.as_ref(), issues);
    if spread.match_label_keys.as_ref().is_some_and(|keys| !keys.is_empty())
        && spread.label_selector.is_none()
    {
        issues.add(
            ErrorCode::InvalidValue,
            path.field("matchLabelKeys"),
            "matchLabelKeys needs a labelSelector beside it",
        );
    }
}

fn check_topology_key(path: Path<'_>, key: &str, issues: &mut Issues) {
    if key.is_empty() {
        issues.missing(path, "topologyKey is required, such as `topology.kubernetes.io/zone`");
    } else {
        check_key(path, key, issues);
    }
}

fn check_affinity(path: Path<'_>, affinity: Option<&Affinity>, issues: &mut Issues) {
    let Some(affinity) = affinity else { return };
    const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";
    if let Some(node) = &affinity.node_affinity {
        let path = path.field("nodeAffinity");
        if let Some(required) = &node.required_during_scheduling_ignored_during_execution {
            check_terms(path.field(REQUIRED), &required.node_selector_terms, issues);
        }
        let list = path.field(PREFERRED);
        let preferred = node.preferred_during_scheduling_ignored_during_execution.iter().flatten();
        for (i, term) in preferred.enumerate() {
            check_weight(list.index(i), term.weight, issues);
            check_term(list.index(i).field("preference"), &term.preference, issues);
        }
    }
    let both = [
        affinity.pod_affinity.as_ref().map(|a| {
            (
                "podAffinity",
                &a.required_during_scheduling_ignored_during_execution,
                &a.preferred_during_scheduling_ignored_during_execution,
            )
        }),
        affinity.pod_anti_affinity.as_ref().map(|a| {
            (
                "podAntiAffinity",
                &a.required_during_scheduling_ignored_during_execution,
                &a.preferred_during_scheduling_ignored_during_execution,
            )
        }),
    ];
    for (name, required, preferred) in both.into_iter().flatten() {
        let path = path.field(name);
        let list = path.field(REQUIRED);
        for (i, term) in required.iter().flatten().enumerate() {
            check_pod_term(list.index(i), term, issues);
        }
        let list = path.field(PREFERRED);
        for (i, term) in preferred.iter().flatten().enumerate() {
            check_weight(list.index(i), term.weight, issues);
            check_pod_term(list.index(i).field("podAffinityTerm"), &term.pod_affinity_term, issues);
        }
    }
}

fn check_weight(path: Path<'_>, weight: i32, issues: &mut Issues) {
    if !(1..=MAX_WEIGHT).contains(&weight) {
        let message = "is no weight; weights go from 1 to 100";
        issues.value(ErrorCode::InvalidValue, path.field("weight"), &weight.to_string(), message);
    }
}

fn check_pod_term(path: Path<'_>, term: &PodAffinityTerm, issues: &mut Issues) {
    check_topology_key(path.field("topologyKey"), &term.topology_key, issues);
    check_selector(path.field("labelSelector"), term.label_selector.as_ref(), issues);
    check_selector(path.field("namespaceSelector"), term.namespace_selector.as_ref(), issues);
}

pub(super) fn check_terms(path: Path<'_>, terms: &[NodeSelectorTerm], issues: &mut Issues) {
    let list = path.field("nodeSelectorTerms");
    if terms.is_empty() {
        issues.missing(list, "at least one term is required");
    }
    for (i, term) in terms.iter().enumerate() {
        check_term(list.index(i), term, issues);
    }
}

fn check_term(path: Path<'_>, term: &NodeSelectorTerm, issues: &mut Issues) {
    for (name, list) in
        [("matchExpressions", &term.match_expressions), ("matchFields", &term.match_fields)]
    {
        let path = path.field(name);
        for (i, requirement) in list.iter().flatten().enumerate() {
            check_node_requirement(path.index(i), requirement, issues);
        }
    }
}

fn check_node_requirement(
    path: Path<'_>,
    requirement: &NodeSelectorRequirement,
    issues: &mut Issues,
) {
    if requirement.key != "metadata.name" {
        check_key(path.field("key"), &requirement.key, issues);
    }
    issues.one_of(
        ErrorCode::UnknownOperator,
        path.field("operator"),
        &requirement.operator,
        &["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
    );
    let values = requirement.values.as_deref().unwrap_or_default();
    check_operands(path, &requirement.operator, values, issues);
}
