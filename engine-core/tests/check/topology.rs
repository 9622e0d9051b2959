//! Topology rules: placements replayed in their order.

use dunnage_engine_core::check::Rule;
use dunnage_engine_core::decision::Target;
use dunnage_engine_core::problem::*;

use crate::tables::{Answer, Ask, KIND, Sale, Tables, ZONE, accepted, push, refused, sale};

const fn node(row: u32) -> Target {
    Target::Node(row)
}

/// A node in each of three zones, and pods of which the group counts all.
fn zones(kind: GroupKind, max_skew: u32, pods: u32) -> (Tables, u32) {
    let mut t = Tables::new();
    (0..3).for_each(|zone| _ = t.node(&[(ZONE, zone)], 64_000));
    let class = t.class(pods, 1000);
    let group = t.group(kind, ZONE, max_skew);
    t.link(class, group, NONE);
    t.matched(class, &[group]);
    set_domains(&mut t, group, &[0, 0, 0]);
    (t, group)
}

fn set_domains(t: &mut Tables, group: u32, counts: &[u32]) {
    let rows: Vec<_> =
        (0..).zip(counts).map(|(value, count)| Domain { value, count: *count }).collect();
    t.groups[group as usize].domains = push(&mut t.domains, &rows);
    t.groups[group as usize].total = counts.iter().sum();
}

fn placed(t: &Tables, rows: &[(u32, Target)]) -> Answer {
    let mut a = Answer::new(t);
    rows.iter().for_each(|(count, target)| a.put(0, *count, *target));
    a
}

#[test]
fn a_spread_is_kept_at_each_placement() {
    let (t, _) = zones(GroupKind::Spread, 1, 4);
    accepted(&t, &placed(&t, &[(1, node(0)), (1, node(1)), (1, node(2)), (1, node(0))]));
    refused(&t, &placed(&t, &[(2, node(0)), (1, node(1)), (1, node(2))]), Rule::Spread);
    refused(
        &t,
        &placed(&t, &[(1, node(0)), (1, node(1)), (1, node(0)), (1, node(2))]),
        Rule::Spread,
    );
}

#[test]
fn the_minimum_is_over_domains_that_the_pod_may_use() {
    let (mut t, _) = zones(GroupKind::Spread, 1, 4);
    let a = placed(&t, &[(1, node(0)), (1, node(1)), (1, node(0)), (1, node(1))]);
    refused(&t, &a, Rule::Spread);
    t.classes[0].selector = t.set(&[(ZONE, Ask::In(&[0, 1]))]);
    accepted(&t, &a);
    // One term alone allows the two zones; the other does not hold on both.
    t.classes[0].selector = 0;
    let terms = [t.term(&[(ZONE, Ask::In(&[0]))]), t.term(&[(ZONE, Ask::In(&[0, 1]))])];
    t.classes[0].required = push(&mut t.terms, &terms);
    accepted(&t, &a);
    t.classes[0].required = push(&mut t.terms, &terms[..1]);
    refused(&t, &a, Rule::Term);
}

#[test]
fn pods_that_are_there_count() {
    let (mut t, group) = zones(GroupKind::Spread, 1, 1);
    set_domains(&mut t, group, &[2, 1, 1]);
    refused(&t, &placed(&t, &[(1, node(0))]), Rule::Spread);
    accepted(&t, &placed(&t, &[(1, node(1))]));
    t.groups[group as usize].max_skew = 2;
    accepted(&t, &placed(&t, &[(1, node(0))]));
}

#[test]
fn too_few_domains_make_the_minimum_zero() {
    let (mut t, group) = zones(GroupKind::Spread, 1, 1);
    set_domains(&mut t, group, &[1, 1, 1]);
    accepted(&t, &placed(&t, &[(1, node(0))]));
    t.groups[group as usize].min_domains = 4;
    refused(&t, &placed(&t, &[(1, node(0))]), Rule::Spread);
    t.groups[group as usize].min_domains = 3;
    accepted(&t, &placed(&t, &[(1, node(0))]));
}

