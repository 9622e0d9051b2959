//! Column generation: a linear program over whole fillings instead of flowing pods.
//!
//! Where pods are large against machines, the flow of [`super::duals`] says too little: here
//! the master program buys whole fillings, its prices ask every machine for a better one, and
//! so on. Its prices also prove a better bound, and its solution is rounded to a packing.

use heapless::Vec;

use super::duals::Duals;
use super::fill::Power::{Eighth, One};
use super::fill::{Ask, Filler, Taste};
use super::pack::{Bench, Manner, Packer, Packing};
use super::tables::{Amounts, DIMS, Entry, ITEMS_PER_MACHINE, Shape, Tables, most};
use crate::limits::Exceeded;
use crate::problem::NONE;
use crate::workspace::Carver;

/// Most items of a master program: its inverse is a square of them.
pub(crate) const ROWS: usize = 512;
/// Most columns of the pool beside the basis.
const COLUMNS: usize = 4096;
/// Columns that one round adds at most.
const PER_ROUND: usize = 30;
/// Most steps of the exhaustive search of one filling.
const MOST_EXACT: u32 = 1_000_000;
/// Most pivots of one solve of the program.
const MOST_PIVOTS: usize = 4000;
/// Pivots after which amounts and prices are computed anew.
const FRESH: u32 = 64;

fn rows(s: &Shape) -> usize {
    s.items.min(ROWS)
}

/// Floats that column generation needs.
pub(crate) fn floats(s: &Shape) -> usize {
    let m = rows(s);
    m * m + 5 * m + 3 * s.items + s.machines * DIMS
}

/// Numbers that column generation needs.
pub(crate) fn numbers(s: &Shape) -> usize {
    2 * rows(s) + s.items
}

/// Entries that the columns take.
pub(crate) fn entries(s: &Shape) -> usize {
    (COLUMNS * 8).max(rows(s) * 4).min(ITEMS_PER_MACHINE * COLUMNS)
}

/// A filling of a machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column {
    machine: u32,
    start: u32,
    len: u32,
}

/// Columns that a search keeps.
pub(crate) fn columns(s: &Shape) -> usize {
    COLUMNS + rows(s)
}

/// The master program and its columns.
pub(crate) struct Master<'m> {
    rows: usize,
    stride: usize,
    inverse: &'m mut [f64],
    amounts: &'m mut [f64],
    costs: &'m mut [f64],
    prices: &'m mut [f64],
    direction: &'m mut [f64],
    demand: &'m mut [f64],
    /// Column in the basis; [`NONE`] for surplus.
    ids: &'m mut [u32],
    /// Item of each row, and row of each item.
    item_of: &'m mut [u32],
    row_of: &'m mut [u32],
    pivots: u32,
    columns: &'m mut [Column],
    columns_len: usize,
    entries: &'m mut [Entry],
    entries_len: usize,
    /// Value of one pod of each item: asked, and those of the best bound.
    asked: &'m mut [f64],
    best: &'m mut [f64],
    full: &'m mut [f64],
    /// Prices of resources for each machine, as last tuned.
    lambda: &'m mut [f64],
    /// The best bound so far, in micro-dollars.
    pub bound: f64,
    /// What each machine costs beyond its price.
    charge: f64,
}

impl<'m> Master<'m> {
    pub fn carve(
        s: &Shape,
        f: &mut Carver<'m, f64>,
        n: &mut Carver<'m, u32>,
        columns: &'m mut [Column],
        entries: &'m mut [Entry],
    ) -> Result<Self, Exceeded> {
        let m = rows(s);
        Ok(Self {
            rows: 0,
            stride: m,
            inverse: f.take(m * m)?,
            amounts: f.take(m)?,
            costs: f.take(m)?,
            prices: f.take(m)?,
            direction: f.take(m)?,
            demand: f.take(m)?,
            ids: n.take(m)?,
            item_of: n.take(m)?,
            row_of: n.take(s.items)?,
            pivots: 0,
            columns,
            columns_len: 0,
            entries,
            entries_len: 0,
            asked: f.take(s.items)?,
            best: f.take(s.items)?,
            full: f.take(s.items)?,
            lambda: f.take(s.machines * DIMS)?,
            bound: 0.0,
            charge: 0.0,
        })
    }

