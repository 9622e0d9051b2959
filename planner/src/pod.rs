//! What one pod is and needs: the predicates of its life and the resources it asks for.
//!
//! Requests follow kube-scheduler: init containers, sidecars, pod-level resources, overhead
//! and in-place resize. Where a pod may run is not decided here.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{
    Container, ContainerStatus, Pod, PodSpec, PodStatus, Taint, Toleration,
};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::duration::parse_go_nanos;
use crate::quantity::{QuantityError, Rounding, parse_milli_wide};

/// Annotation that keeps a pod or node from voluntary disruption.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";

/// A pod that is still there this long after its deletion time is stuck.
pub const STUCK_TERMINATING_SECS: i64 = 60;

/// Amounts by resource name: `cpu` in thousandths, everything else in whole units.
pub type Amounts = BTreeMap<String, i64>;

/// A request that cannot be used: where it stands in the pod, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestError {
    /// Path below the pod, such as `spec.containers[0].resources.requests.cpu`.
    pub path: String,
    /// The text found there; empty for a sum.
    pub value: String,
    /// What is wrong with it.
    pub error: QuantityError,
}

/// Sums in thousandths, wide enough never to overflow: at most 2^31 terms of at most 2^93.
type Wide = BTreeMap<String, i128>;

/// What the pod asks for, `pods: 1` included. Every amount is rounded up.
pub fn requests(pod: &Pod) -> Result<Amounts, RequestError> {
    match &pod.spec {
        Some(spec) => requests_of(spec, pod.status.as_ref()),
        None => Ok(Amounts::from([("pods".to_owned(), 1)])),
    }
}

/// What a pod of this spec asks for, `pods: 1` included: for templates, which have no status.
pub fn requests_of(spec: &PodSpec, status: Option<&PodStatus>) -> Result<Amounts, RequestError> {
    let is_infeasible = status.is_some_and(is_resize_infeasible);
    let mut running = Wide::new();
    for (i, container) in spec.containers.iter().enumerate() {
        let found = status.and_then(|s| status_of(s.container_statuses.as_deref(), container));
        let path = format!("spec.containers[{i}]");
        add(&mut running, &effective(container, found, is_infeasible, &path)?);
    }
    let mut sidecars = Wide::new();
    let mut peak = Wide::new();
    for (i, container) in spec.init_containers.iter().flatten().enumerate() {
        let path = format!("spec.initContainers[{i}]");
        let candidate = if is_sidecar(container) {
            let found =
                status.and_then(|s| status_of(s.init_container_statuses.as_deref(), container));
            let own = effective(container, found, is_infeasible, &path)?;
            add(&mut running, &own);
            add(&mut sidecars, &own);
            sidecars.clone()
        } else {
            let mut own = declared(container, &path)?;
            add(&mut own, &sidecars);
            own
        };
        raise_to(&mut peak, &candidate);
    }
    raise_to(&mut running, &peak);
    let pod_level = spec.resources.as_ref().and_then(|r| r.requests.as_ref());
    for (name, amount) in read_all(pod_level, "spec.resources.requests")? {
        if is_pod_level_resource(&name) {
            running.insert(name, amount);
        }
    }
    add(&mut running, &read_all(spec.overhead.as_ref(), "spec.overhead")?);
    *running.entry("pods".to_owned()).or_default() += 1000;
    running.into_iter().map(narrow).collect()
}

fn narrow((name, milli): (String, i128)) -> Result<(String, i64), RequestError> {
    let amount = if name == "cpu" { milli } else { (milli + 999) / 1000 };
    match i64::try_from(amount) {
        Ok(amount) => Ok((name, amount)),
        Err(_) => Err(RequestError {
            path: format!("spec.containers: sum of {name}"),
            value: String::new(),
            error: QuantityError::TooLarge,
        }),
    }
}

/// True for an init container that keeps running beside the main ones.
pub fn is_sidecar(container: &Container) -> bool {
    container.restart_policy.as_deref() == Some("Always")
}

/// Resources that a pod-level request replaces.
fn is_pod_level_resource(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

fn declared(container: &Container, path: &str) -> Result<Wide, RequestError> {
    let requests = container.resources.as_ref().and_then(|r| r.requests.as_ref());
    read_all(requests, &format!("{path}.resources.requests"))
}

/// One container's request with what the kubelet reports about a resize under way.
fn effective(
    container: &Container,
    status: Option<&ContainerStatus>,
    is_infeasible: bool,
    path: &str,
) -> Result<Wide, RequestError> {
    let wanted = declared(container, path)?;
    let Some(status) = status else { return Ok(wanted) };
    let Some(resources) = &status.resources else { return Ok(wanted) };
    let field = format!("status.containerStatuses[{}]", container.name);
    let mut actual = read_all(resources.requests.as_ref(), &format!("{field}.resources.requests"))?;
    raise_to(
        &mut actual,
        &read_all(status.allocated_resources.as_ref(), &format!("{field}.allocatedResources"))?,
    );
    if !is_infeasible {
        raise_to(&mut actual, &wanted);
    }
    Ok(actual)
}

fn status_of<'a>(
    statuses: Option<&'a [ContainerStatus]>,
    container: &Container,
) -> Option<&'a ContainerStatus> {
    statuses?.iter().find(|s| s.name == container.name)
}

