//! Good decisions with one thing changed: each that trial finds infeasible is refused.

use std::collections::BTreeMap;

use dunnage_engine_core::decision::{Target, TemplateState};

use crate::generated::{Rng, generate, placed};
use crate::tables::{Answer, Tables, verify};
use crate::truth;

/// Infeasible corruptions of each kind that must be seen.
const WANTED: usize = 1000;

/// Changes one field of one row; says which.
fn corrupt(t: &Tables, a: &mut Answer, rng: &mut Rng) -> Option<&'static str> {
    let step = if rng.chance(50) { 1 } else { u32::MAX };
    let node = rng.below(a.new_nodes.len() as u32) as usize;
    let placement = rng.below(a.placements.len() as u32) as usize;
    let has_node = !a.new_nodes.is_empty();
    let has_placement = !a.placements.is_empty();
    Some(match rng.below(17) {
        0 if has_placement => {
            a.placements[placement].class = rng.below(t.classes.len() as u32 + 1);
            "placement.class"
        }
        1 if has_placement => {
            let count = &mut a.placements[placement].count;
            *count = count.wrapping_add(step);
            "placement.count"
        }
        2 | 3 if has_placement => {
            a.placements[placement].target = target(t, a, rng);
            "placement.target"
        }
        4 if !a.unplaced.is_empty() => {
            let row = rng.below(a.unplaced.len() as u32) as usize;
            a.unplaced[row].count = a.unplaced[row].count.wrapping_add(step);
            "unplaced.count"
        }
        5 if !a.unplaced.is_empty() => {
            let row = rng.below(a.unplaced.len() as u32) as usize;
            a.unplaced[row].class = rng.below(t.classes.len() as u32 + 1);
            "unplaced.class"
        }
        6 if has_node => {
            a.new_nodes[node].template = rng.below(t.templates.len() as u32 + 1);
            "new_node.template"
        }
        7 if has_node => {
            a.new_nodes[node].pods = a.new_nodes[node].pods.wrapping_add(step);
            "new_node.pods"
        }
        8 if has_node => {
            a.new_nodes[node].offering = rng.below(t.offerings.len() as u32 + 1);
            "new_node.offering"
        }
        9 if has_node => {
            a.new_nodes[node].instance_type = rng.below(t.types.len() as u32 + 1);
            "new_node.instance_type"
        }
        10 if has_node => {
            a.new_nodes[node].price_microusd += if step == 1 { 1 } else { -1 };
            "new_node.price"
        }
        11 if has_node => {
            let row = &mut a.new_nodes[node];
            if rng.chance(50) {
                row.is_reserved ^= true;
                "new_node.is_reserved"
            } else {
                row.is_min_values_lowered ^= true;
                "new_node.is_min_values_lowered"
            }
        }
        12 | 13 if has_node => {
            a.type_masks[node * a.type_words] ^= 1 << rng.below(t.types.len() as u32 + 1);
            "type_masks"
        }
        14 if has_node => {
            let key = rng.below(t.keys.len() as u32) as usize;
            let values = t.keys[key].values.len;
            let (word, bit) = match rng.below(4) {
                0 => (0, rng.below(2)),
                1 => (0, 16 + rng.below(2)),
                _ => (3, rng.below(values)),
            };
            a.sets[node * a.set_words + key * 4 + word] ^= 1 << bit;
            "sets"
        }
        15 if has_node => {
            let cell = node * t.resources.len() + rng.below(t.resources.len() as u32) as usize;
            a.requests[cell] += if step == 1 { 1 } else { -1 };
            "requests"
        }
        16 => {
            let row = rng.below(a.templates.len() as u32) as usize;
            let state = [TemplateState::Open, TemplateState::NoTypes, TemplateState::MinValues];
            a.templates[row] = state[rng.below(3) as usize];
            "templates"
        }
        _ => return None,
    })
}

fn target(t: &Tables, a: &Answer, rng: &mut Rng) -> Target {
    let (nodes, new) = (t.nodes.len() as u32, a.new_nodes.len() as u32);
    let row = rng.below(nodes + new + 1);
    if row < nodes { Target::Node(row) } else { Target::New(row - nodes) }
}

