//! What the pods on new nodes must at least cost, whoever packs them.
//!
//! Duality: give each pod a value; if no machine can hold more value than `k` times its price,
//! pods of value `v` together cost at least `v / k`. The values come from floating-point
//! programs, but any values prove a bound: it is computed from them in whole numbers, so that
//! no rounding makes it too high.

use heapless::Vec;

use super::duals::Duals;
use super::fill::{Ask, Filler};
use super::model::{Model, Purpose};
use super::tables::{Amounts, DIMS, Item, Tables};
use crate::decision::Target;
use crate::limits::Exceeded;
use crate::place::Solve;
use crate::problem::NONE;

/// A price below which no set of new machines holds the pods it covers, given that pods on
/// nodes that exist stay there and preferences that were kept are kept. Requests, labels,
/// taints, ports and anti-affinity over single nodes are taken into account; weights of pools,
/// limits, minValues, spreads and other affinity are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bound {
    /// Micro-dollars per hour.
    pub price_microusd: i64,
    /// The same as far as values of pods prove it: less where trying every division proves more.
    pub dual_microusd: i64,
    /// Pods on new nodes that it covers; others count as costing nothing.
    pub pods: u32,
}

/// Values are whole multiples of 2^-44 micro-dollars: a byte of memory is worth about 2^-20.
const SCALE: f64 = (1u64 << 44) as f64;

/// Room to work in, and what is known of values.
pub(crate) struct Room<'r> {
    /// A count for each class.
    pub counts: &'r mut [u32],
    /// An amount for each item.
    pub demand: &'r mut [f64],
    /// Value of a pod of each class by column generation; negative where there is none.
    pub values: &'r [f64],
    /// Prices of resources by column generation for each machine that was packed, and its
    /// offering.
    pub lambda: &'r [f64],
    pub offerings: &'r [u32],
    /// A number for each machine.
    pub machines: &'r mut [f64],
    /// Steps of exhaustive looks at machines.
    pub steps: u32,
    /// Where the values go that prove the bound, by class; empty when nobody asks.
    pub duals: &'r mut [Dual],
}

/// What the proof of a bound says of a class: so many of its pods count, each with that value.
/// No machine holds more value than its price, so that the values of all pods are a bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Dual {
    /// Micro-dollars per hour.
    pub value_microusd: f64,
    /// Pods on new nodes that the bound covers.
    pub pods: u32,
}

/// The bound for what `solve` has placed on new nodes.
pub(crate) fn of(
    solve: &mut Solve,
    model: &mut Model,
    duals: &mut Duals,
    filler: &mut Filler,
    room: Room,
) -> Result<Bound, Exceeded> {
    let Room { counts, demand, values, lambda, offerings, machines, steps: exhaust, duals: told } =
        room;
    counts.fill(0);
    for x in solve.placements() {
        if matches!(x.target, Target::New(_)) {
            counts[x.class as usize] += x.count;
        }
    }
    model.read(&mut solve.state, counts, Purpose::Bound)?;
    count_covered(solve, model);
    model.drop_empty();
    let tables = model.tables();
    let mut pods = 0;
    for (demand, item) in demand.iter_mut().zip(tables.items) {
        *demand = f64::from(item.count);
        pods += item.count;
    }
    let mut steps = 0;
    let mut proof = Proof {
        tables,
        filler,
        reservations: solve.state.p.reservations,
        left: demand,
        most: machines,
        known: &[],
        offerings,
        steps: 0,
    };
    // Pods that may use cheaper machines than others are told apart by their own prices; where
    // machines differ by place alone, one price for all is the better proof. Column generation
    // knows more than both where pods are large.
    told.fill(Dual::default());
    duals.solve(&tables, proof.left, &mut steps);
    let mut price = proof.tell(duals, 0, told);
    duals.solve_pooled(&tables, proof.left, &mut steps);
    price = proof.tell(duals, price, told);
    let is_known = |x: &Item| values[x.class as usize] >= 0.0;
    if tables.items.iter().any(is_known) {
        for (value, item) in duals.value.iter_mut().zip(tables.items) {
            if is_known(item) {
                *value = values[item.class as usize];
            }
        }
        (proof.steps, proof.known) = (exhaust, lambda);
        price = proof.tell(duals, price, told);
    }
    let dual_microusd = price;
    if let Some(least) = super::small::least_price(&tables) {
        price = price.max(least as i64);
    }
    Ok(Bound { price_microusd: price, dual_microusd, pods })
}

