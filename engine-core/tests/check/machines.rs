//! Placements on nodes to open: every machine that may come is judged.

use dunnage_engine_core::check::Rule;
use dunnage_engine_core::decision::{Target, TemplateState, Unplaced};
use dunnage_engine_core::limits;
use dunnage_engine_core::problem::*;

use crate::tables::{
    Answer, Ask, CPU, KIND, PODS, RESERVATION, Sale, Tables, ZONE, accepted, add, push, refused,
    sale,
};

const NEW: Target = Target::New(0);

/// Two pods of 1 cpu on a new node: types of 2 and 4 cpu, each in zones 0 and 1.
fn opened() -> (Tables, Answer) {
    let mut t = Tables::new();
    let small = t.instance_type(&[(ZONE, Ask::In(&[0, 1]))], &[2000], &[sale(0, 10), sale(1, 11)]);
    let large = t.instance_type(&[(ZONE, Ask::In(&[0, 1]))], &[4000], &[sale(0, 20), sale(1, 21)]);
    let template = t.template(0, &[small, large]);
    let class = t.class(2, 1000);
    let mut a = Answer::new(&t);
    a.open(&t, template, &[], &[small, large]);
    a.put(class, 2, NEW);
    a.state_requests(&t, [0; 3]);
    (t, a)
}

/// The same with the template's set, narrowed by `asks`, on the node.
fn narrowed(t: &Tables, sets: &[u32], types: &[u32]) -> Answer {
    let mut a = Answer::new(t);
    a.open(t, 0, sets, types);
    a.put(0, 2, NEW);
    a.state_requests(t, [0; 3]);
    a
}

#[test]
fn pods_that_fit_every_machine_are_accepted() {
    let (t, a) = opened();
    accepted(&t, &a);
}

#[test]
fn the_number_of_pods_is_stated() {
    let (t, mut a) = opened();
    a.new_nodes[0].pods = 1;
    refused(&t, &a, Rule::NodePods);
    let (t, mut a) = opened();
    a.open(&t, 0, &[], &[0]);
    refused(&t, &a, Rule::NodePods);
}

#[test]
fn only_an_open_template_opens_nodes() {
    let (t, mut a) = opened();
    a.templates[0] = TemplateState::NoTypes;
    refused(&t, &a, Rule::TemplateState);
}

#[test]
fn a_template_that_can_open_nodes_is_not_left_out() {
    let (mut t, mut a) = opened();
    a.new_nodes.clear();
    a.placements.clear();
    (a.sets, a.type_masks, a.requests) = (vec![], vec![], vec![]);
    a.unplaced.push(Unplaced { class: 0, count: 2, ..Default::default() });
    accepted(&t, &a);
    a.templates[0] = TemplateState::NoTypes;
    refused(&t, &a, Rule::TemplateState);
    a.templates[0] = TemplateState::MinValues;
    refused(&t, &a, Rule::TemplateState);
    t.templates[0].set = t.set(&[(ZONE, Ask::Exists)]);
    t.requirements.last_mut().expect("one row").min_values = 3;
    accepted(&t, &a);
    t.templates[0].set = t.set(&[(ZONE, Ask::In(&[2]))]);
    a.templates[0] = TemplateState::NoTypes;
    accepted(&t, &a);
}

#[test]
fn the_mask_holds_types_of_the_template() {
    let (mut t, good) = opened();
    let mut a = good.clone();
    a.type_masks[0] = 0;
    refused(&t, &a, Rule::TypeMask);
    a.type_masks[0] = 0b111;
    refused(&t, &a, Rule::Index);
    let foreign = t.instance_type(&[], &[8000], &[sale(0, 1)]);
    assert_eq!(foreign, 2);
    refused(&t, &a, Rule::TypeMask);
}

#[test]
fn the_mask_is_no_longer_than_a_launch_can_carry() {
    let mut t = Tables::new();
    let most = limits::TYPES_PER_NEW_NODE as u32;
    let types: Vec<_> = (0..=most).map(|_| t.instance_type(&[], &[2000], &[sale(0, 10)])).collect();
    t.template(0, &types);
    t.class(2, 1000);
    accepted(&t, &narrowed(&t, &[], &types[..most as usize]));
    refused(&t, &narrowed(&t, &[], &types), Rule::TypeMask);
}

#[test]
fn some_machine_can_come() {
    let (mut t, a) = opened();
    let nowhere = t.set(&[(ZONE, Ask::In(&[2]))]);
    refused(&t, &narrowed(&t, &[nowhere], &[0, 1]), Rule::NoMachine);
    t.offerings.iter_mut().for_each(|o| o.is_available = false);
    refused(&t, &a, Rule::NoMachine);
}

