//! EC2NodeClass (`karpenter.k8s.aws/v1`): how AWS makes a node.

mod selectors;
mod settings;
mod status;

pub use selectors::{
    AMISelectorTerm, CapacityReservationSelectorTerm, PlacementGroupSelector,
    SecurityGroupSelectorTerm, SubnetSelectorTerm,
};
pub use settings::{KubeletSettings, family_of_alias};
pub use status::{AMI, CapacityReservation, EC2NodeClassStatus, SecurityGroup, Subnet};

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::lenient::{null_as_default, quantity};
use crate::schema;

/// Images, network, identity, disks and kubelet settings of a node.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[kube(
    group = "karpenter.k8s.aws",
    version = "v1",
    kind = "EC2NodeClass",
    doc = "How AWS makes a node.",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Ready\")].status"
    ),
    printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"),
    printcolumn(name = "Role", type_ = "string", json_path = ".spec.role", priority = 1),
    plural = "ec2nodeclasses",
    shortname = "ec2nc",
    shortname = "ec2ncs",
    category = "karpenter",
    status = "EC2NodeClassStatus",
    derive = "PartialEq",
    derive = "Default"
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&[
    "subnetSelectorTerms",
    "securityGroupSelectorTerms",
    "amiSelectorTerms",
]))]
#[x_kube(
    validation = Rule::new(
        "has(self.role) != has(self.instanceProfile)"
    ).message(
        "give exactly one of `role` and `instanceProfile`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "self.amiSelectorTerms.exists(x, has(x.alias)) || has(self.amiFamily)"
    ).message(
        "`amiFamily` is required when no term of `amiSelectorTerms` has an alias"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(x, \
         !has(x.alias) || x.alias.split('@')[0] == self.amiFamily.lowerAscii())"
    ).message(
        "`amiFamily` must be the family of the alias or `Custom`"
    )
)]
pub struct EC2NodeClassSpec {
    /// Subnets a node may stand in; 1 to 30 terms, any of which may match.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1, max = 30))]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, has(x.tags) || has(x.id))"
        ).message(
            "each term needs `tags` or `id`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.id) && has(x.tags)))"
        ).message(
            "`id` cannot stand together with `tags` in one term"
        )
    )]
    pub subnet_selector_terms: Vec<SubnetSelectorTerm>,
    /// Security groups of a node; 1 to 30 terms, any of which may match.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1, max = 30))]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, has(x.tags) || has(x.id) || has(x.name))"
        ).message(
            "each term needs `tags`, `id` or `name`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.id) && (has(x.tags) || has(x.name))))"
        ).message(
            "`id` cannot stand together with other fields in one term"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.name) && (has(x.tags) || has(x.id))))"
        ).message(
            "`name` cannot stand together with other fields in one term"
        )
    )]
    pub security_group_selector_terms: Vec<SecurityGroupSelectorTerm>,
    /// Images a node may start from; 1 to 30 terms, any of which may match.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1, max = 30))]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, has(x.alias) || has(x.tags) || has(x.id) || has(x.name) || \
             has(x.ssmParameter))"
        ).message(
            "each term needs `alias`, `tags`, `id`, `name` or `ssmParameter`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || \
             has(x.owner) || has(x.ssmParameter))))"
        ).message(
            "`id` cannot stand together with other fields in one term"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.alias) && (has(x.id) || has(x.tags) || has(x.name) || \
             has(x.owner) || has(x.ssmParameter))))"
        ).message(
            "`alias` cannot stand together with other fields in one term"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "!self.exists(x, has(x.alias)) || self.size() == 1"
        ).message(
            "a term with `alias` must be the only term"
        )
    )]
    pub ami_selector_terms: Vec<AMISelectorTerm>,
    /// The family of the image; taken from an alias when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = [
        "AL2",
        "AL2023",
        "Bottlerocket",
        "Custom",
        "Windows2019",
        "Windows2022",
        "Windows2025",
    ]))]
    pub ami_family: Option<String>,
    /// The IAM role of a node; excludes `instanceProfile`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub role: Option<String>,
    /// The IAM instance profile of a node; excludes `role`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub instance_profile: Option<String>,
    /// What the user adds to the boot data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
    /// Tags of everything that is made for a node.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "null_as_default"
    )]
    #[x_kube(validation = Rule::new("self.all(k, k != '')").message("tag keys must not be empty"))]
    #[x_kube(
        validation = Rule::new(
            "self.all(k, !(k in ['eks:eks-cluster-name', 'karpenter.sh/nodepool', \
             'karpenter.sh/nodeclaim', 'karpenter.k8s.aws/ec2nodeclass']) && \
             !k.startsWith('kubernetes.io/cluster'))"
        ).message(
            "the tags `eks:eks-cluster-name`, `kubernetes.io/cluster*`, \
             `karpenter.sh/nodepool`, `karpenter.sh/nodeclaim` and \
             `karpenter.k8s.aws/ec2nodeclass` are set by the controller"
        )
    )]
    pub tags: BTreeMap<String, String>,
    /// Kubelet settings, kept as written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "schema::open_object")]
    pub kubelet: Option<Map<String, Value>>,
    /// Disks; replaces the family's own list.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(length(max = 50))]
    #[x_kube(
        validation = Rule::new(
            "self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1"
        ).message(
            "only one mapping may have `rootVolume`"
        )
    )]
    pub block_device_mappings: Vec<BlockDeviceMapping>,
    /// `RAID0` joins the local disks for pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["RAID0"]))]
    pub instance_store_policy: Option<String>,
    /// True for metrics once a minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_monitoring: Option<bool>,
    /// The instance metadata service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = {
        "httpEndpoint": "enabled",
        "httpProtocolIPv6": "disabled",
        "httpPutResponseHopLimit": 1,
        "httpTokens": "required",
    }))]
    pub metadata_options: Option<MetadataOptions>,
    /// Whether a node gets a public address; absent leaves it to the subnet.
    #[serde(default, rename = "associatePublicIPAddress", skip_serializing_if = "Option::is_none")]
    pub associate_public_ip_address: Option<bool>,
    /// Number of address prefixes on the first interface.
    #[serde(default, rename = "ipPrefixCount", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub ip_prefix_count: Option<i64>,
    /// Capacity reservations a node may use; at most 30 terms, any of which may match.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(length(max = 30))]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, has(x.tags) || has(x.id) || has(x.instanceMatchCriteria))"
        ).message(
            "each term needs `tags`, `id` or `instanceMatchCriteria`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, !(has(x.id) && (has(x.tags) || has(x.ownerID) || \
             has(x.instanceMatchCriteria))))"
        ).message(
            "`id` cannot stand together with other fields in one term"
        )
    )]
    pub capacity_reservation_selector_terms: Vec<CapacityReservationSelectorTerm>,
    /// The placement group of all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement_group_selector: Option<PlacementGroupSelector>,
    /// Network interfaces; replaces the usual layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "null_as_default")]
    #[schemars(length(max = 150))]
    #[x_kube(
        validation = Rule::new(
            "self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 \
             && x.interfaceType == 'interface')"
        ).message(
            "card 0, device 0 must be there with type `interface`"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, self.exists_one(y, y.networkCardIndex == x.networkCardIndex && \
             y.deviceIndex == x.deviceIndex))"
        ).message(
            "each pair of card and device may stand only once"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, y.interfaceType == \
             'efa-only' && y.networkCardIndex == x.networkCardIndex))"
        ).message(
            "a card may have only one `efa-only` interface"
        )
    )]
    pub network_interfaces: Vec<NetworkInterface>,
    /// Idle timeouts of tracked connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connection_tracking: Option<ConnectionTracking>,
    /// Processor options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_options: Option<CpuOptions>,
    /// Handed on to EC2 unread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// One disk.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct BlockDeviceMapping {
    /// Device name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_name: Option<String>,
    /// The EBS volume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ebs: Option<BlockDevice>,
    /// True for the disk that holds pods and images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<bool>,
}

