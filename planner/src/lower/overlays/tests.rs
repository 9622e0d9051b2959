use serde_json::json;

use super::*;
use crate::instance_type::InstanceType;
use crate::snapshot::Sourced;

fn snapshot(overlays: serde_json::Value) -> Snapshot {
    let read: Vec<dunnage_api::NodeOverlay> = serde_json::from_value(overlays).unwrap();
    let mut snapshot = Snapshot {
        node_overlays: read.into_iter().map(Sourced::from).collect(),
        ..Snapshot::default()
    };
    snapshot.settings.feature_gates.node_overlay = true;
    snapshot
}

fn overlay(name: &str, weight: i64, spec: serde_json::Value) -> serde_json::Value {
    let mut spec = spec;
    spec["weight"] = json!(weight);
    if spec.get("requirements").is_none() {
        spec["requirements"] = json!([]);
    }
    json!({"apiVersion": "karpenter.sh/v1alpha1", "kind": "NodeOverlay",
           "metadata": {"name": name}, "spec": spec})
}

fn pool(requirements: &[(&str, Need)]) -> PoolTypes {
    let own: InstanceType = serde_json::from_value(json!({
        "name": "l", "capacity": {"cpu": "8", "memory": "32Gi"},
        "offerings": [
            {"zone": "a", "capacityType": "spot", "price": 0.30},
            {"zone": "a", "capacityType": "on-demand", "price": 0.40},
            {"zone": "b", "capacityType": "on-demand", "price": 0.40}
        ]
    }))
    .unwrap();
    let types = TypeRow::of(&own, &Dialect::default(), &mut Vec::new()).unwrap();
    let mut labels = Needs::default();
    labels.add(dunnage_api::labels::NODE_POOL, Need::one_of(["p"]));
    let mut template = labels.clone();
    requirements.iter().for_each(|(key, need)| template.add(key, need.clone()));
    PoolTypes { labels, template, types }
}

fn run(
    overlays: serde_json::Value,
    pool: PoolTypes,
    is_mended: bool,
    asked: &[&str],
) -> (Vec<TypeRow>, Vec<&'static str>) {
    let asked: BTreeSet<String> = asked.iter().map(|key| (*key).to_owned()).collect();
    let snapshot = snapshot(overlays);
    let dialect = Dialect::of(&snapshot);
    let rules = OverlayRules { dialect: &dialect, is_mended, asked: &asked };
    let mut warnings = Vec::new();
    let mut rows = apply(&snapshot, vec![pool], &rules, &mut warnings);
    (rows.remove(0), warnings.into_iter().map(|w| w.code).collect())
}

fn prices(row: &TypeRow) -> Vec<(String, i64)> {
    let of = |o: &OfferingRow| (format!("{}/{}", o.zone, o.capacity_type), o.price_microusd);
    row.offerings.iter().map(of).collect()
}

fn on_demand() -> serde_json::Value {
    json!([{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}])
}

// CASE: C59
#[test]
fn a_price_is_set_for_the_offerings_that_match() {
    let spec = json!({"requirements": on_demand(), "price": "0.25"});
    for is_mended in [false, true] {
        let (rows, warnings) =
            run(json!([overlay("o", 1, spec.clone())]), pool(&[]), is_mended, &[]);
        assert_eq!(warnings, Vec::<&str>::new());
        assert_eq!(
            prices(&rows[0]),
            [
                ("a/on-demand".to_owned(), 250_000),
                ("a/spot".to_owned(), 300_000),
                ("b/on-demand".to_owned(), 250_000)
            ]
        );
    }
}

// CASE: 14.4.17
#[test]
fn adjustments_change_the_list_price_and_stop_at_zero() {
    for (text, want) in [
        ("+0.1", 500_000),
        ("-0.1", 300_000),
        ("-5", 0),
        ("+10%", 440_000),
        ("-12.5%", 350_000),
        ("-100%", 0),
        ("+0.0001%", 400_000),
    ] {
        let spec = json!({"requirements": on_demand(), "priceAdjustment": text});
        let (rows, _) = run(json!([overlay("o", 1, spec)]), pool(&[]), true, &[]);
        assert_eq!(prices(&rows[0])[0].1, want, "{text}");
    }
}

