//! The page of a plan: whole, safe, small, and readable without seeing it.

use std::collections::BTreeSet;

use dunnage_planner::html::{html, plan_with_sizes};
use dunnage_planner::options::{Options, Strategy};
use dunnage_planner::plan::Plan;
use serde_json::{Value, json};

use crate::world::*;

fn page_with(world: &World, strategy: Strategy) -> (Plan, String) {
    let options = Options { strategy, ..Options::default() };
    let snapshot = crate::snapshot(&world.0.to_string()).expect("a good input");
    let (plan, sizes) = plan_with_sizes(&snapshot, &options).expect("a plan");
    let page = html(&plan, &sizes);
    (plan, page)
}

fn page(world: &World) -> (Plan, String) {
    page_with(world, Strategy::Cheapest)
}

fn daemon_set(cpu: &str, memory: &str) -> Value {
    let spec = json!({ "tolerations": [{ "operator": "Exists" }], "containers": [{ "name": "c",
        "image": "log", "resources": { "requests": { "cpu": cpu, "memory": memory } } }] });
    json!({ "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": { "name": "log", "namespace": "default" },
        "spec": { "selector": { "matchLabels": { "app": "log" } },
            "template": { "metadata": { "labels": { "app": "log" } }, "spec": spec } } })
}

/// Something of everything: launches, an existing node, DaemonSets, pods that are left.
fn everything() -> World {
    let spread = |i: usize| spread_pod(&format!("web-{i}"), "1500m", "web", vec![]);
    let alone = |i: usize| affine(spread(i), "podAntiAffinity", HOST, "web");
    world()
        .pools([pool("p", vec![])])
        .nodes([node("old", "M", "a")])
        .add("daemonSets", [daemon_set("200m", "1Gi")])
        .pods([bound(pod("runs", "1", "2Gi"), "old")])
        .pods((0..4).map(alone))
        .pods([pod("big-0", "500", "1Gi"), pod("big-1", "500", "1Gi"), pod("wide", "1", "900Gi")])
}

/// What stands between `from` and the next `to`, each time.
fn between<'a>(text: &'a str, from: &str, to: &str) -> Vec<&'a str> {
    let parts = text.split(from).skip(1);
    parts.map(|part| part.split(to).next().expect("a first part")).collect()
}

fn number(text: &str) -> usize {
    text.replace(',', "").parse().unwrap_or_else(|_| panic!("`{text}` should be a number"))
}

/// Bars with their names; the widths of their segments, in hundredths of a percent.
fn bars(page: &str) -> Vec<(String, Vec<u32>)> {
    let bars = between(page, "<div class=\"bar\" role=\"img\" aria-label=\"", "</div>");
    bars.into_iter()
        .map(|bar| {
            let name = bar.split('"').next().unwrap_or_default().to_owned();
            let widths = between(bar, "width:", "%");
            (name, widths.iter().map(|w| number(&w.replace('.', "")) as u32).collect())
        })
        .collect()
}

#[test]
fn the_page_needs_nothing_but_itself() {
    for world in [everything(), world()] {
        let (_, page) = page(&world);
        for word in [
            "http:", "https:", "//", "src=", "url(", "@import", "<script", "<link", "<img",
            "<iframe",
        ] {
            assert!(!page.contains(word), "the page holds `{word}`");
        }
        let links = between(&page, "href=\"", "\"");
        for link in links {
            let id = link.strip_prefix('#').unwrap_or_else(|| panic!("{link} leads away"));
            assert!(page.contains(&format!("id=\"{id}\"")), "{link} leads nowhere");
        }
    }
}

