//! Tables full of rubbish are answered, never a panic.

use dunnage_engine_core::check::Rule;
use dunnage_engine_core::decision::Target;
use dunnage_engine_core::problem::{NONE, Span};

use crate::generated::{Rng, generate, placed};
use crate::tables::{Answer, Tables, verify};

/// A row number that may or may not exist.
fn any(rng: &mut Rng) -> u32 {
    match rng.below(4) {
        0 => NONE,
        1 => u32::MAX - 1,
        _ => rng.below(40),
    }
}

fn row<T>(table: &mut [T], rng: &mut Rng, change: impl FnOnce(&mut T, u32)) {
    let at = rng.below(table.len() as u32) as usize;
    let value = any(rng);
    if let Some(row) = table.get_mut(at) {
        change(row, value);
    }
}

fn span(rng: &mut Rng) -> Span {
    Span { start: any(rng), len: any(rng) }
}

fn spoil_problem(t: &mut Tables, rng: &mut Rng) {
    let s = span(rng);
    match rng.below(34) {
        0 => row(&mut t.keys, rng, |r, _| r.values = s),
        1 => row(&mut t.sets, rng, |r, _| *r = s),
        2 => row(&mut t.requirements, rng, |r, v| r.key = v),
        3 => row(&mut t.requirements, rng, |r, _| r.values = s),
        4 => row(&mut t.requirement_values, rng, |r, v| *r = v),
        5 => t.resources.truncate(rng.below(3) as usize),
        6 => t.quantities.truncate(rng.below(t.quantities.len() as u32) as usize),
        7 => row(&mut t.templates, rng, |r, v| r.set = v),
        8 => row(&mut t.templates, rng, |r, _| r.types = s),
        9 => row(&mut t.templates, rng, |r, v| (r.limit, r.limited) = (v, 7)),
        10 => row(&mut t.templates, rng, |r, _| r.taints = s),
        11 => row(&mut t.template_types, rng, |r, v| *r = v),
        12 => row(&mut t.types, rng, |r, _| r.offerings = s),
        13 => row(&mut t.types, rng, |r, _| r.variants = s),
        14 => row(&mut t.types, rng, |r, v| r.capacity = v),
        15 => row(&mut t.variants, rng, |r, v| r.allocatable = v),
        16 => row(&mut t.offerings, rng, |r, v| r.reservation = v),
        17 => row(&mut t.offerings, rng, |r, v| r.variant = v as u16),
        18 => row(&mut t.offerings, rng, |r, _| r.labels = s),
        19 => row(&mut t.offering_labels, rng, |r, v| r.value = v),
        20 => row(&mut t.offering_labels, rng, |r, v| r.key = v),
        21 => row(&mut t.daemons, rng, |r, v| (r.requests, r.required) = (v, s)),
        22 => row(&mut t.nodes, rng, |r, v| (r.set, r.counts) = (v, s)),
        23 => row(&mut t.nodes, rng, |r, v| (r.available, r.volumes) = (v, s)),
        24 => row(&mut t.node_counts, rng, |r, v| r.group = v),
        25 => row(&mut t.classes, rng, |r, v| r.requests = v),
        26 => row(&mut t.classes, rng, |r, _| (r.links, r.matches) = (s, s)),
        27 => row(&mut t.classes, rng, |r, v| (r.selector, r.ports) = (v, s)),
        28 => row(&mut t.links, rng, |r, v| r.group = v),
        29 => row(&mut t.links, rng, |r, v| r.inverse = v),
        30 => row(&mut t.matches, rng, |r, v| *r = v),
        31 => row(&mut t.groups, rng, |r, v| (r.key, r.domains) = (v, s)),
        32 => row(&mut t.groups, rng, |r, v| (r.is_hostname, r.min_domains) = (v % 2 == 0, v)),
        _ => row(&mut t.domains, rng, |r, v| r.value = v),
    }
}

fn spoil_answer(a: &mut Answer, rng: &mut Rng) {
    match rng.below(10) {
        0 => row(&mut a.new_nodes, rng, |r, v| r.template = v),
        1 => row(&mut a.new_nodes, rng, |r, v| (r.offering, r.instance_type) = (v, v)),
        2 => row(&mut a.placements, rng, |r, v| (r.class, r.count) = (v, v)),
        3 => row(&mut a.placements, rng, |r, v| r.target = Target::New(v)),
        4 => row(&mut a.placements, rng, |r, v| r.target = Target::Node(v)),
        5 => row(&mut a.unplaced, rng, |r, v| r.class = v),
        6 => a.type_words = any(rng) as usize,
        7 => a.set_words = any(rng) as usize,
        8 => {
            let word = rng.next();
            row(&mut a.type_masks, rng, |r, _| *r = word);
        }
        _ => {
            let word = rng.next();
            row(&mut a.sets, rng, |r, _| *r = word);
        }
    }
}

#[test]
fn rubbish_is_refused_or_harmless() {
    let (mut tables, mut rows) = (0, 0);
    for seed in 0..4000 {
        let rng = &mut Rng(seed);
        let mut t = generate(seed % 500);
        let mut a = placed(&t);
        for _ in 0..1 + rng.below(3) {
            if rng.chance(60) { spoil_problem(&mut t, rng) } else { spoil_answer(&mut a, rng) }
        }
        match verify(&t, &a).map_err(|v| v.rule) {
            Err(Rule::Problem) => tables += 1,
            Err(Rule::Shape | Rule::Index) => rows += 1,
            _ => {}
        }
    }
    println!("{tables} problems and {rows} decisions found malformed");
    assert!(tables > 1000 && rows > 300, "{tables} problems, {rows} decisions");
}
