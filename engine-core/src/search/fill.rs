//! What to put on one machine: the most valuable mix of pods that fits.
//!
//! A greedy that favours what the machine has most left of, a few one-for-one swaps, and for
//! small contents an exhaustive search cut off by the Lagrangian bound.

use super::tables::{Amounts, DIMS, ITEMS_PER_MACHINE, Item, Machine, Shape, Tables, most, within};
use crate::limits::Exceeded;
use crate::problem::NONE;
use crate::stop::Stop;
use crate::workspace::Carver;

/// Differences in value that an exhaustive search does not look for.
const EXACT: f64 = 1e-4;

/// How a filling weighs what is left and how large pods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taste {
    /// Weight of scarcity: the share left to the power of minus this.
    pub scarcity: Power,
    /// Weight of size: the largest share of the machine to the power of this.
    pub size: Power,
}

/// Exponents that need no more than multiplication and square roots, so that every machine
/// computes the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Power {
    Zero,
    Eighth,
    Quarter,
    Half,
    ThreeQuarters,
    One,
    Two,
}

impl Power {
    fn of(self, x: f64) -> f64 {
        match self {
            Self::Zero => 1.0,
            Self::Eighth => root(root(root(x))),
            Self::Quarter => root(root(x)),
            Self::Half => root(x),
            Self::ThreeQuarters => {
                let half = root(x);
                half * root(half)
            }
            Self::One => x,
            Self::Two => x * x,
        }
    }
}

/// The square root by Newton's method: `core` has none, and the hardware's need not be there.
fn root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    let mut y = f64::from_bits((x.to_bits() >> 1) + 0x1ff7_a3be_a91d_9b1b);
    for _ in 0..4 {
        y = 0.5 * (y + x / y);
    }
    y
}

/// Floats that filling needs.
pub(crate) fn floats(s: &Shape) -> usize {
    4 * s.items + 2 * s.slots
}

/// Numbers that filling needs.
pub(crate) fn numbers(s: &Shape) -> usize {
    7 * s.items
}

/// Working room of one filling.
pub(crate) struct Filler<'m> {
    /// Items that may go onto the machine.
    pub candidates: &'m mut [u32],
    pub candidates_len: usize,
    size: &'m mut [f64],
    worth: &'m mut [f64],
    above: &'m mut [f64],
    rank: &'m mut [f64],
    slot_left: &'m mut [f64],
    slot_most: &'m mut [f64],
    active: &'m mut [u32],
    trial: &'m mut [u32],
    best: &'m mut [u32],
    order: &'m mut [u32],
    found: &'m mut [u32],
    current: &'m mut [u32],
    /// Cells looked at: the unit of effort.
    pub steps: u64,
    /// Ends the search before its steps do.
    pub stop: Stop<'m>,
}

/// The question of one filling.
#[derive(Clone, Copy)]
pub(crate) struct Ask<'a> {
    pub tables: Tables<'a>,
    pub machine: &'a Machine,
    /// Value of one pod of each item.
    pub value: &'a [f64],
    /// Pods of each item that may be used.
    pub left: &'a [f64],
    /// Price of each resource, for the bound and for scarcity.
    pub lambda: &'a Amounts,
    pub taste: Taste,
    /// Steps of the exhaustive search; 0 for none.
    pub limit: u32,
    /// Only a filling worth more than this is of use.
    pub above: f64,
}

impl<'a> Ask<'a> {
    /// A question for a bound alone.
    pub fn bound(
        tables: &Tables<'a>,
        machine: &'a Machine,
        value: &'a [f64],
        left: &'a [f64],
        lambda: &'a Amounts,
    ) -> Self {
        let taste = Taste { scarcity: Power::One, size: Power::Zero };
        Self { tables: *tables, machine, value, left, lambda, taste, limit: 0, above: 0.0 }
    }
}

impl<'m> Filler<'m> {
    pub fn carve(
        s: &Shape,
        f: &mut Carver<'m, f64>,
        n: &mut Carver<'m, u32>,
        stop: Stop<'m>,
    ) -> Result<Self, Exceeded> {
        Ok(Self {
            candidates: n.take(s.items)?,
            candidates_len: 0,
            size: f.take(s.items)?,
            worth: f.take(s.items)?,
            above: f.take(s.items)?,
            rank: f.take(s.items)?,
            slot_left: f.take(s.slots)?,
            slot_most: f.take(s.slots)?,
            active: n.take(s.items)?,
            trial: n.take(s.items)?,
            best: n.take(s.items)?,
            order: n.take(s.items)?,
            found: n.take(s.items)?,
            current: n.take(s.items)?,
            steps: 0,
            stop,
        })
    }

