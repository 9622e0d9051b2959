//! Topology spread, affinity and anti-affinity.

use serde_json::json;

use crate::world::*;

fn web(i: usize, cpu: &str, key: &str) -> serde_json::Value {
    spread_pod(&format!("web-{i}"), cpu, "web", vec![spread(key, "web", 1, "DoNotSchedule")])
}

/// A bound pod with `app=web`.
fn old(name: &str, node: &str) -> serde_json::Value {
    bound(labelled(pod(name, "10m", "16Mi"), "app", "web"), node)
}

fn full(name: &str, zone: &str) -> [serde_json::Value; 2] {
    [node(name, "S", zone), bound(pod(&format!("fill-{name}"), "1900m", "64Mi"), name)]
}

// CASE: 4.7.1
#[test]
fn four_pods_over_three_zones_stand_two_one_one() {
    for planned in both(world().pools([pool("p", vec![])]).pods((0..4).map(|i| web(i, "1", ZONE))))
    {
        let zones: Vec<usize> = planned.pods_by_zone().into_iter().map(|(_, n)| n).collect();
        let mut sorted = zones.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [1, 1, 2], "{planned:?}");
        assert!(planned.unplaced().is_empty());
    }
}

fn both(w: World) -> [Planned; 2] {
    [w.plan(), w.karpenter()]
}

// CASE: 4.7.2
#[test]
fn a_selector_of_two_zones_takes_the_minimum_over_these_two() {
    let pods = (0..4).map(|i| {
        let terms = json!({ "nodeSelectorTerms": [{ "matchExpressions": [req(ZONE, "In", &["a", "b"])] }] });
        with(web(i, "1", ZONE), "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution", terms)
    });
    for planned in both(world().pools([pool("p", vec![])]).pods(pods)) {
        let expected = [("a".to_owned(), 2), ("b".to_owned(), 2)];
        assert_eq!(planned.pods_by_zone(), expected);
    }
}

// CASE: 4.7.3
#[test]
fn a_zone_that_no_pool_offers_holds_no_minimum() {
    let nodes = ["a", "b"].iter().flat_map(|z| full(&format!("n-{z}"), z)).collect::<Vec<_>>();
    let (nodes, fills): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|o| o["kind"] == "Node");
    let olds = (0..5).map(|i| old(&format!("old-{i}"), "n-a"));
    let pool = pool("p", vec![req(ZONE, "In", &["a", "b"])]);
    let w = world().pools([pool]).nodes(nodes).pods(fills).pods(olds).pods([web(0, "1", ZONE)]);
    for planned in both(w) {
        assert_eq!(planned.pods_by_zone(), [("b".to_owned(), 1)]);
    }
}

