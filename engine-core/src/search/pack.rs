//! A packing of all items: again and again the machine that gives most value for its price.
//!
//! Values are duals that are solved again as the mix of what is left shifts, so that no part
//! of the demand is left behind that only dear machines hold. Scores are upper bounds until a
//! machine is looked at (lazy greedy): most machines are never filled.

use super::duals::Duals;
use super::fill::{Ask, Filler, Taste, lagrangian};
use super::tables::{
    Amounts, Bundle, DIMS, Entry, ITEMS_PER_MACHINE, Machine, Shape, Tables, within,
};
use crate::limits::{Exceeded, Limit};
use crate::problem::{NONE, Span};
use crate::workspace::Carver;

/// Floats that packing needs.
pub(crate) fn floats(s: &Shape) -> usize {
    2 * s.items + 2 * s.machines + s.slots
}

/// Numbers that packing needs.
pub(crate) fn numbers(s: &Shape) -> usize {
    s.items + 2 * s.machines + s.reservations
}

/// Machines and what is on them.
pub(crate) struct Packing<'m> {
    bundles: &'m mut [Bundle],
    entries: &'m mut [Entry],
    bundles_len: usize,
    entries_len: usize,
    /// Micro-dollars per hour of all machines.
    pub price: f64,
    pub machines: u64,
}

impl<'m> Packing<'m> {
    pub fn new(bundles: &'m mut [Bundle], entries: &'m mut [Entry]) -> Self {
        Self { bundles, entries, bundles_len: 0, entries_len: 0, price: 0.0, machines: 0 }
    }

    pub fn clear(&mut self) {
        (self.bundles_len, self.entries_len) = (0, 0);
        (self.price, self.machines) = (0.0, 0);
    }

    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles[..self.bundles_len]
    }

    pub fn entries(&self, bundle: &Bundle) -> &[Entry] {
        bundle.entries.of(self.entries)
    }

    /// Adds `count` machines with `content`.
    pub fn push(
        &mut self,
        tables: &Tables,
        machine: u32,
        count: u32,
        content: &[Entry],
    ) -> Result<(), Exceeded> {
        let full = |limit: Limit, value: usize| Exceeded {
            limit,
            value: value as u64,
            need: value as u64 + 1,
        };
        let start = self.entries_len;
        let room = self.entries.len();
        self.entries
            .get_mut(start..start + content.len())
            .ok_or(full(Limit::Entries, room))?
            .copy_from_slice(content);
        let entries = Span { start: start as u32, len: content.len() as u32 };
        let room = self.bundles.len();
        *self.bundles.get_mut(self.bundles_len).ok_or(full(Limit::Bundles, room))? =
            Bundle { machine, count, entries };
        self.entries_len += content.len();
        self.bundles_len += 1;
        self.price += tables.machines[machine as usize].price * f64::from(count);
        self.machines += u64::from(count);
        Ok(())
    }

    /// Gives each bundle the cheapest machine that holds what is on it.
    pub fn retype(&mut self, tables: &Tables) {
        self.price = 0.0;
        for b in 0..self.bundles_len {
            let bundle = self.bundles[b];
            let content = bundle.entries.of(self.entries);
            let now = &tables.machines[bundle.machine as usize];
            if now.units == NONE {
                let sum = sum_of(tables, content);
                let holds = |m: &Machine| {
                    m.units == NONE
                        && within(&sum, &m.capacity)
                        && content.iter().all(|e| m.takes(tables.items[e.item as usize].signature))
                };
                // Machines ascend by price: the first that holds it all is the cheapest.
                if let Some(k) = tables.machines[..bundle.machine as usize].iter().position(holds) {
                    self.bundles[b].machine = k as u32;
                }
            }
            let machine = &tables.machines[self.bundles[b].machine as usize];
            self.price += machine.price * f64::from(bundle.count);
        }
    }
}

/// What the content asks for together.
pub(crate) fn sum_of(tables: &Tables, content: &[Entry]) -> Amounts {
    let mut sum = [0.0; DIMS];
    for entry in content {
        let item = &tables.items[entry.item as usize];
        for r in 0..DIMS {
            sum[r] += item.requests[r] * f64::from(entry.count);
        }
    }
    sum
}