/// A notebook shows the page inside its own: styles may not reach beyond the page's root.
#[test]
fn styles_hold_below_the_root_only() {
    let (_, page) = page(&world());
    let style = between(&page, "<style>", "</style>")[0];
    let mut selectors = 0;
    for line in style.lines() {
        let rules = line.split_once("){").filter(|_| line.starts_with("@media"));
        for rule in rules.map_or(line, |(_, rules)| rules).split('}') {
            let Some((list, _)) = rule.split_once('{') else { continue };
            for selector in list.split(',') {
                assert!(selector.contains(".dunnage"), "`{selector}` reaches beyond the page");
                selectors += 1;
            }
        }
    }
    assert!(selectors > 50, "{selectors} selectors");
}

#[test]
fn names_cannot_become_markup() {
    let evil = "x\"><script>alert('1')</script>&amp;";
    let own = |name: &str, zone: &str, kind: &str| {
        json!({ "name": name, "offerings": [offering(zone, kind, 0.2)],
            "capacity": { "cpu": "4", "memory": "16Gi", "pods": "110" } })
    };
    let base = || world().pools([bare_pool("p", vec![])]);
    let mut device = pod("a", "1", "1Gi");
    device["spec"]["containers"][0]["resources"]["requests"][evil] = json!("1");
    let pods = || [pod("a", "1", "1Gi"), pod("big", "50", "1Gi")];
    for (what, world) in [
        ("type", base().types(vec![own(evil, "a", "on-demand")]).pods(pods())),
        ("zone", base().types(vec![own("m", evil, "on-demand")]).pods(pods())),
        ("capacity type", base().types(vec![own("m", "a", evil)]).pods(pods())),
        ("resource", base().pods([device.clone()])),
        ("gate", base().setting("featureGates", json!(format!("{evil}=true"))).pods(pods())),
        ("node that is not there", base().pods([bound(pod("a", "1", "1Gi"), evil)])),
    ] {
        let (_, page) = page(&world);
        assert!(!page.contains("<script") && !page.contains("alert('1')"), "{what}: {page}");
        assert!(
            page.contains("x&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/"),
            "{what}: {page}"
        );
        balanced(&page);
    }
    // Names of objects are refused before there is a page.
    for world in [
        base().pods([pod(evil, "1", "1Gi")]),
        base().pods([labelled(pod("a", "1", "1Gi"), "app", evil)]),
        base().pools([bare_pool(evil, vec![])]),
        base().nodes([node(evil, "M", "a")]),
    ] {
        assert!(crate::snapshot(&world.0.to_string()).is_err(), "{:?}", world.0);
    }
}

#[test]
fn every_pod_of_the_plan_is_named() {
    let (plan, page) = page(&everything());
    let launched = plan.launch.iter().flat_map(|launch| &launch.pods);
    let bound = plan.bind.iter().flat_map(|bind| &bind.pods);
    let left = plan.unplaced.iter().map(|row| &row.pod);
    let pods: Vec<&String> = launched.chain(bound).chain(left).collect();
    assert_eq!(pods.len(), 7, "{plan:?}");
    assert!(!plan.launch.is_empty() && !plan.bind.is_empty() && plan.unplaced.len() == 3);
    for pod in pods {
        assert!(page.contains(pod.as_str()), "{pod} is missing");
    }
    let headline = between(&page, "<h1>", "</h1>");
    let cost = plan.cost.launch_per_hour;
    assert_eq!(
        headline,
        [format!("3 nodes to launch, 4 pods placed, 3 unplaced, {cost} USD per hour")]
    );
}

