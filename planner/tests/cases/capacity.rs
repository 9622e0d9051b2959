//! Sizes, limits, weights, prices, minValues, reservations, DaemonSets and init containers.

use serde_json::{Value, json};

use crate::world::*;

fn daemon(name: &str, resources: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": { "name": name, "namespace": "kube-system" },
        "spec": { "selector": { "matchLabels": { "d": name } }, "template": {
            "metadata": { "labels": { "d": name } },
            "spec": { "containers": [{ "name": "c", "image": "x", "resources": resources }] } } },
    })
}

fn apart(i: usize) -> Value {
    affine(
        labelled(pod(&format!("db-{i}"), "1", "64Mi"), "app", "db"),
        "podAntiAffinity",
        HOST,
        "db",
    )
}

// CASE: C29
#[test]
fn the_node_limit_counts_nodes_opened_in_the_same_pass() {
    let limited = with(pool("p", vec![]), "/spec/limits", json!({ "nodes": "3" }));
    let fills = ["n1", "n2"].map(|n| bound(pod(&format!("fill-{n}"), "2", "64Mi"), n));
    let w = world()
        .pools([limited])
        .nodes(["n1", "n2"].map(|n| node(n, "S", "a")))
        .pods(fills)
        .pods((0..5).map(apart));
    let ours = w.plan();
    assert_eq!((ours.launches().len(), ours.unplaced().len(), ours.price()), (1, 4, 100_000));
    assert!(ours.unplaced().iter().all(|(_, codes)| codes == &["nodeLimit"]));
    assert_eq!(w.karpenter().launches().len(), 5, "1.14 does not count them");
}

