//! The world at one moment, as typed objects: what every decision starts from.
//!
//! A Snapshot is data. It is read from text by [`crate::read`], built by the controller, and
//! written back as one JSON object that replays the decision anywhere. The order of its lists
//! never matters. Nothing is decided here.

use std::ops::{Deref, DerefMut};

use dunnage_api::{AKSNodeClass, CapacityBuffer, EC2NodeClass, NodeClaim, NodeOverlay, NodePool};
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{
    LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::{Serialize, Serializer};

use crate::error::{Origin, Warning};
use crate::instance_type::InstanceType;
use crate::settings::Settings;

/// An object and where it came from. Behaves and serializes as the object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sourced<T> {
    /// The object.
    pub object: T,
    /// File, document and line, as far as known.
    pub origin: Origin,
}

impl<T> From<T> for Sourced<T> {
    /// An object without a place: made here, or watched from an API server.
    fn from(object: T) -> Self {
        Self { object, origin: Origin::default() }
    }
}

impl<T> Deref for Sourced<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.object
    }
}

impl<T> DerefMut for Sourced<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.object
    }
}

impl<T: Serialize> Serialize for Sourced<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.object.serialize(serializer)
    }
}

/// A node class of one of the clouds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum NodeClass {
    /// AWS.
    Ec2(Box<EC2NodeClass>),
    /// Azure.
    Aks(Box<AKSNodeClass>),
}

impl NodeClass {
    /// Name, labels and the like.
    pub fn metadata(&self) -> &ObjectMeta {
        match self {
            Self::Ec2(class) => &class.metadata,
            Self::Aks(class) => &class.metadata,
        }
    }

    /// API group, as a NodePool's nodeClassRef says it.
    pub fn group(&self) -> &'static str {
        match self {
            Self::Ec2(_) => "karpenter.k8s.aws",
            Self::Aks(_) => "karpenter.azure.com",
        }
    }

    /// Kind, as a NodePool's nodeClassRef says it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Ec2(_) => "EC2NodeClass",
            Self::Aks(_) => "AKSNodeClass",
        }
    }
}

/// Everything that a decision may look at.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// NodePools.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_pools: Vec<Sourced<NodePool>>,
    /// Node classes of every cloud.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_classes: Vec<Sourced<NodeClass>>,
    /// NodeClaims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_claims: Vec<Sourced<NodeClaim>>,
    /// NodeOverlays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub node_overlays: Vec<Sourced<NodeOverlay>>,
    /// CapacityBuffers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub capacity_buffers: Vec<Sourced<CapacityBuffer>>,
    /// Nodes, managed or not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Sourced<Node>>,
    /// Pods, pending and bound; those of expanded workloads included.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pods: Vec<Sourced<Pod>>,
    /// DaemonSets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub daemon_sets: Vec<Sourced<DaemonSet>>,
    /// Deployments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deployments: Vec<Sourced<Deployment>>,
    /// StatefulSets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stateful_sets: Vec<Sourced<StatefulSet>>,
    /// ReplicaSets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub replica_sets: Vec<Sourced<ReplicaSet>>,
    /// Jobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Sourced<Job>>,
    /// CronJobs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cron_jobs: Vec<Sourced<CronJob>>,
    /// PodTemplates, which CapacityBuffers refer to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_templates: Vec<Sourced<PodTemplate>>,
    /// Volume claims.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persistent_volume_claims: Vec<Sourced<PersistentVolumeClaim>>,
    /// Volumes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persistent_volumes: Vec<Sourced<PersistentVolume>>,
    /// Storage classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub storage_classes: Vec<Sourced<StorageClass>>,
    /// How many volumes each driver can attach to each node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub csi_nodes: Vec<Sourced<CSINode>>,
    /// PodDisruptionBudgets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pod_disruption_budgets: Vec<Sourced<PodDisruptionBudget>>,
    /// Priority classes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub priority_classes: Vec<Sourced<PriorityClass>>,
    /// Namespaces, for their labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub namespaces: Vec<Sourced<Namespace>>,
    /// Default requests per namespace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limit_ranges: Vec<Sourced<LimitRange>>,
    /// What the cloud sells; None leaves the choice to the built-in catalog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance_types: Option<Vec<InstanceType>>,
    /// The moment that the Snapshot shows.
    pub now: Timestamp,
    /// How to decide.
    pub settings: Settings,
    /// What the reader noticed; not part of the world.
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Snapshot {
    /// The node class that a NodePool or NodeClaim refers to, when it is here.
    pub fn node_class(&self, group: &str, kind: &str, name: &str) -> Option<&Sourced<NodeClass>> {
        self.node_classes.iter().find(|class| {
            class.group() == group
                && class.kind() == kind
                && class.metadata().name.as_deref() == Some(name)
        })
    }
}

/// `namespace/name`, or the name alone for objects without a namespace.
pub fn full_name(metadata: &ObjectMeta) -> String {
    let name = metadata.name.as_deref().unwrap_or_default();
    match metadata.namespace.as_deref() {
        Some(namespace) if !namespace.is_empty() => format!("{namespace}/{name}"),
        _ => name.to_owned(),
    }
}