    /// Values of pods that prove the best bound, by item, once columns were generated.
    pub fn values(&self) -> Option<&[f64]> {
        (self.rows > 0).then_some(&self.best[..self.rows])
    }

    /// Prices of resources of each machine.
    pub fn lambda(&self) -> &[f64] {
        self.lambda
    }

    /// Forgets all columns.
    pub fn clear(&mut self) {
        (self.rows, self.columns_len, self.entries_len) = (0, 0, 0);
        self.charge = 0.0;
    }

    /// Learns the fillings of a packing.
    pub fn learn(&mut self, tables: &Tables, packing: &Packing) {
        for bundle in packing.bundles() {
            let content = packing.entries(bundle);
            let is_free = tables.machines[bundle.machine as usize].units == NONE;
            let is_known =
                |k: usize| self.columns[k].machine == bundle.machine && self.content(k) == content;
            if is_free && !(0..self.columns_len).any(is_known) {
                self.add(bundle.machine, content);
            }
        }
    }

    /// Prepares the program for the items: one column for each as the first basis, beside what
    /// it has learned. False when there are too many items.
    pub fn start(&mut self, tables: &Tables, duals: &Duals) -> bool {
        let items = tables.items.len();
        if items > self.stride || items == 0 {
            return false;
        }
        (self.rows, self.pivots) = (items, 0);
        self.inverse.fill(0.0);
        for i in 0..items {
            let item = &tables.items[i];
            (self.item_of[i], self.row_of[i]) = (i as u32, i as u32);
            self.full[i] = f64::from(item.count);
            self.best[i] = duals.value[i];
            self.demand[i] = f64::from(item.count);
            let Some((machine, fit)) = cheapest_alone(tables, i) else { return false };
            let count = (fit as u32).min(item.count).max(1);
            let Some(id) = self.add(machine, &[Entry { item: i as u32, count }]) else {
                return false;
            };
            let price = tables.machines[machine as usize].price;
            let per = f64::from(count);
            self.inverse[i * self.stride + i] = 1.0 / per;
            self.amounts[i] = self.demand[i] / per;
            self.costs[i] = price;
            self.ids[i] = id;
            self.prices[i] = price / per;
        }
        for k in 0..tables.machines.len() {
            self.lambda[k * DIMS..][..DIMS].copy_from_slice(&duals.best_lambda(tables, k));
        }
        true
    }

    /// Adds a column; nothing when the room is used up.
    fn add(&mut self, machine: u32, content: &[Entry]) -> Option<u32> {
        let (start, len) = (self.entries_len, content.len());
        let column = self.columns.get_mut(self.columns_len)?;
        self.entries.get_mut(start..start + len)?.copy_from_slice(content);
        *column = Column { machine, start: start as u32, len: len as u32 };
        self.entries_len += len;
        self.columns_len += 1;
        Some(self.columns_len as u32 - 1)
    }

    fn content(&self, column: usize) -> &[Entry] {
        let c = &self.columns[column];
        &self.entries[c.start as usize..][..c.len as usize]
    }

    /// Micro-dollars per hour of a column's machine, its charge included.
    fn cost(&self, tables: &Tables, column: usize) -> f64 {
        tables.machines[self.columns[column].machine as usize].price.max(1.0) + self.charge
    }

    fn objective(&self) -> f64 {
        (0..self.rows).map(|i| self.costs[i] * self.amounts[i]).sum()
    }

    /// Solves the master over the columns there are, until the budget is used up.
    fn solve(&mut self, tables: &Tables, filler: &mut Filler, budget: u64) {
        for _ in 0..MOST_PIVOTS {
            self.drop_negative(filler, budget);
            filler.steps += self.entries_len as u64 / 8 + self.pivot_steps();
            let (column, gain) = self.best_column(tables);
            if filler.is_over(budget) || gain <= 1e-7 || !self.enter(tables, column) {
                return;
            }
        }
    }

    /// What a pivot counts as: whole rows are done at a time.
    fn pivot_steps(&self) -> u64 {
        (self.rows * self.rows) as u64 / 16
    }

