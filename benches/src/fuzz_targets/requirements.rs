//! The requirement algebra against sets of values.

use std::collections::BTreeSet;

use dunnage_engine_core::problem::{Key, Problem, Requirement, Value};
use dunnage_engine_core::requirements::{Layout, Need, values_of};

use crate::draw::Draw;
use crate::tables::{Tables, push};

/// A value that a label can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Thing {
    /// A value of the table.
    Listed(u32),
    /// An integer that no table lists.
    Integer(i64),
    /// A text that no table lists.
    Text,
}

/// Integers that stand for all that no table lists: the table has even ones only.
const OTHERS: [i64; 6] = [-1, 1, 3, 5, 7, 9];

/// Bytes choose a key and three requirements on it; the laws of intersection hold, and it
/// allows what a set of values would.
pub fn requirements(bytes: &[u8]) -> bool {
    let mut draw = Draw::bytes(bytes);
    let mut t = Tables::default();
    let count = draw.one_of(&[1, 3, 6, 64, 65]);
    let values =
        (0..count).map(|i| Value { integer: draw.chance(60).then_some(2 * i64::from(i % 5)) });
    let values: Vec<_> = values.collect();
    let values = push(&mut t.values, values);
    t.keys.push(Key { values, is_well_known: draw.chance(50) });
    let rows: Vec<_> = (0..3).map(|_| requirement(&mut t, &mut draw, count)).collect();
    laws(&t, &rows);
    true
}

fn requirement(t: &mut Tables, draw: &mut Draw, count: u32) -> Requirement {
    let shape = draw.below(4);
    let listed = if draw.chance(80) { draw.some_below(count, 30) } else { Vec::new() };
    let mut row = Requirement { is_complement: shape > 0, ..Requirement::default() };
    row.min_values = draw.below(4) as u16;
    if shape < 3 {
        row.values = push(&mut t.requirement_values, listed);
    }
    if shape > 1 {
        row.lower = draw.chance(60).then(|| i64::from(draw.below(10)));
        row.upper = draw.chance(60).then(|| i64::from(draw.below(10)));
    }
    row
}

fn laws(t: &Tables, rows: &[Requirement]) {
    let p = t.problem(Default::default());
    let mut offsets = vec![0; Layout::numbers(&p)];
    let layout = Layout::build(&p, &mut offsets);
    let write = |row: &Requirement| {
        let mut set = vec![0; layout.len()];
        layout.write(&mut set, &p, std::slice::from_ref(row));
        set
    };
    let and = |a: &[u64], b: &[u64]| {
        let mut set = a.to_vec();
        layout.add(&mut set, b, &p);
        set
    };
    let [a, b, c] = [&rows[0], &rows[1], &rows[2]].map(write);
    let (ab, ba) = (and(&a, &b), and(&b, &a));
    assert_eq!(ab, ba, "commutative");
    assert_eq!(and(&ab, &c), and(&a, &and(&b, &c)), "associative");
    let once = and(&a, &a);
    assert_eq!(and(&once, &once), once, "idempotent");
    assert_eq!(and(&ab, &once), ab, "absorbs what is in it");
    for (x, y) in [(&a, &b), (&b, &c), (&a, &c), (&a, &a)] {
        pair(&layout, &p, x, y, &and(x, y));
    }
}

fn pair(layout: &Layout, p: &Problem, a: &[u64], b: &[u64], both: &[u64]) {
    let values = values_of(p, 0);
    let (x, y, xy) = (layout.get(a, 0), layout.get(b, 0), layout.get(both, 0));
    let (left, right) = (things(x, values), things(y, values));
    let common: BTreeSet<Thing> = left.intersection(&right).copied().collect();
    assert_eq!(things(xy, values), common, "intersection as sets");
    let is_something = xy.is_complement() || !xy.is_empty();
    assert_eq!(x.meets(y, values), is_something, "meets is a non-empty intersection");
    assert_eq!(x.meets(y, values), y.meets(x, values), "meets is symmetric");
    assert!(common.is_empty() || is_something, "a common value is a meeting");
    assert_eq!(xy.min_values(), x.min_values().max(y.min_values()), "the larger minimum");
    let conflict = layout.conflict(a, b, p).is_some();
    assert_eq!(conflict, layout.conflict(b, a, p).is_some(), "conflicts are symmetric");
    assert!(!conflict || common.is_empty(), "what shares a value is no conflict");
}

/// The values that a requirement allows.
fn things(need: Need, values: &[Value]) -> BTreeSet<Thing> {
    let (lower, upper) = (need.lower(), need.upper());
    let is_free = lower.is_none() && upper.is_none();
    let within = |n: i64| lower.is_none_or(|l| l <= n) && upper.is_none_or(|u| n <= u);
    let listed: BTreeSet<u32> = need.ranks().collect();
    let mut things = BTreeSet::new();
    for (rank, value) in (0..).zip(values) {
        let is_inside = is_free || value.integer.is_some_and(within);
        let is_allowed = listed.contains(&rank) != need.is_complement() && is_inside;
        assert_eq!(need.allows(rank, values), is_allowed, "allows as a set does");
        if is_allowed {
            things.insert(Thing::Listed(rank));
        }
    }
    if need.is_complement() {
        things.extend(OTHERS.into_iter().filter(|n| within(*n)).map(Thing::Integer));
        if is_free {
            things.insert(Thing::Text);
        }
    }
    things
}
