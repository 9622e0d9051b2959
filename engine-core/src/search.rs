//! cheapest(): the least money for the pods of the queue that a search finds in its steps.
//!
//! Pods go to nodes that exist first. What is left is packed onto machines by duals of a
//! linear program (see [`pack`]); the packing is then placed node by node through the same
//! acceptance as in [`crate::place`], so that a rule that the search does not know cannot be
//! broken; pods that are refused, and those that the search does not count, are placed one by
//! one. The result says what no other answer can undercut: [`Bound`].

// Amounts are rows of a fixed width: what is done for each of several rows at a time reads best
// by index.
#![allow(clippy::needless_range_loop)]

mod bound;
mod columns;
mod duals;
mod fill;
mod model;
mod pack;
mod prune;
mod realize;
mod small;
mod tables;
mod zones;

use crate::decision::Decision;
use crate::limits::Exceeded;
use crate::place::Solve;
use crate::problem::{NONE, Problem, Template};
use crate::validate::Error;
use crate::workspace::{Caps, Carver, Memory};

use columns::Master;
use duals::Duals;
use fill::Filler;
use model::{Model, Purpose};
use pack::{Bench, MANNERS, Manner, Packer, Packing};
use tables::Shape;

pub use bound::{Bound, Dual};
pub use columns::Column;
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
    pub const DEFAULT: Self = Self { surcharge_microusd: 20_000, steps: 32_000_000, gap: 0.003 };
}

impl Default for Settings {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How pods get onto nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// Packed by search.
    #[default]
    Packed,
    /// One by one, as [`crate::place`] does; the bound is the same.
    OneByOne,
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
    (settings, method): (&Settings, Method),
    memory: Memory<'m>,
    room: SearchMemory,
) -> Result<Found<'m>, Error> {
    problem.validate()?;
    let solve = Solve::new(problem, caps, memory)?;
    Ok(search(problem, solve, (settings, method), room)?)
}