#[test]
fn domains_that_pools_offer_count() {
    let (mut t, group) = zones(GroupKind::Spread, 1, 2);
    set_domains(&mut t, group, &[0, 0]);
    let rows = [(1, node(0)), (1, node(1))];
    accepted(&t, &placed(&t, &rows));
    let a = [(1, node(0)), (1, node(0))];
    refused(&t, &placed(&t, &a), Rule::Spread);
    set_domains(&mut t, group, &[0]);
    accepted(&t, &placed(&t, &a));
    let sold = t.instance_type(&[(ZONE, Ask::In(&[0, 2]))], &[4000], &[sale(0, 10), sale(2, 10)]);
    t.template(0, &[sold]);
    refused(&t, &placed(&t, &a), Rule::Spread);
    // Sold out, or shunned for its taint, the zone is no domain.
    t.offerings[1].is_available = false;
    accepted(&t, &placed(&t, &a));
    t.offerings[1].is_available = true;
    t.templates[0].taints = push(&mut t.taints, &[Taint { key: 7, ..Default::default() }]);
    refused(&t, &placed(&t, &a), Rule::Spread);
    t.groups[group as usize].honors_pool_taints = true;
    accepted(&t, &placed(&t, &a));
}

#[test]
fn a_node_without_the_label_is_no_domain() {
    let (mut t, _) = zones(GroupKind::Spread, 9, 1);
    t.node(&[], 64_000);
    refused(&t, &placed(&t, &[(1, node(3))]), Rule::Spread);
    let (mut t, _) = zones(GroupKind::Affinity, 0, 1);
    t.node(&[], 64_000);
    refused(&t, &placed(&t, &[(1, node(3))]), Rule::Affinity);
    let (mut t, _) = zones(GroupKind::AntiAffinity, 0, 1);
    t.node(&[], 64_000);
    accepted(&t, &placed(&t, &[(1, node(3))]));
}

#[test]
fn a_filter_says_which_nodes_count() {
    let (mut t, group) = zones(GroupKind::Spread, 1, 1);
    let other = t.class(1, 100);
    t.matched(other, &[group]);
    let mut a = Answer::new(&t);
    a.put(other, 1, node(0));
    a.put(0, 1, node(0));
    refused(&t, &a, Rule::Spread);
    let filter = [t.term(&[(ZONE, Ask::NotIn(&[0]))])];
    t.groups[group as usize].filter = push(&mut t.terms, &filter);
    accepted(&t, &a);
    t.groups[group as usize].filter = Span::default();
    t.nodes[0].taints = push(&mut t.taints, &[Taint { key: 7, ..Default::default() }]);
    let all = Toleration { operator: TolerationOperator::Exists, ..Default::default() };
    for class in &mut t.classes {
        class.tolerations = push(&mut t.tolerations, &[all]);
    }
    refused(&t, &a, Rule::Spread);
    t.groups[group as usize].honors_taints = true;
    accepted(&t, &a);
}

#[test]
fn rules_that_may_be_given_up_are_not_asked() {
    let (mut t, _) = zones(GroupKind::Spread, 1, 4);
    t.links[0].weight = 1;
    accepted(&t, &placed(&t, &[(4, node(0))]));
}

#[test]
fn a_new_node_that_can_be_anywhere_is_in_the_worst_zone() {
    let (mut t, group) = zones(GroupKind::Spread, 1, 2);
    let sales = [sale(0, 10), sale(1, 10)];
    let both = t.instance_type(&[(ZONE, Ask::In(&[0, 1]))], &[4000], &sales);
    t.template(0, &[both]);
    let first = t.set(&[(ZONE, Ask::In(&[0]))]);
    let put = |t: &Tables, sets: &[u32]| {
        let mut a = Answer::new(t);
        let new = a.open(t, 0, sets, &[both]);
        a.put(0, 1, new);
        a.put(0, 1, node(2));
        a.state_requests(t, [0; 3]);
        a
    };
    accepted(&t, &put(&t, &[]));
    set_domains(&mut t, group, &[0, 1, 0]);
    refused(&t, &put(&t, &[]), Rule::Spread);
    accepted(&t, &put(&t, &[first]));
    // A pod on it counts nowhere for sure.
    set_domains(&mut t, group, &[0, 0, 1]);
    refused(&t, &put(&t, &[]), Rule::Spread);
}