fn is_resize_infeasible(status: &PodStatus) -> bool {
    status.conditions.iter().flatten().any(|c| {
        c.type_ == "PodResizePending"
            && c.status == "True"
            && c.reason.as_deref() == Some("Infeasible")
    })
}

fn read_all(list: Option<&BTreeMap<String, Quantity>>, path: &str) -> Result<Wide, RequestError> {
    list.into_iter()
        .flatten()
        .map(|(name, quantity)| match parse_milli_wide(&quantity.0, Rounding::Up) {
            Ok(milli) => Ok((name.clone(), milli)),
            Err(error) => Err(RequestError {
                path: format!("{path}.{name}"),
                value: quantity.0.clone(),
                error,
            }),
        })
        .collect()
}

fn add(total: &mut Wide, more: &Wide) {
    for (name, amount) in more {
        *total.entry(name.clone()).or_default() += amount;
    }
}

fn raise_to(total: &mut Wide, other: &Wide) {
    for (name, amount) in other {
        let entry = total.entry(name.clone()).or_default();
        *entry = (*entry).max(*amount);
    }
}

/// A port that the pod takes on its node's own address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostPort {
    /// Address; `0.0.0.0` when none is given, and it clashes with all.
    pub ip: String,
    /// Port number.
    pub port: i32,
    /// `TCP`, `UDP` or `SCTP`.
    pub protocol: String,
}

impl HostPort {
    /// True when both cannot be taken on one node.
    pub fn clashes_with(&self, other: &HostPort) -> bool {
        let is_any = |ip: &str| ip == "0.0.0.0" || ip == "::";
        self.port == other.port
            && self.protocol == other.protocol
            && (self.ip == other.ip || is_any(&self.ip) || is_any(&other.ip))
    }
}

/// Host ports of the pod, sorted.
///
/// DIFFERS: the original looks at the main containers and at `hostPort` only; `is_mended`
/// adds sidecars, and the ports of `hostNetwork` pods, which the API server would fill in.
pub fn host_ports(spec: &PodSpec, is_mended: bool) -> Vec<HostPort> {
    let sidecars = spec.init_containers.iter().flatten().filter(|c| is_mended && is_sidecar(c));
    let is_host_network = is_mended && spec.host_network == Some(true);
    let mut ports: Vec<HostPort> = spec
        .containers
        .iter()
        .chain(sidecars)
        .flat_map(|c| c.ports.iter().flatten())
        .filter_map(|p| {
            let port = match p.host_port {
                Some(port) if port != 0 => port,
                _ if is_host_network => p.container_port,
                _ => return None,
            };
            Some(HostPort {
                ip: p.host_ip.clone().filter(|ip| !ip.is_empty()).unwrap_or("0.0.0.0".to_owned()),
                port,
                protocol: p
                    .protocol
                    .clone()
                    .filter(|text| !text.is_empty())
                    .unwrap_or("TCP".to_owned()),
            })
        })
        .collect();
    ports.sort();
    ports.dedup();
    ports
}

/// Phase Failed or Succeeded: uses nothing any more.
pub fn is_terminal(pod: &Pod) -> bool {
    matches!(phase(pod), "Failed" | "Succeeded")
}