/// How a packing goes about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Manner {
    /// Duals are solved again once the value of what is left has fallen to this share.
    pub refresh: f64,
    pub taste: Taste,
    /// What a machine of the program's solution is favoured by.
    pub bonus: f64,
    /// A machine takes at most this many times its share of each item, so that it mirrors the
    /// whole demand; infinite for no limit.
    pub mirror: f64,
}

/// The manners that are tried, in order, until the gap is small.
pub(crate) const MANNERS: [Manner; 5] = {
    use super::fill::Power::{Eighth, Half, One, Quarter, ThreeQuarters};
    const USUAL: Taste = Taste { scarcity: One, size: Eighth };
    const NO_LIMIT: f64 = f64::INFINITY;
    [
        Manner { refresh: 0.85, taste: USUAL, bonus: 0.01, mirror: 1.3 },
        Manner { refresh: 0.85, taste: USUAL, bonus: 0.01, mirror: 4.0 },
        Manner {
            refresh: 0.95,
            taste: Taste { scarcity: One, size: Quarter },
            bonus: 0.01,
            mirror: NO_LIMIT,
        },
        Manner {
            refresh: 0.9,
            taste: Taste { scarcity: ThreeQuarters, size: Half },
            bonus: 0.0,
            mirror: 2.0,
        },
        Manner { refresh: 0.0, taste: USUAL, bonus: 0.0, mirror: NO_LIMIT },
    ]
};

/// Working room of one packing.
pub(crate) struct Packer<'m> {
    /// Pods of each item that are left.
    pub left: &'m mut [f64],
    /// `left`, or the share of it that one machine may take.
    share: &'m mut [f64],
    live: &'m mut [u32],
    live_len: usize,
    /// Value per price of each machine.
    pub score: &'m mut [f64],
    bonus: &'m mut [f64],
    slot_most: &'m mut [f64],
    /// 1 where the score is that of the column at hand rather than a bound.
    is_exact: &'m mut [u32],
    /// Entries of each machine's column.
    pub column_len: &'m mut [u32],
    columns: &'m mut [Entry],
    /// Units left of each reservation.
    units: &'m mut [u32],
}

/// What a packing works with.
pub(crate) struct Bench<'b, 'm> {
    pub tables: Tables<'b>,
    pub duals: &'b mut Duals<'m>,
    pub filler: &'b mut Filler<'m>,
    /// Micro-dollars per hour added to the price of each node while choosing.
    pub surcharge: f64,
    /// Steps at which to give up.
    pub budget: u64,
    /// Steps of the exhaustive search of one filling.
    pub limit: u32,
    /// One price of each resource for all pods, rather than one for each signature.
    pub pools: bool,
}

impl Bench<'_, '_> {
    /// Solves the duals for the pods that are left.
    pub fn solve(&mut self, left: &[f64]) {
        let steps = &mut self.filler.steps;
        if self.pools {
            self.duals.solve_pooled(&self.tables, left, steps);
        } else {
            self.duals.solve(&self.tables, left, steps);
        }
    }
}

impl<'m> Packer<'m> {
    pub fn carve(
        s: &Shape,
        f: &mut Carver<'m, f64>,
        n: &mut Carver<'m, u32>,
        e: &mut Carver<'m, Entry>,
    ) -> Result<Self, Exceeded> {
        Ok(Self {
            left: f.take(s.items)?,
            share: f.take(s.items)?,
            live: n.take(s.items)?,
            live_len: 0,
            score: f.take(s.machines)?,
            bonus: f.take(s.machines)?,
            slot_most: f.take(s.slots)?,
            is_exact: n.take(s.machines)?,
            column_len: n.take(s.machines)?,
            columns: e.take(s.columns() * ITEMS_PER_MACHINE)?,
            units: n.take(s.reservations)?,
        })
    }