#[test]
fn taints_of_the_template_are_tolerated() {
    let (mut t, a) = opened();
    t.taints = vec![Taint { key: 7, value: 1, effect: Effect::NoExecute, ..Default::default() }];
    t.templates[0].taints = Span { start: 0, len: 1 };
    refused(&t, &a, Rule::Taint);
    t.taints[0].effect = Effect::PreferNoSchedule;
    accepted(&t, &a);
}

#[test]
fn machines_stay_within_the_template() {
    let (mut t, a) = opened();
    t.templates[0].set = t.set(&[(ZONE, Ask::In(&[0, 1]))]);
    // Every machine left is in one of the zones, though the node's set does not say so.
    accepted(&t, &a);
    t.templates[0].set = t.set(&[(ZONE, Ask::In(&[0]))]);
    refused(&t, &a, Rule::Template);
}

#[test]
fn the_selector_holds_on_every_machine() {
    let (mut t, a) = opened();
    let first = t.set(&[(ZONE, Ask::In(&[0]))]);
    t.classes[0].selector = first;
    refused(&t, &a, Rule::Selector);
    accepted(&t, &narrowed(&t, &[first], &[0, 1]));
    t.classes[0].selector = t.set(&[(ZONE, Ask::NotIn(&[2]))]);
    accepted(&t, &a);
    t.classes[0].selector = t.set(&[(ZONE, Ask::NotIn(&[1]))]);
    refused(&t, &a, Rule::Selector);
}

#[test]
fn a_label_that_the_pool_does_not_define_is_missing() {
    let (mut t, _) = opened();
    let key = t.key(2, false);
    let exists = t.set(&[(key, Ask::Exists)]);
    t.classes[0].selector = exists;
    refused(&t, &narrowed(&t, &[], &[0, 1]), Rule::Selector);
    // Excluding a value of a label that nobody sets does not set it.
    let other = t.set(&[(key, Ask::NotIn(&[0]))]);
    refused(&t, &narrowed(&t, &[other], &[0, 1]), Rule::Selector);
    t.classes[0].selector = other;
    accepted(&t, &narrowed(&t, &[other], &[0, 1]));
    accepted(&t, &narrowed(&t, &[], &[0, 1]));
    let listed = t.set(&[(key, Ask::In(&[0]))]);
    refused(&t, &narrowed(&t, &[listed], &[0, 1]), Rule::Selector);
    // The pool defines it.
    t.templates[0].set = exists;
    t.classes[0].selector = exists;
    accepted(&t, &narrowed(&t, &[], &[0, 1]));
    t.classes[0].selector = listed;
    refused(&t, &narrowed(&t, &[], &[0, 1]), Rule::Selector);
    accepted(&t, &narrowed(&t, &[listed], &[0, 1]));
}

#[test]
fn a_well_known_label_is_set_by_the_launch() {
    let (mut t, _) = opened();
    let key = t.key(2, true);
    let exists = t.set(&[(key, Ask::Exists)]);
    t.classes[0].selector = exists;
    accepted(&t, &narrowed(&t, &[exists], &[0, 1]));
    let none = t.set(&[(key, Ask::DoesNotExist)]);
    refused(&t, &narrowed(&t, &[none], &[0, 1]), Rule::Selector);
    t.classes[0].selector = none;
    refused(&t, &narrowed(&t, &[exists], &[0, 1]), Rule::Selector);
    accepted(&t, &narrowed(&t, &[none], &[0, 1]));
}

#[test]
fn bounds_hold_on_every_machine() {
    let (mut t, a) = opened();
    t.classes[0].selector = t.set(&[(ZONE, Ask::Gt(0))]);
    refused(&t, &a, Rule::Selector);
    let second = t.set(&[(ZONE, Ask::In(&[1]))]);
    let mut a = narrowed(&t, &[second], &[0, 1]);
    a.sell(&t, 0, 0, 1);
    accepted(&t, &a);
}

#[test]
fn one_required_term_holds_whichever_machine_comes() {
    let (mut t, a) = opened();
    let terms = [t.term(&[(ZONE, Ask::In(&[0]))]), t.term(&[(ZONE, Ask::In(&[1]))])];
    t.classes[0].required = push(&mut t.terms, &terms);
    refused(&t, &a, Rule::Term);
    accepted(&t, &narrowed(&t, &[terms[0].set], &[0, 1]));
    let both = [t.term(&[(ZONE, Ask::In(&[0, 1]))])];
    t.classes[0].required = push(&mut t.terms, &both);
    accepted(&t, &a);
}

