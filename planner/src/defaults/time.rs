//! The newest moment that the input speaks of: `now` when nobody says otherwise.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta, Time};

use crate::snapshot::{NodeClass, Snapshot};

/// The newest timestamp of the Snapshot, or 1970. Deletion times are left out: they lie ahead
/// by the grace period.
pub fn newest_time(snapshot: &Snapshot) -> Timestamp {
    let mut newest = Newest(Timestamp::UNIX_EPOCH);
    macro_rules! created {
        ($($list:ident)+) => {
            $(snapshot.$list.iter().for_each(|o| newest.metadata(&o.metadata));)+
        };
    }
    created!(node_pools node_claims node_overlays capacity_buffers nodes pods daemon_sets
        deployments stateful_sets replica_sets jobs cron_jobs pod_templates
        persistent_volume_claims persistent_volumes storage_classes csi_nodes
        pod_disruption_budgets priority_classes namespaces limit_ranges);
    for class in &snapshot.node_classes {
        newest.metadata(class.metadata());
        match &class.object {
            NodeClass::Ec2(c) => newest.conditions(c.status.iter().flat_map(|s| &s.conditions)),
            NodeClass::Aks(c) => newest.conditions(c.status.iter().flat_map(|s| &s.conditions)),
        }
    }
    for pool in &snapshot.node_pools {
        newest.conditions(pool.status.iter().flat_map(|s| &s.conditions));
    }
    for claim in &snapshot.node_claims {
        newest.conditions(claim.status.iter().flat_map(|s| &s.conditions));
        newest.time(claim.status.as_ref().and_then(|s| s.last_pod_event_time.as_ref()));
    }
    for node in &snapshot.nodes {
        for taint in node.spec.iter().flat_map(|s| s.taints.iter().flatten()) {
            newest.time(taint.time_added.as_ref());
        }
        for condition in node.status.iter().flat_map(|s| s.conditions.iter().flatten()) {
            newest.time(condition.last_transition_time.as_ref());
            newest.time(condition.last_heartbeat_time.as_ref());
        }
    }
    for pod in &snapshot.pods {
        let Some(status) = &pod.status else { continue };
        newest.time(status.start_time.as_ref());
        for condition in status.conditions.iter().flatten() {
            newest.time(condition.last_transition_time.as_ref());
        }
    }
    newest.0
}

struct Newest(Timestamp);

impl Newest {
    fn time(&mut self, time: Option<&Time>) {
        if let Some(time) = time {
            self.0 = self.0.max(time.0);
        }
    }

    fn metadata(&mut self, metadata: &ObjectMeta) {
        self.time(metadata.creation_timestamp.as_ref());
    }

    fn conditions<'a>(&mut self, conditions: impl Iterator<Item = &'a Condition>) {
        conditions.for_each(|c| self.time(Some(&c.last_transition_time)));
    }
}
