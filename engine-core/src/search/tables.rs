//! The rows that the search works on, and the memory that the caller lends for them.
//!
//! Amounts are `f64`: requests and capacities are whole numbers below 2^53, so sums within
//! one machine are exact. Whatever the search finds is placed by the exact rules afterwards.

use super::columns::Column;
use crate::problem::{NONE, Problem, Span};

/// Resources that the search looks at. Pods that ask for further ones are placed without it.
pub(crate) const DIMS: usize = 8;

/// Words of a set of signatures, and so the number of signatures: pods that cannot be told
/// apart by what restricts their machines. Pods of further ones are placed without a search.
pub(crate) const SIGNATURE_WORDS: usize = 4;
/// Most signatures.
pub(crate) const SIGNATURES: usize = 64 * SIGNATURE_WORDS;

/// Most distinct items on one planned machine: a node rarely runs pods of more workloads.
pub(crate) const ITEMS_PER_MACHINE: usize = 64;

/// One amount per searched resource.
pub(crate) type Amounts = [f64; DIMS];

/// Pods of one class that the search may put on the same machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Item {
    /// Row of the problem's classes.
    pub(crate) class: u32,
    /// Rank of the zone that the pods must land in for their spread; [`NONE`] for any.
    pub(crate) zone: u32,
    /// Row of the signatures.
    pub(crate) signature: u32,
    /// Slot of which each pod takes one on its node; [`NONE`] for none.
    pub(crate) slot: u32,
    /// Steps of relaxation at which some machine takes the pods.
    pub(crate) relaxed: u32,
    /// Pods.
    pub(crate) count: u32,
    pub(crate) requests: Amounts,
    /// `1 / requests`; 0 where nothing is requested.
    pub(crate) inverse: Amounts,
}

/// An instance type of a template in one place at one price.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine {
    /// Micro-dollars per hour.
    pub(crate) price: f64,
    /// What pods can use, DaemonSets taken off.
    pub(crate) capacity: Amounts,
    /// Signatures that the machine takes.
    pub(crate) signatures: [u64; SIGNATURE_WORDS],
    /// Row of the problem's templates.
    pub(crate) template: u32,
    /// Row of the problem's types.
    pub(crate) instance_type: u32,
    /// Row of the problem's offerings.
    pub(crate) offering: u32,
    /// Rank of its zone; [`NONE`] when it has none.
    pub(crate) zone: u32,
    /// Machines that a reservation still holds; [`NONE`] for no such limit.
    pub(crate) units: u32,
    /// Row of the problem's reservations, or [`NONE`].
    pub(crate) reservation: u32,
}

impl Machine {
    pub(crate) fn takes(&self, signature: u32) -> bool {
        self.signatures[signature as usize / 64] >> (signature % 64) & 1 != 0
    }
}

/// A number of equal planned machines.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bundle {
    /// Row of the machines.
    pub(crate) machine: u32,
    /// Machines.
    pub(crate) count: u32,
    /// Rows of the entries: what is on each.
    pub(crate) entries: Span,
}

/// Pods of one item on a planned machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Row of the items.
    pub(crate) item: u32,
    /// Pods.
    pub(crate) count: u32,
}

/// How far the growing tables of a search may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCaps {
    /// New nodes, as in the caps of the solve.
    pub new_nodes: usize,
    /// Bundles of one packing.
    pub bundles: usize,
    /// Entries of one packing.
    pub entries: usize,
}

/// Cells of each kind that must be lent for a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchNeed {
    /// Items.
    pub items: usize,
    /// Machines.
    pub machines: usize,
    /// Bundles.
    pub bundles: usize,
    /// Entries.
    pub entries: usize,
    /// Scores and duals.
    pub floats: usize,
    /// Columns.
    pub columns: usize,
    /// Indexes and counts.
    pub numbers: usize,
    /// Words of bits.
    pub words: usize,
}

/// Memory lent for one search; each slice at least as long as [`SearchNeed`] says. What it
/// holds before does not matter.
#[derive(Debug, Default)]
pub struct SearchMemory<'m> {
    /// Items.
    pub items: &'m mut [Item],
    /// Machines.
    pub machines: &'m mut [Machine],
    /// Bundles.
    pub bundles: &'m mut [Bundle],
    /// Entries.
    pub entries: &'m mut [Entry],
    /// Scores and duals.
    pub floats: &'m mut [f64],
    /// Columns.
    pub columns: &'m mut [Column],
    /// Indexes and counts.
    pub numbers: &'m mut [u32],
    /// Words of bits.
    pub words: &'m mut [u64],
    /// A row for each class, for the values that prove the bound; empty when nobody asks.
    pub duals: &'m mut [super::Dual],
}