/// Moves a placement, or changes its place in the order, and mends every sum that depends on
/// it, so that only the rules themselves can tell.
fn carry_over(t: &Tables, a: &mut Answer, rng: &mut Rng) -> Option<&'static str> {
    if a.placements.is_empty() {
        return None;
    }
    let from = rng.below(a.placements.len() as u32) as usize;
    let name = if rng.chance(70) {
        let to = target(t, a, rng);
        let exists = match to {
            Target::Node(_) => true,
            Target::New(n) => (n as usize) < a.new_nodes.len(),
        };
        if !exists || to == a.placements[from].target {
            return None;
        }
        a.placements[from].target = to;
        "moved"
    } else {
        let to = rng.below(a.placements.len() as u32) as usize;
        a.placements.swap(from, to);
        "reordered"
    };
    let width = t.resources.len();
    let sums = |p: &Answer, n: usize| {
        let mut row = vec![0; width];
        for p in p.placements.iter().filter(|p| p.target == Target::New(n as u32)) {
            let one = t.classes[p.class as usize].requests as usize * width;
            (0..width).for_each(|r| row[r] += t.quantities[one + r] * i64::from(p.count));
        }
        row
    };
    for n in 0..a.new_nodes.len() {
        let own = a.placements.iter().filter(|p| p.target == Target::New(n as u32));
        a.new_nodes[n].pods = own.map(|p| p.count).sum();
    }
    for n in 0..a.new_nodes.len() {
        let now = sums(a, n);
        a.requests[n * width..][..width].copy_from_slice(&now);
    }
    overhead(t, a);
    a.new_nodes.iter().all(|n| n.pods > 0).then_some(name)
}

/// Adds to the requests of new nodes what the DaemonSets of their types ask for at least.
fn overhead(t: &Tables, a: &mut Answer) {
    for n in 0..a.new_nodes.len() {
        let least = truth::least_overhead(t, a, n);
        let width = t.resources.len();
        a.requests[n * width..].iter_mut().zip(least).for_each(|(cell, more)| *cell += more);
    }
}

type Change = fn(&Tables, &mut Answer, &mut Rng) -> Option<&'static str>;

/// Changes good decisions until enough of them are infeasible; how many, by kind of change
/// and by the rule that refused them.
fn refuse_all(change: Change, salt: u64) {
    let (mut infeasible, mut harmless, mut strict) = (0, 0, 0);
    let mut by_rule: BTreeMap<_, u32> = BTreeMap::new();
    let mut by_kind: BTreeMap<_, u32> = BTreeMap::new();
    let mut seed = 0;
    while infeasible < WANTED {
        seed += 1;
        assert!(seed < 50_000, "only {infeasible} infeasible changes");
        let t = generate(seed);
        let good = placed(&t);
        if verify(&t, &good).is_err() || truth::violation(&t, &good, &mut Rng(seed)).is_some() {
            continue;
        }
        let rng = &mut Rng(seed ^ salt);
        let mut bad = good.clone();
        let Some(kind) = change(&t, &mut bad, rng) else { continue };
        let verdict = verify(&t, &bad);
        match (truth::violation(&t, &bad, rng), verdict) {
            (Some(found), Ok(())) => panic!("seed {seed}, {kind} is accepted; by trial: {found}"),
            (Some(_), Err(v)) => {
                infeasible += 1;
                *by_rule.entry(v.rule).or_default() += 1;
                *by_kind.entry(kind).or_default() += 1;
            }
            (None, Ok(())) => harmless += 1,
            (None, Err(_)) => strict += 1,
        }
    }
    println!(
        "{infeasible} infeasible, all refused; {harmless} harmless, {strict} refused all the same"
    );
    println!("{by_kind:?}\n{by_rule:?}");
    assert!(strict * 20 <= infeasible, "{strict} refused though no trial breaks");
}

#[test]
fn every_infeasible_corruption_of_one_field_is_refused() {
    refuse_all(corrupt, 0x5eed);
}

#[test]
fn every_infeasible_move_of_pods_is_refused() {
    refuse_all(carry_over, 0xcafe);
}
