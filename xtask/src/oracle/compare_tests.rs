//! Hand-made answers: what must be exact, what a tie, and what must be found.

use serde_json::json;

use super::*;

fn launch(types: &[&str], zone: &str, price_microusd: i64, pods: &[&str]) -> Launch {
    Launch {
        pool: "p".to_owned(),
        pods: pods.iter().map(|p| format!("default/{p}")).collect(),
        types: types.iter().map(|t| (*t).to_owned()).collect(),
        zone: if zone.is_empty() { String::new() } else { format!("In {{\"{zone}\"}}") },
        capacity_type: "In {\"spot\"}".to_owned(),
        price_microusd,
    }
}

fn answer(mut launches: Vec<Launch>) -> Answer {
    launches.sort();
    Answer { launches, ..Answer::default() }
}

/// Pods a and b are alike, c and d are not.
fn groups() -> Groups {
    let pod = |name: &str, spec: i32| json!({"metadata": {"name": name}, "spec": spec});
    Groups::of(&json!({"pods": [pod("a", 1), pod("b", 1), pod("c", 2), pod("d", 3)]}))
}

fn differs(verdict: &Verdict, word: &str) -> bool {
    matches!(verdict, Verdict::Different(lines) if lines.iter().any(|l| l.contains(word)))
}

#[test]
fn equal_to_any_one_run_is_exact() {
    let one = answer(vec![launch(&["t"], "", 10, &["a", "c"])]);
    let other = answer(vec![launch(&["u"], "", 12, &["a", "c"])]);
    assert_eq!(compare(&one, &[other.clone(), one.clone()], &groups()), Verdict::Exact);
    assert!(differs(&compare(&one, &[other], &groups()), "micro-dollars"));
}

#[test]
fn alike_pods_may_change_places() {
    let one = answer(vec![launch(&["t"], "", 10, &["a", "c"]), launch(&["u"], "", 5, &["b"])]);
    let two = answer(vec![launch(&["t"], "", 10, &["b", "c"]), launch(&["u"], "", 5, &["a"])]);
    assert_eq!(compare(&one, &[two], &groups()), Verdict::Tie("interchangeable pods"));
}

#[test]
fn alike_pods_may_change_places_with_unplaced_ones() {
    let kinds = BTreeSet::from([Kind::Known("limit")]);
    let mut one = answer(vec![launch(&["t"], "", 10, &["a"])]);
    one.unplaced.insert("default/b".to_owned(), kinds.clone());
    let mut two = answer(vec![launch(&["t"], "", 10, &["b"])]);
    two.unplaced.insert("default/a".to_owned(), kinds);
    assert_eq!(compare(&one, &[two], &groups()), Verdict::Tie("interchangeable pods"));
}

#[test]
fn equal_money_machines_and_node_use_is_a_tie() {
    let one = answer(vec![launch(&["t"], "a", 10, &["c"]), launch(&["t"], "b", 10, &["d"])]);
    let two = answer(vec![launch(&["t"], "a", 10, &["d"]), launch(&["t"], "b", 10, &["c"])]);
    let tie = Verdict::Tie("equal price, launches and use of nodes");
    assert_eq!(compare(&one, std::slice::from_ref(&two), &groups()), tie);
    let mut used = two;
    used.bind.insert("n".to_owned(), vec!["default/a".to_owned()]);
    assert!(differs(&compare(&one, &[used], &groups()), "node n"));
}

#[test]
fn other_zones_of_another_price_are_a_tie_only_as_one_exchange() {
    let one = answer(vec![launch(&["t"], "a", 10, &["c"]), launch(&["u"], "b", 20, &["d"])]);
    let two = answer(vec![launch(&["t"], "b", 11, &["c"]), launch(&["u"], "c", 21, &["d"])]);
    assert_eq!(
        compare(&one, std::slice::from_ref(&two), &groups()),
        Verdict::Tie("interchangeable zones")
    );
    let same = answer(vec![launch(&["t"], "b", 11, &["c"]), launch(&["u"], "b", 21, &["d"])]);
    assert!(differs(&compare(&one, &[same], &groups()), "only ours"));
}

#[test]
fn a_pod_that_only_one_side_places_is_a_difference() {
    let one = answer(vec![launch(&["t"], "", 10, &["c"])]);
    let two = answer(vec![launch(&["t"], "", 10, &["c", "d"])]);
    assert!(differs(&compare(&one, &[two], &groups()), "placed, like default/d: ours 0, theirs 1"));
}

#[test]
fn another_reason_is_a_difference_at_any_price() {
    let with = |kind| {
        let mut a = answer(vec![launch(&["t"], "", 10, &["c"])]);
        a.unplaced.insert("default/d".to_owned(), BTreeSet::from([Kind::Known(kind)]));
        a
    };
    let verdict = compare(&with("taint"), &[with("limit")], &groups());
    assert!(differs(&verdict, "ours leaves 1 like default/d because of [\"taint\"]"));
}

#[test]
fn another_set_of_types_at_another_price_is_a_difference() {
    let one = answer(vec![launch(&["t"], "", 10, &["c"])]);
    let two = answer(vec![launch(&["t", "u"], "", 9, &["c"])]);
    assert!(differs(&compare(&one, &[two], &groups()), "only theirs: p types=2[t u"));
}

#[test]
fn no_answer_at_all_is_a_difference() {
    assert!(differs(&compare(&Answer::default(), &[], &groups()), "no answer"));
}

#[test]
fn within_the_span_means_pods_launches_and_price() {
    let with = |price, pods: &[&str]| answer(vec![launch(&["t"], "", price, pods)]);
    let runs = [with(10, &["a", "c"]), with(14, &["b", "c"])];
    assert!(is_within_span(&with(12, &["a", "c"]), &runs, &groups()));
    assert!(!is_within_span(&with(15, &["a", "c"]), &runs, &groups()));
    assert!(!is_within_span(&with(12, &["a"]), &runs, &groups()));
    let two = answer(vec![launch(&["t"], "", 6, &["a"]), launch(&["t"], "", 6, &["c"])]);
    assert!(!is_within_span(&two, &runs, &groups()));
}