/// Deletion has been asked for.
pub fn is_terminating(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

/// Neither terminal nor terminating.
pub fn is_active(pod: &Pod) -> bool {
    !is_terminal(pod) && !is_terminating(pod)
}

/// The node that the pod is bound to.
pub fn node_name(pod: &Pod) -> Option<&str> {
    pod.spec.as_ref()?.node_name.as_deref().filter(|name| !name.is_empty())
}

/// Owned by a DaemonSet of group apps; a custom controller of that name does not count.
pub fn is_owned_by_daemon_set(pod: &Pod) -> bool {
    is_owned_by(pod, "apps/v1", "DaemonSet")
}

/// Owned by a StatefulSet of group apps.
pub fn is_owned_by_stateful_set(pod: &Pod) -> bool {
    is_owned_by(pod, "apps/v1", "StatefulSet")
}

/// A mirror pod: owned by its node.
pub fn is_owned_by_node(pod: &Pod) -> bool {
    is_owned_by(pod, "v1", "Node")
}

fn is_owned_by(pod: &Pod, api_version: &str, kind: &str) -> bool {
    pod.metadata
        .owner_references
        .iter()
        .flatten()
        .any(|owner| owner.api_version == api_version && owner.kind == kind)
}

/// Waits for a node that somebody has to add: the scheduler gave up on it, nobody has
/// nominated a node, and its owner would not bring a node of its own.
pub fn is_provisionable(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let is_unschedulable = status
        .and_then(|s| s.conditions.as_ref())
        .into_iter()
        .flatten()
        .any(|c| c.type_ == "PodScheduled" && c.reason.as_deref() == Some("Unschedulable"));
    let is_nominated =
        status.and_then(|s| s.nominated_node_name.as_deref()).is_some_and(|name| !name.is_empty());
    is_unschedulable
        && node_name(pod).is_none()
        && !is_nominated
        && !is_owned_by_daemon_set(pod)
        && !is_owned_by_node(pod)
}

/// Would come back elsewhere when its node went.
pub fn is_reschedulable(pod: &Pod) -> bool {
    (is_active(pod) || (is_owned_by_stateful_set(pod) && is_terminating(pod)))
        && !is_owned_by_daemon_set(pod)
        && !is_owned_by_node(pod)
}

/// Not counted by topology spread and affinity.
pub fn is_ignored_for_topology(pod: &Pod) -> bool {
    node_name(pod).is_none() || is_terminal(pod) || is_terminating(pod)
}

/// Terminating, and still there a minute after it should have been gone.
pub fn is_stuck_terminating(pod: &Pod, now: Timestamp) -> bool {
    pod.metadata
        .deletion_timestamp
        .as_ref()
        .is_some_and(|t| now.as_second() - t.0.as_second() > STUCK_TERMINATING_SECS)
}

/// May be asked to leave through the eviction API.
pub fn is_evictable(pod: &Pod, now: Timestamp) -> bool {
    is_active(pod)
        && !tolerates_disruption(pod)
        && !is_owned_by_node(pod)
        && !do_not_disrupt(pod, now).is_active()
}

/// A drain has to deal with it. Pods under do-not-disrupt are included: the drain waits.
pub fn is_drainable(pod: &Pod, now: Timestamp) -> bool {
    !tolerates_disruption(pod) && !is_stuck_terminating(pod, now) && !is_owned_by_node(pod)
}

/// A drain waits for it.
pub fn is_waiting_eviction(pod: &Pod, now: Timestamp) -> bool {
    !is_terminal(pod) && is_drainable(pod, now)
}

/// Does not forbid the removal of its node by its annotation.
pub fn is_disruptable(pod: &Pod, now: Timestamp) -> bool {
    !is_active(pod) || !do_not_disrupt(pod, now).is_active()
}

/// What the do-not-disrupt annotation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DoNotDisrupt {
    /// No annotation.
    Absent,
    /// `true`: always.
    Always,
    /// A duration from the pod's start that still runs; seconds left, None before the start.
    Until(Option<i64>),
    /// A duration that has run out.
    Elapsed,
    /// Neither `true` nor a positive duration: ignored.
    Invalid,
}

impl DoNotDisrupt {
    /// True while disruption is forbidden.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Always | Self::Until(_))
    }
}

/// Reads the pod's do-not-disrupt annotation at the given time.
pub fn do_not_disrupt(pod: &Pod, now: Timestamp) -> DoNotDisrupt {
    let annotations = pod.metadata.annotations.as_ref();
    let Some(text) = annotations.and_then(|a| a.get(DO_NOT_DISRUPT)) else {
        return DoNotDisrupt::Absent;
    };
    if text == "true" {
        return DoNotDisrupt::Always;
    }
    let nanos = match parse_go_nanos(text) {
        Ok(nanos) if nanos > 0 => i128::from(nanos),
        _ => return DoNotDisrupt::Invalid,
    };
    let Some(start) = pod.status.as_ref().and_then(|s| s.start_time.as_ref()) else {
        return DoNotDisrupt::Until(None);
    };
    let left = nanos - (now.as_nanosecond() - start.0.as_nanosecond());
    if left <= 0 {
        return DoNotDisrupt::Elapsed;
    }
    // Rounded up: a window with half a second left is still open.
    DoNotDisrupt::Until(Some(((left + 999_999_999) / 1_000_000_000) as i64))
}

fn tolerates_disruption(pod: &Pod) -> bool {
    let taint = Taint {
        key: "karpenter.sh/disrupted".to_owned(),
        effect: "NoSchedule".to_owned(),
        ..Taint::default()
    };
    let tolerations = pod.spec.as_ref().and_then(|s| s.tolerations.as_ref());
    tolerations.into_iter().flatten().any(|t| tolerates(t, &taint))
}

/// True when the toleration covers the taint: effect, key, then operator and value. `Lt` and
/// `Gt` compare integers; a value that is none tolerates nothing.
pub fn tolerates(toleration: &Toleration, taint: &Taint) -> bool {
    let text = |field: &Option<String>| field.clone().unwrap_or_default();
    let (effect, key) = (text(&toleration.effect), text(&toleration.key));
    if !effect.is_empty() && effect != taint.effect {
        return false;
    }
    if !key.is_empty() && key != taint.key {
        return false;
    }
    let integer = |field: &Option<String>| text(field).parse::<i64>().ok();
    let compared = || Some(integer(&taint.value)?.cmp(&integer(&toleration.value)?));
    match text(&toleration.operator).as_str() {
        "" | "Equal" => text(&toleration.value) == text(&taint.value),
        "Exists" => true,
        "Lt" => compared().is_some_and(Ordering::is_lt),
        "Gt" => compared().is_some_and(Ordering::is_gt),
        _ => false,
    }
}

fn phase(pod: &Pod) -> &str {
    pod.status.as_ref().and_then(|s| s.phase.as_deref()).unwrap_or("")
}

#[cfg(test)]
mod tests;