#[test]
fn one_volume_alternative_holds_whichever_machine_comes() {
    let (mut t, a) = opened();
    let sets = [t.set(&[(ZONE, Ask::In(&[0]))]), t.set(&[(ZONE, Ask::In(&[1]))])];
    t.classes[0].volume_alternatives = push(&mut t.volume_alternatives, &sets);
    refused(&t, &a, Rule::Volume);
    accepted(&t, &narrowed(&t, &[sets[0]], &[0, 1]));
}

#[test]
fn device_claims_are_not_placed() {
    let (mut t, a) = opened();
    t.classes[0].has_device_claims = true;
    refused(&t, &a, Rule::DeviceClaims);
}

#[test]
fn every_type_is_large_enough() {
    let (mut t, mut a) = opened();
    let row = t.variants[0].allocatable as usize * 3;
    t.quantities[row + CPU] = 1999;
    refused(&t, &a, Rule::Resource);
    a.type_masks[0] = 0b10;
    a.sell(&t, 0, 1, 0);
    accepted(&t, &a);
    let pods = t.variants[1].allocatable as usize * 3 + PODS;
    t.quantities[pods] = 1;
    refused(&t, &a, Rule::Resource);
}

#[test]
fn daemons_are_counted_on_every_type() {
    let (mut t, mut a) = opened();
    let requests = t.amounts([500, 0, 1]);
    let daemon = Daemon { requests, ..Default::default() };
    add(&mut t.daemons, daemon);
    refused(&t, &a, Rule::Resource);
    let row = t.variants[0].allocatable as usize * 3;
    t.quantities[row + CPU] = 2500;
    refused(&t, &a, Rule::Requests);
    a.state_requests(&t, [500, 0, 1]);
    accepted(&t, &a);
    // It does not run in zones that no type has, or where it tolerates no taint.
    let terms = [t.term(&[(ZONE, Ask::In(&[2]))])];
    t.daemons[0].required = push(&mut t.terms, &terms);
    a.state_requests(&t, [0; 3]);
    accepted(&t, &a);
    t.daemons[0].required = Span::default();
    let taint = Taint { key: 7, ..Default::default() };
    t.templates[0].taints = push(&mut t.taints, &[taint]);
    let all = Toleration { operator: TolerationOperator::Exists, ..Default::default() };
    t.classes[0].tolerations = push(&mut t.tolerations, &[all]);
    accepted(&t, &a);
}

#[test]
fn requests_are_stated_with_the_least_overhead() {
    let (mut t, mut a) = opened();
    let requests = t.amounts([100, 0, 1]);
    let selector = t.set(&[(ZONE, Ask::In(&[2]))]);
    add(&mut t.daemons, Daemon { requests, selector, ..Default::default() });
    t.types[1].set = t.set(&[(ZONE, Ask::In(&[0, 1, 2]))]);
    accepted(&t, &a);
    a.state_requests(&t, [100, 0, 1]);
    refused(&t, &a, Rule::Requests);
    a.type_masks[0] = 0b10;
    a.sell(&t, 0, 1, 0);
    accepted(&t, &a);
}

#[test]
fn host_ports_do_not_clash_with_pods_or_daemons() {
    let (mut t, mut a) = opened();
    t.ports = vec![HostPort { address: 0, port: 80, protocol: 1 }];
    t.classes[0].ports = Span { start: 0, len: 1 };
    refused(&t, &a, Rule::HostPort);
    a.placements[0].count = 1;
    a.new_nodes[0].pods = 1;
    a.unplaced.push(Unplaced { class: 0, count: 1, ..Default::default() });
    a.state_requests(&t, [0; 3]);
    accepted(&t, &a);
    let requests = t.amounts([0, 0, 0]);
    add(&mut t.daemons, Daemon { requests, ports: t.classes[0].ports, ..Default::default() });
    refused(&t, &a, Rule::HostPort);
    t.daemons[0].selector = t.set(&[(ZONE, Ask::In(&[2]))]);
    accepted(&t, &a);
}

#[test]
fn the_stated_offering_can_be_had_and_is_the_cheapest() {
    let (mut t, good) = opened();
    let mut a = good.clone();
    a.new_nodes[0].price_microusd = 9;
    refused(&t, &a, Rule::Price);
    a.sell(&t, 0, 0, 1);
    refused(&t, &a, Rule::Cheapest);
    a.new_nodes[0].instance_type = 1;
    refused(&t, &a, Rule::Offering);
    a.new_nodes[0].offering = 99;
    refused(&t, &a, Rule::Index);
    t.offerings[0].is_available = false;
    refused(&t, &good, Rule::Offering);
    a.sell(&t, 0, 0, 1);
    accepted(&t, &a);
    // One of the same price is as good.
    t.offerings[0].is_available = true;
    t.offerings[1].price_microusd = 10;
    a.sell(&t, 0, 0, 1);
    accepted(&t, &a);
}