    /// Brings surplus columns in while some price is negative.
    fn drop_negative(&mut self, filler: &mut Filler, budget: u64) {
        for _ in 0..4 * self.rows + 10 {
            let prices = &self.prices[..self.rows];
            let lowest = (0..self.rows).min_by(|&a, &b| prices[a].total_cmp(&prices[b]));
            let Some(row) = lowest.filter(|&row| prices[row] < -1e-6) else { return };
            if filler.is_over(budget) {
                return;
            }
            let reduced = prices[row];
            for i in 0..self.rows {
                self.direction[i] = -self.inverse[i * self.stride + row];
            }
            filler.steps += self.pivot_steps();
            if !self.pivot(0.0, reduced, NONE) {
                return;
            }
        }
    }

    /// The column that is worth most beyond its price, as a share of it.
    fn best_column(&self, tables: &Tables) -> (usize, f64) {
        let mut best = (0, 0.0);
        for k in 0..self.columns_len {
            let price = self.cost(tables, k);
            let worth: f64 = self
                .content(k)
                .iter()
                .map(|e| self.prices[e.item as usize] * f64::from(e.count))
                .sum();
            let gain = worth / price - 1.0;
            if gain > best.1 {
                best = (k, gain);
            }
        }
        best
    }

    /// Brings a column into the basis; false when nothing can leave.
    fn enter(&mut self, tables: &Tables, k: usize) -> bool {
        let price = self.cost(tables, k);
        let (start, len) = (self.columns[k].start as usize, self.columns[k].len as usize);
        let mut reduced = price;
        self.direction[..self.rows].fill(0.0);
        for at in start..start + len {
            let e = self.entries[at];
            let (row, amount) = (e.item as usize, f64::from(e.count));
            reduced -= self.prices[row] * amount;
            for i in 0..self.rows {
                self.direction[i] += self.inverse[i * self.stride + row] * amount;
            }
        }
        self.pivot(price, reduced, k as u32)
    }

    /// Brings the column of `self.direction` into the basis; false when nothing can leave.
    fn pivot(&mut self, cost: f64, reduced: f64, id: u32) -> bool {
        let (n, w) = (self.rows, self.stride);
        let (mut leaving, mut ratio) = (None::<usize>, f64::INFINITY);
        for i in (0..n).filter(|&i| self.direction[i] > 1e-9) {
            let x = self.amounts[i].max(0.0) / self.direction[i];
            let is_better = match leaving {
                None => true,
                Some(at) => {
                    x < ratio - 1e-12
                        || (x < ratio + 1e-12 && self.direction[i] > self.direction[at])
                }
            };
            if is_better {
                (leaving, ratio) = (Some(i), x);
            }
        }
        let Some(out) = leaving else { return false };
        let by = self.direction[out];
        for k in 0..n {
            self.inverse[out * w + k] /= by;
        }
        let (before, rest) = self.inverse.split_at_mut(out * w);
        let (pivot, after) = rest.split_at_mut(w);
        let rows =
            before.chunks_exact_mut(w).zip(0..out).chain(after.chunks_exact_mut(w).zip(out + 1..n));
        for (row, i) in rows {
            let factor = self.direction[i];
            if factor != 0.0 {
                for (x, p) in row[..n].iter_mut().zip(&pivot[..n]) {
                    *x -= factor * p;
                }
                self.amounts[i] -= factor * ratio;
            }
        }
        for (price, p) in self.prices[..n].iter_mut().zip(&pivot[..n]) {
            *price += reduced * p;
        }
        self.amounts[out] = ratio;
        (self.costs[out], self.ids[out]) = (cost, id);
        self.pivots += 1;
        if self.pivots.is_multiple_of(FRESH) {
            self.freshen();
        }
        true
    }

    /// Computes amounts and prices from the inverse, so that errors do not add up.
    fn freshen(&mut self) {
        let (n, w) = (self.rows, self.stride);
        self.prices[..n].fill(0.0);
        for i in 0..n {
            let row = &self.inverse[i * w..][..n];
            self.amounts[i] = row.iter().zip(&self.demand[..n]).map(|(x, d)| x * d).sum();
            if self.costs[i] != 0.0 {
                for (price, x) in self.prices[..n].iter_mut().zip(row) {
                    *price += self.costs[i] * x;
                }
            }
        }
    }