#[test]
fn affinity_follows_a_pod_or_starts() {
    let (mut t, group) = zones(GroupKind::Affinity, 0, 2);
    accepted(&t, &placed(&t, &[(2, node(0))]));
    refused(&t, &placed(&t, &[(1, node(0)), (1, node(1))]), Rule::Affinity);
    set_domains(&mut t, group, &[0, 1, 0]);
    refused(&t, &placed(&t, &[(2, node(0))]), Rule::Affinity);
    accepted(&t, &placed(&t, &[(2, node(1))]));
    // Pods that stand only where it may not go do not keep it from starting.
    t.classes[0].selector = t.set(&[(ZONE, Ask::In(&[0]))]);
    accepted(&t, &placed(&t, &[(2, node(0))]));
    // One that is not asked for by its own rule cannot start.
    t.classes[0].matches = Span::default();
    refused(&t, &placed(&t, &[(2, node(0))]), Rule::Affinity);
}

#[test]
fn affinity_to_pods_of_another_class_needs_them_first() {
    let (mut t, group) = zones(GroupKind::Affinity, 0, 1);
    t.matched(0, &[]);
    let other = t.class(1, 100);
    t.matched(other, &[group]);
    let mut a = Answer::new(&t);
    a.put(other, 1, node(1));
    a.put(0, 1, node(1));
    accepted(&t, &a);
    a.placements.swap(0, 1);
    refused(&t, &a, Rule::Affinity);
    a.placements.swap(0, 1);
    a.placements[1].target = node(0);
    refused(&t, &a, Rule::Affinity);
}

#[test]
fn anti_affinity_keeps_away_in_both_directions() {
    let (mut t, group) = zones(GroupKind::AntiAffinity, 0, 1);
    let inverse = t.group(GroupKind::Inverse, ZONE, 0);
    t.links[0].inverse = inverse;
    t.matched(0, &[]);
    let other = t.class(1, 100);
    t.matched(other, &[group, inverse]);
    let put = |first: (u32, u32), second: (u32, u32)| {
        let mut a = Answer::new(&t);
        a.put(first.0, 1, node(first.1));
        a.put(second.0, 1, node(second.1));
        a
    };
    accepted(&t, &put((other, 0), (0, 1)));
    refused(&t, &put((other, 0), (0, 0)), Rule::AntiAffinity);
    accepted(&t, &put((0, 0), (other, 1)));
    refused(&t, &put((0, 0), (other, 0)), Rule::InverseAntiAffinity);
}

#[test]
fn pods_that_exclude_each_other_are_apart() {
    let (t, _) = zones(GroupKind::AntiAffinity, 0, 2);
    accepted(&t, &placed(&t, &[(1, node(0)), (1, node(1))]));
    refused(&t, &placed(&t, &[(2, node(0))]), Rule::AntiAffinity);
    refused(&t, &placed(&t, &[(1, node(0)), (1, node(0))]), Rule::AntiAffinity);
}

#[test]
fn anti_affinity_looks_at_every_zone_that_a_node_can_be_in() {
    let (mut t, _) = zones(GroupKind::AntiAffinity, 0, 2);
    let sales = [sale(0, 10), sale(1, 10)];
    let both = t.instance_type(&[(ZONE, Ask::In(&[0, 1]))], &[4000], &sales);
    t.template(0, &[both]);
    let put = |sets: &[u32], other: u32| {
        let mut a = Answer::new(&t);
        let new = a.open(&t, 0, sets, &[both]);
        a.put(0, 1, new);
        a.put(0, 1, node(other));
        a.state_requests(&t, [0; 3]);
        a
    };
    accepted(&t, &put(&[], 2));
    refused(&t, &put(&[], 1), Rule::AntiAffinity);
}

/// Two nodes without labels that matter, and pods of which a per-node group counts all.
fn hosts(kind: GroupKind, max_skew: u32, pods: u32) -> (Tables, u32) {
    let mut t = Tables::new();
    (0..2).for_each(|_| _ = t.node(&[], 64_000));
    let class = t.class(pods, 1000);
    let group = t.group(kind, NONE, max_skew);
    t.link(class, group, NONE);
    t.matched(class, &[group]);
    (t, group)
}

