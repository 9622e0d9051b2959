//! No allocator, little stack, no more memory than announced.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use dunnage_benches::draw::Draw;
use dunnage_benches::problems::{Size, problem};
use dunnage_benches::room::{CheckRoom, Room};
use dunnage_engine_core::problem::Rules;
use dunnage_engine_core::workspace::Caps;
use dunnage_engine_core::{Error, Limit};

/// The system's allocator, counting what the current thread asks of it.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator unchanged.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = COUNT.get();
    let done = work();
    (done, COUNT.get() - before)
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| Box::new([0_u8; 16])).1, 1);
    assert_eq!(allocations(|| [0_u8; 16]).1, 0);
}

#[test]
fn nothing_is_allocated_while_placing_and_checking() {
    for (seeds, size) in [(300, Size::SMALL), (10, Size::WIDE)] {
        for seed in 0..seeds {
            let tables = problem(&mut Draw::seeded(seed), size);
            for rules in [Rules::MENDED, Rules::KARPENTER] {
                let p = tables.problem(rules);
                let mut room = Room::largest(&p);
                let (placed, count) = allocations(|| room.place(&p));
                assert_eq!(count, 0, "placing, seed {seed}");
                let decision = placed.expect("the largest caps suffice");
                let mut room = CheckRoom::new(&p, &decision);
                let (_, count) = allocations(|| room.check(&p, &decision));
                assert_eq!(count, 0, "checking, seed {seed}");
            }
        }
    }
}

#[test]
fn a_stack_of_256_kib_is_enough() {
    let solve = || {
        for (seeds, size) in [(200, Size::SMALL), (10, Size::WIDE)] {
            for seed in 0..seeds {
                let tables = problem(&mut Draw::seeded(seed), size);
                for rules in [Rules::MENDED, Rules::KARPENTER] {
                    let p = tables.problem(rules);
                    let mut room = Room::largest(&p);
                    let decision = room.place(&p).expect("the largest caps suffice");
                    _ = CheckRoom::new(&p, &decision).check(&p, &decision);
                }
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(solve);
    thread.expect("threads can be started").join().expect("no overflow, no panic");
}

#[test]
fn no_more_memory_is_written_than_announced() {
    let mut fullest = 0.0_f64;
    for (seeds, size) in [(500, Size::SMALL), (20, Size::WIDE)] {
        for seed in 0..seeds {
            let tables = problem(&mut Draw::seeded(seed), size);
            let p = tables.problem(Rules::MENDED);
            let mut room = Room::largest(&p);
            let announced = room.announced_bytes();
            let used = room.place(&p).expect("the largest caps suffice").effort.memory_bytes;
            assert!(0 < used && used <= announced, "seed {seed}: {used} of {announced}");
            fullest = fullest.max(used as f64 / announced as f64);
        }
    }
    println!("at most {:.0} % of what was announced", fullest * 100.0);
}

/// Every cap that is one too small is named, and lifting what is named leads to the answer.
#[test]
fn caps_that_are_too_small_are_named_until_they_suffice() {
    let mut hits = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let tables = problem(&mut Draw::seeded(seed), Size::SMALL);
        let p = tables.problem(Rules::MENDED);
        let mut caps = Caps { new_nodes: 0, placements: 0, reasons: 0, node_counts: 0 };
        let largest = Caps::largest(&p);
        loop {
            match Room::new(&p, caps).place(&p) {
                Ok(_) => break,
                Err(Error::Limit(hit)) => {
                    assert!(hit.need > hit.value, "{hit}");
                    hits.insert(format!("{:?}", hit.limit));
                    let cap = match hit.limit {
                        Limit::NewNodes => &mut caps.new_nodes,
                        Limit::Placements => &mut caps.placements,
                        Limit::Reasons => &mut caps.reasons,
                        Limit::NodeCounts => &mut caps.node_counts,
                        other => panic!("seed {seed}: {other:?} is no cap"),
                    };
                    *cap += 1;
                }
                Err(e) => panic!("seed {seed}: {e}"),
            }
        }
        assert!(caps.new_nodes <= largest.new_nodes && caps.placements <= largest.placements);
        assert!(caps.reasons <= largest.reasons && caps.node_counts <= largest.node_counts);
    }
    let names: Vec<&str> = hits.iter().map(String::as_str).collect();
    assert_eq!(names, ["NewNodes", "NodeCounts", "Placements", "Reasons"]);
}