fn search<'m>(
    problem: &Problem,
    mut solve: Solve<'_, 'm>,
    (settings, method): (&Settings, Method),
    room: SearchMemory,
) -> Result<Found<'m>, Exceeded> {
    let shape = Shape::of(problem);
    let room_duals = room.duals;
    let mut f = Carver::new(room.floats);
    let mut n = Carver::new(room.numbers);
    let mut w = Carver::new(room.words);
    let mut e = Carver::new(room.entries);
    let mut model = Model::carve(&shape, room.items, room.machines, &mut n, &mut w)?;
    let mut duals = Duals::carve(&shape, &mut f)?;
    let mut filler = Filler::carve(&shape, &mut f, &mut n, solve.stop)?;
    let mut packer = Packer::carve(&shape, &mut f, &mut n, &mut e)?;
    let columns = e.take(columns::entries(&shape))?;
    let mut master = Master::carve(&shape, &mut f, &mut n, room.columns, columns)?;
    let values = f.take(shape.classes)?;
    let left = n.take(shape.classes)?;
    let nodes = n.take(solve.state.z.caps.new_nodes)?;

    for (left, class) in left.iter_mut().zip(problem.classes) {
        *left = class.count;
    }
    let (bundles, rest) = room.bundles.split_at_mut(room.bundles.len() / 2);
    let entries = e.rest();
    let (entries, other) = entries.split_at_mut(entries.len() / 2);
    let mut best = Packing::new(bundles, entries);
    let mut trial = Packing::new(rest, other);
    values.fill(-1.0);
    let mut rounds = 0;
    if method == Method::Packed {
        solve.fill_existing(left)?;
        // A packing is given this many steps; those of what is refused get fewer.
        let mut allowance = settings.steps;
        for round in 0..ROUNDS {
            model.read(&mut solve.state, left, Purpose::Pack)?;
            model.drop_empty();
            if model.items_len == 0 {
                break;
            }
            let start = filler.steps;
            let mut bench = Bench {
                tables: model.tables(),
                duals: &mut duals,
                filler: &mut filler,
                surcharge: f64::from(settings.surcharge_microusd),
                budget: u64::MAX,
                limit: 60,
                pools: false,
            };
            let mut hunt = Hunt {
                settings,
                end: start.saturating_add(allowance),
                allowance,
                packer: &mut packer,
                master: &mut master,
                reservations: solve.state.units,
                bound: 0.0,
            };
            best.clear();
            hunt.pack(&mut bench, &mut best, &mut trial)?;
            hunt.generate(&mut bench, &mut best, &mut trial)?;
            solve.stop.poll()?;
            // What the first packing knows of values covers all pods.
            if round == 0
                && let Some(known) = master.values()
            {
                for (item, &value) in bench.tables.items.iter().zip(known) {
                    values[item.class as usize] = value;
                }
            }
            rounds = round + 1;
            let before = solve.state.placed;
            realize::realize(&mut solve, &model, &best, left, nodes)?;
            // What limits and quotas refused is packed again within what they leave; so is what
            // rules among pods refused, as counts stand now. A few go where there is room.
            let refused: u32 = left.iter().sum();
            let is_few = refused.saturating_mul(FEW) < solve.state.placed && !limits_nodes(problem);
            if solve.state.placed == before || is_few {
                break;
            }
            allowance = settings.steps / 8;
        }
    }
    solve.run_left(left)?;
    solve.settle()?;
    packer.column_len.fill(NONE);
    for (offering, machine) in packer.column_len.iter_mut().zip(model.tables().machines) {
        *offering = machine.offering;
    }
    let room = bound::Room {
        counts: left,
        demand: packer.left,
        values,
        lambda: if rounds == 1 { master.lambda() } else { &[] },
        offerings: packer.column_len,
        machines: packer.score,
        steps: (settings.steps / 16).min(u64::from(u32::MAX)) as u32,
        duals: room_duals,
    };
    let bound = bound::of(&mut solve, &mut model, &mut duals, &mut filler, room)?;
    // A bound that was cut short proves nothing.
    solve.stop.poll()?;
    Ok(Found { decision: solve.into_decision(), bound, steps: filler.steps })
}

/// A first packing is large whose items and machines make more than this part of the steps.
const LARGE: u64 = 128;

/// Refused pods are few when all are more than this many times as many.
const FEW: u32 = 50;

/// Most times that pods are packed: again for those that were refused.
const ROUNDS: usize = 8;

/// True when new nodes share something that may run out.
fn limits_nodes(p: &Problem) -> bool {
    let is_limited = |t: &Template| t.limit != NONE || t.node_limit.is_some();
    !p.quotas.is_empty() || p.templates.iter().any(is_limited)
}

/// The hunt for the cheapest packing.
struct Hunt<'h, 'm> {
    settings: &'h Settings,
    /// Steps at which it ends, and how many those are from its start.
    end: u64,
    allowance: u64,
    packer: &'h mut Packer<'m>,
    master: &'h mut Master<'m>,
    reservations: &'h [u32],
    /// What any packing costs at least, as far as floating point tells.
    bound: f64,
}