// CASE: C31
#[test]
fn a_limit_below_the_smallest_type_launches_nothing() {
    let limited =
        with(pool("p", vec![req(TYPE, "NotIn", &["S"])]), "/spec/limits", json!({ "cpu": "2" }));
    let w = world().pools([limited]).pods([pod("x", "1", "64Mi")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(
            (planned.launches().len(), planned.only_reason()),
            (0, vec!["limit".to_owned()])
        );
        assert!(
            planned.messages().contains('4'),
            "the smallest type has 4 cpu: {}",
            planned.messages()
        );
    }
}

// RULE: 13.47
#[test]
fn a_limit_on_one_resource_does_not_close_the_pool_for_the_others() {
    let gpu = with(machine("G", 8, 32, 2.0), "/capacity/nvidia.com~1gpu", json!("1"));
    let mut types = standard_types();
    types.push(gpu.clone());
    let limited = with(pool("p", vec![]), "/spec/limits", json!({ "nvidia.com/gpu": "0" }));
    let gpu_node = with(node("g1", "L", "a"), "/status/capacity/nvidia.com~1gpu", json!("1"));
    let full = bound(pod("fill", "8", "64Mi"), "g1");
    let w =
        world().types(types).pools([limited]).nodes([gpu_node]).pods([full, pod("x", "1", "64Mi")]);
    assert_eq!(w.plan().shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
    assert_eq!(w.karpenter().only_reason(), ["limit"]);
}

// CASE: C32
#[test]
fn a_sold_out_pool_gives_way_to_the_next() {
    let mut types = standard_types();
    for of_type in &mut types {
        for o in of_type["offerings"].as_array_mut().unwrap() {
            if o["capacityType"] == "spot" {
                o["available"] = json!(false);
            }
        }
    }
    let spot =
        with(bare_pool("spot", vec![req(CAPACITY, "In", &["spot"])]), "/spec/weight", json!(100));
    let demand = with(pool("demand", vec![]), "/spec/weight", json!(10));
    let w = world().types(types).pools([spot, demand]).pods([pod("x", "1", "64Mi")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("demand".into(), "S".into(), "a".into(), 1)]);
        assert_eq!(planned.price(), 100_000);
    }
}

// CASE: C34
#[test]
fn the_heaviest_pool_that_can_wins() {
    let catch_all = with(pool("green", vec![]), "/spec/weight", json!(10));
    let blue = with(pool("blue", vec![]), "/spec/weight", json!(20));
    let w = world().pools([catch_all, blue]).pods([pod("x", "1", "64Mi")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.shapes(), [("blue".into(), "S".into(), "a".into(), 1)]);
    }
}

// CASE: C35
#[test]
fn of_equal_shapes_the_cheaper_is_named() {
    let types = vec![machine("i-type", 8, 61, 0.624), machine("r-type", 8, 61, 0.504)];
    let planned =
        world().types(types).pools([pool("p", vec![])]).pods([pod("x", "6", "40Gi")]).plan();
    assert_eq!(planned.shapes(), [("p".into(), "r-type".into(), "a".into(), 1)]);
    assert_eq!(planned.price(), 504_000);
    assert_eq!(planned.launches()[0]["instanceTypes"], json!(["r-type", "i-type"]));
}

// CASE: 14.4.8
#[test]
fn a_new_node_is_charged_at_the_largest_machine_it_may_become() {
    let limited = with(pool("p", vec![]), "/spec/limits", json!({ "cpu": "18" }));
    let pods = (0..2).map(apart);
    let planned = world().pools([limited]).pods(pods).karpenter();
    // The first node may become an XL of 16 cpu, so only types of 2 cpu are left.
    assert_eq!(planned.launches().len(), 2);
    assert_eq!(planned.launches()[0]["instanceTypes"], json!(["S", "M", "L", "XL"]));
    assert_eq!(planned.launches()[1]["instanceTypes"], json!(["S"]));
}

fn min_zones(policy: &str) -> World {
    let zones = json!({ "key": ZONE, "operator": "In", "values": ["b", "c"], "minValues": 2 });
    let pv = json!({ "apiVersion": "v1", "kind": "PersistentVolume", "metadata": { "name": "pv" }, "spec": {
        "csi": { "driver": "ebs.csi.aws.com", "volumeHandle": "v" },
        "nodeAffinity": { "required": { "nodeSelectorTerms": [{ "matchExpressions": [req(ZONE, "In", &["b"])] }] } } } });
    let pvc = json!({ "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": { "name": "data", "namespace": "default", "annotations": { "pv.kubernetes.io/bind-completed": "yes" } },
        "spec": { "volumeName": "pv" } });
    let wants = with(
        pod("x", "1", "64Mi"),
        "/spec/volumes",
        json!([{ "name": "v", "persistentVolumeClaim": { "claimName": "data" } }]),
    );
    world()
        .pools([bare_pool("p", vec![req(CAPACITY, "In", &["on-demand"]), zones])])
        .add("persistentVolumes", [pv])
        .add("persistentVolumeClaims", [pvc])
        .pods([wants])
        .setting("minValuesPolicy", json!(policy))
}

// CASE: C58
#[test]
fn a_volume_that_fixes_the_zone_lowers_min_values_or_is_refused() {
    let relaxed = min_zones("BestEffort").plan();
    assert_eq!(relaxed.shapes(), [("p".into(), "S".into(), "b".into(), 1)]);
    let requirements = relaxed.launches()[0]["requirements"].as_array().unwrap().clone();
    let zone = requirements.iter().find(|r| r["key"] == ZONE).expect("a zone");
    assert_eq!((&zone["values"], &zone["minValues"]), (&json!(["b"]), &json!(1)));
    let codes: Vec<_> = relaxed.launches()[0]["because"]
        .as_array()
        .unwrap()
        .iter()
        .map(|b| b["code"].clone())
        .collect();
    assert!(codes.contains(&json!("minValuesLowered")), "{codes:?}");
    assert_eq!(min_zones("Strict").plan().only_reason(), ["minValues"]);
}

// CASE: C59
#[test]
fn a_discounted_on_demand_price_beats_spot() {
    let types = vec![with(
        machine("L", 8, 32, 0.4),
        "/offerings",
        json!([offering("a", "on-demand", 0.4), offering("a", "spot", 0.3)]),
    )];
    let overlay = json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": { "name": "deal" },
        "spec": { "requirements": [req(CAPACITY, "In", &["on-demand"])], "price": "0.25" } });
    let both = bare_pool("p", vec![req(CAPACITY, "In", &["on-demand", "spot"])]);
    let w = world()
        .types(types)
        .pools([both])
        .add("nodeOverlays", [overlay])
        .pods([pod("x", "6", "64Mi")]);
    let planned = w.clone().setting("featureGates", json!("NodeOverlay=true")).plan();
    assert_eq!(planned.price(), 250_000);
    assert_eq!(planned.launches()[0]["cheapest"]["capacityType"], "on-demand");
    assert_eq!(w.plan().price(), 300_000, "without the gate the overlay does not count");
}