/// An EBS volume.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "has(self.snapshotID) || has(self.volumeSize)"
    ).message(
        "a volume needs `snapshotID` or `volumeSize`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')"
    ).message(
        "`volumeInitializationRate` needs `snapshotID`"
    )
)]
pub struct BlockDevice {
    /// Whether it goes with the instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delete_on_termination: Option<bool>,
    /// Whether it is encrypted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// Operations per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iops: Option<i64>,
    /// Key for encryption.
    #[serde(default, rename = "kmsKeyID", skip_serializing_if = "Option::is_none")]
    pub kms_key_id: Option<String>,
    /// Snapshot it is made from.
    #[serde(default, rename = "snapshotID", skip_serializing_if = "Option::is_none")]
    pub snapshot_id: Option<String>,
    /// MiB per second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<i64>,
    /// MiB per second while the snapshot is read in; 100 to 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 100, max = 300))]
    #[schemars(extend("format" = "int32"))]
    pub volume_initialization_rate: Option<i64>,
    /// Size in `Gi`, `G`, `Ti` or `T`.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "quantity")]
    #[schemars(schema_with = "schema::volume_size")]
    pub volume_size: Option<Quantity>,
    /// `standard`, `io1`, `io2`, `gp2`, `sc1`, `st1` or `gp3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"]))]
    pub volume_type: Option<String>,
}

/// The instance metadata service.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MetadataOptions {
    /// `enabled` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["enabled", "disabled"]))]
    #[schemars(extend("default" = "enabled"))]
    pub http_endpoint: Option<String>,
    /// `enabled` or `disabled`.
    #[serde(default, rename = "httpProtocolIPv6", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["enabled", "disabled"]))]
    #[schemars(extend("default" = "disabled"))]
    pub http_protocol_ipv6: Option<String>,
    /// Hops an answer may take; 1 to 64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    #[schemars(extend("default" = 1))]
    pub http_put_response_hop_limit: Option<i64>,
    /// `required` or `optional`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["required", "optional"]))]
    #[schemars(extend("default" = "required"))]
    pub http_tokens: Option<String>,
}

/// One network interface.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["deviceIndex", "interfaceType", "networkCardIndex"]))]
pub struct NetworkInterface {
    /// Network card.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub network_card_index: i64,
    /// Position on the card.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub device_index: i64,
    /// `interface` or `efa-only`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["interface", "efa-only"]))]
    pub interface_type: String,
}

/// Idle timeouts of tracked connections, in seconds.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(
        "has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)"
    ).message(
        "give at least one timeout"
    )
)]
pub struct ConnectionTracking {
    /// Established TCP connections; 60 to 432000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 432000))]
    #[schemars(extend("format" = "int32"))]
    pub tcp_established_timeout: Option<i64>,
    /// UDP streams; 60 to 180.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 60, max = 180))]
    #[schemars(extend("format" = "int32"))]
    pub udp_stream_timeout: Option<i64>,
    /// UDP with traffic one way only; 30 to 60.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 30, max = 60))]
    #[schemars(extend("format" = "int32"))]
    pub udp_timeout: Option<i64>,
}

/// Processor options.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct CpuOptions {
    /// `enabled` or `disabled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["enabled", "disabled"]))]
    pub nested_virtualization: Option<String>,
}
