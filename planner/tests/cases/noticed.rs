//! What changes nothing although its author may think so is told, and nothing else is.

use dunnage_planner::catalog::Region;
use dunnage_planner::catalog::prices::Discount;
use dunnage_planner::options::Options;
use serde_json::{Value, json};

use crate::world::*;

/// (code, object, message) of the plan's warnings.
fn told(w: &World, options: &Options) -> Vec<(String, String, String)> {
    let snapshot = crate::snapshot(&w.0.to_string()).expect("a good input");
    let plan = dunnage_planner::plan::plan(&snapshot, options).expect("a plan");
    let rows = plan.warnings.into_iter();
    rows.map(|w| (w.code.to_owned(), w.object, w.message)).collect()
}

/// The one warning of this code holds all words.
#[track_caller]
fn one(rows: &[(String, String, String)], code: &str, object: &str, words: &[&str]) {
    let own: Vec<_> = rows.iter().filter(|row| row.0 == code).collect();
    assert_eq!(own.len(), 1, "{code}: {rows:?}");
    assert_eq!(own[0].1, object);
    for word in words {
        assert!(own[0].2.contains(word), "`{word}` is not in: {}", own[0].2);
    }
}

fn codes(rows: &[(String, String, String)]) -> Vec<&str> {
    rows.iter().map(|row| row.0.as_str()).filter(|code| *code != "NodeClassNotFound").collect()
}

#[test]
fn replicas_count_for_nothing_while_the_gate_is_off() {
    let w = world().pools([with(pool("fixed", vec![]), "/spec/replicas", json!(2))]);
    let rows = told(&w, &Options::default());
    one(&rows, "StaticCapacityOff", "NodePool fixed", &["spec.replicas", "turn the gate on"]);
    let on = w.setting("featureGates", json!("StaticCapacity=true"));
    assert!(!codes(&told(&on, &Options::default())).contains(&"StaticCapacityOff"));
}

#[test]
fn misspelt_gates_are_told_with_the_nearest() {
    let w = |gates: Value| world().setting("featureGates", gates);
    let rows = told(&w(json!("StaticCapasity=true,NodeRepair=true")), &Options::default());
    let object = "settings.featureGates.StaticCapasity";
    one(&rows, "UnknownFeatureGate", object, &["did you mean `StaticCapacity`?", "NodeRepair"]);
    let rows = told(&w(json!({ "Drift": true })), &Options::default());
    one(&rows, "UnknownFeatureGate", "settings.featureGates.Drift", &["known are"]);
    assert!(!rows[0].2.contains("did you mean"), "nothing is near: {rows:?}");
}

#[test]
fn discounts_that_match_nothing_are_told() {
    let of = |family: Option<&str>, kind: Option<&str>| Discount {
        family: family.map(str::to_owned),
        capacity_type: kind.map(str::to_owned),
        factor: 0.5,
    };
    let mut types = standard_types();
    types[0]["requirements"].as_array_mut().expect("requirements").push(req(
        "karpenter.k8s.aws/instance-family",
        "In",
        &["m5"],
    ));
    let w = world().pools([pool("p", vec![])]).types(types);
    let discounts = vec![
        of(None, Some("spot")),
        of(Some("m5"), None),
        of(Some("m5x"), None),
        of(Some("m5"), Some("reserved")),
    ];
    let rows = told(&w, &Options { discounts, ..Options::default() });
    let own: Vec<_> = rows.iter().filter(|row| row.0 == "DiscountUnused").collect();
    let objects: Vec<&str> = own.iter().map(|row| row.1.as_str()).collect();
    assert_eq!(objects, ["discount m5/reserved=0.5", "discount m5x=0.5"]);
    assert!(own[1].2.contains("did you mean `m5`?"), "{own:?}");
}

#[test]
fn pods_on_nodes_that_are_not_there_are_told_once() {
    let pods = (0..5).map(|i| bound(pod(&format!("x{i}"), "1", "64Mi"), "gone"));
    let done = with(bound(pod("done", "1", "64Mi"), "gone"), "/status/phase", json!("Succeeded"));
    let here = bound(pod("here", "1", "64Mi"), "n");
    let w = world().nodes([node("n", "S", "a")]).pods(pods).pods([done.clone(), here.clone()]);
    let words = ["`default/x0` on `gone`", "`default/x2`", "2 more", "add the nodes"];
    one(&told(&w, &Options::default()), "UnknownNode", "input", &words);
    let fine = world().nodes([node("n", "S", "a")]).pods([done, here]);
    assert!(!codes(&told(&fine, &Options::default())).contains(&"UnknownNode"));
}

/// A pool of the built-in catalog that asks for these zones.
fn in_catalog(zones: &[&str]) -> World {
    let mut wants = vec![req(TYPE, "In", &["m5.large"])];
    if !zones.is_empty() {
        wants.push(req(ZONE, "In", zones));
    }
    let mut w = world().pools([pool("p", wants)]).pods([pod("x", "1", "64Mi")]);
    w.0.as_object_mut().expect("a mapping").remove("instanceTypes");
    w
}

fn zone_of(w: &World, options: &Options) -> Option<String> {
    let snapshot = crate::snapshot(&w.0.to_string()).expect("a good input");
    let plan = dunnage_planner::plan::plan(&snapshot, options).expect("a plan");
    plan.launch.first().map(|l| l.cheapest.zone.clone())
}

