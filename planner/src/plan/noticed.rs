//! What of the input changes nothing although its author may think that it does. Nothing is
//! decided here: each is a warning.

use std::collections::BTreeSet;

use crate::error::{Warning, quoted};
use crate::nearest::hint;
use crate::settings::FeatureGates;
use crate::snapshot::{Snapshot, full_name};

/// Most pods that one warning names. LIMIT: a dump without its nodes would name every pod.
const MAX_NAMED: usize = 3;

/// The warnings of a Snapshot as a whole.
pub(super) fn warnings(snapshot: &Snapshot) -> Vec<Warning> {
    let mut all: Vec<Warning> =
        snapshot.settings.unknown_gates.iter().map(|name| unknown_gate(name)).collect();
    if !snapshot.settings.feature_gates.static_capacity {
        all.extend(snapshot.node_pools.iter().filter(|pool| pool.is_static()).map(|pool| {
            Warning::new(
                "StaticCapacityOff",
                format!("NodePool {}", full_name(&pool.metadata)),
                "it has `spec.replicas` and the feature gate StaticCapacity is off: it opens no \
                 nodes, neither for its replicas nor for pending pods; turn the gate on, or drop \
                 `spec.replicas`",
            )
        }));
    }
    all.extend(pods_on_unknown_nodes(snapshot));
    all
}

fn unknown_gate(name: &str) -> Warning {
    let hint = hint(name, FeatureGates::NAMES);
    Warning::new(
        "UnknownFeatureGate",
        format!("settings.featureGates.{}", quoted(name)),
        format!("is no feature gate{hint}; known are {}", FeatureGates::NAMES.join(", ")),
    )
}

/// Pods that run on nodes that the input lacks. They take no room, count for no topology and
/// are not placed again.
fn pods_on_unknown_nodes(snapshot: &Snapshot) -> Option<Warning> {
    let nodes: BTreeSet<&str> =
        snapshot.nodes.iter().filter_map(|node| node.metadata.name.as_deref()).collect();
    let mut lost = BTreeSet::new();
    for pod in &snapshot.pods {
        let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_deref());
        let node = node.filter(|name| !name.is_empty() && !nodes.contains(name));
        if let Some(node) = node
            && !matches!(phase, Some("Succeeded" | "Failed"))
        {
            lost.insert((full_name(&pod.metadata), node));
        }
    }
    let mut shown: Vec<String> = lost
        .iter()
        .take(MAX_NAMED)
        .map(|(pod, node)| format!("`{}` on `{}`", quoted(pod), quoted(node)))
        .collect();
    if lost.len() > MAX_NAMED {
        shown.push(format!("{} more", lost.len() - MAX_NAMED));
    }
    (!lost.is_empty()).then(|| {
        let message = format!(
            "pods run on nodes that are not in the input, so they are not counted: {}; add the \
             nodes to the input",
            shown.join(", ")
        );
        Warning::new("UnknownNode", "input", message)
    })
}
