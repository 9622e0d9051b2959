//! What the pods on new nodes must at least cost, whoever packs them.
//!
//! Duality: give each pod a value; if no machine can hold more value than `k` times its price,
//! pods of value `v` together cost at least `v / k`. The values come from floating-point
//! programs, but any values prove a bound: it is computed from them in whole numbers, so that
//! no rounding makes it too high.

use super::duals::Duals;
use super::model::{Model, Purpose};
use super::tables::{DIMS, Item, Machine, Tables};
use crate::decision::Target;
use crate::limits::Exceeded;
use crate::place::Solve;
use crate::problem::NONE;

/// A price below which no set of new machines holds the pods it covers, given that pods on
/// nodes that exist stay there, pools of a heavier weight come first, and preferences that
/// were kept are kept. Requests, labels, taints, ports and anti-affinity over single nodes are
/// taken into account; limits, minValues, spreads and other affinity are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Bound {
    /// Micro-dollars per hour.
    pub price_microusd: i64,
    /// Pods on new nodes that it covers; others count as costing nothing.
    pub pods: u32,
}

/// Values are whole multiples of 2^-44 micro-dollars: a byte of memory is worth about 2^-20.
const SCALE: f64 = (1u64 << 44) as f64;

/// The bound for what `solve` has placed on new nodes. `counts` (by class) and `demand` (by
/// item) are room to work in.
pub(crate) fn of(
    solve: &mut Solve,
    model: &mut Model,
    duals: &mut Duals,
    counts: &mut [u32],
    demand: &mut [f64],
) -> Result<Bound, Exceeded> {
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
    let mut price = 0;
    // Pods that may use cheaper machines than others are told apart by their own prices; where
    // machines differ by place alone, one price for all is the better proof.
    for pools in [false, true] {
        if pools {
            duals.solve_pooled(&tables, demand, &mut steps);
        } else {
            duals.solve(&tables, demand, &mut steps);
        }
        price = exact(&tables, duals, &solve.state.p).max(price);
    }
    Ok(Bound { price_microusd: price, pods })
}

/// Counts of each item only the pods for which its machines are all there are: placed at its
/// step of relaxation, in a pool of its weight.
fn count_covered(solve: &Solve, model: &mut Model) {
    let p = &solve.state.p;
    for item in &mut model.items[..model.items_len] {
        item.count = 0;
    }
    for x in solve.placements() {
        let Target::New(b) = x.target else { continue };
        let items = &mut model.items[..model.items_len];
        // Items ascend by class until they are sorted by signature.
        let Ok(at) = items.binary_search_by_key(&x.class, |i| i.class) else { continue };
        let class = &p.classes[x.class as usize];
        let template = &p.templates[solve.state.news.rows[b as usize].template as usize];
        let is_soft =
            class.preferred.len > 0 || class.links.of(p.links).iter().any(|l| l.weight > 0);
        let is_same_step = if class.required.len > 1 {
            !is_soft && !solve.state.has_preferring_taint
        } else {
            x.relaxed == items[at].relaxed
        };
        if is_same_step && template.weight == items[at].weight && items[at].signature != NONE {
            items[at].count += x.count;
        }
    }
}

/// The bound in whole numbers.
fn exact(tables: &Tables, duals: &Duals, p: &crate::problem::Problem) -> i64 {
    let value = |i: usize| (duals.value[i] * SCALE) as i128;
    let total: i128 =
        tables.items.iter().enumerate().map(|(i, x)| value(i) * i128::from(x.count)).sum();
    // The least price per value that a machine can hold, as a fraction.
    let mut rate: Option<(i128, i128)> = None;
    for (k, machine) in tables.machines.iter().enumerate().filter(|(_, m)| m.units == NONE) {
        let most = most_value(tables, duals, k);
        let price = machine.price as i128;
        if most > 0 && rate.is_none_or(|(n, d)| price.saturating_mul(d) < most.saturating_mul(n)) {
            rate = Some((price, most));
        }
    }
    let Some((price, most)) = rate else { return 0 };
    // INVARIANT: values are prices of machines at most, so this does not overflow; were it to,
    // zero is a bound, too.
    let Some(sum) = total.checked_mul(price) else { return 0 };
    let mut bound = sum / most;
    for (reservation, &units) in p.reservations.iter().enumerate() {
        // What a machine of the reservation saves at most.
        let saves = |(k, machine): (usize, &Machine)| {
            let held = most_value(tables, duals, k).saturating_mul(price) / most + 1;
            held - machine.price as i128
        };
        let own = |(_, m): &(usize, &Machine)| m.reservation as usize == reservation;
        let best = tables.machines.iter().enumerate().filter(own).map(saves).max().unwrap_or(0);
        bound -= best.max(0) * i128::from(units);
    }
    bound.max(0) as i64
}

/// An upper bound on the value that machine `k` can hold, in scaled micro-dollars.
fn most_value(tables: &Tables, duals: &Duals, k: usize) -> i128 {
    let machine = &tables.machines[k];
    let lambda = duals.best_lambda(tables, k).map(|x| (x * SCALE) as i128);
    let mut most: i128 = 0;
    for r in 0..DIMS {
        most += lambda[r] * machine.capacity[r] as i128;
    }
    let gain = |i: usize, item: &Item| {
        let mut gain = (duals.value[i] * SCALE) as i128;
        for r in 0..DIMS {
            gain -= lambda[r] * item.requests[r] as i128;
        }
        gain
    };
    for (i, item) in tables.items.iter().enumerate() {
        if item.slot != NONE || !tables.fits(item, machine) {
            continue;
        }
        let gain = gain(i, item);
        if gain > 0 {
            most += gain * i128::from(pods_that_fit(item, machine).min(i64::from(item.count)));
        }
    }
    for (slot, &pods) in tables.slots.iter().enumerate() {
        let own =
            |(_, item): &(usize, &Item)| item.slot as usize == slot && tables.fits(item, machine);
        let gains = tables.items.iter().enumerate().filter(own).map(|(i, item)| gain(i, item));
        most += gains.max().unwrap_or(0).max(0) * i128::from(pods);
    }
    most
}

fn pods_that_fit(item: &Item, machine: &Machine) -> i64 {
    let fit = |r: usize| match item.requests[r] as i64 {
        0 => i64::MAX,
        request => machine.capacity[r] as i64 / request,
    };
    (0..DIMS).map(fit).min().unwrap_or(0)
}
