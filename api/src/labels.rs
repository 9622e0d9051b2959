//! Names of labels, annotations, taints and finalizers, and which of them users may set.
//!
//! Decides what a restricted label is ([`restriction`]) and which spellings mean the same label
//! ([`normalized`]); it does not decide what a label does.

mod known;

pub use known::{aws, azure, known_values, well_known_labels};

/// The cloud whose own labels count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Provider {
    /// AWS: EC2NodeClass.
    Aws,
    /// Azure: AKSNodeClass.
    Azure,
    /// No cloud: only the labels of Kubernetes and of Karpenter itself.
    Core,
}

impl Provider {
    /// The provider of a node class group; [`Provider::Core`] for a group that is unknown.
    pub fn of_group(group: &str) -> Self {
        match group {
            AWS_GROUP => Self::Aws,
            AZURE_GROUP => Self::Azure,
            _ => Self::Core,
        }
    }
}

/// API group of NodePool, NodeClaim and NodeOverlay.
pub const CORE_GROUP: &str = "karpenter.sh";
/// API group of EC2NodeClass.
pub const AWS_GROUP: &str = "karpenter.k8s.aws";
/// API group of AKSNodeClass.
pub const AZURE_GROUP: &str = "karpenter.azure.com";
/// API group of CapacityBuffer.
pub const BUFFER_GROUP: &str = "autoscaling.x-k8s.io";

/// Label: the NodePool of a node.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// Label: `on-demand`, `spot` or `reserved`.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// Label: `true` once the node is registered.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Label: `true` once the node is initialized.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// Label: `true` when taints are not to be synced at registration.
pub const DO_NOT_SYNC_TAINTS: &str = "karpenter.sh/do-not-sync-taints";
/// Label of virtual pods: the buffer they stand for.
pub const CAPACITY_BUFFER_NAME: &str = "karpenter.sh/capacity-buffer-name";
/// Label of virtual pods: the namespace of that buffer.
pub const CAPACITY_BUFFER_NAMESPACE: &str = "karpenter.sh/capacity-buffer-namespace";
/// Label: name of the EC2NodeClass of a node.
pub const EC2_NODE_CLASS: &str = "karpenter.k8s.aws/ec2nodeclass";
/// Label: name of the AKSNodeClass of a node.
pub const AKS_NODE_CLASS: &str = "karpenter.azure.com/aksnodeclass";
/// Label set on drain so that load balancers leave the node.
pub const EXCLUDE_FROM_LOAD_BALANCERS: &str =
    "node.kubernetes.io/exclude-from-external-load-balancers";
/// The value of [`EXCLUDE_FROM_LOAD_BALANCERS`].
pub const EXCLUDE_FROM_LOAD_BALANCERS_VALUE: &str = "karpenter";

/// Label: zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// Label: region.
pub const REGION: &str = "topology.kubernetes.io/region";
/// Label: instance type.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// Label: processor architecture.
pub const ARCH: &str = "kubernetes.io/arch";
/// Label: operating system.
pub const OS: &str = "kubernetes.io/os";
/// Label: host name.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// Label: Windows build.
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";

/// Capacity type: paid by the hour, never taken back.
pub const CAPACITY_TYPE_ON_DEMAND: &str = "on-demand";
/// Capacity type: cheaper, may be taken back.
pub const CAPACITY_TYPE_SPOT: &str = "spot";
/// Capacity type: paid in advance.
pub const CAPACITY_TYPE_RESERVED: &str = "reserved";

/// Annotation: on a pod `true` or a duration, on a node or claim `true`.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// Annotation: hash of the pool's template.
pub const NODE_POOL_HASH: &str = "karpenter.sh/nodepool-hash";
/// Annotation: how [`NODE_POOL_HASH`] was made.
pub const NODE_POOL_HASH_VERSION: &str = "karpenter.sh/nodepool-hash-version";
/// The current value of [`NODE_POOL_HASH_VERSION`].
pub const NODE_POOL_HASH_VERSION_VALUE: &str = "v3";
/// Annotation: when a claim's machine is terminated whatever still runs; RFC 3339.
pub const TERMINATION_TIMESTAMP: &str = "karpenter.sh/nodeclaim-termination-timestamp";
/// Annotation: `true` when minValues was lowered for a claim.
pub const MIN_VALUES_RELAXED: &str = "karpenter.sh/nodeclaim-min-values-relaxed";
/// Annotation: DRA drivers a claim waits for.
pub const REQUESTED_DRA_DRIVERS: &str = "karpenter.sh/requested-dra-drivers";
/// Annotation: `true` when an overlay changed the price.
pub const PRICE_OVERLAY_APPLIED: &str = "karpenter.sh/price-overlay-applied";
/// Annotation: `true` when an overlay changed the capacity.
pub const CAPACITY_OVERLAY_APPLIED: &str = "karpenter.sh/capacity-overlay-applied";
/// Annotation: `true` on virtual pods.
pub const CAPACITY_BUFFER_FAKE_POD: &str = "karpenter.sh/capacity-buffer-fake-pod";
/// Annotation: which provider version wrote the object.
pub const PROVIDER_COMPATIBILITY: &str = "compatibility.karpenter.sh/provider";
/// Annotation read from pods: how much it costs to delete them.
pub const POD_DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
/// Annotation read from volume claims: bound for good.
pub const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// Annotation: hash of an EC2NodeClass.
pub const EC2_NODE_CLASS_HASH: &str = "karpenter.k8s.aws/ec2nodeclass-hash";
/// Annotation: how [`EC2_NODE_CLASS_HASH`] was made.
pub const EC2_NODE_CLASS_HASH_VERSION: &str = "karpenter.k8s.aws/ec2nodeclass-hash-version";
/// The current value of [`EC2_NODE_CLASS_HASH_VERSION`].
pub const EC2_NODE_CLASS_HASH_VERSION_VALUE: &str = "v6";
/// Annotation: hash of an AKSNodeClass.
pub const AKS_NODE_CLASS_HASH: &str = "karpenter.azure.com/aksnodeclass-hash";
/// Annotation: how [`AKS_NODE_CLASS_HASH`] was made.
pub const AKS_NODE_CLASS_HASH_VERSION: &str = "karpenter.azure.com/aksnodeclass-hash-version";
/// The current value of [`AKS_NODE_CLASS_HASH_VERSION`].
pub const AKS_NODE_CLASS_HASH_VERSION_VALUE: &str = "v3";
/// Annotation: `true` when the AWS instance carries its later tags.
pub const AWS_TAGGED: &str = "karpenter.k8s.aws/tagged";
/// Annotation: the instance profile of a claim.
pub const AWS_INSTANCE_PROFILE_NAME: &str = "karpenter.k8s.aws/instance-profile-name";
/// Annotation: hash of what Azure machines are changed in place for.
pub const AZURE_IN_PLACE_UPDATE_HASH: &str = "karpenter.azure.com/in-place-update-hash";
/// Annotation: the AKS machine of a claim.
pub const AZURE_MACHINE_RESOURCE_ID: &str = "karpenter.azure.com/aks-machine-resource-id";

