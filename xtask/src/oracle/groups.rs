//! Pods that nothing but their name tells apart. Exchanging two of them changes no answer
//! that a user could see, so a comparison may rename them.

use std::collections::BTreeMap;

use serde_json::Value;

/// Group of each pod of one input.
#[derive(Debug, Default)]
pub struct Groups {
    group_of: BTreeMap<String, String>,
}

impl Groups {
    /// Groups the pods of an input: equal namespace, labels, annotations, owners, spec and
    /// status. A pod with an ephemeral volume is alone, because its name names a claim.
    pub fn of(input: &Value) -> Self {
        let mut first: BTreeMap<String, String> = BTreeMap::new();
        let mut group_of = BTreeMap::new();
        for pod in input["pods"].as_array().into_iter().flatten() {
            let meta = &pod["metadata"];
            let name = meta["name"].as_str().unwrap_or_default();
            let namespace = meta["namespace"].as_str().unwrap_or("default");
            let full = format!("{namespace}/{name}");
            let volumes = pod["spec"]["volumes"].as_array();
            let is_named = volumes.into_iter().flatten().any(|v| !v["ephemeral"].is_null());
            let mut key = format!(
                "{namespace} {} {} {} {} {}",
                meta["labels"],
                meta["annotations"],
                meta["ownerReferences"],
                pod["spec"],
                pod["status"]
            );
            if is_named {
                key.push_str(name);
            }
            let leader = first.entry(key).or_insert_with(|| full.clone());
            group_of.insert(full, format!("like {leader}"));
        }
        Self { group_of }
    }

    /// The group's name; a pod that the input does not list is its own group.
    pub fn name(&self, pod: &str) -> String {
        self.group_of.get(pod).cloned().unwrap_or_else(|| pod.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn equal_specs_are_one_group_and_names_in_claims_are_not() {
        let pod = |name: &str, cpu: &str, volumes: Value| {
            json!({"metadata": {"name": name, "namespace": "default"},
                   "spec": {"cpu": cpu, "volumes": volumes}})
        };
        let own = json!([{"name": "v", "ephemeral": {}}]);
        let groups = Groups::of(&json!({"pods": [
            pod("a", "1", Value::Null), pod("b", "1", Value::Null), pod("c", "2", Value::Null),
            pod("d", "1", own.clone()), pod("e", "1", own),
        ]}));
        assert_eq!(groups.name("default/a"), groups.name("default/b"));
        assert_ne!(groups.name("default/a"), groups.name("default/c"));
        assert_ne!(groups.name("default/d"), groups.name("default/e"));
        assert_eq!(groups.name("default/x"), "default/x");
    }
}
