//! Reasons that take more than one thing at once to arise.

use serde_json::{Value, json};

use crate::reasons::{mended, one, open, selecting, sold_out, x};
use crate::volumes::{claim, using};
use crate::world::*;

#[test]
fn rules_that_exclude_each_other() {
    let follows = |p: Value| affine(p, "podAffinity", ZONE, "db");
    let avoids = |p: Value| affine(p, "podAntiAffinity", ZONE, "web");
    let cluster = |p: Value| {
        let [db, web] =
            ["db", "web"].map(|app| bound(labelled(pod(app, "10m", "16Mi"), "app", app), "n-a"));
        one(open(), p).nodes([node("n-a", "S", "a")]).pods([db, web])
    };
    mended(
        "topologyConflict",
        &[ZONE, "pool `p`", "not all at once", "loosen one of them"],
        cluster(avoids(follows(x("1")))),
        cluster(follows(x("1"))),
    );
}

#[test]
fn each_test_is_passed_by_another_type() {
    // S alone has the label, XL alone the size, M and L alone can be bought.
    let both = |cpu: &str| with(x(cpu), "/spec/nodeSelector", json!({ ZONE: "b", TYPE: "S" }));
    let sold = |pod: Value| one(open(), pod).types(sold_out(&["S", "XL"]));
    mended(
        "noTypePassesAll",
        &[
            "passes every test at once",
            "of 4 types 1 have fitting labels, 1 are large enough, 2 can be bought",
            "widen the test that the fewest types pass",
        ],
        sold(both("10")),
        sold(with(x("1"), "/spec/nodeSelector", json!({ ZONE: "b" }))),
    );
}

#[test]
fn a_reservation_without_a_unit_left() {
    let reserved = |units: u32| {
        let mut own = machine("R", 2, 8, 0.1);
        own["requirements"][4]["values"] = json!(["reserved"]);
        own["offerings"] = json!([{ "zone": "a", "capacityType": "reserved", "price": 0.0001,
            "available": true, "reservationID": "cr-1", "reservationCapacity": units }]);
        let pools = [bare_pool("p", vec![req(CAPACITY, "In", &["reserved"])])];
        world().pools(pools).types(vec![own]).pods(["x", "y"].map(|name| pod(name, "1500m", "1Gi")))
    };
    let broken = reserved(1).karpenter();
    assert_eq!(broken.only_reason(), ["reservationTaken"]);
    for word in ["pool `p`", "no unit is left", "enlarge the reservation"] {
        assert!(broken.messages().contains(word), "{word}: {}", broken.messages());
    }
    assert_eq!(reserved(2).karpenter().unplaced(), []);
}

#[test]
fn a_node_that_would_lose_its_reservation_is_passed_by() {
    // `first` opens a node that holds the one unit of cr-1, in zone a; `second` asks for zone
    // b. Another node takes it, so the code stands in no answer.
    let mut own = machine("M", 4, 16, 0.2);
    own["offerings"].as_array_mut().expect("offerings").push(json!({ "zone": "a",
        "capacityType": "reserved", "price": 0.0001, "available": true, "reservationID": "cr-1",
        "reservationCapacity": 1 }));
    own["requirements"][4]["values"] = json!(["on-demand", "reserved"]);
    let pools = [bare_pool("p", vec![req(CAPACITY, "In", &["on-demand", "reserved"])])];
    let w = world()
        .pools(pools)
        .types(vec![own])
        .pods([pod("first", "2", "1Gi"), selecting(pod("second", "1", "1Gi"), ZONE, "b")]);
    for planned in [w.plan(), w.karpenter()] {
        assert_eq!(planned.unplaced(), []);
        let zones: Vec<_> = planned.pods_by_zone();
        assert_eq!(zones, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    }
}

#[test]
fn requirements_that_name_nothing_known() {
    mended(
        "invalidRequirement",
        &["no value of `karpenter.sh/capacity-type` is known", "use", "`on-demand`"],
        one(open(), selecting(x("1"), CAPACITY, "ondemand")),
        one(open(), selecting(x("1"), CAPACITY, "on-demand")),
    );
}

#[test]
fn volumes_of_too_many_places() {
    const RACK: &str = "example.com/rack";
    const ROW: &str = "example.com/row";
    let numbers: Vec<String> = (0..9).map(|i| i.to_string()).collect();
    let numbers: Vec<&str> = numbers.iter().map(String::as_str).collect();
    let class = |name: &str, key: &str, places: usize| {
        let terms: Vec<Value> = numbers[..places]
            .iter()
            .map(|n| json!({ "matchLabelExpressions": [{ "key": key, "values": [n] }] }))
            .collect();
        json!({ "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": { "name": name },
            "provisioner": "csi.example.com", "volumeBindingMode": "WaitForFirstConsumer",
            "allowedTopologies": terms })
    };
    let w = |rows: usize| {
        let pool = pool("p", vec![req(RACK, "In", &numbers), req(ROW, "In", &numbers)]);
        let of = |name: &str, class: &str| claim(name, json!({ "storageClassName": class }));
        one(pool, using(x("1"), &["left", "right"]))
            .add("storageClasses", [class("racks", RACK, 9), class("rows", ROW, rows)])
            .add("persistentVolumeClaims", [of("left", "racks"), of("right", "rows")])
    };
    mended(
        "tooManyVolumePlaces",
        &["81 combinations", "64 are considered", "bind the claims", "fewer topologies"],
        w(9),
        w(7),
    );
}
