//! What a planner reads from an EC2NodeClass: the image family and the kubelet's numbers.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{EC2NodeClass, EC2NodeClassSpec, MetadataOptions};

/// Families that an alias can name, with the name the alias uses.
const ALIAS_FAMILIES: [(&str, &str); 6] = [
    ("al2", "AL2"),
    ("al2023", "AL2023"),
    ("bottlerocket", "Bottlerocket"),
    ("windows2019", "Windows2019"),
    ("windows2022", "Windows2022"),
    ("windows2025", "Windows2025"),
];

/// The image family of an alias `family@version`; `None` for a family that does not exist.
pub fn family_of_alias(alias: &str) -> Option<&'static str> {
    let name = alias.split_once('@').map_or(alias, |(family, _)| family);
    ALIAS_FAMILIES.iter().find(|(alias, _)| *alias == name).map(|(_, family)| *family)
}

/// The kubelet settings that change what a node can hold. Values that are not of the right type
/// are left out: validation reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KubeletSettings {
    /// The most pods on a node.
    pub max_pods: Option<i64>,
    /// The most pods for each vCPU.
    pub pods_per_core: Option<i64>,
    /// Quantities kept for the system, by resource.
    pub system_reserved: BTreeMap<String, String>,
    /// Quantities kept for Kubernetes, by resource.
    pub kube_reserved: BTreeMap<String, String>,
    /// Thresholds for eviction, by signal: a quantity or a percentage.
    pub eviction_hard: BTreeMap<String, String>,
}

impl EC2NodeClass {
    /// The image family: as written, else the alias', else `Custom`.
    pub fn ami_family(&self) -> &str {
        let alias = self.spec.ami_selector_terms.iter().find_map(|term| term.alias.as_deref());
        let of_alias = || alias.and_then(family_of_alias);
        self.spec.ami_family.as_deref().or_else(of_alias).unwrap_or("Custom")
    }

    /// The kubelet settings that change what a node can hold.
    pub fn kubelet_settings(&self) -> KubeletSettings {
        let field = |name: &str| self.spec.kubelet.as_ref().and_then(|kubelet| kubelet.get(name));
        let number = |name: &str| field(name).and_then(Value::as_i64);
        let texts = |name: &str| -> BTreeMap<String, String> {
            let entries = field(name).and_then(Value::as_object).into_iter().flatten();
            entries
                .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                .collect()
        };
        KubeletSettings {
            max_pods: number("maxPods"),
            pods_per_core: number("podsPerCore"),
            system_reserved: texts("systemReserved"),
            kube_reserved: texts("kubeReserved"),
            eviction_hard: texts("evictionHard"),
        }
    }

    /// Fills every absent field that has a default, as the API server does.
    pub fn apply_defaults(&mut self) {
        let EC2NodeClassSpec { metadata_options, .. } = &mut self.spec;
        let MetadataOptions {
            http_endpoint,
            http_protocol_ipv6,
            http_put_response_hop_limit,
            http_tokens,
        } = metadata_options.get_or_insert_default();
        http_endpoint.get_or_insert_with(|| "enabled".into());
        http_protocol_ipv6.get_or_insert_with(|| "disabled".into());
        http_put_response_hop_limit.get_or_insert(1);
        http_tokens.get_or_insert_with(|| "required".into());
    }
}
