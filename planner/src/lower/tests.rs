//! Rules of lowering, each on a small Snapshot.

use std::path::Path;

use dunnage_engine_core::problem::{ABSENT, GroupKind, NONE};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::options::Strategy as Rules;
use crate::read::{Source, read};

const ZONE: &str = "topology.kubernetes.io/zone";
const HOST: &str = "kubernetes.io/hostname";

fn snapshot(value: &Value) -> Snapshot {
    let source = Source { name: "test.json".to_owned(), text: value.to_string() };
    match read(&[source]) {
        Ok(snapshot) => snapshot,
        Err(errors) => panic!("{errors:?}"),
    }
}

fn lowered_by(snapshot: &Snapshot, strategy: Rules) -> Lowered {
    let types = snapshot.instance_types.clone().unwrap_or_default();
    let lists = TypeLists::shared(types, snapshot);
    let options = Options { strategy, ..Options::default() };
    let lowered = lower(snapshot, &lists, &options).unwrap();
    lowered.tables.problem().validate().unwrap();
    lowered
}

fn lowered(value: &Value) -> Lowered {
    lowered_by(&snapshot(value), Rules::Greedy)
}

fn world(parts: Value) -> Value {
    let mut world = json!({
        "nodePools": [pool("p", json!({}))],
        "instanceTypes": [{
            "name": "s", "capacity": {"cpu": "2", "memory": "8Gi", "pods": "110"},
            "requirements": [{"key": "size", "operator": "In", "values": ["small"]}],
            "offerings": [
                {"zone": "a", "capacityType": "on-demand", "price": 0.1},
                {"zone": "b", "capacityType": "spot", "price": 0.035}
            ]
        }]
    });
    for (key, value) in parts.as_object().unwrap() {
        world[key] = value.clone();
    }
    world
}

fn pool(name: &str, more: Value) -> Value {
    let mut spec = json!({"template": {"spec": {
        "requirements": [],
        "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}
    }}});
    for (key, value) in more.as_object().unwrap() {
        spec[key] = value.clone();
    }
    json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool",
           "metadata": {"name": name}, "spec": spec})
}

fn pod(name: &str, cpu: &str, spec: Value) -> Value {
    let mut own = json!({"containers": [
        {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    ]});
    for (key, value) in spec.as_object().unwrap() {
        own[key] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "Pod",
           "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
           "spec": own})
}

fn node(name: &str, labels: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
           "spec": {"providerID": format!("x:///{name}")},
           "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"},
                      "capacity": {"cpu": "4", "memory": "8Gi", "pods": "10"}}})
}

#[test]
fn equal_pods_are_one_class_and_the_queue_is_by_size() {
    let mut pods: Vec<Value> =
        (0..3).map(|i| pod(&format!("small-{i}"), "500m", json!({}))).collect();
    pods.push(pod("large", "1.5", json!({})));
    // The same amount in other words, and another label that nothing looks at.
    pods.push(pod("small-3", "0.5", json!({})));
    pods[2]["metadata"]["labels"]["pod-index"] = json!("2");
    let lowered = lowered(&world(json!({"pods": pods})));
    let counts: Vec<u32> = lowered.tables.classes.iter().map(|c| c.count).collect();
    assert_eq!(counts, [1, 4]);
    assert_eq!(lowered.tables.runs.len(), 2);
    assert_eq!(lowered.names.pods[0], ["default/large"]);
    assert_eq!(
        lowered.names.pods[1],
        ["default/small-0", "default/small-1", "default/small-2", "default/small-3"]
    );
    let requests = lowered.tables.classes[0].requests as usize;
    assert_eq!(lowered.tables.quantities[requests * 3..][..3], [1500, 0, 1]);
    assert_eq!(lowered.names.resources, ["cpu", "memory", "pods"]);
}

