//! cheapest(): the least money for the pods of the queue that a search finds in its steps.
//!
//! Pods go to nodes that exist first. What is left is packed onto machines by duals of a
//! linear program (see [`pack`]); the packing is then placed node by node through the same
//! acceptance as in [`crate::place`], so that a rule that the search does not know cannot be
//! broken; pods that are refused, and those that the search does not count, are placed one by
//! one. The result says what no other answer can undercut: [`Bound`].

mod bound;
mod duals;
mod fill;
mod model;
mod pack;
mod realize;
mod tables;

use crate::decision::Decision;
use crate::limits::Exceeded;
use crate::place::Solve;
use crate::problem::Problem;
use crate::validate::Error;
use crate::workspace::{Caps, Carver, Memory};

use duals::Duals;
use fill::Filler;
use model::{Model, Purpose};
use pack::{Bench, MANNERS, Packer, Packing};
use tables::Shape;

pub use bound::Bound;
pub use tables::{Bundle, Entry, Item, Machine, SearchCaps, SearchMemory, SearchNeed};

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settings {
    /// Micro-dollars per hour added to the price of each node while choosing, so that a few
    /// more cents per hour buy fewer nodes; never in a reported price.
    pub surcharge_microusd: u32,
    /// Cells that the search may look at. The first packing is always finished.
    pub steps: u64,
    /// The search ends once cost is within this share of the bound.
    pub gap: f64,
}

impl Settings {
    /// The usual effort.
    pub const DEFAULT: Self = Self { surcharge_microusd: 20_000, steps: 40_000_000, gap: 0.003 };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'m> {
    /// Where pods go and what is opened.
    pub decision: Decision<'m>,
    /// What the new nodes must at least cost.
    pub bound: Bound,
    /// Cells looked at.
    pub steps: u64,
}

/// Decides where the pods of `problem` go, for as little money as `settings` let it find.
///
/// `memory` is at least as large as [`crate::workspace::Need::of`] says for `caps`, and `room`
/// as [`SearchNeed::of`] says for `search`.
///
/// # Errors
/// A limit that was hit, among them the caps: lend more and search again. A table that does
/// not hang together.
pub fn cheapest<'m>(
    problem: &Problem,
    caps: Caps,
    settings: &Settings,
    memory: Memory<'m>,
    room: SearchMemory,
) -> Result<Found<'m>, Error> {
    problem.validate()?;
    let solve = Solve::new(problem, caps, memory)?;
    Ok(search(problem, solve, settings, room)?)
}

fn search<'m>(
    problem: &Problem,
    mut solve: Solve<'_, 'm>,
    settings: &Settings,
    room: SearchMemory,
) -> Result<Found<'m>, Exceeded> {
    let shape = Shape::of(problem);
    let mut f = Carver::new(room.floats);
    let mut n = Carver::new(room.numbers);
    let mut w = Carver::new(room.words);
    let mut e = Carver::new(room.entries);
    let mut model = Model::carve(&shape, room.items, room.machines, &mut n, &mut w)?;
    let mut duals = Duals::carve(&shape, &mut f)?;
    let mut filler = Filler::carve(&shape, &mut f, &mut n)?;
    let mut packer = Packer::carve(&shape, &mut f, &mut n, &mut e)?;
    let left = n.take(shape.classes)?;
    let nodes = n.take(solve.state.z.caps.new_nodes)?;

    for (left, class) in left.iter_mut().zip(problem.classes) {
        *left = class.count;
    }
    solve.fill_existing(left)?;
    model.read(&mut solve.state, left, Purpose::Pack)?;
    model.drop_empty();

    let (bundles, rest) = room.bundles.split_at_mut(room.bundles.len() / 2);
    let entries = e.rest();
    let (entries, other) = entries.split_at_mut(entries.len() / 2);
    let mut best = Packing::new(bundles, entries);
    let mut trial = Packing::new(rest, other);
    best.clear();
    if model.items_len > 0 {
        let mut bench = Bench {
            tables: model.tables(),
            duals: &mut duals,
            filler: &mut filler,
            surcharge: f64::from(settings.surcharge_microusd),
            budget: u64::MAX,
            limit: 60,
        };
        let reservations = &*solve.state.units;
        pack_best(&mut bench, settings, &mut packer, reservations, &mut best, &mut trial)?;
        realize::realize(&mut solve, &model, &best, left, nodes)?;
    }
    solve.run_left(left)?;
    solve.settle()?;
    let bound = bound::of(&mut solve, &mut model, &mut duals, left, packer.left)?;
    Ok(Found { decision: solve.into_decision(), bound, steps: filler.steps })
}

/// Packs in one manner after the other until the gap is small or the steps are used up; the
/// cheapest packing ends in `best`.
fn pack_best<'m>(
    bench: &mut Bench,
    settings: &Settings,
    packer: &mut Packer,
    reservations: &[u32],
    best: &mut Packing<'m>,
    trial: &mut Packing<'m>,
) -> Result<(), Exceeded> {
    let mut has_one = false;
    for manner in &MANNERS {
        if has_one && bench.filler.steps > settings.steps {
            break;
        }
        bench.budget = if has_one { settings.steps } else { u64::MAX };
        trial.clear();
        for (left, item) in packer.left.iter_mut().zip(bench.tables.items) {
            *left = f64::from(item.count);
        }
        if !packer.pack(bench, manner, reservations, trial)? && has_one {
            continue;
        }
        trial.retype(&bench.tables);
        let chosen = |x: &Packing| x.price + bench.surcharge * x.machines as f64;
        if !has_one || chosen(trial) < chosen(best) {
            core::mem::swap(best, trial);
        }
        has_one = true;
    }
    Ok(())
}