#[test]
fn bars_are_filled_exactly_and_say_what_they_show() {
    let (_, page) = page(&everything());
    let bars = bars(&page);
    assert!(bars.len() > 10, "{}", bars.len());
    for (name, widths) in &bars {
        assert!(!name.is_empty());
        assert_eq!(widths.iter().sum::<u32>(), 10_000, "{name}: {widths:?}");
    }
    let says = |text: &str| bars.iter().any(|(name, _)| name == text);
    // A new S: 2 cpu and 8 Gi, of which the DaemonSet takes 200m and 1 Gi.
    assert!(
        says("cpu: pods 1.5, DaemonSets 0.2, free 0.3, of 2 allocatable; 85 % used"),
        "{bars:?}"
    );
    assert!(says(
        "memory: pods 64Mi, DaemonSets 1Gi, free 6.93Gi, of 8Gi allocatable; 13.3 % used"
    ));
    // The existing M: its DaemonSet's pod is not there yet.
    assert!(says(
        "cpu: running 1, pods 1.5, DaemonSets 0.2, free 1.3, of 4 allocatable; 67.5 % used"
    ));
    let (_, widths) =
        bars.iter().find(|(name, _)| name.starts_with("cpu: running")).expect("the node");
    assert_eq!(widths, &[2500, 3750, 500, 3250]);
}

#[test]
fn equal_nodes_are_drawn_once() {
    let pods = (0..6).map(|i| {
        let pod = spread_pod(&format!("web-{i}"), "1", "web", vec![]);
        affine(pod, "podAntiAffinity", HOST, "web")
    });
    let world = world().pools([pool("p", vec![])]).pods(pods).pods([pod("big", "3", "1Gi")]);
    let (plan, page) = page(&world);
    assert_eq!(plan.launch.len(), 6);
    let titles = between(&page, "<h3>", "</h3>");
    assert_eq!(titles.len(), 2, "{titles:?}");
    assert!(titles.contains(&"5 × S"), "{titles:?}");
    assert!(page.contains("6 nodes in 2 groups of equal nodes"));
    assert!(page.contains("0.1 USD/h</b> each, <b>0.5</b> together"));
}

#[test]
fn pods_with_the_same_reasons_stand_together() {
    let (plan, page) = page(&everything());
    assert!(page.contains("3 pods in 2 groups with the same reasons."));
    let cards = between(&page, "<article class=\"left\">", "</article>");
    assert_eq!(cards.len(), 2);
    assert!(cards[0].contains("<h3>2 pods</h3>") && cards[0].contains("default/big ×2"));
    assert!(cards[1].contains("<h3>1 pod</h3>") && cards[1].contains("default/wide"));
    for row in &plan.unplaced {
        let code = format!("<code>{}</code> in pool <b>p</b>: needs", row.because[0].code);
        let card = cards.iter().find(|card| card.contains(&row.pod[..11])).expect("a card");
        assert!(card.contains(&code), "{card}");
    }
}

/// Every element is closed where it should be, ids are given once, heads of tables say what
/// they head, no level of headings is left out.
fn balanced(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut level = 0;
    let body = page.split("</style>").nth(1).expect("a body");
    for tag in between(body, "<", ">") {
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            if name == "head" || name == "html" {
                continue;
            }
            assert_eq!(open.pop(), Some(name), "closes {name}");
        } else if !["wbr", "br"].contains(&name) {
            open.push(name);
        }
        if let Some(own) = name.strip_prefix('h').and_then(|n| n.parse::<u32>().ok()) {
            assert!(own <= level + 1, "h{own} after h{level}");
            level = own;
        }
        assert!(name != "th" || tag.contains("scope=\""), "<{tag}>");
    }
    assert!(open.is_empty(), "left open: {open:?}");
    let ids = between(body, " id=\"", "\"");
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
}

#[test]
fn the_page_is_well_formed() {
    for strategy in [Strategy::Cheapest, Strategy::Karpenter] {
        balanced(&page_with(&everything(), strategy).1);
    }
    balanced(&page(&world()).1);
}

#[test]
fn what_has_no_bound_says_so() {
    let (_, page) = page_with(&everything(), Strategy::Karpenter);
    assert!(page.contains("There is no proven bound"));
    assert!(page.contains("<dt>Gap</dt><dd>–<small>none proven</small>"));
    let (_, page) = page_with(&everything(), Strategy::Cheapest);
    assert!(page.contains("proven, no set of machines for these pods costs less"));
    let (_, page) = page_with(&world(), Strategy::Cheapest);
    assert!(page.contains("Nothing is launched, so nothing is paid."));
}