/// A bound in floating point, for deciding when to stop, and whether one price for all pods
/// proves it.
pub(crate) fn quick(
    tables: &Tables,
    duals: &mut Duals,
    left: &[f64],
    filler: &mut Filler,
) -> (f64, bool) {
    let (mut best, mut is_pooled) = (0.0f64, false);
    for pools in [false, true] {
        if pools {
            duals.solve_pooled(tables, left, &mut filler.steps);
        } else {
            duals.solve(tables, left, &mut filler.steps);
        }
        let total: f64 = duals.value.iter().zip(left).map(|(v, n)| v * n).sum();
        let mut ratio = 0.0f64;
        for (k, machine) in tables.machines.iter().enumerate().filter(|(_, m)| m.units == NONE) {
            if filler.stop.is_raised() {
                break;
            }
            filler.load_all(tables, machine, left);
            let lambda = duals.best_lambda(tables, k);
            let ask = Ask::bound(tables, machine, duals.value, left, &lambda);
            ratio = ratio.max(filler.bound(&ask) / machine.price.max(1.0));
        }
        let bound = total / ratio.max(1e-12);
        if bound > best {
            (best, is_pooled) = (bound, pools);
        }
    }
    (best, is_pooled)
}

/// Counts of each item only the pods for which its machines are all there are: placed at its
/// step of relaxation.
fn count_covered(solve: &Solve, model: &mut Model) {
    let p = &solve.state.p;
    for item in &mut model.items[..model.items_len] {
        item.count = 0;
    }
    for x in solve.placements() {
        let Target::New(_) = x.target else { continue };
        let items = &mut model.items[..model.items_len];
        // Items ascend by class until they are sorted by signature.
        let Ok(at) = items.binary_search_by_key(&x.class, |i| i.class) else { continue };
        let class = &p.classes[x.class as usize];
        let is_soft =
            class.preferred.len > 0 || class.links.of(p.links).iter().any(|l| l.weight > 0);
        let is_same_step = if class.required.len > 1 {
            !is_soft && !solve.state.has_preferring_taint
        } else {
            x.relaxed == items[at].relaxed
        };
        if is_same_step && items[at].signature != NONE {
            items[at].count += x.count;
        }
    }
}

/// A bound in whole numbers from values in floating point.
struct Proof<'t, 'f, 'm> {
    tables: Tables<'t>,
    filler: &'f mut Filler<'m>,
    reservations: &'t [u32],
    left: &'f [f64],
    /// Room for a number for each machine.
    most: &'f mut [f64],
    /// Prices of resources that are known to do well for a machine of the offering at its place.
    known: &'f [f64],
    offerings: &'f [u32],
    /// Steps left for exhaustive looks at machines.
    steps: u32,
}