/// Taint key: the node is being disrupted; effect NoSchedule.
pub const DISRUPTED_TAINT: &str = "karpenter.sh/disrupted";
/// Taint key: the node is not registered yet; effect NoExecute.
pub const UNREGISTERED_TAINT: &str = "karpenter.sh/unregistered";
/// Start of taint keys that readiness gates put on a node and take away.
pub const READINESS_TAINT_PREFIX: &str = "readiness.k8s.io/";
/// Taints (key, effect) that are ignored on a managed node until it is initialized. Keys that
/// start with [`READINESS_TAINT_PREFIX`] come on top, with any effect.
pub const KNOWN_EPHEMERAL_TAINTS: &[(&str, &str)] = &[
    ("node.kubernetes.io/not-ready", "NoSchedule"),
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoSchedule"),
    ("node.cloudprovider.kubernetes.io/uninitialized", "NoSchedule"),
    (UNREGISTERED_TAINT, "NoExecute"),
];

/// Finalizer on Node and NodeClaim.
pub const TERMINATION_FINALIZER: &str = "karpenter.sh/termination";
/// Finalizer on EC2NodeClass.
pub const AWS_TERMINATION_FINALIZER: &str = "karpenter.k8s.aws/termination";
/// Finalizer on AKSNodeClass.
pub const AZURE_TERMINATION_FINALIZER: &str = "karpenter.azure.com/termination";

/// Resources that instance types of a provider bring by themselves, besides the basic ones.
pub const PROVIDER_RESOURCES: &[&str] = &[
    "nvidia.com/gpu",
    "amd.com/gpu",
    "habana.ai/gaudi",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "vpc.amazonaws.com/efa",
    "vpc.amazonaws.com/pod-eni",
    "vpc.amazonaws.com/PrivateIPv4Address",
];

/// Domains in which only well-known labels may be asked for.
pub fn restricted_domains(provider: Provider) -> &'static [&'static str] {
    match provider {
        Provider::Core => &[CORE_GROUP],
        Provider::Aws => &[CORE_GROUP, AWS_GROUP],
        Provider::Azure => &[CORE_GROUP, AZURE_GROUP],
    }
}

/// The label that every node of a class carries: the class group and, in lower case, its kind.
pub fn class_label(group: &str, kind: &str) -> String {
    format!("{group}/{}", kind.to_ascii_lowercase())
}

/// The part of a label before `/`; empty when there is none.
pub fn domain(key: &str) -> &str {
    key.split_once('/').map_or("", |(domain, _)| domain)
}

/// The label that `key` means: old spellings are replaced by the current ones.
pub fn normalized(provider: Provider, key: &str) -> &str {
    match key {
        "failure-domain.beta.kubernetes.io/zone" => ZONE,
        "failure-domain.beta.kubernetes.io/region" => REGION,
        "beta.kubernetes.io/arch" => ARCH,
        "beta.kubernetes.io/os" => OS,
        "beta.kubernetes.io/instance-type" => INSTANCE_TYPE,
        "topology.ebs.csi.aws.com/zone" if provider == Provider::Aws => ZONE,
        other => other,
    }
}

/// Why a label may not be asked for, or `None` when it may.
pub fn restriction(provider: Provider, key: &str) -> Option<String> {
    // The label of the class itself stands on every node of the class.
    if well_known_labels(provider).contains(&key) || [EC2_NODE_CLASS, AKS_NODE_CLASS].contains(&key)
    {
        return None;
    }
    if key == HOSTNAME {
        return Some(format!("label `{HOSTNAME}` cannot be asked for: it names one node"));
    }
    let own = domain(key);
    let restricted = restricted_domains(provider).iter().find(|restricted| {
        own.strip_suffix(**restricted).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    })?;
    Some(format!(
        "label `{key}` is in the restricted domain `{restricted}`: \
         use one of its well-known labels or a domain of your own"
    ))
}

/// True for a taint that is ignored on a managed node until it is initialized.
pub fn is_known_ephemeral_taint(key: &str, effect: &str) -> bool {
    key.starts_with(READINESS_TAINT_PREFIX) || KNOWN_EPHEMERAL_TAINTS.contains(&(key, effect))
}