// CASE: 14.4.17
#[test]
fn the_heaviest_wins_and_equal_weights_conflict() {
    let heavy = overlay("heavy", 9, json!({"price": "1"}));
    let light = overlay("light", 1, json!({"price": "2"}));
    let (rows, warnings) = run(json!([light.clone(), heavy]), pool(&[]), true, &[]);
    assert_eq!((prices(&rows[0])[0].1, warnings), (1_000_000, vec![]));
    // Names descend, so `twin` is first and `light` the one that is dropped, whole.
    let twin = overlay("twin", 1, json!({"price": "3", "capacity": {"x.io/y": "1"}}));
    let mut both = light;
    both["spec"]["capacity"] = json!({"x.io/z": "1"});
    let (rows, warnings) = run(json!([both, twin]), pool(&[]), true, &[]);
    assert_eq!((prices(&rows[0])[0].1, warnings), (3_000_000, vec!["OverlayConflict"]));
    assert_eq!(rows[0].capacity.get("x.io/y"), Some(&1));
    assert_eq!(rows[0].capacity.get("x.io/z"), None);
}

// CASE: 14.4.17
#[test]
fn capacity_conflicts_with_any_earlier_one_of_its_weight_under_the_mended_rules() {
    let overlays = || {
        json!([
            overlay("c", 1, json!({"capacity": {"x.io/x": "1"}})),
            overlay("b", 1, json!({"capacity": {"x.io/y": "2"}})),
            overlay("a", 1, json!({"capacity": {"x.io/x": "3"}}))
        ])
    };
    let (rows, warnings) = run(overlays(), pool(&[]), true, &[]);
    assert_eq!(warnings, ["OverlayConflict"]);
    assert_eq!(rows[0].allocatable["x.io/x"], 1);
    assert_eq!(rows[0].allocatable["x.io/y"], 2);
    let (rows, warnings) = run(overlays(), pool(&[]), false, &[]);
    assert_eq!(warnings, Vec::<&str>::new());
    assert_eq!(rows[0].allocatable["x.io/x"], 1);
}

// CASE: C04
#[test]
fn an_overlay_on_a_value_that_the_pool_only_may_carry_counts_for_pods_that_ask() {
    let spec = json!({
        "requirements": [{"key": "dev/plugin", "operator": "In", "values": ["ts-3"]}],
        "capacity": {"gpu.shared": "3"}
    });
    let overlays = || json!([overlay("o", 1, spec.clone())]);
    let exists = || pool(&[("dev/plugin", Need::exists())]);
    let (rows, _) = run(overlays(), exists(), true, &["dev/plugin"]);
    assert_eq!(rows.len(), 2);
    let with = rows.iter().find(|row| row.capacity.contains_key("gpu.shared")).unwrap();
    let without = rows.iter().find(|row| !row.capacity.contains_key("gpu.shared")).unwrap();
    assert_eq!(with.needs.get("dev/plugin"), Some(&Need::one_of(["ts-3"])));
    assert_eq!(without.needs.get("dev/plugin"), Some(&Need::none_of(["ts-3"])));
    assert_eq!(run(overlays(), exists(), true, &[]).0.len(), 1, "nobody asks");
    let (rows, _) = run(overlays(), exists(), false, &["dev/plugin"]);
    assert_eq!(rows.len(), 1);
    assert!(!rows[0].capacity.contains_key("gpu.shared"), "Karpenter's rule");
}

#[test]
fn broken_overlays_are_ignored_with_a_warning() {
    for spec in [
        json!({"price": "x"}),
        json!({"price": "1", "priceAdjustment": "+1"}),
        json!({"priceAdjustment": "1"}),
        json!({"capacity": {"cpu": "4"}}),
        json!({"requirements": [{"key": "a b", "operator": "Exists"}], "price": "1"}),
    ] {
        let (rows, warnings) = run(json!([overlay("o", 1, spec.clone())]), pool(&[]), true, &[]);
        assert_eq!(warnings, ["InvalidOverlay"], "{spec}");
        assert_eq!(prices(&rows[0])[0].1, 400_000);
    }
}