impl Proof<'_, '_, '_> {
    /// The better of a bound that is known and the one that the values prove, which are told
    /// when they do better.
    fn tell(&mut self, duals: &Duals, known: i64, told: &mut [Dual]) -> i64 {
        let Some((price, most)) = self.least_price_per_value(duals) else { return known };
        let bound = self.bound(duals, (price, most));
        if bound <= known {
            return known;
        }
        for (i, item) in self.tables.items.iter().enumerate() {
            if let Some(dual) = told.get_mut(item.class as usize) {
                let share = price as f64 / most as f64 * SCALE;
                *dual = Dual { value_microusd: duals.value[i] * share, pods: item.count };
            }
        }
        bound
    }

    fn bound(&mut self, duals: &Duals, (price, most): (i128, i128)) -> i64 {
        let tables = self.tables;
        let value = |i: usize| (duals.value[i] * SCALE) as i128;
        let total: i128 =
            tables.items.iter().enumerate().map(|(i, x)| value(i) * i128::from(x.count)).sum();
        // INVARIANT: values are prices of machines at most, so this does not overflow; were it
        // to, zero is a bound, too.
        let Some(sum) = total.checked_mul(price) else { return 0 };
        let mut bound = sum / most;
        for (reservation, &units) in self.reservations.iter().enumerate() {
            // What a machine of the reservation saves at most.
            let mut best = 0;
            for (k, machine) in tables.machines.iter().enumerate() {
                if machine.reservation as usize == reservation {
                    let held = self.most_value(duals, k).saturating_mul(price) / most + 1;
                    best = best.max(held - machine.price as i128);
                }
            }
            bound -= best * i128::from(units);
        }
        bound.max(0) as i64
    }

    /// The least price per value that a machine can hold, as a fraction. Machines are bounded
    /// by prices of resources first; those that decide are then looked at exhaustively.
    fn least_price_per_value(&mut self, duals: &Duals) -> Option<(i128, i128)> {
        let tables = self.tables;
        let count = tables.machines.len();
        self.most[..count].fill(0.0);
        for (k, machine) in tables.machines.iter().enumerate() {
            if machine.units == NONE && !self.filler.stop.is_raised() {
                self.most[k] = self.most_value(duals, k) as f64 / machine.price.max(1.0);
            }
        }
        let mut rate: Option<(i128, i128)> = None;
        let is_worse = |rate: Option<(i128, i128)>, k: usize, most: i128| {
            let price = tables.machines[k].price as i128;
            most > 0 && rate.is_none_or(|(n, d)| price.saturating_mul(d) < most.saturating_mul(n))
        };
        for _ in 0..count {
            if self.filler.stop.is_raised() {
                return None;
            }
            let worst = (0..count).max_by(|&a, &b| self.most[a].total_cmp(&self.most[b]))?;
            self.most[worst] = 0.0;
            let mut most = self.most_value(duals, worst);
            if !is_worse(rate, worst, most) {
                break;
            }
            if self.steps > 0 {
                most = self.exhaust(duals, worst).unwrap_or(most).min(most);
            }
            if is_worse(rate, worst, most) {
                rate = Some((tables.machines[worst].price as i128, most));
            }
        }
        rate
    }

    /// Prices of resources for the bound of machine `k`: whatever they are, it holds.
    fn lambda(&mut self, duals: &Duals, k: usize) -> [i128; DIMS] {
        let machine = &self.tables.machines[k];
        self.filler.load_all(&self.tables, machine, self.left);
        let is_same = self.offerings.get(k) == Some(&machine.offering);
        let row = self.known.get(k * DIMS..(k + 1) * DIMS).filter(|_| is_same);
        let known = row.and_then(|row| Amounts::try_from(row).ok());
        let plain = duals.best_lambda(&self.tables, k);
        let mut tuned = plain;
        self.filler.tune(&self.tables, machine, duals.value, self.left, &mut tuned);
        let known = known.map(|mut known| {
            self.filler.tune(&self.tables, machine, duals.value, self.left, &mut known);
            known
        });
        let mut at = |lambda: &Amounts| {
            let ask = Ask::bound(&self.tables, machine, duals.value, self.left, lambda);
            self.filler.bound(&ask)
        };
        let mut best = if at(&tuned) < at(&plain) { tuned } else { plain };
        if let Some(known) = known
            && at(&known) < at(&best)
        {
            best = known;
        }
        best.map(|x| (x * SCALE) as i128)
    }

    /// An upper bound on the value that machine `k` can hold, in scaled micro-dollars.
    fn most_value(&mut self, duals: &Duals, k: usize) -> i128 {
        let lambda = self.lambda(duals, k);
        let tables = &self.tables;
        let machine = &tables.machines[k];
        let mut most: i128 = 0;
        for r in 0..DIMS {
            most += lambda[r] * machine.capacity[r] as i128;
        }
        let gain = |i: usize| surplus(duals, &lambda, &tables.items[i], i);
        for (i, item) in tables.items.iter().enumerate() {
            if item.slot != NONE || !tables.fits(item, machine) {
                continue;
            }
            let fit = pods_that_fit(item, &machine.capacity).min(i64::from(item.count));
            most += gain(i).max(0) * i128::from(fit);
        }
        for (slot, &pods) in tables.slots.iter().enumerate() {
            let own = |item: &Item| item.slot as usize == slot && tables.fits(item, machine);
            let gains = (0..tables.items.len()).filter(|&i| own(&tables.items[i])).map(gain);
            most += gains.max().unwrap_or(0).max(0) * i128::from(pods);
        }
        most
    }

    /// The most value that machine `k` can hold, by looking at every filling that could beat
    /// the best; nothing when there are too many. Slots count as free, which only adds.
    fn exhaust(&mut self, duals: &Duals, k: usize) -> Option<i128> {
        let lambda = self.lambda(duals, k);
        let tables = &self.tables;
        let machine = &tables.machines[k];
        let mut rows: Vec<Row, EXHAUST_ITEMS> = Vec::new();
        for (i, item) in tables.items.iter().enumerate() {
            if item.count > 0 && tables.fits(item, machine) {
                let value = (duals.value[i] * SCALE) as i128;
                let gain = surplus(duals, &lambda, item, i);
                rows.push(Row { item: i as u32, value, gain, above: 0, taken: 0 }).ok()?;
            }
        }
        // Those that pay best first; large ones first among those that pay alike.
        rows.sort_unstable_by(|a, b| {
            let ratio = |x: &Row| x.gain.saturating_mul(1 << 20) / x.value.max(1);
            ratio(b).cmp(&ratio(a)).then(b.value.cmp(&a.value)).then(a.item.cmp(&b.item))
        });
        let mut above = 0;
        for row in rows.iter_mut().rev() {
            let item = &tables.items[row.item as usize];
            let fit = pods_that_fit(item, &machine.capacity).min(i64::from(item.count));
            above += row.gain.max(0) * i128::from(fit);
            row.above = above;
        }
        look_everywhere(tables, &mut rows, &lambda, machine.capacity, &mut self.steps)
    }
}

