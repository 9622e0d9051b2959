//! The CRDs: names, columns, subresources, and every field of the specification's tables.

use std::collections::BTreeSet;

use dunnage_api::{Kind, crd, crds, crds_yaml, labels};
use serde_json::{Value, json};

use crate::table::yaml;

/// The schema at a path: `[]` is an entry of a list, `*` a value of a map.
fn field<'s>(schema: &'s Value, path: &str) -> &'s Value {
    let mut at = schema;
    for step in path.split('.') {
        if step == "*" {
            at = &at["additionalProperties"];
            continue;
        }
        let name = step.trim_end_matches("[]");
        at = &at["properties"][name];
        for _ in 0..step.matches("[]").count() {
            at = &at["items"];
        }
    }
    at
}

fn names(list: &Value) -> BTreeSet<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[test]
fn every_field_of_the_tables_stands_in_the_definition() {
    let tables = yaml(include_str!("fields.yaml"));
    let mut wrong = Vec::new();
    let mut count = 0;
    for kind in Kind::ALL {
        let schema = crd::schema(kind);
        let table = tables[kind.names().1].as_object().expect("each kind has a table");
        for (path, wanted) in table {
            let found = field(&schema, path);
            for (keyword, wanted) in wanted.as_object().expect("keywords") {
                count += 1;
                let shown = &found[keyword];
                let is_same = match keyword.as_str() {
                    "required" => names(shown) == names(wanted),
                    _ => shown == wanted,
                };
                if !is_same {
                    wrong.push(format!("{kind:?} {path} {keyword}: {wanted}, found {shown}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 250, "{count}");
}

#[test]
fn every_field_of_the_definition_stands_in_the_tables() {
    fn leaves(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
        match schema["properties"].as_object() {
            Some(properties) => {
                for (name, below) in properties {
                    leaves(below, &format!("{path}.{name}"), found);
                }
            }
            None if schema["items"].is_object() => {
                leaves(&schema["items"], &format!("{path}[]"), found)
            }
            None => drop(found.insert(path.trim_start_matches('.').to_owned())),
        }
    }
    let tables = yaml(include_str!("fields.yaml"));
    for kind in Kind::ALL {
        let schema = crd::schema(kind);
        let table = tables[kind.names().1].as_object().expect("each kind has a table");
        let mut found = BTreeSet::new();
        leaves(&schema["properties"]["spec"], "spec", &mut found);
        // Lists of one shape (taints, requirements, zones) are told once for all their places.
        let shared =
            ["taints[]", "startupTaints[]", "requirements[]", "nodeClassRef", "DNSOverrides[]"];
        let untold: Vec<&String> = found
            .iter()
            .filter(|path| {
                !table.keys().any(|told| {
                    told.trim_end_matches(".*") == path.as_str() || told.starts_with(path.as_str())
                })
            })
            .filter(|path| !shared.iter().any(|shape| path.contains(shape)))
            .collect();
        assert!(untold.is_empty(), "{kind:?}: {untold:?}");
    }
}

/// Columns with their priority, and the names of a definition.
type Shape = (&'static str, &'static str, &'static [&'static str], &'static [(&'static str, i64)]);

const SHAPES: [(Kind, Shape); 6] = [
    (
        Kind::NodePool,
        (
            "nodepools.karpenter.sh",
            "Cluster",
            &[],
            &[
                ("NodeClass", 0),
                ("Nodes", 0),
                ("Ready", 0),
                ("Age", 0),
                ("Weight", 1),
                ("CPU", 1),
                ("Memory", 1),
            ],
        ),
    ),
    (
        Kind::NodeClaim,
        (
            "nodeclaims.karpenter.sh",
            "Cluster",
            &[],
            &[
                ("Type", 0),
                ("Capacity", 0),
                ("Zone", 0),
                ("Node", 0),
                ("Ready", 0),
                ("Age", 0),
                ("ImageID", 1),
                ("ID", 1),
                ("NodePool", 1),
                ("NodeClass", 1),
                ("Drifted", 1),
            ],
        ),
    ),
    (
        Kind::NodeOverlay,
        (
            "nodeoverlays.karpenter.sh",
            "Cluster",
            &["overlays"],
            &[("Ready", 0), ("Age", 0), ("Weight", 1)],
        ),
    ),
    (
        Kind::CapacityBuffer,
        (
            "capacitybuffers.autoscaling.x-k8s.io",
            "Namespaced",
            &["cb"],
            &[("Strategy", 0), ("Replicas", 0), ("Status", 0), ("Age", 0)],
        ),
    ),
    (
        Kind::EC2NodeClass,
        (
            "ec2nodeclasses.karpenter.k8s.aws",
            "Cluster",
            &["ec2nc", "ec2ncs"],
            &[("Ready", 0), ("Age", 0), ("Role", 1)],
        ),
    ),
    (
        Kind::AKSNodeClass,
        (
            "aksnodeclasses.karpenter.azure.com",
            "Cluster",
            &["aksnc", "aksncs"],
            &[("Ready", 0), ("Age", 0), ("ImageFamily", 1)],
        ),
    ),
];

#[test]
fn names_columns_and_subresources() {
    for (kind, (name, scope, short, columns)) in SHAPES {
        let crd = crd::crd(kind);
        let (spec, version) = (&crd["spec"], &crd["spec"]["versions"][0]);
        assert_eq!((&crd["metadata"]["name"], &spec["scope"]), (&json!(name), &json!(scope)));
        let listed = spec["names"]["shortNames"].as_array().cloned().unwrap_or_default();
        assert_eq!(json!(listed), json!(short), "{kind:?}");
        let categories = spec["names"]["categories"].as_array().cloned().unwrap_or_default();
        assert_eq!(categories.contains(&json!("karpenter")), kind != Kind::CapacityBuffer);
        let group_version = format!(
            "{}/{}",
            spec["group"].as_str().unwrap_or(""),
            version["name"].as_str().unwrap_or("")
        );
        assert_eq!(
            (group_version.as_str(), spec["names"]["kind"].as_str()),
            (kind.names().0, Some(kind.names().1))
        );
        let shown: Vec<(&str, i64)> = version["additionalPrinterColumns"]
            .as_array()
            .expect("columns")
            .iter()
            .map(|c| (c["name"].as_str().expect("a name"), c["priority"].as_i64().unwrap_or(0)))
            .collect();
        assert_eq!(shown, columns, "{kind:?}");
        assert!(version["subresources"]["status"].is_object(), "{kind:?}");
        assert_eq!((&version["served"], &version["storage"]), (&json!(true), &json!(true)));
    }
}

#[test]
fn only_the_pool_can_be_scaled() {
    for kind in Kind::ALL {
        let crd = crd::crd(kind);
        let scale = &crd["spec"]["versions"][0]["subresources"]["scale"];
        if kind == Kind::NodePool {
            let paths = json!({
                "specReplicasPath": ".spec.replicas",
                "statusReplicasPath": ".status.nodes",
            });
            assert_eq!(*scale, paths);
        } else {
            assert!(scale.is_null(), "{kind:?}");
        }
    }
}

/// Column paths must lead to fields that exist, else `kubectl get` shows nothing.
#[test]
fn columns_lead_to_fields() {
    for kind in Kind::ALL {
        let crd = crd::crd(kind);
        let version = &crd["spec"]["versions"][0];
        for column in version["additionalPrinterColumns"].as_array().expect("columns") {
            let path = column["jsonPath"].as_str().expect("a path").trim_start_matches('.');
            let plain = path.split("[?").next().unwrap_or("");
            if plain.starts_with("metadata") {
                continue;
            }
            let steps: Vec<&str> = plain.split('.').collect();
            let open = steps.starts_with(&["status", "resources"]);
            let checked = if open { steps[..2].join(".") } else { steps.join(".") };
            assert!(field(&crd::schema(kind), &checked).is_object(), "{kind:?} {path}");
        }
    }
}

#[test]
fn the_yaml_says_what_the_values_say() {
    let yaml_text = crds_yaml();
    let documents: Vec<&str> = yaml_text.split("---\n").filter(|text| !text.is_empty()).collect();
    assert_eq!(documents.len(), 6);
    for (document, crd) in documents.into_iter().zip(crds()) {
        assert_eq!(yaml(document), crd);
    }
}

/// The checker in `validate` knows these keywords; another one would be ignored silently.
#[test]
fn definitions_use_only_keywords_that_are_checked() {
    const KNOWN: [&str; 22] = [
        "additionalProperties",
        "default",
        "description",
        "enum",
        "format",
        "items",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minItems",
        "minLength",
        "minimum",
        "pattern",
        "properties",
        "required",
        "type",
        "x-kubernetes-int-or-string",
        "x-kubernetes-list-map-keys",
        "x-kubernetes-list-type",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-validations",
    ];
    fn check(schema: &Value, path: &str) {
        for keyword in schema.as_object().expect("a schema").keys() {
            assert!(KNOWN.contains(&keyword.as_str()), "{path}: {keyword}");
        }
        let kind = schema["type"].as_str();
        assert!(
            kind.is_some() || schema["x-kubernetes-int-or-string"] == true,
            "{path} has no type"
        );
        let format = schema["format"].as_str().unwrap_or("date-time");
        assert!(["date-time", "int32", "int64"].contains(&format), "{path}: {format}");
        for (name, below) in schema["properties"].as_object().into_iter().flatten() {
            check(below, &format!("{path}.{name}"));
            let is_told = below["description"].is_string() || path.is_empty();
            assert!(is_told, "{path}.{name} has no description");
        }
        for below in ["items", "additionalProperties"] {
            if schema[below].is_object() {
                check(&schema[below], &format!("{path}.{below}"));
            }
        }
    }
    for kind in Kind::ALL {
        check(&crd::schema(kind), "");
    }
}

#[test]
fn restricted_labels() {
    use labels::Provider::{Aws, Azure, Core};
    let free = |provider, key| labels::restriction(provider, key).is_none();
    for (provider, key) in [
        (Core, "karpenter.sh/nodepool"),
        (Aws, "karpenter.k8s.aws/instance-family"),
        (Aws, "karpenter.k8s.aws/ec2nodeclass"),
        (Azure, "karpenter.azure.com/sku-cpu"),
        (Aws, "karpenter.azure.com/anything"),
        (Core, "node-restriction.kubernetes.io/a"),
        (Core, "kops.k8s.io/a"),
        (Core, "notkarpenter.sh/a"),
        (Core, "team"),
    ] {
        assert!(free(provider, key), "{key}");
    }
    for (provider, key) in [
        (Core, "karpenter.sh/registered"),
        (Core, "sub.karpenter.sh/a"),
        (Core, "kubernetes.io/hostname"),
        (Aws, "karpenter.k8s.aws/other"),
        (Azure, "karpenter.azure.com/sku-hyperv-generation"),
    ] {
        assert!(!free(provider, key), "{key}");
    }
    assert_eq!(labels::normalized(Core, "beta.kubernetes.io/arch"), "kubernetes.io/arch");
    assert_eq!(labels::normalized(Aws, "topology.ebs.csi.aws.com/zone"), labels::ZONE);
    assert_eq!(
        labels::normalized(Azure, "topology.ebs.csi.aws.com/zone"),
        "topology.ebs.csi.aws.com/zone"
    );
    for provider in [Core, Aws, Azure] {
        let list = labels::well_known_labels(provider);
        assert_eq!(list.iter().collect::<BTreeSet<_>>().len(), list.len());
    }
    assert!(labels::is_known_ephemeral_taint("readiness.k8s.io/x", "NoExecute"));
    assert!(labels::is_known_ephemeral_taint("karpenter.sh/unregistered", "NoExecute"));
    assert!(!labels::is_known_ephemeral_taint("karpenter.sh/unregistered", "NoSchedule"));
}