#[test]
fn only_mentioned_keys_are_in_the_dictionary() {
    let selects = json!({"nodeSelector": {"beta.kubernetes.io/arch": "amd64"}});
    let lowered = lowered(&world(json!({"pods": [pod("a", "1", selects)]})));
    assert_eq!(
        lowered.names.keys,
        ["karpenter.k8s.aws/ec2nodeclass", "karpenter.sh/nodepool", "kubernetes.io/arch"]
    );
    assert_eq!(lowered.tables.well.zone, NONE);
    let selects = json!({"nodeSelector": {"size": "large"}});
    let lowered = super::tests::lowered(&world(json!({"pods": [pod("a", "1", selects)]})));
    let size = lowered.names.keys.iter().position(|key| key == "size").unwrap();
    assert!(lowered.tables.keys[size].is_well_known, "keys of given types are well known");
    assert_eq!(lowered.tables.keys[size].values.of(&lowered.names.values), ["large", "small"]);
}

// CASE: C01
#[test]
fn only_a_requirement_keeps_a_pod_from_every_pool() {
    let expression = json!({"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"});
    let prefers = json!({"affinity": {"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "preference": {"matchExpressions": [expression.clone()]}}]}}});
    let requires = json!({"affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [expression]}]}}}});
    let input = snapshot(&world(json!({
        "pods": [pod("prefers", "1", prefers), pod("requires", "1", requires)]
    })));
    let refused = |strategy| -> Vec<String> {
        let rejected = lowered_by(&input, strategy).rejected;
        assert!(rejected.iter().all(|r| r.code == "notForManagedNodes"));
        rejected.into_iter().map(|r| r.pod).collect()
    };
    assert_eq!(refused(Rules::Greedy), ["default/requires"]);
    assert_eq!(refused(Rules::Karpenter), ["default/prefers", "default/requires"]);
}

// CASE: C25
#[test]
fn a_pod_without_its_claim_waits_and_the_others_do_not() {
    let uses = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]});
    let lowered = lowered(&world(json!({
        "pods": [pod("a", "1", uses), pod("b", "1", json!({}))]
    })));
    assert_eq!(lowered.rejected.len(), 1);
    assert_eq!(lowered.rejected[0].code, "claimNotFound");
    assert!(lowered.rejected[0].message.contains("default/gone"));
    assert_eq!(lowered.names.pods, [["default/b"]]);
}

// CASE: C23
#[test]
fn allowed_topologies_restrict_an_unbound_claim() {
    let uses = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
    let lowered = lowered(&world(json!({
        "pods": [pod("a", "1", uses)],
        "storageClasses": [{
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "sc"}, "provisioner": "ebs.csi.aws.com",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": [{"matchLabelExpressions": [
                {"key": "topology.ebs.csi.aws.com/zone", "values": ["c"]}]}]
        }],
        "persistentVolumeClaims": [{
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "default"},
            "spec": {"storageClassName": "sc", "accessModes": ["ReadWriteOnce"],
                     "resources": {"requests": {"storage": "1Gi"}}}
        }]
    })));
    let class = lowered.tables.classes[0];
    assert_eq!(class.volume_alternatives.len, 1);
    let set = class.volume_alternatives.of(&lowered.tables.volume_alternatives)[0];
    let rows = lowered.tables.sets[set as usize].of(&lowered.tables.requirements);
    assert_eq!(lowered.names.keys[rows[0].key as usize], ZONE);
    assert_eq!(rows.len(), 1);
}

#[test]
fn a_node_has_what_its_pods_leave_and_lacks_what_it_lacks() {
    let mut bound = pod("bound", "1", json!({"nodeName": "n"}));
    bound["spec"]["containers"][0]["resources"]["requests"]["x.io/gpu"] = json!("1");
    let lowered = lowered(&world(json!({
        "nodes": [node("n", json!({})), node("m", json!({}))],
        "pods": [bound, {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "w", "namespace": "default"},
            "spec": {"containers": [{"name": "c", "image": "i", "resources":
                {"requests": {"cpu": "1", "x.io/gpu": "1"}}}]}
        }]
    })));
    assert_eq!(lowered.names.nodes, ["m", "n"]);
    assert_eq!(lowered.names.resources, ["cpu", "memory", "pods", "x.io/gpu"]);
    let row = |at: usize| {
        let row = lowered.tables.nodes[at].available as usize;
        lowered.tables.quantities[row * 4..][..4].to_vec()
    };
    assert_eq!(row(0), [4000, 8 << 30, 10, ABSENT]);
    assert_eq!(row(1), [3000, 8 << 30, 9, ABSENT]);
}

