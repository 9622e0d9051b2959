//! One row for each rule: the object, and the code and path of what is wrong with it.

use serde::de::DeserializeOwned;

use super::*;
use crate::error::ErrorCode::{
    InvalidDuration, InvalidLabel, InvalidQuantity, InvalidValue, MissingField, MissingName,
    NegativeQuantity, UnknownOperator,
};
use crate::read::{decode::decode, yaml::documents};

fn issues<T: Check + DeserializeOwned>(text: &str) -> Vec<(ErrorCode, String)> {
    let docs = documents(text).unwrap_or_else(|e| panic!("{e:?}\n{text}"));
    let object: T = decode(&docs[0]).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut issues = Issues::default();
    object.check(&mut issues);
    issues.0.into_iter().map(|issue| (issue.code, issue.path)).collect()
}

fn assert_rows<T: Check + DeserializeOwned>(rows: &[(&str, ErrorCode, &str)], frame: &str) {
    let good = frame.replace("$", "{}");
    assert_eq!(issues::<T>(&good), [], "the frame itself is good");
    for (text, code, path) in rows {
        let found = issues::<T>(&frame.replace("$", text));
        assert_eq!(found, [(*code, (*path).to_owned())], "{text}");
    }
}

#[test]
fn pods() {
    let rows = [
        ("{tolerations: [{key: a, operator: Like}]}", UnknownOperator, "tolerations[0].operator"),
        ("{tolerations: [{value: a}]}", MissingField, "tolerations[0].key"),
        (
            "{tolerations: [{key: a, operator: Exists, value: b}]}",
            InvalidValue,
            "tolerations[0].value",
        ),
        ("{tolerations: [{key: a, effect: Never}]}", InvalidValue, "tolerations[0].effect"),
        ("{nodeSelector: {a b: c}}", InvalidLabel, "nodeSelector"),
        ("{nodeSelector: {a: b c}}", InvalidLabel, "nodeSelector.a"),
        ("{overhead: {cpu: -1}}", NegativeQuantity, "overhead.cpu"),
        ("{resources: {requests: {cpu: x}}}", InvalidQuantity, "resources.requests.cpu"),
        (
            "{topologySpreadConstraints: [{maxSkew: 0, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]}",
            InvalidValue,
            "topologySpreadConstraints[0].maxSkew",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]}",
            MissingField,
            "topologySpreadConstraints[0].topologyKey",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: Maybe}]}",
            InvalidValue,
            "topologySpreadConstraints[0].whenUnsatisfiable",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]}",
            InvalidValue,
            "topologySpreadConstraints[0].minDomains",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, nodeTaintsPolicy: Maybe}]}",
            InvalidValue,
            "topologySpreadConstraints[0].nodeTaintsPolicy",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, matchLabelKeys: [a]}]}",
            InvalidValue,
            "topologySpreadConstraints[0].matchLabelKeys",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]}",
            InvalidValue,
            "topologySpreadConstraints[1]",
        ),
        (
            "{topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: [b]}]}}]}",
            UnknownOperator,
            "topologySpreadConstraints[0].labelSelector.matchExpressions[0].operator",
        ),
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}}",
            MissingField,
            "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
        ),
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Around}]}]}}}}",
            UnknownOperator,
            "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].operator",
        ),
        (
            "{affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}}",
            InvalidValue,
            "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values",
        ),
        (
            "{affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {}}]}}}",
            InvalidValue,
            "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
        ),
        (
            "{affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {}}]}}}",
            MissingField,
            "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey",
        ),
        (
            "{affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, podAffinityTerm: {topologyKey: z}}]}}}",
            InvalidValue,
            "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight",
        ),
    ];
    for (text, code, path) in rows {
        let pod =
            format!("metadata: {{name: a}}\nspec:\n  <<: {text}\n  containers: [{{name: c}}]\n");
        assert_eq!(
            issues::<k8s_openapi::api::core::v1::Pod>(&pod),
            [(code, format!("spec.{path}"))],
            "{text}"
        );
    }
}