// CASE: C04
#[test]
fn an_overlay_applies_where_the_pool_can_carry_its_label() {
    let custom = pool("p", vec![json!({ "key": "dev/plugin", "operator": "Exists" })]);
    let overlay = json!({ "apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay", "metadata": { "name": "shared" },
        "spec": { "requirements": [req("dev/plugin", "In", &["ts-3"])], "capacity": { "gpu.shared": "3" } } });
    let wants = with(pod("x", "1", "64Mi"), "/spec/nodeSelector", json!({ "dev/plugin": "ts-3" }));
    let wants = with(wants, "/spec/containers/0/resources/requests/gpu.shared", json!("1"));
    let w = world().pools([custom]).add("nodeOverlays", [overlay]).pods([wants]);
    let planned = w.setting("featureGates", json!("NodeOverlay=true")).plan();
    assert_eq!(planned.shapes(), [("p".into(), "S".into(), "a".into(), 1)], "{planned:?}");
    assert_eq!(planned.price(), 100_000);
}

// CASE: C61
#[test]
fn a_live_daemon_pod_or_the_limit_range_says_what_the_daemon_requests() {
    let types = vec![machine("T16", 16, 64, 0.8), machine("T32", 32, 128, 1.6)];
    let limit_range = json!({ "apiVersion": "v1", "kind": "LimitRange", "metadata": { "name": "d", "namespace": "kube-system" },
        "spec": { "limits": [{ "type": "Container", "defaultRequest": { "cpu": "1" }, "default": { "cpu": "1" } }] } });
    let w = world()
        .types(types)
        .pools([pool("p", vec![])])
        .add("daemonSets", [daemon("agent", json!({}))]);
    let fits = w.clone().pods([pod("x", "15500m", "1Gi")]).plan();
    assert_eq!(fits.shapes()[0].1, "T16");
    let planned = w.add("limitRanges", [limit_range]).pods([pod("x", "15500m", "1Gi")]).plan();
    assert_eq!(planned.shapes()[0].1, "T32");
    assert_eq!(planned.price(), 1_600_000);
}

// CASE: C62
#[test]
fn a_daemon_with_limits_only_requests_its_limits() {
    let types = vec![machine("small", 2, 1, 0.05), machine("S", 2, 8, 0.1)];
    let w = world().types(types).pools([pool("p", vec![])]).pods([pod("x", "1", "600Mi")]);
    assert_eq!(w.plan().shapes()[0].1, "small");
    let planned =
        w.add("daemonSets", [daemon("agent", json!({ "limits": { "memory": "500Mi" } }))]).plan();
    assert_eq!(planned.shapes()[0].1, "S");
    assert_eq!(planned.price(), 100_000);
}

// CASE: C64
#[test]
fn only_pods_of_an_apps_daemon_set_are_daemons() {
    let owner = |group: &str| json!([{ "apiVersion": group, "kind": "DaemonSet", "name": "x", "uid": "x", "controller": true }]);
    let real = with(pod("daemon", "1", "64Mi"), "/metadata/ownerReferences", owner("apps/v1"));
    let custom = with(
        pod("worker", "1", "64Mi"),
        "/metadata/ownerReferences",
        owner("batch.example.com/v1"),
    );
    let planned = world().pools([pool("p", vec![])]).pods([real, custom]).plan();
    assert_eq!(planned.launches().len(), 1);
    assert_eq!(planned.launches()[0]["pods"], json!(["default/worker"]));
}