#[test]
fn regions_the_catalog_lacks_are_named_with_those_it_has() {
    let rows = told(&in_catalog(&["ap-south-1a", "ap-south-1b"]), &Options::default());
    let words = ["`ap-south-1a`, `ap-south-1b`", "those of us-east-1", "known are", "eu-central-1"];
    one(&rows, "UnknownRegion", "input", &words);
    one(&rows, "DefaultRegion", "input", &["us-east-1"]);
    let rows = told(&in_catalog(&["us-west-2a", "ap-south-1b"]), &Options::default());
    one(&rows, "UnknownRegion", "input", &["`ap-south-1b`", "those of us-west-2"]);
    for zones in [&["eu-west-1a"][..], &["us-west-2-lax-1a"], &["usw2-az1"], &["eastus-1"], &[]] {
        let rows = told(&in_catalog(zones), &Options::default());
        assert!(!codes(&rows).contains(&"UnknownRegion"), "{zones:?} {rows:?}");
    }
    let mut stands = in_catalog(&[]);
    stands = stands.nodes([with(
        node("n", "S", "z"),
        "/spec/providerID",
        json!("aws:///sa-east-1c/i-0"),
    )]);
    one(&told(&stands, &Options::default()), "UnknownRegion", "input", &["`sa-east-1c`"]);
}

#[test]
fn objects_go_before_the_setting_and_the_option_before_both() {
    let set = |w: World| w.setting("region", json!("eu-west-1"));
    let plain = Options::default();
    assert_eq!(zone_of(&in_catalog(&[]), &plain).as_deref(), Some("us-east-1a"));
    assert_eq!(zone_of(&set(in_catalog(&[])), &plain).as_deref(), Some("eu-west-1a"));
    let rows = told(&set(in_catalog(&[])), &plain);
    assert!(!codes(&rows).iter().any(|code| code.contains("Region")), "{rows:?}");
    let both = set(in_catalog(&["us-west-2b"]));
    assert_eq!(zone_of(&both, &plain).as_deref(), Some("us-west-2b"));
    let words = ["`eu-west-1` does not count", "us-west-2", "--catalog"];
    one(&told(&both, &plain), "RegionUnused", "settings.region", &words);
    let option = Options { region: Some(Region::EuCentral1), ..Options::default() };
    let zone = zone_of(&set(in_catalog(&[])), &option);
    assert_eq!(zone.as_deref(), Some("eu-central-1a"));
}

#[test]
fn pools_that_break_a_rule_of_run_time_are_left_out_and_the_others_plan() {
    let restricted = pool("bad", vec![req("kubernetes.io/hostname", "In", &["n"])]);
    let restricted = with(restricted, "/spec/weight", json!(50));
    let label = with(
        pool("worse", vec![]),
        "/spec/template/metadata/labels",
        json!({ "karpenter.k8s.aws/own": "x" }),
    );
    let ready = json!({ "conditions": [{ "type": "Ready", "status": "True", "reason": "Ready",
        "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z" }] });
    let twice =
        json!([{ "key": "a", "effect": "NoSchedule" }, { "key": "a", "effect": "NoSchedule" }]);
    let twice = with(pool("twice", vec![]), "/spec/template/spec/taints", twice);
    let w = world().pods([pod("x", "1", "64Mi")]);
    for (name, bad, words) in [
        (
            "worse",
            label,
            &["case.json", "spec.template.metadata.labels", "karpenter.k8s.aws/own"][..],
        ),
        ("twice", with(twice, "/status", ready), &["case.json", "taints[1].key", "stands twice"]),
    ] {
        let rows = told(&w.clone().pools([bad.clone()]), &Options::default());
        one(&rows, "InvalidNodePool", &format!("NodePool {name}"), words);
        one(&rows, "NodePoolNotReady", &format!("NodePool {name}"), &["opens no nodes"]);
        let planned = w.clone().pools([bad, pool("good", vec![])]).plan();
        assert_eq!(planned.shapes(), [("good".into(), "S".into(), "a".into(), 1)]);
    }
    // The API server itself refuses this one.
    let refused = crate::snapshot(&w.pools([restricted]).0.to_string());
    assert!(refused.is_err());
}

#[test]
fn a_schedule_that_is_none_keeps_the_pool_and_is_told() {
    let budgets = json!([{ "nodes": "1", "schedule": "61 * * * *", "duration": "1h" }]);
    let w = world()
        .pools([with(pool("p", vec![]), "/spec/disruption/budgets", budgets)])
        .pods([pod("x", "1", "64Mi")]);
    let path = "spec.disruption.budgets[0].schedule";
    let words = ["case.json", path, "`61 * * * *`", "not a minute", "may be disrupted"];
    one(&told(&w, &Options::default()), "InvalidBudget", "NodePool p", &words);
    assert_eq!(w.plan().shapes(), [("p".into(), "S".into(), "a".into(), 1)]);
}

/// Codes that stand behind `Warning::new(` in the sources below `folder`.
fn codes_of_sources(folder: &std::path::Path, found: &mut std::collections::BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            codes_of_sources(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source");
        let code = |rest: &str| {
            let code = rest.trim_start().strip_prefix('"')?.split('"').next()?;
            Some(code.to_owned())
        };
        found.extend(text.split("Warning::new(").skip(1).filter_map(code));
        if path.ends_with("read/verdict.rs") {
            found.extend(["InvalidBudget", "InvalidNodePool"].map(str::to_owned));
        }
    }
}

#[test]
fn every_warning_has_a_row_in_the_document() {
    let document = include_str!("../../../docs/warnings.md");
    let said = document.lines().filter_map(|l| l.strip_prefix("| `")?.split('`').next());
    let mut shown = std::collections::BTreeSet::new();
    codes_of_sources(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut shown);
    assert!(shown.len() > 20, "{shown:?}");
    assert_eq!(said.map(str::to_owned).collect::<std::collections::BTreeSet<_>>(), shown);
}
