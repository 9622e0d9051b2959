//! DaemonSets, each as the pod that it would run on a node.

use std::collections::HashMap;

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Pod, PodSpec};

use super::dialect::Dialect;
use super::needs::Needs;
use super::shape;
use super::tolerations::{Tolerated, tolerated};
use crate::defaults::requests::ContainerDefaults;
use crate::error::{ErrorCode, PlanError};
use crate::pod::{self, Amounts, HostPort};
use crate::snapshot::{Snapshot, Sourced, full_name};

/// A DaemonSet in names.
#[derive(Clone, Debug)]
pub struct DaemonText {
    /// `namespace/name`.
    pub name: String,
    /// Requests of one pod.
    pub amounts: Amounts,
    /// Node selector.
    pub selector: Needs,
    /// Required node-affinity terms.
    pub required: Vec<Needs>,
    /// Tolerations.
    pub tolerations: Vec<Tolerated>,
    /// Host ports.
    pub ports: Vec<HostPort>,
}

/// The DaemonSets, ascending by namespace and name. Those that claim devices are left out, as
/// long as device claims are not scheduled.
pub fn daemons(
    snapshot: &Snapshot,
    dialect: &Dialect,
    is_mended: bool,
) -> Result<Vec<DaemonText>, Vec<PlanError>> {
    let live = newest_pods(snapshot);
    // Templates get what the admission of their pods would add.
    let defaults = ContainerDefaults::of(snapshot);
    let mut errors = Vec::new();
    let mut all = Vec::new();
    for own in &snapshot.daemon_sets {
        match daemon(own, &live, &defaults, dialect, is_mended) {
            Ok(daemon) => all.extend(daemon),
            Err(error) => errors.push(*error),
        }
    }
    all.sort_by(|a: &DaemonText, b| a.name.cmp(&b.name));
    if errors.is_empty() { Ok(all) } else { Err(errors) }
}

/// The newest live pod of each DaemonSet, by `namespace/name`.
fn newest_pods(snapshot: &Snapshot) -> HashMap<String, &Pod> {
    let mut newest: HashMap<String, &Pod> = HashMap::new();
    for own in &snapshot.pods {
        if !pod::is_active(own) || !pod::is_owned_by_daemon_set(own) {
            continue;
        }
        let owners = own.metadata.owner_references.iter().flatten();
        for owner in owners.filter(|o| o.kind == "DaemonSet" && o.api_version == "apps/v1") {
            let namespace = own.metadata.namespace.as_deref().unwrap_or("default");
            let key = |pod: &Pod| {
                let created = pod.metadata.creation_timestamp.as_ref().map(|t| t.0);
                (created, pod.metadata.name.clone())
            };
            let entry = newest.entry(format!("{namespace}/{}", owner.name)).or_insert(own);
            if key(own) > key(entry) {
                *entry = own;
            }
        }
    }
    newest
}

fn daemon(
    own: &Sourced<DaemonSet>,
    live: &HashMap<String, &Pod>,
    defaults: &ContainerDefaults,
    dialect: &Dialect,
    is_mended: bool,
) -> Result<Option<DaemonText>, Box<PlanError>> {
    let namespace = own.metadata.namespace.as_deref().unwrap_or("default");
    let own_name = own.metadata.name.as_deref().unwrap_or_default();
    let name = format!("{namespace}/{own_name}");
    let none = PodSpec::default();
    let template = own.spec.as_ref().and_then(|s| s.template.spec.as_ref()).unwrap_or(&none);
    let newest = live.get(&name);
    let mut template = template.clone();
    defaults.admit(namespace, &mut template);
    let spec = newest.and_then(|pod| pod.spec.as_ref()).unwrap_or(&template);
    if spec.resource_claims.as_ref().is_some_and(|claims| !claims.is_empty()) {
        return Ok(None);
    }
    let (amounts, path) = match newest {
        Some(pod) => (pod::requests(pod), String::new()),
        None => (pod::requests_of(spec, None), "spec.template.".to_owned()),
    };
    let amounts = amounts.map_err(|e| {
        let message = format!("`{}` {}", crate::error::quoted(&e.value), e.error);
        let message = match newest {
            Some(pod) => format!("pod `{}`: {message}", full_name(&pod.metadata)),
            None => message,
        };
        let code = ErrorCode::InvalidQuantity;
        let path = format!("{path}{}", e.path);
        Box::new(PlanError::at(code, own.origin.clone(), &path, message).with_value(&e.value))
    })?;
    // The controller pins each pod to its node by affinity: the template's own counts.
    let own_required = shape::required(&template, dialect);
    let required =
        if own_required.is_empty() { shape::required(spec, dialect) } else { own_required };
    Ok(Some(DaemonText {
        name,
        amounts,
        selector: dialect.labels(spec.node_selector.iter().flatten()),
        required,
        tolerations: tolerated(spec.tolerations.as_ref()),
        ports: pod::host_ports(spec, is_mended),
    }))
}