/// Packings that are kept at a time: the one under way and the best.
pub(crate) const PACKINGS: usize = 2;

impl SearchNeed {
    /// What searching `problem` within `caps` needs.
    pub fn of(problem: &Problem, caps: SearchCaps) -> Self {
        let s = Shape::of(problem);
        Self {
            items: s.items,
            machines: s.machines,
            bundles: PACKINGS * caps.bundles,
            entries: PACKINGS * caps.entries
                + s.columns() * ITEMS_PER_MACHINE
                + super::columns::entries(&s),
            floats: s.floats(),
            columns: super::columns::columns(&s),
            numbers: s.numbers() + s.classes + caps.new_nodes,
            words: s.signatures * s.set_words,
        }
    }

    /// The same in bytes.
    pub fn bytes(&self) -> u64 {
        (self.items * size_of::<Item>()
            + self.machines * size_of::<Machine>()
            + self.bundles * size_of::<Bundle>()
            + self.entries * size_of::<Entry>()
            + self.columns * size_of::<Column>()
            + (self.floats + self.words) * 8
            + self.numbers * 4) as u64
    }
}

/// Machines for which the search remembers the best filling.
pub(crate) const COLUMNS: usize = 1024;

/// Lengths of the search's tables, from the problem alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub items: usize,
    pub machines: usize,
    pub signatures: usize,
    pub slots: usize,
    pub reservations: usize,
    pub classes: usize,
    pub set_words: usize,
}

impl Shape {
    pub fn of(p: &Problem) -> Self {
        let zones = p.keys.get(p.well.zone as usize).map_or(0, |k| k.values.len as usize);
        let per_class = |class: &crate::problem::PodClass| {
            let spreads = class.links.of(p.links).iter().any(|l| {
                p.groups
                    .get(l.group as usize)
                    .is_some_and(|g| g.key == p.well.zone && !g.is_hostname)
            });
            if spreads && p.well.zone != NONE { zones.max(1) } else { 1 }
        };
        let items: usize = p.classes.iter().map(per_class).sum();
        let offered = |t: &u32| p.types[*t as usize].offerings.len as usize;
        let machines =
            p.templates.iter().flat_map(|t| t.types.of(p.template_types)).map(offered).sum();
        Self {
            items,
            machines,
            signatures: items.min(SIGNATURES),
            slots: p.groups.len() + p.ports.len(),
            reservations: p.reservations.len(),
            classes: p.classes.len(),
            set_words: crate::requirements::Layout::words(p),
        }
    }

    pub fn columns(&self) -> usize {
        self.machines.min(COLUMNS)
    }

    fn floats(&self) -> usize {
        super::duals::floats(self)
            + super::pack::floats(self)
            + super::fill::floats(self)
            + super::columns::floats(self)
            + self.classes
    }

    fn numbers(&self) -> usize {
        super::model::numbers(self)
            + super::pack::numbers(self)
            + super::fill::numbers(self)
            + super::columns::numbers(self)
    }
}

/// What the search packs, once read from the problem.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'t> {
    pub items: &'t [Item],
    /// Ascending by price.
    pub machines: &'t [Machine],
    /// Most pods per node of each slot.
    pub slots: &'t [u32],
    pub signatures: usize,
}

impl Tables<'_> {
    /// True when one pod of the item fits an empty machine.
    pub fn fits(&self, item: &Item, machine: &Machine) -> bool {
        machine.takes(item.signature) && within(&item.requests, &machine.capacity)
    }
}

/// True when `a` is nowhere above `b`.
pub(crate) fn within(a: &Amounts, b: &Amounts) -> bool {
    a.iter().zip(b).all(|(x, y)| x <= y)
}

/// How many pods of the item `room` holds, a whole number.
pub(crate) fn most(item: &Item, room: &Amounts) -> f64 {
    let mut most = f64::MAX;
    for r in 0..DIMS {
        let q = if item.inverse[r] == 0.0 { f64::MAX } else { room[r] * item.inverse[r] };
        most = if q < most { q } else { most };
    }
    // A quotient of whole numbers that is whole may come out a hair low.
    let whole = (most.min(1e15) + 1e-9) as i64 as f64;
    if whole < 0.0 { 0.0 } else { whole }
}