#[test]
fn limits_count_nodes_that_stay() {
    let labels = || json!({"karpenter.sh/nodepool": "p", "node.kubernetes.io/instance-type": "s"});
    let limits = json!({"limits": {"cpu": "10", "nodes": "3"}, "weight": 7});
    let lowered = lowered(&world(json!({
        "nodePools": [pool("p", limits), pool("z", json!({"weight": 7})), pool("a", json!({}))],
        "nodes": [node("n", labels()), node("m", labels())],
        "pods": [pod("w", "1", json!({}))]
    })));
    let names: Vec<&str> = lowered.names.templates.iter().map(|t| &*t.node_pool).collect();
    assert_eq!(names, ["z", "p", "a"], "weight, then name, both descending");
    let template = lowered.tables.templates[1];
    assert_eq!((template.node_limit, template.node_usage, template.limited), (Some(3), 2, 1));
    let cell = |row: u32| lowered.tables.quantities[row as usize * 3];
    assert_eq!((cell(template.limit), cell(template.usage)), (10_000, 8000));
}

#[test]
fn topology_counts_bound_pods_by_domain_and_node() {
    let spread = |key: &str| {
        json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}}]})
    };
    let lowered = lowered(&world(json!({
        "nodes": [node("n", json!({ZONE: "a"})), node("m", json!({ZONE: "b"}))],
        "pods": [
            pod("x", "1", json!({"nodeName": "n"})), pod("y", "1", json!({"nodeName": "n"})),
            pod("w", "1", spread(ZONE)), pod("v", "1", spread(HOST))
        ]
    })));
    let groups = &lowered.tables.groups;
    assert_eq!(groups.len(), 2);
    let (host, zone) = (groups[0], groups[1]);
    assert!(host.is_hostname && host.key == NONE && host.total == 2);
    let counts: Vec<u32> =
        zone.domains.of(&lowered.tables.domains).iter().map(|d| d.count).collect();
    assert_eq!((counts, zone.total), (vec![2, 0], 2));
    let at_n = lowered.tables.nodes[1].counts.of(&lowered.tables.node_counts);
    assert_eq!((at_n.len(), at_n[0].group, at_n[0].count), (1, 0, 2));
    assert_eq!(lowered.tables.nodes[0].counts.len, 0);
    assert_eq!(lowered.tables.classes[0].matches.len, 2);
}

// CASE: C76
#[test]
fn a_nil_selector_counts_nothing_except_as_in_karpenter() {
    let spread = json!({"topologySpreadConstraints": [{
        "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}]});
    let input = snapshot(&world(json!({
        "nodes": [node("n", json!({ZONE: "a"}))],
        "pods": [pod("x", "1", json!({"nodeName": "n"})), pod("w", "1", spread)]
    })));
    let total = |strategy| lowered_by(&input, strategy).tables.groups[0].total;
    assert_eq!(total(Rules::Greedy), 0);
    assert_eq!(total(Rules::Karpenter), 1);
    assert_eq!(lowered_by(&input, Rules::Karpenter).tables.classes[0].matches.len, 0);
}

#[test]
fn min_domains_tells_groups_apart_only_under_the_mended_rules() {
    let spread = |min: u32| {
        json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
            "minDomains": min, "labelSelector": {"matchLabels": {"app": "web"}}}]})
    };
    let input = snapshot(&world(json!({
        "pods": [pod("a", "2", spread(3)), pod("b", "1", spread(2))]
    })));
    let min = |strategy| -> Vec<u32> {
        lowered_by(&input, strategy).tables.groups.iter().map(|g| g.min_domains).collect()
    };
    assert_eq!(min(Rules::Greedy), [2, 3]);
    assert_eq!(min(Rules::Karpenter), [3], "the first pod of the queue says it");
}

#[test]
fn bound_anti_affinity_keeps_others_away_and_idle_groups_are_left_out() {
    let anti = |app: &str| {
        json!({"nodeName": "n", "affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{
                "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": app}}}]}}})
    };
    let lowered = lowered(&world(json!({
        "nodes": [node("n", json!({ZONE: "a"}))],
        "pods": [pod("x", "1", anti("web")), pod("y", "1", anti("nobody")),
                 pod("w", "1", json!({}))]
    })));
    assert_eq!(lowered.tables.groups.len(), 1);
    assert_eq!(lowered.tables.groups[0].kind, GroupKind::Inverse);
    assert_eq!(lowered.tables.groups[0].total, 1);
    assert_eq!(lowered.tables.classes[0].matches.of(&lowered.tables.matches), [0]);
}

