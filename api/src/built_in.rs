//! The fields of Kubernetes' own kinds that dunnage reads, as Kubernetes' OpenAPI document of
//! version 1.36 has them (through k8s-openapi). Nothing is judged here.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment, ReplicaSet, StatefulSet};
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{
    LimitRange, Namespace, Node, PersistentVolume, PersistentVolumeClaim, Pod, PodTemplate,
};
use k8s_openapi::api::policy::v1::PodDisruptionBudget;
use k8s_openapi::api::scheduling::v1::PriorityClass;
use k8s_openapi::api::storage::v1::{CSINode, StorageClass};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use schemars::SchemaGenerator;
use serde_json::{Map, Value};

/// Schemas of kinds that refer to each other.
#[derive(Clone, Debug)]
pub struct BuiltIn {
    /// Schema of each kind by its name, and of `ObjectMeta`.
    pub kinds: Vec<(&'static str, Value)>,
    /// What their references `#/$defs/NAME` mean, by name.
    pub definitions: Map<String, Value>,
}

/// The schemas of every built-in kind that dunnage reads.
pub fn built_in() -> BuiltIn {
    let mut generator = SchemaGenerator::default();
    macro_rules! of {
        ($($kind:ident),+ $(,)?) => {
            vec![$((stringify!($kind), generator.subschema_for::<$kind>().to_value()),)+]
        };
    }
    let kinds = of![
        CSINode,
        CronJob,
        DaemonSet,
        Deployment,
        Job,
        LimitRange,
        Namespace,
        Node,
        ObjectMeta,
        PersistentVolume,
        PersistentVolumeClaim,
        Pod,
        PodDisruptionBudget,
        PodTemplate,
        PriorityClass,
        ReplicaSet,
        StatefulSet,
        StorageClass,
    ];
    BuiltIn { kinds, definitions: generator.take_definitions(true) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reference_is_defined() {
        let all = built_in();
        let text = serde_json::to_string(&(&all.definitions, &all.kinds.len())).unwrap();
        let mut seen = 0;
        for part in text.split("\"$ref\":\"").skip(1) {
            let name = part.split('"').next().unwrap_or_default();
            let name = name.strip_prefix("#/$defs/").unwrap_or(name);
            assert!(all.definitions.contains_key(name), "{name}");
            seen += 1;
        }
        assert!(seen > 300 && all.definitions.len() > 200, "{seen} {}", all.definitions.len());
        assert!(all.kinds.iter().all(|(_, schema)| schema.get("$ref").is_some()));
    }
}
