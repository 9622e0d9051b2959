//! Pods that keep their node although nothing runs in them.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;

use super::Findings;
use super::world::World;
use crate::defaults::is_made_up;
use crate::pod::{DO_NOT_DISRUPT, do_not_disrupt, is_active, node_name};
use crate::snapshot::full_name;

/// Why a container waits that will not start by itself.
const ERRORS: [&str; 8] = [
    "CrashLoopBackOff",
    "CreateContainerConfigError",
    "CreateContainerError",
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "RunContainerError",
];

const HOUR_SECS: i64 = 3600;

pub(super) fn stuck_pod_holds_node(world: &World<'_>, found: &mut Findings) {
    for pod in &world.snapshot.pods {
        // A finished pod holds nothing, annotation or not.
        let is_held = is_active(pod) && do_not_disrupt(pod, world.snapshot.now).is_active();
        let (Some(node), Some((container, reason))) = (node_name(pod), failing(pod)) else {
            continue;
        };
        if !is_held {
            continue;
        }
        let name = full_name(&pod.metadata);
        let message = format!(
            "its container `{container}` waits with {reason}, and its annotation \
             `{DO_NOT_DISRUPT}` keeps node {node}{} from being disrupted",
            age(world, node)
        );
        let fix = format!(
            "correct what {reason} is about, or remove `metadata.annotations[{DO_NOT_DISRUPT}]`: \
             `kubectl annotate pod {} -n {} {DO_NOT_DISRUPT}-`",
            pod.metadata.name.as_deref().unwrap_or_default(),
            pod.metadata.namespace.as_deref().unwrap_or_default(),
        );
        found.add(format!("Pod {name}"), message, fix);
    }
}

/// The first container that cannot start, with the reason.
fn failing(pod: &Pod) -> Option<(&str, &str)> {
    let status = pod.status.as_ref()?;
    let init = status.init_container_statuses.iter().flatten();
    let mut all = init.chain(status.container_statuses.iter().flatten());
    all.find_map(|container: &ContainerStatus| {
        let reason = container.state.as_ref()?.waiting.as_ref()?.reason.as_deref()?;
        ERRORS.contains(&reason).then_some((container.name.as_str(), reason))
    })
}

/// ` (5 h old)`, when the input says so.
fn age(world: &World<'_>, node: &str) -> String {
    let node = world.snapshot.nodes.iter().find(|n| n.metadata.name.as_deref() == Some(node));
    let created: Option<&Time> = node.and_then(|node| node.metadata.creation_timestamp.as_ref());
    let Some(created) = created.filter(|time| !is_made_up(time)) else { return String::new() };
    let secs = (world.snapshot.now.as_second() - created.0.as_second()).max(0);
    match secs / HOUR_SECS {
        0 => format!(" ({} min old)", secs / 60),
        hours if hours < 72 => format!(" ({hours} h old)"),
        hours => format!(" ({} days old)", hours / 24),
    }
}