#[test]
fn an_offering_counts_with_the_size_that_it_brings() {
    let mut t = Tables::new();
    let larger = Sale { variant: 1, ..sale(1, 30) };
    t.instance_type(&[], &[1000, 2000], &[sale(0, 10), larger]);
    t.template(0, &[0]);
    t.class(2, 1000);
    let mut a = narrowed(&t, &[], &[0]);
    refused(&t, &a, Rule::Offering);
    a.sell(&t, 0, 0, 1);
    accepted(&t, &a);
    let first = t.set(&[(ZONE, Ask::In(&[0]))]);
    refused(&t, &narrowed(&t, &[first], &[0]), Rule::Resource);
}

#[test]
fn min_values_are_kept() {
    let (mut t, _) = opened();
    t.templates[0].set = t.set(&[(ZONE, Ask::Exists)]);
    let row = t.requirements.len() - 1;
    t.requirements[row].min_values = 2;
    accepted(&t, &narrowed(&t, &[], &[0, 1]));
    let first = t.set(&[(ZONE, Ask::In(&[0]))]);
    let mut a = narrowed(&t, &[first], &[0, 1]);
    refused(&t, &a, Rule::MinValues);
    // Lowered to the one that is left, where lowering is allowed.
    a.sets[0] = a.sets[0] & 0xffff | 1 << 16;
    refused(&t, &a, Rule::MinValues);
    a.new_nodes[0].is_min_values_lowered = true;
    refused(&t, &a, Rule::MinValues);
    t.rules.lowers_min_values = true;
    accepted(&t, &a);
    a.sets[0] += 1 << 16;
    refused(&t, &a, Rule::MinValues);
}

#[test]
fn limits_count_the_largest_machine() {
    let (mut t, a) = opened();
    t.templates[0].limit = t.amounts([5000, 0, 0]);
    t.templates[0].limited = 1;
    t.templates[0].usage = t.amounts([1000, 99, 99]);
    accepted(&t, &a);
    t.templates[0].usage = t.amounts([1001, 0, 0]);
    refused(&t, &a, Rule::Limit);
    t.templates[0].limited = 0;
    accepted(&t, &a);
    // A limit that is used up does not concern machines with none of it.
    t.types.iter().for_each(|x| t.quantities[x.capacity as usize * 3 + 1] = 0);
    t.templates[0].limited = 2;
    accepted(&t, &a);
}

#[test]
fn the_node_limit_counts_new_nodes() {
    let (mut t, a) = opened();
    t.templates[0].node_limit = Some(3);
    t.templates[0].node_usage = 2;
    accepted(&t, &a);
    t.templates[0].node_usage = 3;
    t.rules = Rules::KARPENTER;
    refused(&t, &a, Rule::NodeLimit);
}

#[test]
fn reservations_are_not_overbooked() {
    let mut t = Tables::new();
    let reserved = Sale { kind: CapacityType::Reserved, reservation: 0, ..sale(0, 1) };
    t.reservations = vec![1, 0];
    t.instance_type(&[], &[2000], &[reserved, sale(0, 10)]);
    t.template(0, &[0]);
    t.class(4, 1000);
    let held = t.set(&[(KIND, Ask::In(&[0])), (RESERVATION, Ask::In(&[0]))]);
    let mut a = Answer::new(&t);
    for row in 0..2 {
        a.open(&t, 0, &[held], &[0]);
        a.new_nodes[row].is_reserved = true;
        a.put(0, 2, Target::New(row as u32));
    }
    a.state_requests(&t, [0; 3]);
    refused(&t, &a, Rule::Reservation);
    t.reservations[0] = 2;
    accepted(&t, &a);
    // A node that holds none cannot get the reserved offering.
    a.new_nodes[1].is_reserved = false;
    refused(&t, &a, Rule::NoMachine);
}

#[test]
fn tables_have_their_length() {
    let (t, good) = opened();
    let break_it: [fn(&mut Answer); 7] = [
        |a| a.type_words = 2,
        |a| a.set_words -= 1,
        |a| a.requests.truncate(2),
        |a| a.sets.truncate(1),
        |a| a.type_masks.clear(),
        |a| a.templates.clear(),
        |a| {
            let reasons = Span { start: 0, len: 1 };
            a.unplaced.push(Unplaced { class: 0, count: 0, reasons });
        },
    ];
    for change in break_it {
        let mut a = good.clone();
        change(&mut a);
        refused(&t, &a, Rule::Shape);
    }
}
