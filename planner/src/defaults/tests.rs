//! What is filled in, and that what is there stays.

use k8s_openapi::api::core::v1::Pod;

use crate::pod::{is_provisionable, requests};
use crate::read::{Source, read};
use crate::snapshot::Snapshot;

fn world(text: &str) -> Snapshot {
    let source = Source { name: "d.yaml".to_owned(), text: text.to_owned() };
    read(&[source]).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

fn pod(metadata: &str, spec: &str, rest: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Pod\nmetadata: {{name: p {metadata}}}\nspec: {{containers: [{{name: c}}] {spec}}}\n{rest}\n---\n"
    )
}

fn scheduled(pod: &Pod) -> Vec<(String, Option<String>)> {
    let conditions = pod.status.as_ref().unwrap().conditions.as_ref().unwrap();
    let of = conditions.iter().filter(|c| c.type_ == "PodScheduled");
    of.map(|c| (c.status.clone(), c.reason.clone())).collect()
}

fn pool(name: &str, spec: &str, rest: &str) -> String {
    format!(
        "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {{name: {name}}}\nspec: {{{spec} template: {{spec: {{requirements: [], nodeClassRef: {{group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}}}}}}\n{rest}\n---\n"
    )
}

fn codes(world: &Snapshot) -> Vec<&str> {
    world.warnings.iter().map(|w| w.code).collect()
}

fn ready(world: &Snapshot) -> String {
    let conditions = &world.node_pools[0].status.as_ref().unwrap().conditions;
    conditions.iter().find(|c| c.type_ == "Ready").unwrap().status.clone()
}

#[test]
fn pods_get_phase_condition_uid_and_time() {
    let get = |text: &str| world(text).pods[0].object.clone();
    let some = |text: &str| Some(text.to_owned());
    let pending = get(&pod("", "", ""));
    assert!(is_provisionable(&pending));
    assert_eq!(pending.status.as_ref().unwrap().phase.as_deref(), Some("Pending"));
    assert_eq!(pending.metadata.namespace.as_deref(), Some("default"));
    assert_eq!(pending.metadata.creation_timestamp.unwrap().0.to_string(), "2026-01-01T00:00:00Z");
    let bound = get(&pod("", ", nodeName: n", ""));
    assert_eq!(bound.status.as_ref().unwrap().phase.as_deref(), Some("Running"));
    assert_eq!(scheduled(&bound), [("True".to_owned(), None)]);
    let gated = get(&pod("", ", schedulingGates: [{name: g}]", ""));
    assert_eq!(scheduled(&gated), [("False".to_owned(), some("SchedulingGated"))]);
    let other =
        get(&pod("", "", "status: {phase: Pending, conditions: [{type: Ready, status: 'False'}]}"));
    assert_eq!(scheduled(&other), [("False".to_owned(), some("Unschedulable"))]);
    let kept = get(&pod(
        "",
        "",
        "status: {conditions: [{type: PodScheduled, status: 'False', reason: SchedulerError}]}",
    ));
    assert_eq!(scheduled(&kept), [("False".to_owned(), some("SchedulerError"))]);
    let done = get(&pod("", "", "status: {phase: Succeeded}"));
    assert_eq!(scheduled(&done), []);
}

#[test]
fn uids_rank_by_namespace_and_name() {
    let make = |name: &str, rest: &str| {
        format!("- {{metadata: {{name: {name} {rest}}}, spec: {{containers: [{{name: c}}]}}}}\n")
    };
    let text = format!(
        "pods:\n{}{}{}{}",
        make("b", ""),
        make("a", ", uid: own"),
        make("a", ", namespace: zoo"),
        make("a", ", namespace: default-2"),
    );
    let world = world(&text);
    let mut uids: Vec<_> = world
        .pods
        .iter()
        .map(|p| (p.metadata.uid.clone().unwrap(), crate::snapshot::full_name(&p.metadata)))
        .collect();
    uids.sort();
    let rank = |n: u32, name: &str| (format!("00000000-0000-0000-0000-{n:012}"), name.to_owned());
    assert_eq!(
        uids,
        [
            rank(0, "default-2/a"),
            rank(2, "default/b"),
            rank(3, "zoo/a"),
            ("own".to_owned(), "default/a".to_owned())
        ]
    );
}