// CASE: C62
// CASE: C64
#[test]
fn a_daemon_is_a_daemon_set_and_its_limits_are_requests() {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "kube-system"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}},
            "spec": {"containers": [{"name": "c", "image": "i",
                "resources": {"limits": {"memory": "500Mi"}}}]}}}
    });
    let mut custom = pod("custom", "1", json!({}));
    custom["metadata"]["ownerReferences"] = json!([
        {"apiVersion": "gpu.example.com/v1", "kind": "DaemonSet", "name": "agent", "uid": "1"}]);
    let lowered = lowered(&world(json!({"daemonSets": [set], "pods": [custom]})));
    assert_eq!(lowered.names.daemons, ["kube-system/agent"]);
    let row = lowered.tables.daemons[0].requests as usize;
    assert_eq!(lowered.tables.quantities[row * 3..][..3], [0, 500 << 20, 1]);
    assert_eq!(lowered.names.pods, [["default/custom"]]);
}

#[test]
fn claims_of_one_pod_are_counted_and_shared_ones_are_named() {
    let claim = |name: &str| {
        json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
               "metadata": {"name": name, "namespace": "default"},
               "spec": {"storageClassName": "sc", "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}}}})
    };
    let uses = |claims: &[&str]| {
        let volumes: Vec<Value> = claims
            .iter()
            .map(|c| json!({"name": c, "persistentVolumeClaim": {"claimName": c}}))
            .collect();
        json!({"volumes": volumes})
    };
    let mut bound = pod("bound", "1", uses(&["shared", "gone"]));
    bound["spec"]["nodeName"] = json!("n");
    let lowered = lowered(&world(json!({
        "nodes": [node("n", json!({}))],
        "csiNodes": [{"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": "n"}, "spec": {"drivers": [
                {"name": "ebs.csi.aws.com", "nodeID": "n", "allocatable": {"count": 5}}]}}],
        "storageClasses": [{"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": "sc"}, "provisioner": "kubernetes.io/aws-ebs",
            "volumeBindingMode": "WaitForFirstConsumer"}],
        "persistentVolumeClaims": [claim("shared"), claim("one"), claim("two")],
        "pods": [bound, pod("w", "1", uses(&["shared", "one"])), pod("v", "1", uses(&["two"]))]
    })));
    assert_eq!(lowered.names.drivers, ["ebs.csi.aws.com"]);
    let node = lowered.tables.nodes[0];
    let volumes = node.volumes.of(&lowered.tables.node_volumes)[0];
    assert_eq!((volumes.limit, volumes.used), (5, 1));
    assert_eq!(node.claims.of(&lowered.tables.node_claims), [0]);
    let uses: Vec<Vec<(u32, u32)>> = lowered
        .tables
        .classes
        .iter()
        .map(|c| {
            let own = c.volume_uses.of(&lowered.tables.volume_uses);
            own.iter().map(|u| (u.claim, u.count)).collect()
        })
        .collect();
    assert_eq!(uses, [vec![(NONE, 1)], vec![(0, 1), (NONE, 1)]]);
}

#[test]
fn buffers_are_pods_with_their_template_labels_under_the_mended_rules() {
    let input = snapshot(&world(json!({
        "settings": {"featureGates": {"CapacityBuffer": true}},
        "deployments": [{"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 0, "selector": {"matchLabels": {"app": "web"}}, "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "i",
                    "resources": {"requests": {"cpu": "2"}}}]}}}}],
        "capacityBuffers": [{"apiVersion": "autoscaling.x-k8s.io/v1beta1",
            "kind": "CapacityBuffer", "metadata": {"name": "b", "namespace": "default"},
            "spec": {"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": "web"},
                     "replicas": 9, "limits": {"cpu": "7"}}}],
        "pods": [pod("w", "1", json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}}}]}))]
    })));
    for (strategy, matches) in [(Rules::Greedy, 1), (Rules::Karpenter, 0)] {
        let lowered = lowered_by(&input, strategy);
        assert_eq!(lowered.names.pods[0].len(), 3, "7 cpu hold three pods of 2");
        assert_eq!(lowered.names.pods[0][0], "default/capacity-buffer-b-0");
        assert_eq!(lowered.tables.classes[0].matches.len, matches);
    }
}

