//! Label keys and requirement sets.

use dunnage_engine_core::problem::{Key, NONE, Requirement, Value, WellKnown};

use crate::draw::Draw;
use crate::problems::Size;
use crate::tables::{Tables, add, push};

/// The keys of a problem.
#[derive(Clone, Copy, Debug)]
pub struct Labels {
    /// Zones.
    pub zone: u32,
    /// `on-demand`, `reserved`, `spot`.
    pub kind: u32,
    /// An integer that every type has.
    pub size: u32,
    /// A text that every type has.
    pub family: u32,
    /// A label of pools and nodes that the launch does not set by itself.
    pub team: u32,
    /// Reservation ids; a key without values when there are no reservations.
    pub reservation: u32,
}

/// Capacity types by rank.
pub const ON_DEMAND: u32 = 0;
pub const RESERVED: u32 = 1;
pub const SPOT: u32 = 2;

/// cpus of the sizes.
pub const SIZES: [i64; 5] = [2, 4, 8, 16, 32];

/// Writes keys and values, and the empty set as set 0.
pub fn keys(t: &mut Tables, draw: &mut Draw, size: Size) -> Labels {
    let mut key = |integers: &[Option<i64>], is_well_known| {
        let values = push(&mut t.values, integers.iter().map(|&integer| Value { integer }));
        add(&mut t.keys, Key { values, is_well_known })
    };
    let zones = 1 + draw.below(4) as usize;
    let families = 1 + draw.below(size.families) as usize;
    let reservations = draw.one_of(&[0, 0, 1, 2]) as usize;
    let labels = Labels {
        zone: key(&vec![None; zones], true),
        kind: key(&[None; 3], true),
        size: key(&SIZES.map(Some), true),
        family: key(&vec![None; families], true),
        team: key(&[None, Some(7), None], false),
        reservation: key(&vec![None; reservations], true),
    };
    t.well = WellKnown {
        zone: labels.zone,
        capacity_type: labels.kind,
        reserved: RESERVED,
        hostname: NONE,
        reservation: if reservations > 0 { labels.reservation } else { NONE },
    };
    t.reservations = (0..reservations).map(|_| draw.below(3)).collect();
    set(t, Vec::new());
    labels
}

/// Number of values of a key.
pub fn values(t: &Tables, key: u32) -> u32 {
    t.keys[key as usize].values.len
}

/// One of the listed values.
pub fn is_in(t: &mut Tables, key: u32, ranks: impl IntoIterator<Item = u32>) -> Requirement {
    let values = push(&mut t.requirement_values, ranks);
    Requirement { key, values, ..Requirement::default() }
}

/// Writes a set; of rows on the same key the first counts.
pub fn set(t: &mut Tables, mut rows: Vec<Requirement>) -> u32 {
    rows.sort_by_key(|r| r.key);
    rows.dedup_by_key(|r| r.key);
    let span = push(&mut t.requirements, rows);
    add(&mut t.sets, span)
}

/// A random requirement on `key`.
pub fn requirement(t: &mut Tables, draw: &mut Draw, key: u32) -> Requirement {
    let count = values(t, key);
    let has_integers =
        t.keys[key as usize].values.of(&t.values).iter().any(|v| v.integer.is_some());
    let exists = Requirement { key, is_complement: true, ..Requirement::default() };
    match draw.below(if has_integers { 10 } else { 7 }) {
        0..=3 => {
            let ranks = draw.some_below(count, 60);
            is_in(t, key, ranks)
        }
        4 => {
            let ranks = draw.some_below(count, 25);
            Requirement { is_complement: true, ..is_in(t, key, ranks) }
        }
        5 => exists,
        6 => Requirement { key, ..Requirement::default() },
        7 => Requirement { lower: Some(i64::from(draw.below(17)) + 1), ..exists },
        8 => Requirement { upper: Some(i64::from(draw.below(33))), ..exists },
        _ => {
            let low = i64::from(draw.below(17));
            let high = low + i64::from(draw.below(17));
            Requirement { lower: Some(low), upper: Some(high), ..exists }
        }
    }
}

/// A random set over some of the keys, each with the chance of `percent`.
pub fn random_set(t: &mut Tables, draw: &mut Draw, labels: &Labels, percent: u32) -> u32 {
    let mut rows = Vec::new();
    for key in [labels.zone, labels.kind, labels.size, labels.family, labels.team] {
        if draw.chance(percent) {
            rows.push(requirement(t, draw, key));
        }
    }
    if rows.is_empty() { 0 } else { set(t, rows) }
}
