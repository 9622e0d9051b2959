//! Plans from the built-in catalog: offerings without a zone, and prices that are borrowed.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::*;

/// A world without types of its own, whose pool buys in eastus.
fn azure(capacity_type: &str) -> World {
    let p = with(
        bare_pool("p", vec![req(CAPACITY, "In", &[capacity_type])]),
        "/spec/template/spec/nodeClassRef",
        json!({ "group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default" }),
    );
    let mut w = world().pools([p]).setting("region", json!("eastus"));
    w.0.as_object_mut().expect("fields").remove("instanceTypes");
    w
}

fn borrowed(planned: &Planned) -> Vec<String> {
    let rows = planned.0["warnings"].as_array().expect("warnings").iter();
    let rows = rows.filter(|w| w["code"] == "BorrowedPrices");
    rows.map(|w| w["message"].as_str().expect("text").to_owned()).collect()
}

// CASE: C11
#[test]
fn an_azure_offering_without_a_zone_is_no_domain_and_loses_ties() {
    let webs = (0..4).map(|i| {
        spread_pod(&format!("web-{i}"), "1", "web", vec![spread(ZONE, "web", 1, "DoNotSchedule")])
    });
    let planned = azure("on-demand").pods(webs).plan();
    let zones: Vec<String> = planned.pods_by_zone().into_iter().map(|(zone, _)| zone).collect();
    assert_eq!(zones, ["eastus-1", "eastus-2", "eastus-3"]);
    assert!(planned.unplaced().is_empty());
    let plain = azure("on-demand").pods([pod("x", "1", "64Mi")]).plan();
    assert_eq!(plain.shapes()[0].2, "eastus-1", "a tie with the regional offering");
    let names: Vec<&Value> =
        plain.launches()[0]["instanceTypes"].as_array().expect("types").iter().collect();
    let distinct: BTreeSet<String> = names.iter().map(ToString::to_string).collect();
    assert!(names.len() > 100 && distinct.len() == names.len(), "each type once");
}

#[test]
fn launches_priced_by_estimate_are_named_with_their_number() {
    let listed = azure("on-demand").pods([pod("x", "1", "64Mi")]).plan();
    assert_eq!(borrowed(&listed), Vec::<String>::new());
    let apart = |i: usize| {
        let p = labelled(pod(&format!("db-{i}"), "1", "64Mi"), "app", "db");
        affine(p, "podAntiAffinity", HOST, "db")
    };
    let said = borrowed(&azure("spot").pods((0..2).map(apart)).plan());
    assert_eq!(said.len(), 1);
    assert!(said[0].starts_with("of 2 launches 2 with a "), "{said:?}");
    assert!(said[0].contains("spot price estimated") || said[0].contains("made by rule"));
}