#[test]
fn containers() {
    let rows = [
        ("{resources: {requests: {cpu: -1m}}}", NegativeQuantity, "resources.requests.cpu"),
        ("{resources: {requests: {memory: 1e999}}}", InvalidQuantity, "resources.requests.memory"),
        ("{resources: {limits: {cpu: '1 cpu'}}}", InvalidQuantity, "resources.limits.cpu"),
        (
            "{resources: {limits: {cpu: 1}, requests: {cpu: 1001m}}}",
            InvalidValue,
            "resources.requests.cpu",
        ),
        ("{ports: [{containerPort: 1, hostPort: 70000}]}", InvalidValue, "ports[0].hostPort"),
        ("{ports: [{containerPort: 1, protocol: HTTP}]}", InvalidValue, "ports[0].protocol"),
    ];
    for list in ["containers", "initContainers"] {
        for (text, code, path) in &rows {
            let pod = format!(
                "metadata: {{name: a}}\nspec:\n  containers: [{{name: c}}]\n  <<: {{}}\n  {list}: [{text}]\n"
            );
            let pod = if list == "containers" {
                pod.replacen("  containers: [{name: c}]\n", "", 1)
            } else {
                pod
            };
            assert_eq!(
                issues::<k8s_openapi::api::core::v1::Pod>(&pod),
                [(*code, format!("spec.{list}[0].{path}"))],
                "{text}"
            );
        }
    }
}

#[test]
fn metadata_of_any_object() {
    type Namespace = k8s_openapi::api::core::v1::Namespace;
    let big = "x".repeat(10_000_000);
    for (text, code, path) in [
        ("metadata: {}", MissingName, "metadata.name"),
        ("metadata: {generateName: a-}", MissingName, "metadata.name"),
        ("metadata: {name: a/b}", InvalidValue, "metadata.name"),
        ("metadata: {name: \"a\\nb\"}", InvalidValue, "metadata.name"),
        ("metadata: {name: a, labels: {-a: b}}", InvalidLabel, "metadata.labels"),
        ("metadata: {name: a, labels: {A.b/c: b}}", InvalidLabel, "metadata.labels"),
        (
            &format!("metadata:\n  name: a\n  labels:\n    a: {big}\n"),
            InvalidLabel,
            "metadata.labels.a",
        ),
        (
            &format!("metadata:\n  name: a\n  annotations:\n    a: {big}\n"),
            InvalidValue,
            "metadata.annotations",
        ),
        (&format!("metadata: {{name: {}}}", "n".repeat(254)), InvalidValue, "metadata.name"),
    ] {
        assert_eq!(issues::<Namespace>(text), [(code, path.to_owned())], "{:.80}", text);
    }
    assert_eq!(issues::<Namespace>("metadata: {name: a, labels: {a.b/C_d: '', e: F-1.x}}"), []);
}

#[test]
fn nil_and_empty_selectors_are_kept() {
    let pod = "metadata: {name: a}\nspec: {containers: [{name: c}], topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}], affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z, labelSelector: {}}]}}}";
    assert_eq!(issues::<k8s_openapi::api::core::v1::Pod>(pod), []);
}

