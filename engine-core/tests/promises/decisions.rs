//! Decisions of random problems.

use dunnage_benches::draw::Draw;
use dunnage_benches::fuzz_targets::check_problem;
use dunnage_benches::problems::{self, Size, problem};
use dunnage_benches::room::Room;
use dunnage_benches::tables::Tables;
use dunnage_engine_core::decision::{Decision, Target};
use dunnage_engine_core::limits::TYPES_PER_NEW_NODE;
use dunnage_engine_core::problem::{NONE, Rules};

fn each(seeds: std::ops::Range<u64>, size: Size, test: impl Fn(&Tables)) {
    for seed in seeds {
        let tables = problem(&mut Draw::seeded(seed), size);
        let told = Told(seed);
        test(&tables);
        drop(told);
    }
}

/// Prints the seed of a test that fails.
struct Told(u64);

impl Drop for Told {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("seed {}", self.0);
        }
    }
}

#[test]
fn mended_decisions_pass_the_check_and_lose_no_pod() {
    each(0..2000, Size::SMALL, |t| check_problem(&t.problem(Rules::MENDED)));
    each(0..30, Size::WIDE, |t| check_problem(&t.problem(Rules::MENDED)));
    each(0..3, Size::MANY_TYPES, |t| {
        assert!(t.types.len() > TYPES_PER_NEW_NODE, "{} types", t.types.len());
        check_problem(&t.problem(Rules::MENDED));
    });
}

#[test]
fn other_rules_lose_no_pod() {
    each(0..1000, Size::SMALL, |t| check_problem(&t.problem(Rules::KARPENTER)));
    each(0..20, Size::WIDE, |t| check_problem(&t.problem(Rules::KARPENTER)));
    for seed in 0..1000 {
        let mut draw = Draw::seeded(seed);
        let rules = problems::rules(&mut draw);
        check_problem(&problem(&mut draw, Size::SMALL).problem(rules));
    }
}

/// The random problems exercise what they are for.
#[test]
fn random_problems_place_pods_everywhere_and_leave_some() {
    let (mut on_nodes, mut on_new, mut left, mut relaxed) = (0, 0, 0, 0);
    for seed in 0..500 {
        let tables = problem(&mut Draw::seeded(seed), Size::SMALL);
        let p = tables.problem(Rules::MENDED);
        let mut room = Room::largest(&p);
        let d = room.place(&p).expect("the largest caps suffice");
        for row in d.placements {
            match row.target {
                Target::Node(_) => on_nodes += row.count,
                Target::New(_) => on_new += row.count,
            }
            relaxed += if row.relaxed > 0 { row.count } else { 0 };
        }
        left += d.unplaced.iter().map(|u| u.count).sum::<u32>();
    }
    let all = on_nodes + on_new + left;
    println!(
        "{all} pods: {on_nodes} on nodes, {on_new} on new ones, {left} left, {relaxed} relaxed"
    );
    assert!(on_nodes * 10 > all && on_new * 5 > all && left * 5 > all && relaxed * 50 > all);
}

/// Everything of a decision except the effort, as text: equal text, equal answer.
fn written(d: &Decision) -> String {
    format!("{:?}", Decision { effort: Default::default(), ..*d })
}

#[test]
fn the_same_problem_gives_the_same_bytes_whatever_the_memory_held() {
    for size in [Size::SMALL, Size::WIDE] {
        each(0..100, size, |t| {
            let p = t.problem(Rules::MENDED);
            let mut room = Room::largest(&p);
            let first = written(&room.place(&p).expect("solved"));
            // The memory now holds what the first solve left.
            assert_eq!(written(&room.place(&p).expect("solved")), first);
            let mut other = Room::largest(&p);
            assert_eq!(written(&other.place(&p).expect("solved")), first);
        });
    }
}

/// Rows of equal content may stand anywhere: sets, spans and amounts that no order gives a
/// meaning are stored in reverse, and the answer is the same.
#[test]
fn where_rows_without_an_order_are_stored_changes_nothing() {
    each(0..500, Size::SMALL, |t| {
        let moved = moved(t);
        for rules in [Rules::MENDED, Rules::KARPENTER] {
            let (p, q) = (t.problem(rules), moved.problem(rules));
            let (mut room, mut other) = (Room::largest(&p), Room::largest(&q));
            let (a, b) = (room.place(&p).expect("solved"), other.place(&q).expect("solved"));
            assert_eq!(written(&a), written(&b));
        }
    });
}

/// The same problem with the rows of `sets`, `quantities` and `terms` elsewhere.
fn moved(t: &Tables) -> Tables {
    let mut m = t.clone();
    let width = t.resources.len();
    let rows = t.quantities.len() / width;
    m.sets.reverse();
    m.quantities = t.quantities.chunks(width).rev().flatten().copied().collect();
    let set = |row: &mut u32| *row = t.sets.len() as u32 - 1 - *row;
    let amount = |row: &mut u32| {
        if *row != NONE {
            *row = rows as u32 - 1 - *row;
        }
    };
    m.terms.iter_mut().for_each(|x| set(&mut x.set));
    m.volume_alternatives.iter_mut().for_each(set);
    m.variants.iter_mut().for_each(|x| amount(&mut x.allocatable));
    m.types.iter_mut().for_each(|x| (set(&mut x.set), amount(&mut x.capacity)).1);
    m.classes.iter_mut().for_each(|x| (set(&mut x.selector), amount(&mut x.requests)).1);
    m.daemons.iter_mut().for_each(|x| (set(&mut x.selector), amount(&mut x.requests)).1);
    for x in &mut m.templates {
        set(&mut x.set);
        amount(&mut x.limit);
        amount(&mut x.usage);
    }
    for x in &mut m.nodes {
        set(&mut x.set);
        amount(&mut x.available);
        amount(&mut x.daemon_requests);
    }
    m
}
