//! Placements on nodes that exist: one test for each rule.

use dunnage_engine_core::check::Rule;
use dunnage_engine_core::decision::{Target, Unplaced};
use dunnage_engine_core::problem::*;

use crate::tables::{Answer, Ask, CPU, RESERVATION, Tables, ZONE, accepted, add, push, refused};

const NODE: Target = Target::Node(0);

/// Two pods of 1 cpu on a node in zone 1 with 4 cpu.
fn two_pods() -> (Tables, Answer) {
    let mut t = Tables::new();
    t.node(&[(ZONE, 1)], 4000);
    let class = t.class(2, 1000);
    let mut a = Answer::new(&t);
    a.put(class, 2, NODE);
    (t, a)
}

#[test]
fn pods_that_fit_are_accepted() {
    let (t, a) = two_pods();
    accepted(&t, &a);
}

#[test]
fn every_pod_is_accounted_for_once() {
    let (t, good) = two_pods();
    let mut a = good.clone();
    a.placements[0].count = 1;
    refused(&t, &a, Rule::Count);
    a.unplaced.push(Unplaced { class: 0, count: 1, ..Default::default() });
    accepted(&t, &a);
    a.unplaced.push(a.unplaced[0]);
    refused(&t, &a, Rule::Shape);
    let mut a = good;
    a.put(0, 1, NODE);
    refused(&t, &a, Rule::Count);
}

#[test]
fn rows_must_exist() {
    let (t, good) = two_pods();
    let mut a = good.clone();
    a.placements[0].class = 1;
    refused(&t, &a, Rule::Index);
    let mut a = good.clone();
    a.placements[0].target = Target::Node(1);
    refused(&t, &a, Rule::Index);
    let mut a = good.clone();
    a.placements[0].target = Target::New(0);
    refused(&t, &a, Rule::Index);
    let mut broken = t;
    broken.classes[0].requests = 99;
    refused(&broken, &good, Rule::Problem);
}

#[test]
fn taints_are_tolerated_or_only_preferred() {
    let (mut t, a) = two_pods();
    t.taints = vec![Taint { key: 7, value: 1, ..Default::default() }];
    t.nodes[0].taints = Span { start: 0, len: 1 };
    refused(&t, &a, Rule::Taint);
    t.tolerations = vec![Toleration { key: 7, value: 2, ..Default::default() }];
    t.classes[0].tolerations = Span { start: 0, len: 1 };
    refused(&t, &a, Rule::Taint);
    t.tolerations[0].value = 1;
    accepted(&t, &a);
    t.tolerations[0].effect = Some(Effect::NoExecute);
    refused(&t, &a, Rule::Taint);
    t.taints[0].effect = Effect::PreferNoSchedule;
    accepted(&t, &a);
}

#[test]
fn tolerations_compare_numbers() {
    let (mut t, a) = two_pods();
    t.taints = vec![Taint { key: 7, value: 1, integer: Some(5), ..Default::default() }];
    t.nodes[0].taints = Span { start: 0, len: 1 };
    t.classes[0].tolerations = Span { start: 0, len: 1 };
    let toleration = |operator, integer| Toleration {
        key: 7,
        operator,
        integer: Some(integer),
        ..Default::default()
    };
    for (operator, integer, is_tolerated) in [
        (TolerationOperator::Lt, 6, true),
        (TolerationOperator::Lt, 5, false),
        (TolerationOperator::Gt, 4, true),
        (TolerationOperator::Gt, 5, false),
    ] {
        t.tolerations = vec![toleration(operator, integer)];
        if is_tolerated { accepted(&t, &a) } else { refused(&t, &a, Rule::Taint) }
    }
    t.tolerations = vec![Toleration { operator: TolerationOperator::Exists, ..Default::default() }];
    accepted(&t, &a);
}

#[test]
fn the_selector_holds_on_real_labels() {
    let (mut t, a) = two_pods();
    for (key, ask, is_met) in [
        (ZONE, Ask::In(&[1, 2]), true),
        (ZONE, Ask::In(&[0, 2]), false),
        (ZONE, Ask::NotIn(&[0]), true),
        (ZONE, Ask::NotIn(&[1]), false),
        (ZONE, Ask::Exists, true),
        (ZONE, Ask::DoesNotExist, false),
        (ZONE, Ask::Gt(0), true),
        (ZONE, Ask::Gt(1), false),
        // The label is well known, but this node does not have it.
        (RESERVATION, Ask::In(&[0]), false),
        (RESERVATION, Ask::Exists, false),
        (RESERVATION, Ask::Gt(0), false),
        (RESERVATION, Ask::NotIn(&[0]), true),
        (RESERVATION, Ask::DoesNotExist, true),
    ] {
        t.classes[0].selector = t.set(&[(key, ask)]);
        if is_met { accepted(&t, &a) } else { refused(&t, &a, Rule::Selector) }
    }
}

#[test]
fn a_node_does_not_take_on_what_pods_ask_for() {
    let (mut t, mut a) = two_pods();
    t.rules = Rules::KARPENTER;
    let key = t.key(2, false);
    a.set_words += 4;
    t.classes[0].selector = t.set(&[(key, Ask::NotIn(&[0]))]);
    accepted(&t, &a);
    let second = t.class(1, 100);
    t.classes[second as usize].selector = t.set(&[(key, Ask::In(&[1]))]);
    a.put(second, 1, NODE);
    refused(&t, &a, Rule::Selector);
}

