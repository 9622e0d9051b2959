use dunnage_engine_core::problem::Problem;
use dunnage_engine_core::requirements::{Layout, Operator};
use proptest::prelude::*;

use super::*;
use crate::lower::dialect::Dialect;
use crate::lower::dictionary::{Dictionary, Mentions, Sets};
use crate::lower::tables::Tables;

const KEY: &str = "k";
/// Integers, spelled in several ways, and texts that are none.
const VALUES: [&str; 8] = ["+3", "-1", "1", "3", "03", "5", "a", "9223372036854775807"];

fn need(operator: &str, values: &[&str], min_values: u16) -> Need {
    let values: Vec<String> = values.iter().map(|v| (*v).to_owned()).collect();
    Need::of(operator, &values, min_values).unwrap()
}

/// One of each operator, with bounds that cross, touch and overflow.
fn every_operator() -> Vec<Need> {
    let mut all = vec![need("Exists", &[], 0), need("DoesNotExist", &[], 2)];
    for values in [&["1"][..], &["1", "3"], &["a"], &["3", "a", "03"], &["5", "-1", "+3"]] {
        all.push(need("In", values, 1));
        all.push(need("NotIn", values, 0));
    }
    for operator in ["Gt", "Lt", "Gte", "Lte"] {
        for bound in ["-1", "1", "2", "3", "5", "9223372036854775807", "-9223372036854775808"] {
            all.push(need(operator, &[bound], 3));
        }
    }
    all
}

/// `a` and `b` as sets 0 and 1 of a problem.
fn lowered(a: &Need, b: &Need) -> (Tables, Sets, Dictionary) {
    let mut mentions = Mentions::default();
    mentions.key(KEY);
    VALUES.iter().for_each(|value| mentions.value(KEY, value));
    let mut tables = Tables::default();
    let (dictionary, _, _) = Dictionary::build(mentions, &Dialect::default(), &mut tables);
    let mut sets = Sets::default();
    for need in [a, b] {
        sets.set(
            &Needs(BTreeMap::from([(KEY.to_owned(), need.clone())])),
            &dictionary,
            &mut tables,
        );
    }
    (tables, sets, dictionary)
}

fn dense(problem: &Problem, layout: &Layout, set: usize) -> Vec<u64> {
    let mut words = vec![0; layout.len()];
    layout.write(&mut words, problem, problem.sets[set].of(problem.requirements));
    words
}

/// Both algebras say the same about `a` and `b`, under both kinds of rules.
fn agree(a: &Need, b: &Need) {
    for existence_is_lost in [false, true] {
        agree_under(a, b, existence_is_lost);
    }
}

fn agree_under(a: &Need, b: &Need, existence_is_lost: bool) {
    let (mut tables, mut sets, dictionary) = lowered(a, b);
    tables.rules.existence_is_lost = existence_is_lost;
    let mut merged = a.clone();
    merged.intersect(b);
    let needs = |need: &Need| Needs(BTreeMap::from([(KEY.to_owned(), need.clone())]));
    let third = sets.set(&needs(&merged), &dictionary, &mut tables) as usize;
    let set_b = if a == b { 0 } else { 1 };
    let problem = tables.problem();
    let mut memory = vec![0; Layout::numbers(&problem)];
    let layout = Layout::build(&problem, &mut memory);
    let mut engine = dense(&problem, &layout, 0);
    let other = dense(&problem, &layout, set_b);
    let conflict = layout.conflict(&engine, &other, &problem).is_some();
    let agrees = if existence_is_lost {
        needs(a).agrees_with(&needs(b))
    } else {
        a.meets(b) || (a.lets_lack() && b.lets_lack())
    };
    assert_eq!(!conflict, agrees, "{a:?} agrees with {b:?}");
    layout.add(&mut engine, &other, &problem);
    let written = dense(&problem, &layout, third);
    let (read, own) = (layout.get(&engine, 0), layout.get(&written, 0));
    let parts = |n: &dunnage_engine_core::requirements::Need| {
        (n.is_complement(), n.lower(), n.upper(), n.min_values(), n.bits().to_vec())
    };
    assert_eq!(parts(&read), parts(&own), "{a:?} and {b:?}");
    for (rank, value) in tables.values.iter().zip(VALUES_SORTED).map(|(_, v)| v).enumerate() {
        assert_eq!(read.allows(rank as u32, problem.values), merged.allows(value), "{value}");
    }
    assert_eq!(read.min_values(), merged.min_values);
    assert_eq!(read.operator() == Operator::DoesNotExist, merged.is_nothing());
    let may_lack = if existence_is_lost { merged.only_forbids() } else { merged.lets_lack() };
    assert_eq!(read.only_forbids(), may_lack, "{a:?} and {b:?}, {existence_is_lost}");
    assert_eq!(own.only_forbids(), may_lack, "{a:?} and {b:?}, {existence_is_lost}");
}

