//! What the mended rules decide where random problems once found them wrong. Each answer is
//! held against the verifier, too.

use dunnage_engine_core::decision::{ReasonCode, Target};
use dunnage_engine_core::problem::*;

use crate::generated;
use crate::tables::{Answer, Ask, KIND, Sale, Tables, ZONE, accepted, push, sale};

const ON_DEMAND: u32 = CapacityType::OnDemand as u32;
const SPOT: u32 = CapacityType::Spot as u32;

const fn node(row: u32) -> Target {
    Target::Node(row)
}

/// The solver's answer, which the verifier accepts.
fn answer(t: &Tables) -> Answer {
    let a = generated::placed(t);
    accepted(t, &a);
    a
}

/// Where the pods of a class went.
fn targets(a: &Answer, class: u32) -> Vec<Target> {
    let rows = a.placements.iter().filter(|p| p.class == class);
    rows.flat_map(|p| vec![p.target; p.count as usize]).collect()
}

fn left(a: &Answer, class: u32) -> u32 {
    a.unplaced.iter().filter(|u| u.class == class).map(|u| u.count).sum()
}

/// A group that counts pods in values of a label.
fn group(t: &mut Tables, kind: GroupKind, key: u32, counts: &[(u32, u32)]) -> u32 {
    let group = t.group(kind, key, 1);
    let rows: Vec<_> = counts.iter().map(|&(value, count)| Domain { value, count }).collect();
    t.groups[group as usize].total = counts.iter().map(|(_, count)| count).sum();
    t.groups[group as usize].domains = push(&mut t.domains, &rows);
    group
}

fn filter(t: &mut Tables, group: u32, asks: &[(u32, Ask)]) {
    let term = t.term(asks);
    t.groups[group as usize].filter = push(&mut t.terms, &[term]);
}

/// A type of one zone, on demand and as spot.
fn machine(t: &mut Tables, zone: u32, cpu: i64) -> u32 {
    let spot = Sale { kind: CapacityType::Spot, ..sale(zone, 5) };
    let asks = [(ZONE, Ask::In(&[zone])), (KIND, Ask::In(&[SPOT, ON_DEMAND]))];
    t.instance_type(&asks, &[cpu], &[sale(zone, 10), spot])
}

#[test]
fn topology_rules_that_exclude_each_other_leave_no_node() {
    let mut t = Tables::new();
    let team = t.key(2, false);
    let machine = machine(&mut t, 0, 4000);
    t.template(0, &[machine]);
    let class = t.class(1, 100);
    // The pod follows others into team 1 and keeps away from team 1.
    let follows = group(&mut t, GroupKind::Affinity, team, &[(1, 1)]);
    let avoids = group(&mut t, GroupKind::AntiAffinity, team, &[(0, 0), (1, 1)]);
    t.link(class, follows, NONE);
    t.link(class, avoids, NONE);
    let a = answer(&t);
    assert_eq!(left(&a, class), 1);
    assert_eq!(a.reasons[0].code, ReasonCode::TopologyConflict);
    // Karpenter opens a node without the label.
    t.rules = Rules::KARPENTER;
    assert_eq!(targets(&generated::placed(&t), class), [Target::New(0)]);
}

#[test]
fn a_node_that_is_opened_lowers_the_minimum_of_a_spread_over_nodes() {
    let mut t = Tables::new();
    t.node(&[], 1500);
    let machine = machine(&mut t, 0, 4000);
    t.template(0, &[machine]);
    let spread = t.group(GroupKind::Spread, NONE, 2);
    t.nodes[0].counts = push(&mut t.node_counts, &[NodeCount { group: spread, count: 1 }]);
    t.groups[spread as usize].total = 1;
    let (first, opener, last) = (t.class(1, 100), t.class(1, 2000), t.class(1, 100));
    for class in [first, last] {
        t.link(class, spread, NONE);
        t.matched(class, &[spread]);
    }
    let a = answer(&t);
    assert_eq!(targets(&a, first), [node(0)]);
    assert_eq!(targets(&a, opener), [Target::New(0)]);
    assert_eq!(targets(&a, last), [Target::New(0)]);
}

#[test]
fn pods_on_a_node_that_the_filter_may_refuse_do_not_raise_the_minimum() {
    let mut t = Tables::new();
    t.node(&[(ZONE, 0), (KIND, ON_DEMAND)], 64_000);
    let machine = machine(&mut t, 1, 4000);
    t.template(0, &[machine]);
    let spread = group(&mut t, GroupKind::Spread, ZONE, &[(0, 1)]);
    filter(&mut t, spread, &[(KIND, Ask::In(&[ON_DEMAND]))]);
    let (other, owner) = (t.class(1, 2000), t.class(1, 100));
    t.classes[other as usize].selector = t.set(&[(ZONE, Ask::In(&[1]))]);
    t.classes[owner as usize].selector =
        t.set(&[(ZONE, Ask::In(&[0, 1])), (KIND, Ask::In(&[ON_DEMAND]))]);
    t.matched(other, &[spread]);
    t.matched(owner, &[spread]);
    t.link(owner, spread, NONE);
    // A spot machine would count nobody in zone 1, and zone 0 would be two ahead.
    assert!(!targets(&answer(&t), owner).contains(&node(0)));
    t.classes[other as usize].selector =
        t.set(&[(ZONE, Ask::In(&[1])), (KIND, Ask::In(&[ON_DEMAND]))]);
    assert_eq!(targets(&answer(&t), owner), [node(0)]);
}