fn on_node(t: &mut Tables, row: usize, group: u32, count: u32) {
    t.nodes[row].counts = push(&mut t.node_counts, &[NodeCount { group, count }]);
    t.groups[group as usize].total += count;
}

#[test]
fn a_spread_over_nodes_counts_from_the_emptiest() {
    let (mut t, group) = hosts(GroupKind::Spread, 2, 4);
    accepted(&t, &placed(&t, &[(2, node(0)), (2, node(1))]));
    refused(&t, &placed(&t, &[(3, node(0)), (1, node(1))]), Rule::Spread);
    accepted(&t, &placed(&t, &[(1, node(1)), (3, node(0))]));
    on_node(&mut t, 0, group, 1);
    refused(&t, &placed(&t, &[(2, node(0)), (2, node(1))]), Rule::Spread);
    accepted(&t, &placed(&t, &[(2, node(1)), (2, node(0))]));
    // With fewer nodes than the rule asks for the emptiest counts zero.
    t.groups[group as usize].min_domains = 3;
    refused(&t, &placed(&t, &[(2, node(1)), (2, node(0))]), Rule::Spread);
}

#[test]
fn nodes_that_a_policy_leaves_out_do_not_hold_the_minimum_down() {
    let (mut t, group) = hosts(GroupKind::Spread, 1, 2);
    t.nodes[1].taints = push(&mut t.taints, &[Taint { key: 7, ..Default::default() }]);
    refused(&t, &placed(&t, &[(2, node(0))]), Rule::Spread);
    t.groups[group as usize].honors_taints = true;
    accepted(&t, &placed(&t, &[(2, node(0))]));
}

#[test]
fn on_a_node_that_a_policy_leaves_out_each_pod_looks_at_itself_alone() {
    let (mut t, group) = hosts(GroupKind::Spread, 1, 3);
    t.nodes[0].taints = push(&mut t.taints, &[Taint { key: 7, ..Default::default() }]);
    let all = Toleration { operator: TolerationOperator::Exists, ..Default::default() };
    t.classes[0].tolerations = push(&mut t.tolerations, &[all]);
    refused(&t, &placed(&t, &[(3, node(0))]), Rule::Spread);
    t.groups[group as usize].honors_taints = true;
    accepted(&t, &placed(&t, &[(3, node(0))]));
}

#[test]
fn a_node_with_the_label_cannot_pass_a_filter_that_forbids_it() {
    let mut t = Tables::new();
    let team = t.key(2, false);
    t.node(&[(ZONE, 0)], 64_000);
    let machine = t.instance_type(&[(ZONE, Ask::In(&[0]))], &[4000], &[sale(0, 10)]);
    let has_team = t.set(&[(team, Ask::In(&[0]))]);
    t.template(has_team, &[machine]);
    let group = t.group(GroupKind::Spread, ZONE, 1);
    set_domains(&mut t, group, &[0, 0, 0]);
    let filter = [t.term(&[(team, Ask::DoesNotExist)])];
    t.groups[group as usize].filter = push(&mut t.terms, &filter);
    let (owner, other) = (t.class(1, 100), t.class(1, 100));
    t.link(owner, group, NONE);
    t.matched(owner, &[group]);
    t.matched(other, &[group]);
    let mut a = Answer::new(&t);
    let new = a.open(&t, 0, &[], &[machine]);
    a.put(other, 1, new);
    a.put(owner, 1, node(0));
    a.state_requests(&t, [0; 3]);
    accepted(&t, &a);
    t.groups[group as usize].filter = Span::default();
    refused(&t, &a, Rule::Spread);
}