#[test]
fn node_pools() {
    let reference = "nodeClassRef: {group: g, kind: k, name: n}";
    let rows = [
        ("{requirements: [{key: a, operator: Has}]}", UnknownOperator, "requirements[0].operator"),
        ("{requirements: [{key: a, operator: In}]}", InvalidValue, "requirements[0].values"),
        (
            "{requirements: [{key: a, operator: Gt, values: ['-1']}]}",
            InvalidValue,
            "requirements[0].values[0]",
        ),
        (
            "{requirements: [{key: a, operator: Lte, values: ['1', '2']}]}",
            InvalidValue,
            "requirements[0].values",
        ),
        (
            "{requirements: [{key: a, operator: In, values: [x], minValues: 2}]}",
            InvalidValue,
            "requirements[0].minValues",
        ),
        (
            "{requirements: [{key: a, operator: Exists, minValues: 51}]}",
            InvalidValue,
            "requirements[0].minValues",
        ),
        (
            "{requirements: [{key: karpenter.sh/registered, operator: Exists}]}",
            InvalidLabel,
            "requirements[0].key",
        ),
        (
            "{requirements: [{key: karpenter.sh/nodepool, operator: Exists}]}",
            InvalidLabel,
            "requirements[0].key",
        ),
        (
            "{requirements: [{key: kubernetes.io/hostname, operator: Exists}]}",
            InvalidLabel,
            "requirements[0].key",
        ),
        ("{taints: [{key: a, effect: Soft}]}", InvalidValue, "taints[0].effect"),
        ("{startupTaints: [{effect: NoSchedule}]}", InvalidLabel, "startupTaints[0].key"),
        ("{expireAfter: 30d}", InvalidDuration, "expireAfter"),
        ("{terminationGracePeriod: Never}", InvalidDuration, "terminationGracePeriod"),
    ];
    for (text, code, path) in rows {
        let pool = format!(
            "metadata: {{name: a}}\nspec:\n  template:\n    spec:\n      <<: {text}\n      {reference}\n"
        );
        assert_eq!(
            issues::<dunnage_api::NodePool>(&pool),
            [(code, format!("spec.template.spec.{path}"))]
        );
    }
    let rows = [
        (
            "{disruption: {consolidateAfter: 1.5h}}",
            InvalidDuration,
            "spec.disruption.consolidateAfter",
        ),
        (
            "{disruption: {consolidationPolicy: Often}}",
            InvalidValue,
            "spec.disruption.consolidationPolicy",
        ),
        (
            "{disruption: {budgets: [{nodes: 101%}]}}",
            InvalidValue,
            "spec.disruption.budgets[0].nodes",
        ),
        (
            "{disruption: {budgets: [{nodes: '-1'}]}}",
            InvalidValue,
            "spec.disruption.budgets[0].nodes",
        ),
        (
            "{disruption: {budgets: [{nodes: '1', reasons: [Old]}]}}",
            InvalidValue,
            "spec.disruption.budgets[0].reasons[0]",
        ),
        (
            "{disruption: {budgets: [{nodes: '1', schedule: '@daily'}]}}",
            InvalidValue,
            "spec.disruption.budgets[0]",
        ),
        (
            "{disruption: {budgets: [{nodes: '1', schedule: 1 2 3, duration: 1h}]}}",
            InvalidValue,
            "spec.disruption.budgets[0].schedule",
        ),
        (
            "{disruption: {budgets: [{nodes: '1', schedule: '@daily', duration: 30s}]}}",
            InvalidDuration,
            "spec.disruption.budgets[0].duration",
        ),
        ("{limits: {cpu: -5}}", NegativeQuantity, "spec.limits.cpu"),
        ("{weight: 101}", InvalidValue, "spec.weight"),
        ("{weight: 0}", InvalidValue, "spec.weight"),
        ("{replicas: -1}", InvalidValue, "spec.replicas"),
        ("{replicas: 1, weight: 5}", InvalidValue, "spec.weight"),
        ("{replicas: 1, limits: {cpu: 5}}", InvalidValue, "spec.limits.cpu"),
        (
            "{template: {metadata: {labels: {karpenter.sh/initialized: 'true'}}}}",
            InvalidLabel,
            "spec.template.metadata.labels.karpenter.sh/initialized",
        ),
        (
            "{template: {spec: {nodeClassRef: {name: default}}}}",
            MissingField,
            "spec.template.spec.nodeClassRef.group",
        ),
    ];
    for (text, code, path) in rows {
        let pool = format!("metadata: {{name: a}}\nspec: {text}\n");
        let found = issues::<dunnage_api::NodePool>(&pool);
        assert_eq!(found.first(), Some(&(code, path.to_owned())), "{text}");
    }
    for good in [
        "{disruption: {budgets: [{nodes: '5', schedule: 0 9 * * mon-fri, duration: 8h30m0s}, {nodes: 100%}, {nodes: '1', schedule: '@daily', duration: 10m}], consolidateAfter: Never}}",
        "{replicas: 2, limits: {nodes: 3}}",
        "{template: {spec: {expireAfter: Never, requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot], minValues: 1}]}}}",
    ] {
        let pool = format!("metadata: {{name: a}}\nspec: {good}\n");
        assert_eq!(issues::<dunnage_api::NodePool>(&pool), [], "{good}");
    }
}

#[test]
fn overlays() {
    let frame = "metadata: {name: a}\nspec:\n  requirements: []\n  <<: $\n";
    let rows = [
        ("{price: '-1'}", InvalidValue, "spec.price"),
        ("{price: '+1'}", InvalidValue, "spec.price"),
        ("{priceAdjustment: '10%'}", InvalidValue, "spec.priceAdjustment"),
        ("{priceAdjustment: '-101%'}", InvalidValue, "spec.priceAdjustment"),
        ("{priceAdjustment: '+-5'}", InvalidValue, "spec.priceAdjustment"),
        ("{price: '1', priceAdjustment: '+1'}", InvalidValue, "spec.priceAdjustment"),
        ("{capacity: {cpu: 1}}", InvalidValue, "spec.capacity.cpu"),
        ("{capacity: {a/b: -1}}", NegativeQuantity, "spec.capacity.a/b"),
        ("{weight: 10001}", InvalidValue, "spec.weight"),
    ];
    assert_rows::<dunnage_api::NodeOverlay>(&rows, frame);
    for good in [
        "{priceAdjustment: '-100%'}",
        "{priceAdjustment: '+250.5%'}",
        "{priceAdjustment: '-0.01'}",
        "{price: '0.5'}",
    ] {
        assert_eq!(issues::<dunnage_api::NodeOverlay>(&frame.replace('$', good)), [], "{good}");
    }
    let text = "metadata: {name: a}\nspec: {requirements: [{key: a, operator: NotIn}]}";
    assert_eq!(
        issues::<dunnage_api::NodeOverlay>(text),
        [(InvalidValue, "spec.requirements[0].values".to_owned())]
    );
}

