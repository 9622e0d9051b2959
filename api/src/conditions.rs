//! Condition types and reasons that the resources show.

/// True when every other condition that counts is true.
pub const READY: &str = "Ready";

/// NodePool, NodeOverlay, node classes: the object passed the checks the API server cannot do.
pub const VALIDATION_SUCCEEDED: &str = "ValidationSucceeded";
/// NodePool: the node class is there and ready.
pub const NODE_CLASS_READY: &str = "NodeClassReady";
/// NodePool: the last launches ended in registered nodes.
pub const NODE_REGISTRATION_HEALTHY: &str = "NodeRegistrationHealthy";

/// NodeClaim: the instance was created.
pub const LAUNCHED: &str = "Launched";
/// NodeClaim: the node joined.
pub const REGISTERED: &str = "Registered";
/// NodeClaim: the node can take pods.
pub const INITIALIZED: &str = "Initialized";
/// NodeClaim: calm for long enough to be consolidated.
pub const CONSOLIDATABLE: &str = "Consolidatable";
/// NodeClaim: no longer what the pool or class asks for.
pub const DRIFTED: &str = "Drifted";
/// NodeClaim: why it is being disrupted.
pub const DISRUPTION_REASON: &str = "DisruptionReason";
/// NodeClaim: all pods that can go are gone.
pub const DRAINED: &str = "Drained";
/// NodeClaim: all volumes are detached.
pub const VOLUMES_DETACHED: &str = "VolumesDetached";
/// NodeClaim: the cloud was told to delete the instance.
pub const INSTANCE_TERMINATING: &str = "InstanceTerminating";
/// NodeClaim: the node has the shape that was ordered.
pub const CONSISTENT_STATE_FOUND: &str = "ConsistentStateFound";

/// CapacityBuffer: the pod and the number of units are known.
pub const READY_FOR_PROVISIONING: &str = "ReadyForProvisioning";
/// CapacityBuffer: whether the room is there.
pub const PROVISIONING: &str = "Provisioning";

/// EC2NodeClass: subnets were found.
pub const SUBNETS_READY: &str = "SubnetsReady";
/// EC2NodeClass: security groups were found.
pub const SECURITY_GROUPS_READY: &str = "SecurityGroupsReady";
/// EC2NodeClass: images were found.
pub const AMIS_READY: &str = "AMIsReady";
/// EC2NodeClass: the instance profile exists.
pub const INSTANCE_PROFILE_READY: &str = "InstanceProfileReady";
/// EC2NodeClass: capacity reservations were read.
pub const CAPACITY_RESERVATIONS_READY: &str = "CapacityReservationsReady";
/// EC2NodeClass: the placement group was found.
pub const PLACEMENT_GROUP_READY: &str = "PlacementGroupReady";

/// AKSNodeClass: images were found.
pub const IMAGES_READY: &str = "ImagesReady";
/// AKSNodeClass: the Kubernetes version is known.
pub const KUBERNETES_VERSION_READY: &str = "KubernetesVersionReady";
/// AKSNodeClass: whether the node's DNS cache is on is known.
pub const LOCAL_DNS_READY: &str = "LocalDNSReady";

/// Reasons of conditions, by the condition they stand on.
pub mod reasons {
    /// NodePool ValidationSucceeded False.
    pub const NODE_POOL_VALIDATION_FAILED: &str = "NodePoolValidationFailed";
    /// NodePool NodeClassReady False: no such object.
    pub const NODE_CLASS_NOT_FOUND: &str = "NodeClassNotFound";
    /// NodePool NodeClassReady False: the object is being deleted.
    pub const NODE_CLASS_TERMINATING: &str = "NodeClassTerminating";
    /// NodePool NodeClassReady Unknown.
    pub const NODE_CLASS_READINESS_UNKNOWN: &str = "NodeClassReadinessUnknown";
    /// NodePool NodeRegistrationHealthy False.
    pub const REGISTRATION_FAILED: &str = "RegistrationFailed";

    /// NodeOverlay ValidationSucceeded False: a rule the API server cannot check.
    pub const RUNTIME_VALIDATION: &str = "RuntimeValidation";
    /// NodeOverlay ValidationSucceeded False: another overlay of the same weight.
    pub const CONFLICT: &str = "Conflict";

    /// NodeClaim Launched Unknown.
    pub const LAUNCH_FAILED: &str = "LaunchFailed";
    /// NodeClaim Registered or Initialized Unknown.
    pub const NODE_NOT_FOUND: &str = "NodeNotFound";
    /// NodeClaim Registered Unknown.
    pub const REGISTRATION_HOOK_PENDING: &str = "RegistrationHookPending";
    /// NodeClaim Registered False.
    pub const MULTIPLE_NODES_FOUND: &str = "MultipleNodesFound";
    /// NodeClaim Registered Unknown: the node came without the taint that keeps pods away.
    pub const UNREGISTERED_TAINT_MISSING: &str = "UnregisteredTaintMissing";
    /// NodeClaim Initialized Unknown.
    pub const NODE_NOT_READY: &str = "NodeNotReady";
    /// NodeClaim Initialized Unknown.
    pub const STARTUP_TAINTS_EXIST: &str = "StartupTaintsExist";
    /// NodeClaim Initialized Unknown.
    pub const KNOWN_EPHEMERAL_TAINTS_EXIST: &str = "KnownEphemeralTaintsExist";
    /// NodeClaim Initialized Unknown.
    pub const RESOURCE_NOT_REGISTERED: &str = "ResourceNotRegistered";
    /// NodeClaim Initialized Unknown.
    pub const DRA_DRIVER_POOLS_NOT_PUBLISHED: &str = "DRADriverPoolsNotPublished";
    /// NodeClaim Drained Unknown.
    pub const DRAINING: &str = "Draining";
    /// NodeClaim VolumesDetached Unknown.
    pub const AWAITING_VOLUME_DETACHMENT: &str = "AwaitingVolumeDetachment";
    /// NodeClaim VolumesDetached False.
    pub const TERMINATION_GRACE_PERIOD_ELAPSED: &str = "TerminationGracePeriodElapsed";
    /// NodeClaim ConsistentStateFound False.
    pub const CONSISTENCY_CHECK_FAILED: &str = "ConsistencyCheckFailed";