    /// True when the search is to end: by its budget of steps, or because the caller says so.
    pub fn is_over(&self, budget: u64) -> bool {
        self.steps > budget || self.stop.is_raised()
    }

    /// [`Filler::load`] from all items.
    pub fn load_all(&mut self, tables: &Tables, machine: &Machine, left: &[f64]) {
        let mut len = 0;
        for (i, item) in tables.items.iter().enumerate() {
            if left[i] > 0.0 && tables.fits(item, machine) {
                self.candidates[len] = i as u32;
                len += 1;
            }
        }
        self.candidates_len = len;
        self.steps += tables.items.len() as u64;
    }

    /// Reads the candidates of the machine from the items that are left.
    pub fn load(&mut self, tables: &Tables, machine: &Machine, live: &[u32], left: &[f64]) {
        let mut len = 0;
        for &i in live {
            let item = &tables.items[i as usize];
            if left[i as usize] > 0.0 && tables.fits(item, machine) {
                self.candidates[len] = i;
                len += 1;
            }
        }
        self.candidates_len = len;
        self.steps += live.len() as u64;
    }

    /// An upper bound on the value of any filling with the candidates.
    pub fn bound(&mut self, ask: &Ask) -> f64 {
        let live = &self.candidates[..self.candidates_len];
        self.steps += live.len() as u64;
        lagrangian(ask, live, self.slot_most)
    }

    /// Fills the machine; the value found and an upper bound on any. What is on it stands in
    /// [`Filler::content`].
    pub fn fill(&mut self, ask: &Ask) -> (f64, f64) {
        let most = self.bound(ask);
        let n = self.candidates_len;
        self.best[..n].fill(0);
        if most <= ask.above {
            return (0.0, most);
        }
        const CLOSE: f64 = 1.002;
        let further = [
            ask.taste,
            Taste { scarcity: Power::Two, size: Power::Zero },
            Taste { scarcity: Power::Half, size: Power::Half },
        ];
        let mut value = 0.0;
        for taste in further {
            let found = self.greedy(&Ask { taste, ..*ask });
            if found > value * (1.0 + 1e-12) {
                value = found;
                core::mem::swap(&mut self.trial, &mut self.best);
            }
            if value * CLOSE >= most {
                break;
            }
        }
        if value > 0.0 && value * CLOSE < most {
            value = self.swap(ask, value);
        }
        let mut most = most.max(value);
        let is_small = ask.limit >= 1000 || self.pods() <= 14;
        if value * CLOSE < most && ask.limit > 0 && is_small {
            let (found, is_complete) = self.search(ask, value);
            value = found;
            if is_complete {
                most = most.min(value.max(ask.above) * (1.0 + 2.0 * EXACT));
            }
        }
        (value, most)
    }

    /// Pods of the best filling as (item, count), in item order.
    pub fn content(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.candidates[..self.candidates_len]
            .iter()
            .zip(self.best.iter())
            .filter(|&(_, &count)| count > 0)
            .map(|(&item, &count)| (item, count))
    }

    fn pods(&self) -> u32 {
        self.best[..self.candidates_len].iter().sum()
    }