#[test]
fn buffers() {
    let rows = [
        ("{replicas: -1}", InvalidValue, "spec.replicas"),
        ("{percentage: -1}", InvalidValue, "spec.percentage"),
        ("{podTemplateRef: {name: ''}, replicas: 1}", MissingField, "spec.podTemplateRef.name"),
        ("{podTemplateRef: {name: t}}", MissingField, "spec"),
        ("{scalableRef: {kind: Deployment}}", MissingField, "spec.scalableRef.name"),
        (
            "{podTemplateRef: {name: t}, replicas: 1, scalableRef: {kind: Deployment, name: d}}",
            InvalidValue,
            "spec.podTemplateRef",
        ),
    ];
    assert_rows::<dunnage_api::CapacityBuffer>(&rows, "metadata: {name: a}\nspec: $\n");
}

#[test]
fn the_rest_of_a_cluster() {
    use k8s_openapi::api::{apps::v1 as apps, batch::v1 as batch, core::v1 as core};
    use k8s_openapi::api::{policy::v1 as policy, storage::v1 as storage};
    let metadata = "metadata: {name: a}\n";
    let of = |path: &str, code| vec![(code, path.to_owned())];
    let on = |text: &str| format!("{metadata}{text}");
    let empty = "{spec: {containers: []}}";
    assert_eq!(
        issues::<core::Node>(&on("status: {allocatable: {cpu: -1}}")),
        of("status.allocatable.cpu", NegativeQuantity)
    );
    assert_eq!(
        issues::<core::Node>(&on("spec: {taints: [{key: a, effect: Soft}]}")),
        of("spec.taints[0].effect", InvalidValue)
    );
    assert_eq!(
        issues::<apps::Deployment>(&on(&format!("spec: {{replicas: -1, template: {empty}}}"))),
        [of("spec.replicas", InvalidValue), of("spec.template.spec.containers", MissingField)]
            .concat()
    );
    assert_eq!(
        issues::<apps::DaemonSet>(&on(&format!("spec: {{template: {empty}}}"))),
        of("spec.template.spec.containers", MissingField)
    );
    assert_eq!(issues::<apps::ReplicaSet>(&on("spec: {}")), of("spec.template", MissingField));
    assert_eq!(issues::<apps::Deployment>(metadata), of("spec", MissingField));
    assert_eq!(
        issues::<apps::StatefulSet>(&on(
            "spec: {template: {spec: {containers: [{name: c}]}}, volumeClaimTemplates: [{}]}"
        )),
        of("spec.volumeClaimTemplates[0].metadata.name", MissingField)
    );
    assert_eq!(
        issues::<batch::Job>(&on(
            "spec: {parallelism: -1, template: {spec: {containers: [{name: c}]}}}"
        )),
        of("spec.parallelism", InvalidValue)
    );
    assert_eq!(
        issues::<batch::CronJob>(&on("spec: {schedule: '@daily', jobTemplate: {}}")),
        of("spec.jobTemplate.spec", MissingField)
    );
    assert_eq!(
        issues::<policy::PodDisruptionBudget>(&on("spec: {maxUnavailable: '1'}")),
        of("spec.maxUnavailable", InvalidValue)
    );
    assert_eq!(
        issues::<policy::PodDisruptionBudget>(&on("spec: {minAvailable: 1, maxUnavailable: 10%}")),
        of("spec", InvalidValue)
    );
    assert_eq!(
        issues::<storage::StorageClass>(&on("provisioner: p\nvolumeBindingMode: Later")),
        of("volumeBindingMode", InvalidValue)
    );
    assert_eq!(
        issues::<storage::StorageClass>(&on(
            "provisioner: p\nallowedTopologies: [{matchLabelExpressions: [{key: z, values: []}]}]"
        )),
        of("allowedTopologies[0].matchLabelExpressions[0].values", MissingField)
    );
    assert_eq!(
        issues::<core::PersistentVolume>(&on(
            "spec: {nodeAffinity: {required: {nodeSelectorTerms: []}}}"
        )),
        of("spec.nodeAffinity.required.nodeSelectorTerms", MissingField)
    );
    assert_eq!(
        issues::<core::PersistentVolumeClaim>(&on("spec: {resources: {requests: {storage: x}}}")),
        of("spec.resources.requests.storage", InvalidQuantity)
    );
    assert_eq!(
        issues::<core::LimitRange>(&on(
            "spec: {limits: [{type: Container, defaultRequest: {cpu: -1}}]}"
        )),
        of("spec.limits[0].defaultRequest.cpu", NegativeQuantity)
    );
}