#[test]
fn a_new_node_whose_filter_is_open_counts_with_its_pods_or_not_at_all() {
    let (mut t, group) = hosts(GroupKind::Spread, 1, 1);
    t.nodes.pop();
    let spot = Sale { kind: CapacityType::Spot, ..sale(0, 5) };
    let machine = t.instance_type(&[(ZONE, Ask::In(&[0]))], &[4000], &[sale(0, 10), spot]);
    t.template(0, &[machine]);
    on_node(&mut t, 0, group, 1);
    let on_demand = [CapacityType::OnDemand as u32];
    let filter = [t.term(&[(KIND, Ask::In(&on_demand))])];
    t.groups[group as usize].filter = push(&mut t.terms, &filter);
    t.nodes[0].set = t.set(&[(KIND, Ask::In(&on_demand))]);
    let other = t.class(1, 100);
    t.matched(other, &[group]);
    let mut a = Answer::new(&t);
    let new = a.open(&t, 0, &[], &[machine]);
    a.sell(&t, 0, machine, 1);
    a.put(other, 1, new);
    a.put(0, 1, node(0));
    a.state_requests(&t, [0; 3]);
    accepted(&t, &a);
    t.matched(other, &[]);
    refused(&t, &a, Rule::Spread);
    t.matched(other, &[group]);
    // It may be no domain, so it does not make up the number of domains.
    t.groups[group as usize].min_domains = 2;
    refused(&t, &a, Rule::Spread);
}

#[test]
fn a_new_node_is_a_domain_from_its_first_pod_on() {
    let (mut t, group) = hosts(GroupKind::Spread, 1, 3);
    t.nodes.pop();
    let other = t.class(1, 100);
    let machine = t.instance_type(&[(ZONE, Ask::In(&[0]))], &[4000], &[sale(0, 10)]);
    t.template(0, &[machine]);
    let put = |last: Target| {
        let mut a = Answer::new(&t);
        let new = a.open(&t, 0, &[], &[machine]);
        a.put(0, 2, node(0));
        a.put(other, 1, new);
        a.put(0, 1, last);
        a.state_requests(&t, [0; 3]);
        a
    };
    accepted(&t, &put(Target::New(0)));
    refused(&t, &put(node(0)), Rule::Spread);
    t.matched(other, &[group]);
    let mut a = Answer::new(&t);
    let new = a.open(&t, 0, &[], &[machine]);
    a.put(other, 1, new);
    a.put(0, 2, node(0));
    a.put(0, 1, new);
    a.state_requests(&t, [0; 3]);
    accepted(&t, &a);
}

#[test]
fn affinity_to_a_node_follows_a_pod_or_starts_once() {
    let (mut t, group) = hosts(GroupKind::Affinity, 0, 3);
    accepted(&t, &placed(&t, &[(1, node(1)), (2, node(1))]));
    refused(&t, &placed(&t, &[(1, node(1)), (2, node(0))]), Rule::Affinity);
    refused(&t, &placed(&t, &[(1, node(0)), (2, node(1))]), Rule::Affinity);
    on_node(&mut t, 1, group, 1);
    accepted(&t, &placed(&t, &[(3, node(1))]));
    refused(&t, &placed(&t, &[(3, node(0))]), Rule::Affinity);
}

#[test]
fn anti_affinity_to_a_node_keeps_away_in_both_directions() {
    let (mut t, group) = hosts(GroupKind::AntiAffinity, 0, 2);
    let inverse = t.group(GroupKind::Inverse, NONE, 0);
    t.links[0].inverse = inverse;
    accepted(&t, &placed(&t, &[(1, node(0)), (1, node(1))]));
    refused(&t, &placed(&t, &[(2, node(0))]), Rule::AntiAffinity);
    refused(&t, &placed(&t, &[(1, node(0)), (1, node(0))]), Rule::AntiAffinity);
    on_node(&mut t, 1, group, 1);
    refused(&t, &placed(&t, &[(1, node(0)), (1, node(1))]), Rule::AntiAffinity);
    t.nodes[1].counts = Span::default();
    let other = t.class(1, 100);
    t.matched(other, &[inverse]);
    let mut a = placed(&t, &[(1, node(0)), (1, node(1))]);
    a.put(other, 1, node(1));
    refused(&t, &a, Rule::InverseAntiAffinity);
    // The first of the two counts for what comes later only.
    t.classes[0].count = 1;
    let mut a = Answer::new(&t);
    a.put(other, 1, node(1));
    a.put(0, 1, node(1));
    accepted(&t, &a);
}