#[test]
fn limits_become_requests() {
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  initContainers: [{name: i, resources: {limits: {memory: 2Gi}}}]\n  containers: [{name: c, resources: {limits: {cpu: 2, memory: 1Gi}, requests: {cpu: 1}}}]\n---\napiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: d}\nspec: {selector: {}, template: {spec: {containers: [{name: c, resources: {limits: {memory: 500Mi}}}]}}}\n";
    let world = world(text);
    let got = requests(&world.pods[0]).unwrap();
    assert_eq!((got["cpu"], got["memory"]), (1000, 2 << 30));
    let template = &world.daemon_sets[0].spec.as_ref().unwrap().template;
    let got = crate::pod::requests_of(template.spec.as_ref().unwrap(), None).unwrap();
    assert_eq!(got["memory"], 500 << 20);
}

#[test]
fn pod_level_limits_count_where_no_container_asks() {
    let pod = |container: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Pod\nmetadata: {{name: p}}\nspec: {{resources: {{limits: {{cpu: 4}}}}, containers: [{{name: c, resources: {{requests: {{{container}}}}}}}]}}\n"
        );
        requests(&world(&text).pods[0]).unwrap()["cpu"]
    };
    assert_eq!(pod(""), 4000);
    assert_eq!(pod("cpu: 1"), 1000);
}

#[test]
fn limit_ranges_fill_new_pods_and_daemons() {
    let range = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: r}\nspec: {limits: [{type: Container, default: {memory: 1Gi}, defaultRequest: {cpu: 1}, max: {cpu: 9}}, {type: Pod, default: {cpu: 7}}]}\n---\n";
    let workload = |kind: &str, spec: &str| {
        format!(
            "apiVersion: apps/v1\nkind: {kind}\nmetadata: {{name: w}}\nspec: {{selector: {{}}, template: {{spec: {{containers: [{{name: c {spec}}}]}}}}}}\n---\n"
        )
    };
    let limited = ", resources: {limits: {cpu: 2}}";
    for (spec, cpu) in [("", 1000), (limited, 2000)] {
        let got = world(&format!("{range}{}", workload("Deployment", spec)));
        let asked = requests(&got.pods[0]).unwrap();
        assert_eq!((asked["cpu"], asked["memory"]), (cpu, 1 << 30), "{spec}");
        let got = world(&format!("{range}{}", workload("DaemonSet", spec)));
        let template = &got.daemon_sets[0].spec.as_ref().unwrap().template;
        let asked = crate::pod::requests_of(template.spec.as_ref().unwrap(), None).unwrap();
        assert_eq!((asked["cpu"], asked["memory"]), (cpu, 1 << 30), "{spec}");
    }
    // A pod that the API server has seen was admitted before; another namespace has no range.
    let seen = world(&format!("{range}{}", pod(", uid: u", "", "")));
    assert!(!requests(&seen.pods[0]).unwrap().contains_key("cpu"));
    let elsewhere = world(&format!("{range}{}", pod(", namespace: x", "", "")));
    assert!(!requests(&elsewhere.pods[0]).unwrap().contains_key("cpu"));
}

#[test]
fn priorities_come_from_classes() {
    let classes = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: usual}\nvalue: 7\nglobalDefault: true\n---\n";
    for (spec, want) in [
        (", priorityClassName: high", Some(1000)),
        ("", Some(7)),
        (", priority: 3", Some(3)),
        (", priorityClassName: system-node-critical", Some(2_000_001_000)),
        (", priorityClassName: none", None),
    ] {
        let world = world(&(classes.to_owned() + &pod("", spec, "")));
        assert_eq!(world.pods[0].spec.as_ref().unwrap().priority, want, "{spec}");
        let is_unknown = codes(&world).contains(&"PriorityClassNotFound");
        assert_eq!(is_unknown, want.is_none(), "{spec}");
    }
}

#[test]
fn pools_get_their_defaults_and_are_ready() {
    let world_of = world(&pool("a", "", ""));
    let spec = &world_of.node_pools[0].spec;
    let disruption = spec.disruption.as_ref().unwrap();
    assert_eq!(disruption.consolidate_after.as_deref(), Some("0s"));
    assert_eq!(disruption.consolidation_policy.as_deref(), Some("WhenEmptyOrUnderutilized"));
    assert_eq!(disruption.budgets.as_ref().unwrap()[0].nodes.as_deref(), Some("10%"));
    assert_eq!(spec.template.spec.expire_after.as_deref(), Some("720h"));
    assert_eq!((ready(&world_of).as_str(), codes(&world_of)), ("True", vec!["NodeClassNotFound"]));
    let none = world(&pool("a", "disruption: {budgets: []},", ""));
    assert_eq!(none.node_pools[0].spec.disruption.as_ref().unwrap().budgets, Some(vec![]));
    let said = world(&pool(
        "a",
        "",
        "status: {conditions: [{type: ValidationSucceeded, status: 'False'}]}",
    ));
    assert_eq!(ready(&said), "False");
}