/// Most items of an exhaustive look at one machine.
const EXHAUST_ITEMS: usize = 128;

/// An item of an exhaustive look.
struct Row {
    item: u32,
    value: i128,
    /// Value beyond the price of what it takes.
    gain: i128,
    /// Most that this and the following items gain.
    above: i128,
    taken: i64,
}

/// Depth first over counts, cut off where the prices of resources say that nothing better
/// follows.
fn look_everywhere(
    tables: &Tables,
    rows: &mut [Row],
    lambda: &[i128; DIMS],
    mut room: Amounts,
    steps_left: &mut u32,
) -> Option<i128> {
    let slack = |room: &Amounts| -> i128 { (0..DIMS).map(|r| lambda[r] * room[r] as i128).sum() };
    let above = |rows: &[Row], at: usize| rows.get(at).map_or(0, |x| x.above);
    let shift = |room: &mut Amounts, item: &Item, pods: i64| {
        for r in 0..DIMS {
            room[r] -= item.requests[r] * pods as f64;
        }
    };
    let (mut best, mut value, mut at) = (0, 0i128, 0);
    // What is a hair better is not looked for, and allowed for in the answer.
    let hair = |best: i128| best + best / 8192;
    loop {
        while at < rows.len() && value + slack(&room) + above(rows, at) > hair(best) {
            let item = &tables.items[rows[at].item as usize];
            let fit = pods_that_fit(item, &room).min(i64::from(item.count));
            rows[at].taken = fit;
            shift(&mut room, item, fit);
            value += rows[at].value * i128::from(fit);
            at += 1;
        }
        best = best.max(value);
        loop {
            if at == 0 {
                return Some(hair(best));
            }
            *steps_left = steps_left.saturating_sub(1);
            if *steps_left == 0 {
                return None;
            }
            at -= 1;
            let row = &mut rows[at];
            if row.taken == 0 {
                continue;
            }
            let item = &tables.items[row.item as usize];
            row.taken -= 1;
            value -= row.value;
            shift(&mut room, item, -1);
            if value + slack(&room) + above(rows, at + 1) > hair(best) {
                at += 1;
                break;
            }
            let rest = rows[at].taken;
            // One fewer of what gains nothing leaves more to hope for; of what gains, less.
            if rows[at].gain >= 0 {
                value -= rows[at].value * i128::from(rest);
                shift(&mut room, item, -rest);
                rows[at].taken = 0;
            } else {
                at += 1;
            }
        }
    }
}

/// Value of one pod beyond the price of what it takes, scaled.
fn surplus(duals: &Duals, lambda: &[i128; DIMS], item: &Item, i: usize) -> i128 {
    let mut gain = (duals.value[i] * SCALE) as i128;
    for r in 0..DIMS {
        gain -= lambda[r] * item.requests[r] as i128;
    }
    gain
}

fn pods_that_fit(item: &Item, room: &Amounts) -> i64 {
    let fit = |r: usize| match item.requests[r] as i64 {
        0 => i64::MAX,
        request => room[r] as i64 / request,
    };
    (0..DIMS).map(fit).min().unwrap_or(0)
}