#[test]
fn one_required_term_holds() {
    let (mut t, a) = two_pods();
    let terms = [t.term(&[(ZONE, Ask::In(&[0]))]), t.term(&[(ZONE, Ask::In(&[2]))])];
    t.classes[0].required = push(&mut t.terms, &terms);
    refused(&t, &a, Rule::Term);
    let terms = [terms[0], t.term(&[(ZONE, Ask::In(&[1]))])];
    t.classes[0].required = push(&mut t.terms, &terms);
    accepted(&t, &a);
}

#[test]
fn one_volume_alternative_holds() {
    let (mut t, a) = two_pods();
    let other = t.set(&[(ZONE, Ask::In(&[0]))]);
    let own = t.set(&[(ZONE, Ask::In(&[1]))]);
    t.classes[0].volume_alternatives = push(&mut t.volume_alternatives, &[other]);
    refused(&t, &a, Rule::Volume);
    t.classes[0].volume_alternatives = push(&mut t.volume_alternatives, &[other, own]);
    accepted(&t, &a);
}

#[test]
fn device_claims_are_not_placed() {
    let (mut t, a) = two_pods();
    t.classes[0].has_device_claims = true;
    refused(&t, &a, Rule::DeviceClaims);
}

#[test]
fn requests_fit_into_what_is_left() {
    let (mut t, a) = two_pods();
    let row = t.nodes[0].available as usize * 3;
    t.quantities[row + CPU] = 2000;
    accepted(&t, &a);
    t.quantities[row + CPU] = 1999;
    refused(&t, &a, Rule::Resource);
    // A resource that the node does not have, and one that is overdrawn.
    t.quantities[row + CPU] = ABSENT;
    refused(&t, &a, Rule::Resource);
    t.quantities[row + CPU] = 2000;
    let asked = t.classes[0].requests as usize * 3;
    t.quantities[asked + 1] = 0;
    t.quantities[row + 1] = -5;
    accepted(&t, &a);
    t.quantities[asked + 1] = 1;
    refused(&t, &a, Rule::Resource);
}

#[test]
fn room_is_kept_for_daemons_to_come() {
    let (mut t, a) = two_pods();
    let requests = t.amounts([3000, 0, 1]);
    let daemon = Daemon { requests, ..Default::default() };
    add(&mut t.daemons, daemon);
    refused(&t, &a, Rule::Resource);
    t.nodes[0].daemon_requests = t.amounts([1000, 0, 1]);
    accepted(&t, &a);
    t.nodes[0].daemon_requests = NONE;
    let terms = [t.term(&[(ZONE, Ask::In(&[0]))]), t.term(&[(ZONE, Ask::In(&[2]))])];
    t.daemons[0].required = push(&mut t.terms, &terms);
    accepted(&t, &a);
    // Every term counts, not the first alone.
    let terms = [terms[0], t.term(&[(ZONE, Ask::In(&[1]))])];
    t.daemons[0].required = push(&mut t.terms, &terms);
    refused(&t, &a, Rule::Resource);
}

#[test]
fn host_ports_do_not_clash() {
    let (mut t, _) = two_pods();
    let port = |address, port| HostPort { address, port, protocol: 1 };
    t.ports = vec![port(0, 80), port(1, 80), port(2, 80), port(1, 81)];
    let ports = |row| Span { start: row, len: 1 };
    let other = t.class(1, 100);
    t.classes[0].ports = ports(1);
    let mut a = Answer::new(&t);
    a.put(0, 2, NODE);
    a.put(other, 1, NODE);
    refused(&t, &a, Rule::HostPort);
    a.placements[0].count = 1;
    a.unplaced.push(Unplaced { class: 0, count: 1, ..Default::default() });
    accepted(&t, &a);
    for (row, clashes) in [(0, true), (1, true), (2, false), (3, false)] {
        t.classes[other as usize].ports = ports(row);
        if clashes { refused(&t, &a, Rule::HostPort) } else { accepted(&t, &a) }
    }
    t.nodes[0].ports = ports(3);
    refused(&t, &a, Rule::HostPort);
}

#[test]
fn volumes_stay_within_the_attach_limit() {
    let (mut t, mut a) = two_pods();
    t.node_volumes = vec![NodeVolume { driver: 3, limit: 4, used: 2 }];
    t.nodes[0].volumes = Span { start: 0, len: 1 };
    let own = |count| VolumeUse { driver: 3, claim: NONE, count };
    t.volume_uses = vec![own(1)];
    t.classes[0].volume_uses = Span { start: 0, len: 1 };
    accepted(&t, &a);
    t.volume_uses[0] = own(2);
    refused(&t, &a, Rule::AttachLimit);
    t.volume_uses[0].driver = 4;
    accepted(&t, &a);
    // A shared claim counts once for all its pods, and not at all when it is there already.
    t.node_volumes[0].limit = 3;
    t.volume_uses[0] = VolumeUse { driver: 3, claim: 9, count: 1 };
    let other = t.class(1, 100);
    t.classes[other as usize].volume_uses =
        push(&mut t.volume_uses, &[VolumeUse { driver: 3, claim: 9, count: 1 }]);
    a.put(other, 1, NODE);
    accepted(&t, &a);
    t.volume_uses[1].claim = 8;
    refused(&t, &a, Rule::AttachLimit);
    t.node_claims = vec![8];
    t.nodes[0].claims = Span { start: 0, len: 1 };
    accepted(&t, &a);
}