    /// Takes the candidate with the most value per scarce resource, a part of what fits at a
    /// time, until nothing fits.
    fn greedy(&mut self, ask: &Ask) -> f64 {
        let (items, cap) = (ask.tables.items, ask.machine.capacity);
        let n = self.candidates_len;
        let share = inverse(&cap);
        let mut live = 0;
        for k in 0..n {
            let item = &items[self.candidates[k] as usize];
            let mut size = 0.0f64;
            for r in 0..DIMS {
                size = size.max(item.requests[r] * share[r]);
            }
            self.size[k] = ask.taste.size.of(size) * ask.value[self.candidates[k] as usize];
            self.trial[k] = 0;
            self.active[live] = k as u32;
            live += 1;
        }
        for (left, most) in self.slot_left.iter_mut().zip(ask.tables.slots) {
            *left = f64::from(*most);
        }
        let (mut room, mut value, mut kinds) = (cap, 0.0, 0);
        loop {
            let mut weight = [0.0; DIMS];
            for r in 0..DIMS {
                if ask.lambda[r] > 0.0 && cap[r] > 0.0 {
                    let left = (room[r] * share[r]).max(1e-3);
                    weight[r] = ask.lambda[r] / ask.taste.scarcity.of(left);
                }
            }
            self.steps += live as u64;
            let (mut best, mut at) = (0.0f64, usize::MAX);
            let mut k = 0;
            while k < live {
                let i = self.active[k] as usize;
                let item = &items[self.candidates[i] as usize];
                let is_out = f64::from(self.trial[i]) >= ask.left[self.candidates[i] as usize]
                    || (item.slot != NONE && self.slot_left[item.slot as usize] <= 0.0)
                    || (self.trial[i] == 0 && kinds >= ITEMS_PER_MACHINE)
                    || !within(&item.requests, &room);
                if is_out {
                    live -= 1;
                    self.active[k] = self.active[live];
                    continue;
                }
                let mut cost = 1e-12;
                for r in 0..DIMS {
                    cost += weight[r] * item.requests[r];
                }
                let score = self.size[i] / cost;
                if score > best || (score == best && i < at) {
                    (best, at) = (score, i);
                }
                k += 1;
            }
            if at == usize::MAX {
                return value;
            }
            let row = self.candidates[at] as usize;
            let item = &items[row];
            let fit = most(item, &room);
            let mut take = (((fit + 5.0) / 6.0) as i64 as f64).max(1.0);
            take = take.min(ask.left[row] - f64::from(self.trial[at]));
            if item.slot != NONE {
                take = take.min(self.slot_left[item.slot as usize]);
                self.slot_left[item.slot as usize] -= take;
            }
            kinds += usize::from(self.trial[at] == 0);
            self.trial[at] += take as u32;
            value += ask.value[row] * take;
            for r in 0..DIMS {
                room[r] -= item.requests[r] * take;
            }
        }
    }

    /// Exchanges one pod for a more valuable one while that fits.
    fn swap(&mut self, ask: &Ask, mut value: f64) -> f64 {
        let items = ask.tables.items;
        let n = self.candidates_len;
        let mut room = self.room(ask);
        for _ in 0..12 {
            let slack: f64 = (0..DIMS).map(|r| ask.lambda[r] * room[r]).sum();
            if slack < 1e-3 * ask.machine.price {
                break;
            }
            let (mut gain, mut pair) = (1e-9 * ask.machine.price, None);
            for out in (0..n).filter(|&k| self.best[k] > 0) {
                let leaving = &items[self.candidates[out] as usize];
                let mut freed = room;
                for r in 0..DIMS {
                    freed[r] += leaving.requests[r];
                }
                self.steps += n as u64;
                for k in 0..n {
                    let row = self.candidates[k] as usize;
                    let more = ask.value[row] - ask.value[self.candidates[out] as usize];
                    let coming = &items[row];
                    let has_slot = coming.slot == NONE
                        || coming.slot == leaving.slot
                        || self.slot_left[coming.slot as usize] > 0.0;
                    if more > gain
                        && f64::from(self.best[k]) < ask.left[row]
                        && has_slot
                        && within(&coming.requests, &freed)
                    {
                        (gain, pair) = (more, Some((out, k)));
                    }
                }
            }
            let Some((out, k)) = pair else { break };
            let (leaving, coming) =
                (&items[self.candidates[out] as usize], &items[self.candidates[k] as usize]);
            for r in 0..DIMS {
                room[r] += leaving.requests[r] - coming.requests[r];
            }
            if leaving.slot != NONE {
                self.slot_left[leaving.slot as usize] += 1.0;
            }
            if coming.slot != NONE {
                self.slot_left[coming.slot as usize] -= 1.0;
            }
            self.best[out] -= 1;
            self.best[k] += 1;
            value += gain;
        }
        value
    }

    /// What the best filling leaves of the machine; slots are left in `slot_left`.
    fn room(&mut self, ask: &Ask) -> Amounts {
        for (left, most) in self.slot_left.iter_mut().zip(ask.tables.slots) {
            *left = f64::from(*most);
        }
        let mut room = ask.machine.capacity;
        for (&row, &count) in self.candidates[..self.candidates_len].iter().zip(self.best.iter()) {
            let item = &ask.tables.items[row as usize];
            for r in 0..DIMS {
                room[r] -= item.requests[r] * f64::from(count);
            }
            if item.slot != NONE {
                self.slot_left[item.slot as usize] -= f64::from(count);
            }
        }
        room
    }