    /// NodeClaim DisruptionReason: nothing runs there.
    pub const EMPTY: &str = "Empty";
    /// NodeClaim DisruptionReason: its pods fit elsewhere or on something cheaper.
    pub const UNDERUTILIZED: &str = "Underutilized";
    /// NodeClaim DisruptionReason: no longer what is asked for.
    pub const DRIFTED: &str = "Drifted";

    /// NodeClaim Drifted: the pool's template changed.
    pub const NODE_POOL_DRIFTED: &str = "NodePoolDrifted";
    /// NodeClaim Drifted: the pool's requirements changed.
    pub const REQUIREMENTS_DRIFTED: &str = "RequirementsDrifted";
    /// NodeClaim Drifted: the instance type is no longer offered.
    pub const INSTANCE_TYPE_NOT_FOUND: &str = "InstanceTypeNotFound";

    /// CapacityBuffer ReadyForProvisioning True.
    pub const RESOLVED: &str = "Resolved";
    /// CapacityBuffer ReadyForProvisioning False.
    pub const SCALABLE_REF_NOT_FOUND: &str = "ScalableRefNotFound";
    /// CapacityBuffer ReadyForProvisioning False.
    pub const POD_TEMPLATE_NOT_FOUND: &str = "PodTemplateNotFound";
    /// CapacityBuffer ReadyForProvisioning False.
    pub const RESOLUTION_FAILED: &str = "ResolutionFailed";
    /// CapacityBuffer Provisioning True.
    pub const FITS_EXISTING_CAPACITY: &str = "FitsExistingCapacity";
    /// CapacityBuffer Provisioning False.
    pub const REQUIRES_NEW_CAPACITY: &str = "RequiresNewCapacity";
    /// CapacityBuffer Provisioning False.
    pub const NOT_READY_FOR_PROVISIONING: &str = "NotReadyForProvisioning";
    /// CapacityBuffer Provisioning False.
    pub const BUFFER_EMPTY: &str = "BufferEmpty";

    /// EC2NodeClass SubnetsReady False.
    pub const SUBNETS_NOT_FOUND: &str = "SubnetsNotFound";
    /// EC2NodeClass SecurityGroupsReady False.
    pub const SECURITY_GROUPS_NOT_FOUND: &str = "SecurityGroupsNotFound";
    /// EC2NodeClass AMIsReady False.
    pub const AMI_NOT_FOUND: &str = "AMINotFound";
    /// EC2NodeClass AMIsReady False: the family ends before this Kubernetes version.
    pub const UNSUPPORTED_ALIAS: &str = "UnsupportedAlias";
    /// EC2NodeClass PlacementGroupReady False.
    pub const PLACEMENT_GROUP_NOT_FOUND: &str = "PlacementGroupNotFound";
    /// EC2NodeClass PlacementGroupReady False.
    pub const PLACEMENT_GROUP_RESOLUTION_FAILED: &str = "PlacementGroupResolutionFailed";
    /// EC2NodeClass ValidationSucceeded False: a kubelet value that cannot be.
    pub const INVALID_KUBELET_CONFIGURATION: &str = "InvalidKubeletConfiguration";
    /// EC2NodeClass ValidationSucceeded False: a kubelet field the family cannot set.
    pub const UNSUPPORTED_KUBELET_CONFIGURATION: &str = "UnsupportedKubeletConfiguration";

    /// AKSNodeClass ImagesReady False.
    pub const IMAGES_NOT_FOUND: &str = "ImagesNotFound";
    /// AKSNodeClass ImagesReady False: FIPS images come from the shared gallery only.
    pub const SIG_REQUIRED_FOR_FIPS: &str = "SIGRequiredForFIPS";
    /// AKSNodeClass ImagesReady False: new images wait for a new Kubernetes version.
    pub const KUBERNETES_UPGRADE: &str = "KubernetesUpgrade";
    /// AKSNodeClass SubnetsReady False.
    pub const SUBNET_ID_INVALID: &str = "SubnetIDInvalid";
    /// AKSNodeClass SubnetsReady False.
    pub const SUBNET_NOT_FOUND: &str = "SubnetNotFound";
    /// AKSNodeClass SubnetsReady False.
    pub const SUBNET_UNKNOWN_ERROR: &str = "SubnetUnknownError";
}