    /// Packs all of `self.left` into `out`; false when the budget or the machines ran out
    /// first.
    pub fn pack(
        &mut self,
        bench: &mut Bench,
        manner: &Manner,
        reservations: &[u32],
        out: &mut Packing,
    ) -> Result<bool, Exceeded> {
        let tables = bench.tables;
        self.units.copy_from_slice(reservations);
        self.live_len = 0;
        for i in 0..tables.items.len() {
            if self.left[i] > 0.0 {
                self.live[self.live_len] = i as u32;
                self.live_len += 1;
            }
        }
        let (mut worth, mut solved) = (-1.0, f64::INFINITY);
        loop {
            self.drop_done();
            if self.live_len == 0 {
                return Ok(true);
            }
            if bench.filler.is_over(bench.budget) {
                return Ok(false);
            }
            if worth < manner.refresh * solved {
                bench.solve(self.left);
                worth = self.worth(bench);
                solved = worth;
                self.reset_scores(bench, manner, worth);
            }
            worth = self.worth(bench);
            let Some(k) = self.best_machine(bench, manner, worth) else { return Ok(false) };
            let copies = self.copies(bench, manner, k, worth, solved);
            self.take(bench, k, copies, out)?;
        }
    }

    fn drop_done(&mut self) {
        let mut kept = 0;
        for at in 0..self.live_len {
            let i = self.live[at];
            if self.left[i as usize] > 0.0 {
                self.live[kept] = i;
                kept += 1;
            }
        }
        self.live_len = kept;
    }

    fn worth(&self, bench: &Bench) -> f64 {
        let value = |&i: &u32| bench.duals.value[i as usize] * self.left[i as usize];
        self.live[..self.live_len].iter().map(value).sum()
    }

    /// Bounds on the value per price of every machine.
    fn reset_scores(&mut self, bench: &mut Bench, manner: &Manner, worth: f64) {
        let tables = bench.tables;
        let live = &self.live[..self.live_len];
        for k in 0..tables.machines.len() {
            let machine = &tables.machines[k];
            let favoured = manner.bonus > 0.0 && bench.duals.quota[k] > 0.0;
            self.bonus[k] = if favoured { 1.0 + manner.bonus } else { 1.0 };
            self.is_exact[k] = 0;
            self.score[k] = 0.0;
            if k >= self.columns.len() / ITEMS_PER_MACHINE {
                continue;
            }
            let lambda = bench.duals.best_lambda(&tables, k);
            let ask = Ask {
                tables,
                machine,
                value: bench.duals.value,
                left: self.left,
                lambda: &lambda,
                taste: manner.taste,
                limit: 0,
                above: 0.0,
            };
            let most = lagrangian(&ask, live, self.slot_most).min(worth);
            self.score[k] = most / cost(machine, bench.surcharge) * self.bonus[k];
        }
        bench.filler.steps += (tables.machines.len() * live.len()) as u64;
    }

    /// The machine whose best filling gives most value for its price; its column is at hand.
    fn best_machine(&mut self, bench: &mut Bench, manner: &Manner, worth: f64) -> Option<usize> {
        let tables = bench.tables;
        let mut best_exact = 0.0f64;
        loop {
            let mut k = 0;
            for i in 1..tables.machines.len() {
                if self.score[i] > self.score[k] {
                    k = i;
                }
            }
            if self.score[k] <= 0.0 {
                return None;
            }
            let machine = &tables.machines[k];
            let price = cost(machine, bench.surcharge);
            if machine.units != NONE && self.units[machine.reservation as usize] == 0 {
                self.score[k] = 0.0;
                continue;
            }
            let most = worth / price * self.bonus[k];
            if most < self.score[k] * (1.0 - 1e-9) {
                self.score[k] = most;
                self.is_exact[k] = 0;
                continue;
            }
            if self.is_exact[k] != 0 && self.column_fits(k) {
                return Some(k);
            }
            self.fill(bench, manner, k, worth, &mut best_exact);
        }
    }

    fn column(&self, k: usize) -> &[Entry] {
        &self.columns[k * ITEMS_PER_MACHINE..][..self.column_len[k] as usize]
    }