const VALUES_SORTED: [&str; 8] = ["+3", "-1", "03", "1", "3", "5", "9223372036854775807", "a"];

// CASE: 14.4.1
#[test]
fn every_pair_of_operators_intersects_as_in_the_engine() {
    let all = every_operator();
    for a in &all {
        for b in &all {
            agree(a, b);
        }
    }
}

fn any_need() -> impl Strategy<Value = Need> {
    let values = proptest::sample::subsequence(VALUES.to_vec(), 0..=4);
    let bound = prop_oneof![-2_i64..7, Just(i64::MAX), Just(i64::MIN)].prop_map(|n| n.to_string());
    prop_oneof![
        (any::<bool>(), values, 0..4_u16).prop_map(|(is_in, values, min)| {
            need(if is_in { "In" } else { "NotIn" }, &values, min)
        }),
        (0..4_usize, bound)
            .prop_map(|(op, bound)| { need(["Gt", "Lt", "Gte", "Lte"][op], &[bound.as_str()], 1) }),
    ]
}

proptest! {
    #[test]
    fn narrowed_needs_agree_with_the_engine(a in any_need(), b in any_need(), c in any_need()) {
        let mut ab = a.clone();
        ab.intersect(&b);
        agree(&ab, &c);
    }
}

// CASE: 14.4.1
#[test]
fn operators_read_as_bounds_and_lists() {
    assert_eq!(need("Gt", &["5"], 2).lower, Some(6));
    assert_eq!(need("Lt", &["5"], 0).upper, Some(4));
    assert_eq!(need("Gte", &["5"], 0).lower, Some(5));
    assert_eq!(need("Lte", &["5"], 0).upper, Some(5));
    // Beyond the greatest integer nothing is left, minValues included.
    assert_eq!(need("Gt", &["9223372036854775807"], 7), Need::nothing());
    assert_eq!(Need::of("Has", &[], 0), None);
}

#[test]
fn crossing_bounds_leave_nothing_but_min_values() {
    let mut a = need("Gt", &["5"], 2);
    a.intersect(&need("Lt", &["5"], 3));
    // Both ask for the label, so that a node without it is no way out.
    assert_eq!(a, Need { min_values: 3, must_exist: true, ..Need::nothing() });
}

#[test]
fn what_asks_for_a_label_is_not_satisfied_by_its_absence() {
    let merged = |a: &Need, b: &Need| {
        let mut both = a.clone();
        both.intersect(b);
        both
    };
    for (a, b) in [
        (need("In", &["1"], 0), need("In", &["3"], 0)),
        (need("In", &["1"], 0), need("NotIn", &["1"], 0)),
        (need("Exists", &[], 0), need("NotIn", &["1"], 0)),
        (need("Exists", &[], 0), need("DoesNotExist", &[], 0)),
        (need("Gt", &["5"], 0), need("Lt", &["3"], 0)),
    ] {
        for both in [merged(&a, &b), merged(&b, &a)] {
            assert!(both.only_forbids() && !both.lets_lack(), "{a:?} and {b:?}");
            // What only forbids as well does not make it optional again.
            assert!(!merged(&both, &need("NotIn", &["5"], 0)).lets_lack());
        }
    }
    for (a, b) in [
        (need("NotIn", &["1"], 0), need("NotIn", &["3"], 0)),
        (need("NotIn", &["1"], 0), need("DoesNotExist", &[], 0)),
    ] {
        assert!(merged(&a, &b).lets_lack(), "{a:?} and {b:?}");
    }
}

#[test]
fn a_node_accepts_what_it_has_or_may_still_get() {
    let mut node = Needs::default();
    node.add("arch", need("In", &["amd64"], 0));
    let asks = |key: &str, need: Need| Needs(BTreeMap::from([(key.to_owned(), need)]));
    let knows_zone = |key: &str| key == "zone";
    assert!(node.accepts(&asks("zone", need("In", &["a"], 0)), knows_zone));
    assert!(!node.accepts(&asks("zone", need("In", &["a"], 0)), |_| false));
    assert!(node.accepts(&asks("team", need("NotIn", &["a"], 0)), |_| false));
    assert!(node.accepts(&asks("team", need("DoesNotExist", &[], 0)), |_| false));
    assert!(!node.accepts(&asks("arch", need("In", &["arm64"], 0)), knows_zone));
}