// CASE: C65
#[test]
fn a_sidecar_declared_first_adds_to_later_init_containers() {
    let container = |name: &str, cpu: &str| json!({ "name": name, "image": "x", "resources": { "requests": { "cpu": cpu } } });
    let sidecar = with(container("s", "1"), "/restartPolicy", json!("Always"));
    let p = with(
        pod("x", "1500m", "64Mi"),
        "/spec/initContainers",
        json!([sidecar, container("i1", "2")]),
    );
    let w = world().pools([pool("p", vec![])]).pods([p]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.launches()[0]["requests"]["cpu"], "3");
        assert_eq!(planned.shapes()[0].1, "M");
        assert_eq!(planned.price(), 200_000);
    }
}

fn one_reservation() -> World {
    let mut m = machine("M", 4, 16, 0.2);
    m["requirements"].as_array_mut().unwrap()[4] =
        req(CAPACITY, "In", &["on-demand", "spot", "reserved"]);
    let reserved = json!({ "zone": "a", "capacityType": "reserved", "price": 0.00000002, "available": true,
        "reservationID": "cr-1", "reservationCapacity": 1 });
    m["offerings"].as_array_mut().unwrap().push(reserved);
    let both = bare_pool("p", vec![req(CAPACITY, "In", &["reserved", "on-demand"])]);
    world().types(vec![m]).pools([both]).pods((0..3).map(apart))
}

// CASE: 14.4.7
#[test]
fn one_unit_of_a_reservation_takes_one_node() {
    let karpenter = one_reservation().karpenter();
    assert_eq!((karpenter.launches().len(), karpenter.unplaced().len()), (1, 2));
    assert_eq!(karpenter.launches()[0]["cheapest"]["capacityType"], "reserved");
    assert!(karpenter.unplaced().iter().all(|(_, codes)| codes == &["reservationTaken"]));
    // Mended: the excess is planned on demand in the same pass.
    let ours = one_reservation().plan();
    let mut kinds: Vec<_> =
        ours.launches().iter().map(|l| l["cheapest"]["capacityType"].clone()).collect();
    kinds.sort_by_key(ToString::to_string);
    assert_eq!(kinds, [json!("on-demand"), json!("on-demand"), json!("reserved")]);
    assert_eq!(ours.price(), 400_000);
}

// CASE: 14.4.9
#[test]
fn a_launch_carries_six_hundred_types_at_most() {
    let family = "example.com/family";
    let types: Vec<Value> = (0..700)
        .map(|i| {
            let mut m = machine(&format!("t{i:03}"), 4, 16, 0.1 + f64::from(i) / 1000.0);
            let name = if i < 600 { "common".to_owned() } else { format!("rare-{i}") };
            m["requirements"].as_array_mut().unwrap().push(req(family, "In", &[&name]));
            m
        })
        .collect();
    let asks = |least: u32| json!({ "key": family, "operator": "Exists", "minValues": least });
    let w = |least: u32| {
        world()
            .types(types.clone())
            .pools([pool("p", vec![asks(least)])])
            .pods([pod("x", "1", "64Mi")])
    };
    let fits = w(1).plan();
    assert_eq!(fits.launches()[0]["instanceTypes"].as_array().unwrap().len(), 600);
    assert_eq!(fits.launches()[0]["instanceTypes"][0], "t000");
    assert_eq!(fits.launches()[0]["instanceTypes"][599], "t599");
    // 101 families exist, but the 600 cheapest types are of one.
    assert_eq!(w(2).plan().only_reason(), ["minValues"]);
    let best = w(2).setting("minValuesPolicy", json!("BestEffort")).plan();
    assert_eq!(best.launches().len(), 1);
}

// RULE: 2.5
#[test]
fn a_host_port_is_taken_once_on_a_node() {
    let p = |name: &str| {
        with(
            pod(name, "100m", "64Mi"),
            "/spec/containers/0/ports",
            json!([{ "containerPort": 80, "hostPort": 80 }]),
        )
    };
    let w = world().pools([pool("p", vec![])]).pods([p("a"), p("b")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!((planned.launches().len(), planned.price()), (2, 200_000));
    }
}