// CASE: 4.7.4
#[test]
fn too_few_domains_count_the_minimum_as_zero() {
    let pods = (0..3)
        .map(|i| with(web(i, "1", ZONE), "/spec/topologySpreadConstraints/0/minDomains", json!(3)));
    let pool = pool("p", vec![req(ZONE, "In", &["a", "b"])]);
    for planned in both(world().pools([pool]).pods(pods)) {
        assert_eq!(planned.pods_by_zone(), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        assert_eq!(planned.only_reason(), ["spread"]);
    }
}

// CASE: 4.7.5
#[test]
fn capacity_types_are_domains_like_zones() {
    let pool = bare_pool("p", vec![req(CAPACITY, "In", &["spot", "on-demand"])]);
    for planned in both(world().pools([pool]).pods((0..4).map(|i| web(i, "1", CAPACITY)))) {
        let mut counts = std::collections::BTreeMap::new();
        for launch in planned.launches() {
            let kind = launch["cheapest"]["capacityType"].as_str().unwrap_or_default().to_owned();
            *counts.entry(kind).or_insert(0) += launch["pods"].as_array().map_or(0, Vec::len);
        }
        assert_eq!(counts, [("on-demand".to_owned(), 2), ("spot".to_owned(), 2)].into());
    }
}

// CASE: 4.7.6
#[test]
fn a_new_node_is_always_a_way_out_of_a_hostname_spread() {
    let nodes = ["a", "b", "c"].map(|z| node(&format!("n-{z}"), "S", z));
    let fills = ["a", "b", "c"]
        .map(|z| bound(pod(&format!("fill-{z}"), "1900m", "64Mi"), &format!("n-{z}")));
    let olds = ["a", "b", "c"].map(|z| old(&format!("old-{z}"), &format!("n-{z}")));
    let w = world().pools([pool("p", vec![])]).nodes(nodes).pods(fills).pods(olds);
    let w = w.pods([web(0, "1", HOST)]);
    for planned in both(w) {
        assert_eq!(planned.launches().len(), 1, "{planned:?}");
    }
}

// CASE: C11
#[test]
fn an_offering_without_a_zone_is_no_domain() {
    let mut types = standard_types();
    types[0]["offerings"].as_array_mut().unwrap().push(offering("", "on-demand", 0.01));
    let nodes: Vec<_> = ["a", "b", "c"].iter().flat_map(|z| full(&format!("n-{z}"), z)).collect();
    let (nodes, fills): (Vec<_>, Vec<_>) = nodes.into_iter().partition(|o| o["kind"] == "Node");
    let olds = [("1", "n-a"), ("2", "n-a"), ("3", "n-b"), ("4", "n-c")]
        .map(|(i, n)| old(&format!("old-{i}"), n));
    let w = world().types(types).pools([pool("p", vec![])]).nodes(nodes).pods(fills).pods(olds);
    let planned = w.pods([web(0, "1", ZONE)]).plan();
    assert_eq!(planned.shapes(), [("p".into(), "S".into(), "b".into(), 1)]);
    assert_eq!(planned.price(), 100_000);
}

// CASE: C13
#[test]
fn two_pools_in_disjoint_zones_share_a_spread() {
    let pools =
        [pool("p1", vec![req(ZONE, "In", &["a"])]), pool("p2", vec![req(ZONE, "In", &["b"])])];
    for planned in both(world().pools(pools).pods((0..4).map(|i| web(i, "1", ZONE)))) {
        assert_eq!(planned.pods_by_zone(), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
        assert_eq!(planned.price(), 200_000);
    }
}

fn seven_and_three(policy: Option<&str>) -> World {
    let usable = (0..7).map(|i| node(&format!("u{i}"), "S", "a"));
    let tainted = (0..3).map(|i| {
        let taints = json!([{ "key": "gpu", "value": "yes", "effect": "NoSchedule" }]);
        with(node(&format!("x{i}"), "S", "a"), "/spec/taints", taints)
    });
    let olds = (0..7).map(|i| old(&format!("old-{i}"), &format!("u{i}")));
    let mut eighth = web(0, "1", HOST);
    if let Some(policy) = policy {
        eighth = with(eighth, "/spec/topologySpreadConstraints/0/nodeTaintsPolicy", json!(policy));
    }
    world().pools([pool("p", vec![])]).nodes(usable).nodes(tainted).pods(olds).pods([eighth])
}

// CASE: C14
#[test]
fn tainted_nodes_are_domains_of_a_hostname_spread_unless_the_policy_honors_taints() {
    let ignoring = seven_and_three(None).plan();
    assert_eq!((ignoring.launches().len(), ignoring.price()), (1, 100_000));
    let honoring = seven_and_three(Some("Honor")).plan();
    assert_eq!(honoring.launches().len(), 0, "the minimum over usable nodes is 1");
    assert_eq!(honoring.bound_to("u0"), 1);
}

// CASE: C16
#[test]
fn the_template_gives_an_empty_pool_its_zone() {
    let pools =
        [pool("g-a", vec![req(ZONE, "In", &["a"])]), pool("g-b", vec![req(ZONE, "In", &["b"])])];
    let [n, fill] = full("n-a", "a");
    let w = world().pools(pools).nodes([n]).pods([fill, old("old", "n-a"), web(0, "1", ZONE)]);
    let planned = w.plan();
    assert_eq!(planned.shapes(), [("g-b".into(), "S".into(), "b".into(), 1)]);
    assert_eq!(planned.price(), 100_000);
}

// CASE: C17
#[test]
fn a_spread_of_many_pods_is_planned_in_one_pass() {
    let pool = pool("p", vec![req(ZONE, "In", &["a", "b"]), req(TYPE, "In", &["M"])]);
    for planned in both(world().pools([pool]).pods((0..10).map(|i| web(i, "3", ZONE)))) {
        assert_eq!(planned.pods_by_zone(), [("a".to_owned(), 5), ("b".to_owned(), 5)]);
        assert_eq!((planned.launches().len(), planned.price()), (10, 2_000_000));
    }
}

fn hostname_spread(room: &str, when: &str) -> World {
    let pods = (0..4).map(|i| {
        spread_pod(&format!("web-{i}"), "500m", "web", vec![spread(HOST, "web", 1, when)])
    });
    let fill = bound(pod("fill", room, "64Mi"), "n1");
    world().pools([pool("p", vec![])]).nodes([node("n1", "S", "a")]).pods([fill]).pods(pods)
}

// CASE: C20
#[test]
fn a_hostname_spread_of_one_opens_a_node_for_each_pod() {
    let full = hostname_spread("2", "DoNotSchedule").plan();
    assert_eq!((full.launches().len(), full.price()), (4, 400_000));
    assert!(full.unplaced().is_empty());
    let room = hostname_spread("1500m", "DoNotSchedule").plan();
    assert_eq!((room.bound_to("n1"), room.launches().len(), room.price()), (1, 2, 200_000));
    let soft = hostname_spread("2", "ScheduleAnyway").plan();
    assert_eq!((soft.launches().len(), soft.price()), (1, 100_000));
}

// CASE: C76
#[test]
fn a_rule_without_a_selector_selects_nothing_and_breaks_nothing() {
    let spread_without =
        json!([{ "maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule" }]);
    let nil_spread =
        with(pod("spread", "1", "64Mi"), "/spec/topologySpreadConstraints", spread_without);
    let anti = json!([{ "topologyKey": HOST }]);
    let path = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
    let nil_anti = with(pod("anti", "1", "64Mi"), path, anti);
    let others = (0..3).map(|i| pod(&format!("other-{i}"), "100m", "64Mi"));
    let w = world().pools([pool("p", vec![])]).pods([nil_spread, nil_anti]).pods(others);
    for planned in both(w) {
        assert!(planned.unplaced().is_empty());
        assert_eq!(planned.price(), 200_000, "{planned:?}");
    }
}

// CASE: 14.4.5
#[test]
fn the_first_pod_of_a_self_affine_group_starts_it() {
    let pods = (0..3).map(|i| {
        affine(
            labelled(pod(&format!("p{i}"), "500m", "64Mi"), "app", "x"),
            "podAffinity",
            HOST,
            "x",
        )
    });
    for planned in both(world().pools([pool("p", vec![])]).pods(pods)) {
        assert_eq!(planned.shapes().len(), 1);
        assert_eq!(planned.price(), 100_000);
    }
    let lost = affine(pod("lost", "1", "64Mi"), "podAffinity", ZONE, "nobody");
    for planned in both(world().pools([pool("p", vec![])]).pods([lost])) {
        assert_eq!(planned.only_reason(), ["affinity"]);
    }
}

// CASE: 14.4.5
#[test]
fn a_bound_pod_keeps_others_away() {
    let guard = bound(affine(pod("guard", "10m", "16Mi"), "podAntiAffinity", HOST, "noisy"), "n1");
    let noisy = labelled(pod("noisy", "500m", "64Mi"), "app", "noisy");
    let w = world().pools([pool("p", vec![])]).nodes([node("n1", "M", "a")]).pods([guard, noisy]);
    for planned in both(w) {
        assert_eq!((planned.bound_to("n1"), planned.launches().len()), (0, 1));
    }
}

// CASE: 14.4.5
#[test]
fn zonal_anti_affinity_commits_late_in_karpenter_and_at_once_in_ours() {
    let pods = (0..3).map(|i| {
        affine(
            labelled(pod(&format!("db-{i}"), "1", "64Mi"), "app", "db"),
            "podAntiAffinity",
            ZONE,
            "db",
        )
    });
    let w = world().pools([pool("p", vec![])]).pods(pods);
    let karpenter = w.karpenter();
    assert_eq!((karpenter.launches().len(), karpenter.unplaced().len()), (1, 2));
    assert!(karpenter.unplaced().iter().all(|(_, codes)| codes == &["antiAffinity"]));
    let ours = w.plan();
    assert_eq!(ours.pods_by_zone(), ["a", "b", "c"].map(|z| (z.to_owned(), 1)));
    assert_eq!(ours.price(), 300_000);
}

// RULE: 13.43
#[test]
fn a_joint_choice_of_domains_is_found() {
    // Zone a is emptiest, but the anti-affinity excludes it.
    let [n, fill] = full("n-a", "a");
    let guard = bound(affine(pod("guard", "10m", "16Mi"), "podAntiAffinity", ZONE, "web"), "n-a");
    let w = world().pools([pool("p", vec![])]).nodes([n]).pods([fill, guard, web(0, "1", ZONE)]);
    assert_eq!(w.plan().pods_by_zone(), [("b".to_owned(), 1)]);
    assert_eq!(w.karpenter().unplaced().len(), 1);
}