    /// Generates columns until the gap is small, no machine has a better filling, or the steps
    /// are used up.
    pub fn generate(&mut self, bench: &mut Bench, gap: f64, budget: u64) {
        let tables = bench.tables;
        let (mut smoothing, mut limit) = (0.7, 0);
        let mut is_plain = false;
        loop {
            self.solve(&tables, bench.filler, budget);
            let objective = self.objective();
            if bench.filler.is_over(budget) || (objective - self.bound) < gap * objective {
                return;
            }
            let share = if is_plain { 0.0 } else { smoothing };
            for i in 0..self.rows {
                self.asked[i] = share * self.best[i] + (1.0 - share) * self.prices[i].max(0.0);
            }
            let (ratio, added) = self.ask_machines(bench, limit, budget);
            let total: f64 = (0..self.rows).map(|i| self.asked[i] * self.demand[i]).sum();
            let bound = total / ratio.max(1e-12);
            let is_better = bound > self.bound;
            if is_better {
                self.bound = bound;
                for i in 0..self.rows {
                    self.best[i] = self.asked[i] / ratio;
                }
            }
            // A round without a column ends smoothing, then asks for exact fillings, then ends.
            is_plain = match (added > 0, share > 0.0) {
                (true, _) => false,
                (false, true) if is_better => {
                    smoothing = (smoothing * 0.7).max(0.1);
                    false
                }
                (false, true) => true,
                (false, false) if limit < MOST_EXACT => {
                    limit = (limit * 10).clamp(100, MOST_EXACT);
                    true
                }
                (false, false) => return,
            };
        }
    }

    /// Goes on where each machine costs that much beyond its price, for what rounding makes of it:
    /// bounds stay those of prices alone.
    pub fn refine(&mut self, bench: &mut Bench, charge: f64, budget: u64) {
        let tables = bench.tables;
        self.charge = charge;
        for i in 0..self.rows {
            if self.ids[i] != NONE {
                self.costs[i] = self.cost(&tables, self.ids[i] as usize);
            }
        }
        self.freshen();
        loop {
            self.solve(&tables, bench.filler, budget);
            for i in 0..self.rows {
                self.asked[i] = self.prices[i].max(0.0);
            }
            if bench.filler.is_over(budget) || self.ask_machines(bench, 0, budget).1 == 0 {
                return;
            }
        }
    }

    /// Asks every machine for a filling that is worth more than its price: the highest value
    /// per price that any can hold, and the number of columns added.
    fn ask_machines(&mut self, bench: &mut Bench, limit: u32, budget: u64) -> (f64, usize) {
        let tables = bench.tables;
        let mut ratio = 0.0f64;
        let (mut added, mut worst) = (0, 0.0);
        for k in 0..tables.machines.len() {
            let machine = &tables.machines[k];
            if machine.units != NONE {
                continue;
            }
            if bench.filler.is_over(budget) {
                // Without an answer from all machines there is no bound.
                return (f64::INFINITY, added);
            }
            let price = machine.price.max(1.0) + self.charge;
            bench.filler.load(&tables, machine, &self.item_of[..self.rows], self.full);
            if bench.filler.candidates_len == 0 {
                continue;
            }
            let mut lambda: Amounts = [0.0; DIMS];
            lambda.copy_from_slice(&self.lambda[k * DIMS..][..DIMS]);
            // Most machines are out of the question at the prices that were tuned before.
            let ask = Ask::bound(&tables, machine, self.asked, self.full, &lambda);
            let known = bench.filler.bound(&ask);
            if known <= price * (1.0 - 1e-3) {
                ratio = ratio.max(known / price);
                continue;
            }
            bench.filler.tune(&tables, machine, self.asked, self.full, &mut lambda);
            self.lambda[k * DIMS..][..DIMS].copy_from_slice(&lambda);
            let taste = Taste { scarcity: One, size: Eighth };
            let ask = Ask {
                tables,
                machine,
                value: self.asked,
                left: self.full,
                lambda: &lambda,
                taste,
                limit,
                above: price,
            };
            let (value, most) = bench.filler.fill(&ask);
            ratio = ratio.max(most / price);
            if value <= price * (1.0 - 1e-3) {
                continue;
            }
            let mut content: Vec<Entry, ITEMS_PER_MACHINE> = Vec::new();
            for (item, count) in bench.filler.content() {
                // INVARIANT: a filling holds no more kinds than this.
                let _ = content.push(Entry { item, count });
            }
            let worth: f64 = content
                .iter()
                .map(|e| self.prices[e.item as usize].max(0.0) * f64::from(e.count))
                .sum();
            let reduced = 1.0 - worth / price;
            if reduced < -1e-7 && (added < PER_ROUND || reduced < worst) {
                if self.add(k as u32, &content).is_none() {
                    self.forget();
                    if self.add(k as u32, &content).is_none() {
                        continue;
                    }
                }
                worst = if added == 0 { reduced } else { worst.min(reduced) };
                added += 1;
            }
        }
        (ratio, added)
    }