    fn column_fits(&self, k: usize) -> bool {
        self.column(k).iter().all(|e| self.left[e.item as usize] >= f64::from(e.count))
    }

    /// Fills machine `k` and scores it.
    fn fill(
        &mut self,
        bench: &mut Bench,
        manner: &Manner,
        k: usize,
        worth: f64,
        best_exact: &mut f64,
    ) {
        let tables = bench.tables;
        let machine = &tables.machines[k];
        let price = cost(machine, bench.surcharge);
        bench.filler.load(&tables, machine, &self.live[..self.live_len], self.left);
        if bench.filler.candidates_len == 0 {
            self.score[k] = 0.0;
            return;
        }
        let mirrors = machine.units == NONE && worth > price * manner.mirror;
        if mirrors {
            let part = manner.mirror * price / worth;
            for &i in &bench.filler.candidates[..bench.filler.candidates_len] {
                let left = self.left[i as usize];
                let share = (left * part) as i64 as f64 + 2.0;
                self.share[i as usize] = left.min(share);
            }
        }
        let lambda = bench.duals.best_lambda(&tables, k);
        let above = *best_exact * price / self.bonus[k];
        let ask = Ask {
            tables,
            machine,
            value: bench.duals.value,
            left: if mirrors { self.share } else { self.left },
            lambda: &lambda,
            taste: manner.taste,
            limit: bench.limit,
            above,
        };
        let (value, most) = bench.filler.fill(&ask);
        if value <= 0.0 {
            let bound = most / price * self.bonus[k];
            self.score[k] = bound.min(*best_exact * (1.0 - 1e-12));
            self.is_exact[k] = 0;
            return;
        }
        let mut len = 0;
        for (item, count) in bench.filler.content() {
            self.columns[k * ITEMS_PER_MACHINE + len] = Entry { item, count };
            len += 1;
        }
        self.column_len[k] = len as u32;
        self.score[k] = value / price * self.bonus[k];
        self.is_exact[k] = 1;
        *best_exact = best_exact.max(self.score[k]);
    }

    /// How many machines like `k` are taken at once.
    fn copies(
        &mut self,
        bench: &mut Bench,
        manner: &Manner,
        k: usize,
        worth: f64,
        solved: f64,
    ) -> f64 {
        let mut copies = f64::INFINITY;
        let mut value = 0.0;
        for e in self.column(k) {
            copies = copies.min(whole(self.left[e.item as usize] / f64::from(e.count)));
            value += bench.duals.value[e.item as usize] * f64::from(e.count);
        }
        if manner.refresh > 0.0 && copies > 1.0 {
            let until = (worth - manner.refresh * solved) / value;
            copies = copies.min(whole(until) + 1.0).max(1.0);
        }
        let machine = &bench.tables.machines[k];
        if machine.units != NONE {
            let units = &mut self.units[machine.reservation as usize];
            copies = copies.min(f64::from(*units));
            *units -= copies as u32;
        } else if self.bonus[k] > 1.0 {
            let quota = &mut bench.duals.quota[k];
            copies = copies.min(whole(*quota) + 1.0).max(1.0);
            *quota -= copies;
            if *quota < 0.5 {
                self.score[k] /= self.bonus[k];
                self.bonus[k] = 1.0;
            }
        }
        copies
    }

    fn take(
        &mut self,
        bench: &Bench,
        k: usize,
        copies: f64,
        out: &mut Packing,
    ) -> Result<(), Exceeded> {
        for at in 0..self.column_len[k] as usize {
            let e = self.columns[k * ITEMS_PER_MACHINE + at];
            self.left[e.item as usize] -= copies * f64::from(e.count);
        }
        out.push(&bench.tables, k as u32, copies as u32, self.column(k))
    }
}

/// What a machine counts as while choosing.
pub(crate) fn cost(machine: &Machine, surcharge: f64) -> f64 {
    (machine.price + surcharge).max(1.0)
}

/// The whole part of a number that is not negative.
fn whole(x: f64) -> f64 {
    (x.min(1e15) + 1e-9) as i64 as f64
}