#[test]
fn a_pool_with_replicas_says_what_it_lacks() {
    let more = json!({"replicas": 5, "limits": {"nodes": "3"}});
    let lowered = lowered(&world(json!({
        "settings": {"featureGates": {"StaticCapacity": true}},
        "nodePools": [pool("fixed", more)],
        "nodes": [node("n", json!({"karpenter.sh/nodepool": "fixed"}))]
    })));
    assert!(lowered.tables.templates.is_empty());
    let [own] = lowered.static_launches.as_slice() else { panic!("one pool lacks nodes") };
    let counts = (own.node_pool.as_str(), own.replicas, own.nodes, own.held_by_limit);
    assert_eq!(counts, ("fixed", 5, 2, 2));
    assert_eq!(own.choices.len(), 2);
}

fn oracle_inputs() -> Vec<std::path::PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testbed/oracle/inputs");
    let mut files: Vec<_> =
        std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let is_small = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with(|c: char| c.is_ascii_digit()) || name.starts_with('c')
    };
    files.into_iter().filter(|path| is_small(path)).collect()
}

/// Reorders every list by rotating and, if asked, reversing it.
fn reorder(snapshot: &mut Snapshot, by: usize, reverses: bool) {
    fn one<T>(list: &mut [T], by: usize, reverses: bool) {
        if !list.is_empty() {
            list.rotate_left(by % list.len());
        }
        if reverses {
            list.reverse();
        }
    }
    macro_rules! all {
        ($($list:ident)+) => { $(one(&mut snapshot.$list, by, reverses);)+ };
    }
    all!(node_pools node_classes node_claims node_overlays capacity_buffers nodes pods
        daemon_sets deployments stateful_sets replica_sets persistent_volume_claims
        persistent_volumes storage_classes csi_nodes pod_disruption_budgets namespaces);
    if let Some(types) = &mut snapshot.instance_types {
        one(types, by, reverses);
        types.iter_mut().for_each(|t| one(&mut t.offerings, by, reverses));
    }
}

fn bytes(lowered: &Lowered) -> Vec<u8> {
    serde_json::to_vec(&lowered.tables).unwrap()
}

// CASE: 14.4.20
#[test]
fn oracle_inputs_lower_to_the_same_bytes_in_any_order() {
    let files = oracle_inputs();
    assert!(files.len() >= 15);
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        if value.get("instanceTypesFile").is_some() {
            continue;
        }
        let mut input = snapshot(&value);
        for strategy in [Rules::Greedy, Rules::Karpenter] {
            let first = lowered_by(&input, strategy);
            let first = (bytes(&first), strip_index(&first.names));
            for (by, reverses) in [(1, true), (7, false), (3, true)] {
                reorder(&mut input, by, reverses);
                let again = lowered_by(&input, strategy);
                assert_eq!(strip_index(&again.names), first.1, "{file:?}");
                assert_eq!(bytes(&again), first.0, "{file:?}");
            }
        }
    }
}

/// Names without the place of a pool in its list, which the order does change.
fn strip_index(names: &Names) -> String {
    let mut names = names.clone();
    names.templates.iter_mut().for_each(|template| template.index = 0);
    format!("{names:?}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn the_order_of_rows_never_matters(by in 0..50_usize, reverses: bool, n in 1..12_usize) {
        let pods: Vec<Value> = (0..n)
            .map(|i| {
                let key = [ZONE, HOST, "size"][i % 3];
                let when = ["DoNotSchedule", "ScheduleAnyway"][i % 2];
                let mut own = pod(&format!("p-{i}"), ["1", "500m"][i % 2], json!({
                    "topologySpreadConstraints": [{
                        "maxSkew": 1 + i % 2, "topologyKey": key,
                        "whenUnsatisfiable": when,
                        "labelSelector": {"matchLabels": {"app": "web"}}}]}));
                if i % 4 == 3 {
                    own["spec"]["nodeName"] = json!("n");
                }
                own
            })
            .collect();
        let mut input = snapshot(&world(json!({
            "nodePools": [pool("p", json!({})), pool("q", json!({"weight": 3}))],
            "nodes": [node("n", json!({ZONE: "a"})), node("m", json!({ZONE: "b"}))],
            "pods": pods
        })));
        let first = lowered_by(&input, Rules::Greedy);
        reorder(&mut input, by, reverses);
        let again = lowered_by(&input, Rules::Greedy);
        prop_assert_eq!(bytes(&again), bytes(&first));
        prop_assert_eq!(strip_index(&again.names), strip_index(&first.names));
    }
}