    /// Depth-first search over counts, most promising items first, for `ask.limit` steps: the
    /// best value, and whether nothing was left to look at.
    fn search(&mut self, ask: &Ask, greedy: f64) -> (f64, bool) {
        let len = self.sort_by_promise(ask);
        self.suffix_bounds(ask, len);
        for (left, most) in self.slot_left.iter_mut().zip(ask.tables.slots) {
            *left = f64::from(*most);
        }
        let (mut best, mut value, mut room) = (greedy, 0.0, ask.machine.capacity);
        let (mut at, mut steps, mut improved) = (0, 0, false);
        let is_complete = 'search: loop {
            while at < len {
                if self.promise(ask, value, &room, at) <= best * (1.0 + EXACT) {
                    break;
                }
                let row = self.candidates[self.order[at] as usize] as usize;
                let item = &ask.tables.items[row];
                let mut take = most(item, &room).min(ask.left[row]);
                if item.slot != NONE {
                    take = take.min(self.slot_left[item.slot as usize]);
                }
                self.current[at] = take as u32;
                self.shift(item, take, &mut room);
                value += ask.value[row] * take;
                at += 1;
                steps += 1;
            }
            if value > best * (1.0 + EXACT) {
                best = value;
                improved = true;
                self.found[..at].copy_from_slice(&self.current[..at]);
                self.found[at..len].fill(0);
            }
            loop {
                if at == 0 || steps > ask.limit {
                    break 'search at == 0;
                }
                at -= 1;
                steps += 1;
                if self.current[at] == 0 {
                    continue;
                }
                let row = self.candidates[self.order[at] as usize] as usize;
                self.current[at] -= 1;
                self.shift(&ask.tables.items[row], -1.0, &mut room);
                value -= ask.value[row];
                if self.promise(ask, value, &room, at + 1) > best * (1.0 + EXACT) {
                    at += 1;
                    break;
                }
                // Fewer still of an item that does not pay for its resources may help.
                if self.worth[at] < 0.0 {
                    at += 1;
                    continue;
                }
                let rest = f64::from(self.current[at]);
                self.current[at] = 0;
                self.shift(&ask.tables.items[row], -rest, &mut room);
                value -= ask.value[row] * rest;
            }
        };
        self.steps += u64::from(steps) * 8;
        if improved {
            let n = self.candidates_len;
            self.best[..n].fill(0);
            for k in 0..len {
                self.best[self.order[k] as usize] = self.found[k];
            }
        }
        (best, is_complete)
    }

    /// Moves the prices of resources so that the bound of the machine falls, one resource after
    /// the other.
    pub fn tune(
        &mut self,
        tables: &Tables,
        machine: &Machine,
        value: &[f64],
        left: &[f64],
        lambda: &mut Amounts,
    ) {
        for _ in 0..3 {
            let mut moved = false;
            for r in (0..DIMS).filter(|&r| machine.capacity[r] > 0.0) {
                let mut len = 0;
                for &i in &self.candidates[..self.candidates_len] {
                    let item = &tables.items[i as usize];
                    if item.requests[r] <= 0.0 {
                        continue;
                    }
                    let mut gain = value[i as usize];
                    for s in (0..DIMS).filter(|&s| s != r) {
                        gain -= lambda[s] * item.requests[s];
                    }
                    if gain <= 0.0 {
                        continue;
                    }
                    let slot = tables.slots.get(item.slot as usize);
                    let fit = most(item, &machine.capacity).min(left[i as usize]);
                    self.size[len] = gain * item.inverse[r];
                    self.worth[len] =
                        fit.min(slot.map_or(f64::MAX, |&s| f64::from(s))) * item.requests[r];
                    len += 1;
                }
                self.steps += self.candidates_len as u64;
                let capacity = machine.capacity[r];
                let price = self.crossing(len, capacity);
                if (price - lambda[r]).abs() > 1e-12 {
                    lambda[r] = price;
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// The highest break (`size`) such that the uses (`worth`) of all that are no lower exceed
    /// `capacity`; 0 when they never do.
    fn crossing(&mut self, len: usize, capacity: f64) -> f64 {
        let breaks = &*self.size;
        let order = &mut self.order[..len];
        order.iter_mut().zip(0..).for_each(|(x, k)| *x = k);
        order.sort_unstable_by(|&a, &b| {
            breaks[b as usize].total_cmp(&breaks[a as usize]).then(a.cmp(&b))
        });
        self.steps += 4 * len as u64;
        let mut used = 0.0;
        for &mut k in order {
            used += self.worth[k as usize];
            if used > capacity {
                return breaks[k as usize];
            }
        }
        0.0
    }

    fn shift(&mut self, item: &Item, take: f64, room: &mut Amounts) {
        for r in 0..DIMS {
            room[r] -= item.requests[r] * take;
        }
        if item.slot != NONE {
            self.slot_left[item.slot as usize] -= take;
        }
    }

    fn promise(&self, ask: &Ask, value: f64, room: &Amounts, at: usize) -> f64 {
        let slack: f64 = (0..DIMS).map(|r| ask.lambda[r] * room[r]).sum();
        let rest = if at < self.candidates_len { self.above[at] } else { 0.0 };
        value + slack + rest
    }

    /// Candidates of some value into `order`: by value per price of resources in bands, large
    /// ones first within a band. Returns how many.
    fn sort_by_promise(&mut self, ask: &Ask) -> usize {
        let share = inverse(&ask.machine.capacity);
        let mut len = 0;
        for k in 0..self.candidates_len {
            let row = self.candidates[k] as usize;
            let item = &ask.tables.items[row];
            if ask.value[row] <= 0.0 {
                continue;
            }
            let (mut price, mut size) = (1e-12, 0.0);
            for r in 0..DIMS {
                price += ask.lambda[r] * item.requests[r];
                size += item.requests[r] * share[r];
            }
            let ratio = (ask.value[row] / price).min(4.0);
            let band = (ratio * 25.0) as i64 as f64;
            self.rank[k] = -band * 10.0 - size;
            self.order[len] = k as u32;
            len += 1;
        }
        let rank = &*self.rank;
        self.order[..len].sort_unstable_by(|&a, &b| {
            rank[a as usize].total_cmp(&rank[b as usize]).then(a.cmp(&b))
        });
        len
    }

    /// `above[k]` = most that the items from the k-th on add beyond the price of resources.
    fn suffix_bounds(&mut self, ask: &Ask, len: usize) {
        self.slot_most.fill(0.0);
        let mut sum = 0.0;
        for k in (0..len).rev() {
            let row = self.candidates[self.order[k] as usize] as usize;
            let item = &ask.tables.items[row];
            let gain = surplus(ask, row);
            self.worth[k] = gain;
            if gain > 0.0 {
                let fit = most(item, &ask.machine.capacity).min(ask.left[row]);
                sum += match self.slot_most.get_mut(item.slot as usize) {
                    None => gain * fit,
                    Some(known) if gain > *known => {
                        let more =
                            (gain - *known) * f64::from(ask.tables.slots[item.slot as usize]);
                        *known = gain;
                        more
                    }
                    Some(_) => 0.0,
                };
            }
            self.above[k] = sum;
        }
    }
}

/// Value of one pod beyond the price of what it takes.
fn surplus(ask: &Ask, row: usize) -> f64 {
    let item = &ask.tables.items[row];
    let mut gain = ask.value[row];
    for r in 0..DIMS {
        gain -= ask.lambda[r] * item.requests[r];
    }
    gain
}

/// Capacity at the price of `ask.lambda`, and what each item is worth beyond it: no filling
/// with `live` is worth more, whatever `lambda` is.
pub(crate) fn lagrangian(ask: &Ask, live: &[u32], slot_most: &mut [f64]) -> f64 {
    let cap = &ask.machine.capacity;
    let mut sum = 0.0;
    for r in 0..DIMS {
        sum += ask.lambda[r] * cap[r];
    }
    slot_most[..ask.tables.slots.len()].fill(0.0);
    for &i in live {
        let gain = surplus(ask, i as usize);
        let item = &ask.tables.items[i as usize];
        if gain <= 0.0 || !ask.tables.fits(item, ask.machine) {
            continue;
        }
        match slot_most.get_mut(item.slot as usize) {
            None => sum += gain * most(item, cap).min(ask.left[i as usize]),
            Some(known) => *known = known.max(gain),
        }
    }
    for (gain, most) in slot_most.iter().zip(ask.tables.slots) {
        sum += gain * f64::from(*most);
    }
    sum
}

/// `1 / x`, 0 where `x` is not positive.
fn inverse(x: &Amounts) -> Amounts {
    let mut y = [0.0; DIMS];
    for r in 0..DIMS {
        if x[r] > 0.0 {
            y[r] = 1.0 / x[r];
        }
    }
    y
}