#[test]
fn nodes_that_the_filter_may_refuse_do_not_make_up_min_domains() {
    let mut t = Tables::new();
    let machine = machine(&mut t, 0, 4000);
    t.template(0, &[machine]);
    let spread = t.group(GroupKind::Spread, NONE, 1);
    t.groups[spread as usize].min_domains = 2;
    filter(&mut t, spread, &[(KIND, Ask::In(&[ON_DEMAND]))]);
    let (other, owner) = (t.class(2, 3000), t.class(1, 100));
    t.classes[owner as usize].selector = t.set(&[(KIND, Ask::In(&[ON_DEMAND]))]);
    t.matched(other, &[spread]);
    t.matched(owner, &[spread]);
    t.link(owner, spread, NONE);
    assert_eq!(targets(&answer(&t), owner), [Target::New(2)]);
    t.classes[other as usize].selector = t.classes[owner as usize].selector;
    assert_eq!(targets(&answer(&t), owner), [Target::New(0)]);
}

#[test]
fn what_a_pod_forbids_does_not_make_its_node_count() {
    let mut t = Tables::new();
    let team = t.key(2, false);
    t.node(&[(ZONE, 0)], 64_000);
    t.node(&[(ZONE, 1), (team, 0)], 64_000);
    let spread = group(&mut t, GroupKind::Spread, ZONE, &[(0, 0), (1, 0)]);
    filter(&mut t, spread, &[(team, Ask::Exists)]);
    let (other, owner) = (t.class(2, 100), t.class(2, 100));
    t.classes[other as usize].selector = t.set(&[(ZONE, Ask::In(&[0])), (team, Ask::NotIn(&[1]))]);
    t.classes[owner as usize].selector = t.set(&[(team, Ask::Exists)]);
    t.matched(other, &[spread]);
    t.matched(owner, &[spread]);
    t.link(owner, spread, NONE);
    let a = answer(&t);
    assert_eq!(targets(&a, other), [node(0), node(0)]);
    assert_eq!((targets(&a, owner), left(&a, owner)), (vec![node(1)], 1));
}

/// A pod of 2000m, and a pool that asks for two sizes. Only its reservation brings enough of
/// the first type; of the others `enough` are large enough as they are.
fn reserved(enough: u32) -> Tables {
    let mut t = Tables::new();
    let size = t.key(3, true);
    t.reservations = vec![1];
    let held = Sale { kind: CapacityType::Reserved, reservation: 0, variant: 1, ..sale(0, 1) };
    let kinds = [CapacityType::Reserved as u32, ON_DEMAND];
    let asks = [(ZONE, Ask::In(&[0])), (KIND, Ask::In(&kinds)), (size, Ask::In(&[0]))];
    let mut types = vec![t.instance_type(&asks, &[1000, 4000], &[held, sale(0, 9)])];
    for i in 0..enough {
        let own = [1 + i];
        let asks = [(ZONE, Ask::In(&[0])), (KIND, Ask::In(&[ON_DEMAND])), (size, Ask::In(&own))];
        types.push(t.instance_type(&asks, &[4000], &[sale(0, 10)]));
    }
    let set = t.set(&[(size, Ask::Exists)]);
    t.requirements.last_mut().expect("a row").min_values = 2;
    t.template(set, &types);
    t.class(1, 2000);
    t
}

#[test]
fn a_type_that_only_a_reservation_made_large_enough_goes_with_it() {
    let a = answer(&reserved(2));
    assert_eq!((a.type_masks[0], a.new_nodes[0].is_reserved), (0b110, false));
}

#[test]
fn no_pod_is_placed_on_a_node_that_min_values_close_in_the_end() {
    let mut t = reserved(1);
    let a = answer(&t);
    assert_eq!((a.new_nodes.len(), left(&a, 0)), (0, 1));
    // Another pool takes it, instead of a node that would not be there in the end.
    let mut other = t.clone();
    other.template(0, &[0, 1]);
    let a = answer(&other);
    assert_eq!((a.new_nodes.len(), a.new_nodes[0].template), (1, 1));
    // With one size asked for, the reservation is used.
    let row = t.requirements.iter_mut().find(|r| r.min_values == 2).expect("the pool's row");
    row.min_values = 1;
    let a = answer(&t);
    assert_eq!((a.type_masks[0], a.new_nodes[0].is_reserved), (0b1, true));
}