#[test]
fn a_pool_is_as_ready_as_its_class() {
    let class = |status: &str| {
        format!(
            "apiVersion: karpenter.k8s.aws/v1\nkind: EC2NodeClass\nmetadata: {{name: default}}\nspec: {{role: r, amiSelectorTerms: [{{alias: al2023@latest}}], subnetSelectorTerms: [{{id: subnet-1}}], securityGroupSelectorTerms: [{{id: sg-1}}]}}\n{status}\n"
        )
    };
    let with = world(&(pool("a", "", "") + &class("")));
    assert_eq!((ready(&with).as_str(), codes(&with)), ("True", vec![]));
    let broken = world(
        &(pool("a", "", "") + &class("status: {conditions: [{type: Ready, status: 'False'}]}")),
    );
    assert_eq!(ready(&broken), "False");
    let text = "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: a}\nspec: {template: {spec: {requirements: []}}}\n---\n";
    let bare = world(text);
    let reference = &bare.node_pools[0].spec.template.spec.node_class_ref;
    assert_eq!((reference.kind.as_str(), reference.name.as_str()), ("EC2NodeClass", "default"));
    assert_eq!(codes(&bare), ["DefaultNodeClassRef", "NodeClassNotFound"]);
}

#[test]
fn nodes_are_completed_and_get_their_claims() {
    let node = |name: &str, labels: &str, rest: &str| {
        format!(
            "apiVersion: v1\nkind: Node\nmetadata: {{name: {name}, labels: {{{labels}}}}}\n{rest}\n---\n"
        )
    };
    let capacity = "status: {capacity: {cpu: 4}}";
    let owned = "karpenter.sh/nodepool: a, karpenter.sh/capacity-type: spot";
    let world = world(
        &(pool("a", "", "")
            + &node("mine", owned, capacity)
            + &node("other", "", "status: {allocatable: {cpu: 3}}")
            + &node("known", owned, "spec: {providerID: 'aws:///z/i-1'}")
            + "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: k}\nspec: {requirements: []}\nstatus: {providerID: 'aws:///z/i-1', nodeName: known}\n"),
    );
    let names: Vec<_> =
        world.node_claims.iter().filter_map(|c| c.metadata.name.as_deref()).collect();
    assert_eq!(names, ["k", "mine-claim"]);
    let claim = &world.node_claims[1];
    assert_eq!(claim.spec.node_class_ref.kind, "EC2NodeClass");
    assert_eq!(claim.spec.expire_after.as_deref(), Some("720h"));
    let status = claim.status.as_ref().unwrap();
    assert_eq!(status.provider_id.as_deref(), Some("dunnage:///mine"));
    assert_eq!(status.allocatable["cpu"].0, "4");
    for type_ in ["Launched", "Registered", "Initialized", "Consolidatable"] {
        assert_eq!(claim.condition(type_).unwrap().status, "True", "{type_}");
    }
    let mine = world.nodes.iter().find(|n| n.metadata.name.as_deref() == Some("mine")).unwrap();
    let labels = mine.metadata.labels.as_ref().unwrap();
    assert_eq!(labels["kubernetes.io/hostname"], "mine");
    assert_eq!(labels["karpenter.sh/initialized"], "true");
    let other = world.nodes.iter().find(|n| n.metadata.name.as_deref() == Some("other")).unwrap();
    assert_eq!(other.status.as_ref().unwrap().capacity.as_ref().unwrap()["cpu"].0, "3");
    assert!(!other.metadata.labels.as_ref().unwrap().contains_key("karpenter.sh/registered"));
}

#[test]
fn unbound_claims_get_the_default_storage_class() {
    let text = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: 'true'}}\nprovisioner: p\n---\npvcs:\n- {metadata: {name: a}, spec: {}}\n- {metadata: {name: b}, spec: {storageClassName: ''}}\n- {metadata: {name: c}, spec: {volumeName: v}}\n";
    let world = world(text);
    let classes: Vec<_> = world
        .persistent_volume_claims
        .iter()
        .map(|c| c.spec.as_ref().unwrap().storage_class_name.clone())
        .collect();
    assert_eq!(classes, [Some("fast".to_owned()), Some(String::new()), None]);
}
