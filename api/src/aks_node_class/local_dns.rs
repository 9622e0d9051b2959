//! The DNS cache of an Azure node: which zone is answered how.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::lenient::null_as_default;
use crate::schema;

/// The DNS cache of a node.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&["kubeDNSOverrides", "mode", "vnetDNSOverrides"]))]
pub struct LocalDNS {
    /// `Preferred`, `Required` or `Disabled`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Preferred", "Required", "Disabled"]))]
    pub mode: String,
    /// Zones asked by the node and by pods with the node's DNS.
    #[serde(default, rename = "vnetDNSOverrides", deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["zone"]))]
    #[x_kube(
        validation = Rule::new(
            "['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))"
        ).message(
            "the zones `.` and `cluster.local` must be there"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "!self.exists(x, x.zone == '.' && x.forwardDestination == 'ClusterCoreDNS')"
        ).message(
            "the zone `.` cannot go to `ClusterCoreDNS` here"
        )
    )]
    #[x_kube(
        validation = Rule::new(
            "!self.exists(x, x.zone != '.' && !x.zone.endsWith('cluster.local') && \
             x.forwardDestination == 'ClusterCoreDNS')"
        ).message(
            "zones outside the cluster cannot go to `ClusterCoreDNS` here"
        )
    )]
    pub vnet_dns_overrides: Vec<LocalDNSZoneOverride>,
    /// Zones asked by pods with the cluster's DNS.
    #[serde(default, rename = "kubeDNSOverrides", deserialize_with = "null_as_default")]
    #[schemars(length(max = 100))]
    #[schemars(extend("x-kubernetes-list-type" = "map"))]
    #[schemars(extend("x-kubernetes-list-map-keys" = ["zone"]))]
    #[x_kube(
        validation = Rule::new(
            "['.', 'cluster.local'].all(z, self.exists(x, x.zone == z))"
        ).message(
            "the zones `.` and `cluster.local` must be there"
        )
    )]
    pub kube_dns_overrides: Vec<LocalDNSZoneOverride>,
}

/// How one DNS zone is answered.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = schema::required(&[
    "cacheDuration",
    "forwardDestination",
    "forwardPolicy",
    "maxConcurrent",
    "protocol",
    "queryLogging",
    "serveStale",
    "serveStaleDuration",
    "zone",
]))]
#[x_kube(
    validation = Rule::new(
        "!(self.zone.endsWith('cluster.local') && self.forwardDestination == 'VnetDNS')"
    ).message(
        "`cluster.local` cannot go to `VnetDNS`"
    )
)]
#[x_kube(
    validation = Rule::new(
        "!(self.serveStale == 'Verify' && self.protocol == 'ForceTCP')"
    ).message(
        "`serveStale: Verify` is not possible with `protocol: ForceTCP`"
    )
)]
pub struct LocalDNSZoneOverride {
    /// The zone, `.` for all others.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(length(min = 1, max = 254))]
    #[schemars(regex(pattern = schema::DNS_ZONE))]
    pub zone: String,
    /// `Error` or `Log`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Error", "Log"]))]
    pub query_logging: String,
    /// `PreferUDP` or `ForceTCP`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["PreferUDP", "ForceTCP"]))]
    pub protocol: String,
    /// `ClusterCoreDNS` or `VnetDNS`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["ClusterCoreDNS", "VnetDNS"]))]
    pub forward_destination: String,
    /// `Sequential`, `RoundRobin` or `Random`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Sequential", "RoundRobin", "Random"]))]
    pub forward_policy: String,
    /// Queries at the same time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    #[schemars(extend("format" = "int32"))]
    pub max_concurrent: Option<i64>,
    /// How long an answer is kept.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = schema::DURATION))]
    pub cache_duration: String,
    /// How long an answer may be served after that.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(regex(pattern = schema::DURATION))]
    pub serve_stale_duration: String,
    /// `Verify`, `Immediate` or `Disable`.
    #[serde(default, deserialize_with = "null_as_default")]
    #[schemars(extend("enum" = ["Verify", "Immediate", "Disable"]))]
    pub serve_stale: String,
}