impl Hunt<'_, '_> {
    /// Packs in one manner after the other until the gap is small or the steps are used up;
    /// the cheapest packing ends in `best`.
    fn pack<'m>(
        &mut self,
        bench: &mut Bench,
        best: &mut Packing<'m>,
        trial: &mut Packing<'m>,
    ) -> Result<(), Exceeded> {
        self.refill(bench);
        self.master.clear();
        let left = &self.packer.left[..bench.tables.items.len()];
        (self.bound, bench.pools) = bound::quick(&bench.tables, bench.duals, left, bench.filler);
        trial.clear();
        if small::pack_small(&bench.tables, bench.surcharge, trial)? {
            core::mem::swap(best, trial);
            return Ok(());
        }
        let mut has_one = false;
        // A surcharge that buys no fewer nodes only leads astray, so the first manners are tried
        // without, too; which packing is kept is still up to the surcharge.
        let again = MANNERS.iter().take(3).map(|manner| (manner, 0.0));
        let surcharge = bench.surcharge;
        for (manner, surcharge) in MANNERS.iter().map(|m| (m, surcharge)).chain(again) {
            bench.surcharge = surcharge;
            if has_one && (self.is_over(bench) || self.is_close(best.price)) {
                break;
            }
            bench.budget = if has_one { self.end } else { u64::MAX };
            trial.clear();
            self.refill(bench);
            // Each time that duals are solved again every machine is scored by every item: where
            // those are many, the first packing, which is always finished, does so less often.
            let cells = (bench.tables.items.len() * bench.tables.machines.len()) as u64;
            let is_large = !has_one && cells > self.settings.steps / LARGE;
            let manner =
                &Manner { refresh: if is_large { 0.5 } else { manner.refresh }, ..*manner };
            if !self.packer.pack(bench, manner, self.reservations, trial)? && has_one {
                continue;
            }
            self.master.learn(&bench.tables, trial);
            self.keep_cheaper(bench, best, trial, has_one);
            has_one = true;
        }
        bench.surcharge = surcharge;
        Ok(())
    }

    /// Generates columns and rounds them where the gap is still large.
    fn generate<'m>(
        &mut self,
        bench: &mut Bench,
        best: &mut Packing<'m>,
        trial: &mut Packing<'m>,
    ) -> Result<(), Exceeded> {
        self.refill(bench);
        let left = &self.packer.left[..bench.tables.items.len()];
        bench.solve(left);
        let is_done = self.is_over(bench) || self.is_close(best.price);
        if is_done || !self.master.start(&bench.tables, bench.duals) {
            return Ok(());
        }
        self.master.bound = self.bound;
        // As many steps again: where packing alone comes nowhere near the bound, most is left to
        // gain here.
        let start = bench.filler.steps;
        self.master.generate(
            bench,
            self.settings.gap / 4.0,
            start.saturating_add(self.allowance / 2),
        );
        self.bound = self.bound.max(self.master.bound);
        self.round(bench, best, trial)?;
        if self.settings.surcharge_microusd > 0 && !self.is_close(best.price) {
            let charge = f64::from(self.settings.surcharge_microusd);
            self.master.refine(bench, charge, start.saturating_add(self.allowance));
            self.round(bench, best, trial)?;
        }
        Ok(())
    }

    /// Rounds the program's solution in a few manners.
    fn round<'m>(
        &mut self,
        bench: &mut Bench,
        best: &mut Packing<'m>,
        trial: &mut Packing<'m>,
    ) -> Result<(), Exceeded> {
        bench.budget = u64::MAX;
        for threshold in [2.0, 0.6, 0.3] {
            let manner = (threshold, &MANNERS[0]);
            let (packer, units) = (&mut *self.packer, self.reservations);
            if self.master.round(bench, packer, manner, units, trial)? {
                self.keep_cheaper(bench, best, trial, true);
            }
        }
        Ok(())
    }

    fn refill(&mut self, bench: &Bench) {
        for (left, item) in self.packer.left.iter_mut().zip(bench.tables.items) {
            *left = f64::from(item.count);
        }
    }

    fn is_over(&self, bench: &Bench) -> bool {
        bench.filler.is_over(self.end)
    }

    fn is_close(&self, price: f64) -> bool {
        price <= self.bound * (1.0 + self.settings.gap)
    }

    fn keep_cheaper<'m>(
        &self,
        bench: &Bench,
        best: &mut Packing<'m>,
        trial: &mut Packing<'m>,
        has_one: bool,
    ) {
        trial.retype(&bench.tables);
        let surcharge = f64::from(self.settings.surcharge_microusd);
        let chosen = |x: &Packing| x.price + surcharge * x.machines as f64;
        if !has_one || chosen(trial) < chosen(best) {
            core::mem::swap(best, trial);
        }
    }
}