    /// Makes room: keeps the columns of the basis.
    fn forget(&mut self) {
        let (mut columns, mut entries) = (0, 0);
        for k in 0..self.columns_len {
            let Some(row) = (0..self.rows).find(|&i| self.ids[i] == k as u32) else { continue };
            let c = self.columns[k];
            let (start, len) = (c.start as usize, c.len as usize);
            self.entries.copy_within(start..start + len, entries);
            self.columns[columns] = Column { start: entries as u32, ..c };
            self.ids[row] = columns as u32;
            columns += 1;
            entries += len;
        }
        (self.columns_len, self.entries_len) = (columns, entries);
    }

    /// Rounds the program's solution into `out`: whole machines first, then those of which
    /// more than `threshold` was bought, then the rest in the given manner.
    pub fn round(
        &mut self,
        bench: &mut Bench,
        packer: &mut Packer,
        (threshold, manner): (f64, &Manner),
        reservations: &[u32],
        out: &mut Packing,
    ) -> Result<bool, Exceeded> {
        let tables = bench.tables;
        out.clear();
        packer.left[..self.rows].copy_from_slice(&self.demand[..self.rows]);
        for i in 0..self.rows {
            if self.ids[i] != NONE {
                let whole = (self.amounts[i] + 1e-6).max(0.0) as u32;
                self.take(&tables, packer, i, whole, out)?;
            }
        }
        // Largest parts first; a part is looked at once.
        let mut last = (f64::INFINITY, 0);
        loop {
            let part = |i: usize| {
                let x = self.amounts[i].max(0.0);
                x - (x + 1e-6) as i64 as f64
            };
            let next = (0..self.rows)
                .filter(|&i| self.ids[i] != NONE)
                .map(|i| (part(i), i))
                .filter(|&(x, i)| x >= threshold && (x < last.0 || (x == last.0 && i > last.1)))
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((x, i)) = next else { break };
            last = (x, i);
            self.take(&tables, packer, i, 1, out)?;
        }
        packer.pack(bench, manner, reservations, out)
    }

    /// Buys the column of row `i` `count` times. The program may cover an item more than once:
    /// what is on a machine is cut to what is left.
    fn take(
        &self,
        tables: &Tables,
        packer: &mut Packer,
        i: usize,
        count: u32,
        out: &mut Packing,
    ) -> Result<(), Exceeded> {
        let k = self.ids[i] as usize;
        let mut to_buy = count;
        while to_buy > 0 {
            let mut content: Vec<Entry, ITEMS_PER_MACHINE> = Vec::new();
            let mut copies = f64::from(to_buy);
            for e in self.content(k) {
                let left = packer.left[e.item as usize];
                let count = (left as u32).min(e.count);
                if count > 0 {
                    copies = copies.min((left / f64::from(count)) as u32 as f64);
                    // INVARIANT: a column holds no more kinds than this.
                    let _ = content.push(Entry { item: e.item, count });
                }
            }
            if content.is_empty() {
                return Ok(());
            }
            for e in &content {
                packer.left[e.item as usize] -= copies * f64::from(e.count);
            }
            out.push(tables, self.columns[k].machine, copies as u32, &content)?;
            to_buy -= copies as u32;
        }
        Ok(())
    }
}

/// The machine that holds pods of one item for the least price each, and how many.
fn cheapest_alone(tables: &Tables, i: usize) -> Option<(u32, f64)> {
    let item = &tables.items[i];
    let slot = tables.slots.get(item.slot as usize).map_or(f64::MAX, |&s| f64::from(s));
    let fits = |m: &super::tables::Machine| {
        let fit = most(item, &m.capacity).min(f64::from(item.count)).min(slot);
        (m.units == NONE && m.takes(item.signature) && fit >= 1.0).then_some(fit)
    };
    tables
        .machines
        .iter()
        .enumerate()
        .filter_map(|(k, m)| fits(m).map(|fit| (m.price / fit, k as u32, fit)))
        .min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)))
        .map(|(_, k, fit)| (k, fit))
}