#[test]
fn nodes_of_pools_with_replicas_have_a_table_and_the_source_of_their_price() {
    let mut own = pool("fixed", vec![]);
    own["spec"]["replicas"] = json!(2);
    let mut world = world().pools([own]);
    world.0["settings"] = json!({ "featureGates": "StaticCapacity=true" });
    world.0["instanceTypes"][0]["offerings"][0]["priceSource"] = json!("synthetic");
    let (_, page) = page(&world);
    let tables = between(&page, "id=\"dunnage-static\"", "</section>");
    assert_eq!(tables.len(), 1);
    assert!(tables[0].contains("<td class=\"n\">2</td><td class=\"n\">0.1</td>"), "{}", tables[0]);
    assert!(tables[0].contains("<td>price made by rule</td>"), "{}", tables[0]);
}

#[test]
fn the_same_plan_gives_the_same_bytes_in_any_order() {
    let own = everything();
    let (_, first) = page(&own);
    let mut turned = own.clone();
    for list in ["pods", "nodes", "instanceTypes", "nodePools"] {
        turned.0[list].as_array_mut().expect("a list").reverse();
    }
    assert_eq!(first, page(&own).1);
    assert_eq!(first, page(&turned).1);
}

/// A node of many small pods: the first sizes have letters, the rest one segment; names are cut.
#[test]
fn what_is_left_out_of_a_node_is_counted() {
    let own = (0..30).flat_map(|i| {
        let size = format!("{}m", 400 - i);
        (0..2).map(move |k| pod(&format!("s{i}-{k}"), &size, "64Mi"))
    });
    let large = machine("XXL", 32, 128, 1.0);
    let (plan, page) = page(&world().types(vec![large]).pools([pool("p", vec![])]).pods(own));
    assert_eq!((plan.launch.len(), plan.unplaced.len()), (1, 0));
    assert!(page.contains("<td class=\"of\">pods of 6 other sizes</td><td class=\"n\">12</td>"));
    let letters = between(&page, "<tr><th scope=\"row\"><span class=\"key k", "</span>");
    assert_eq!((letters.len(), letters[23]), (24, "5\">X"));
    assert!(page.contains("<details class=\"cut\"><summary>Names of 60 pods</summary>"));
    assert!(page.contains("<p>20 more are named by <code>-o json</code>.</p>"));
    let (_, widths) = bars(&page)
        .into_iter()
        .find(|(name, _)| name.starts_with("pods: pods 60, "))
        .expect("pods");
    // Of 110: 2 for each letter, 12 others, 50 free.
    assert_eq!((widths.len(), &widths[24..]), (26, &[1091, 4546][..]));
}

/// Two thousand nodes, no two alike: the page stays small, says what it leaves out, and counts it.
#[test]
fn a_plan_of_two_thousand_nodes_stays_small() {
    let pods = (0..2000).map(|i| pod(&format!("own-{i}"), &format!("{}m", 9000 + i), "1Gi"));
    let world = world().pools([pool("p", vec![])]).pods(pods);
    let (plan, page) = page_with(&world, Strategy::Greedy);
    assert_eq!((plan.launch.len(), plan.unplaced.len()), (2000, 0));
    assert!(page.len() < 200_000, "{} bytes", page.len());
    assert!(page.contains("2,000 nodes in 2,000 groups"));
    let left = between(&page, "counted in every sum and table above: ", ".</p>");
    assert_eq!(left, ["1,940 nodes in 1,940 groups with 1,940 pods"]);
    let drawn: usize = between(&page, "<summary>Names of ", " pod").into_iter().map(number).sum();
    assert_eq!(drawn + 1940, 2000);
    let machines = between(&page, "id=\"dunnage-machines\"", "</section>");
    assert!(machines[0].contains("<td class=\"n\">2,000</td>"), "{}", machines[0]);
}