#[test]
fn a_young_node_is_judged_by_its_claim_and_without_passing_taints() {
    let claim = |startup: bool| {
        let startup =
            if startup { json!([{"key": "cni/wait", "effect": "NoSchedule"}]) } else { json!([]) };
        json!({"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
            "metadata": {"name": "c", "labels": {"karpenter.sh/nodepool": "p"}},
            "spec": {"requirements": [], "startupTaints": startup, "nodeClassRef":
                {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}},
            "status": {"providerID": "x:///n", "capacity": {"cpu": "8"},
                       "allocatable": {"cpu": "7", "x.io/gpu": "2"}}})
    };
    let young = |initialized: &str| {
        let mut own = node(
            "n",
            json!({
                "karpenter.sh/nodepool": "p", "karpenter.sh/registered": "true",
                "karpenter.sh/initialized": initialized, "node.kubernetes.io/instance-type": "s"
            }),
        );
        own["spec"]["taints"] = json!([
            {"key": "cni/wait", "effect": "NoSchedule"},
            {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
        ]);
        own
    };
    let taints = |initialized: &str, startup: bool| -> Vec<String> {
        let lowered = lowered(&world(json!({
            "nodes": [young(initialized)], "nodeClaims": [claim(startup)],
            "pods": [pod("w", "1", json!({}))]
        })));
        assert_eq!(lowered.names.nodes, ["n"]);
        lowered.names.taints
    };
    assert_eq!(taints("false", true), Vec::<String>::new());
    assert_eq!(taints("false", false), ["cni/wait:NoSchedule"]);
    assert_eq!(
        taints("true", true),
        ["cni/wait:NoSchedule", "node.kubernetes.io/not-ready:NoExecute"]
    );
}

#[test]
fn pods_of_a_node_that_goes_are_placed_anew_unless_they_may_not_leave() {
    let mut going = node("n", json!({}));
    going["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut stays = pod("stays", "1", json!({"nodeName": "n"}));
    stays["metadata"]["annotations"] = json!({"karpenter.sh/do-not-disrupt": "true"});
    let mut blocked = pod("blocked", "1", json!({"nodeName": "n"}));
    blocked["metadata"]["labels"]["app"] = json!("db");
    let lowered = lowered(&world(json!({
        "nodes": [going],
        "podDisruptionBudgets": [{"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "db", "namespace": "default"},
            "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "db"}}}}],
        "pods": [stays, blocked, pod("moves", "1", json!({"nodeName": "n"}))]
    })));
    assert_eq!(lowered.names.pods, [["default/moves"]]);
    assert!(lowered.tables.nodes.is_empty());
}

#[test]
fn a_pool_that_contradicts_itself_opens_nothing_unless_karpenter_decides() {
    let row = |operator: &str, value: &str| json!({"key": "team", "operator": operator, "values": [value]});
    let pods = json!([{"metadata": {"name": "a"}, "spec": {"containers": [{"name": "c"}]}}]);
    for (one, other) in [(row("In", "9"), row("In", "8")), (row("Gte", "9"), row("Lt", "8"))] {
        let bad = pool("bad", json!({"template": {"spec": {"requirements": [one, other]}}}));
        let read =
            snapshot(&world(json!({"nodePools": [bad, pool("p", json!({}))], "pods": pods})));
        let mended = lowered_by(&read, Rules::Greedy);
        assert_eq!(mended.tables.templates.len(), 1);
        assert!(mended.warnings.iter().any(|w| w.code == "ContradictoryNodePool"));
        assert_eq!(lowered_by(&read, Rules::Karpenter).tables.templates.len(), 2);
        let plan = crate::plan::plan(&read, &Options::default()).unwrap();
        assert_eq!(plan.launch.len(), 1);
    }
}
