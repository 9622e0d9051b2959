//! Which machines are worth looking at, and how much of each is of use.

use super::model::Model;
use super::tables::{DIMS, Item, Machine, within};
use crate::place::bit;
use crate::problem::NONE;

impl Model<'_> {
    /// Cuts the capacities of each machine to what its pods can use of them: cpu that is left once
    /// the pods that fit have taken all memory is worth nothing, though the flow would buy it.
    pub(super) fn tighten(&mut self) {
        let dims = self.dims.len();
        let items = &self.items[..self.items_len];
        let units: [u64; DIMS] = core::array::from_fn(|r| {
            items.iter().fold(0, |unit, item| divisor(unit, item.requests[r] as u64))
        });
        let mut kept = 0;
        for k in 0..self.machines_len {
            let mut machine = self.machines[k];
            let mut demand = [0.0; DIMS];
            // The most of one resource that a pod asks for per unit of another.
            let mut per = [[0.0f64; DIMS]; DIMS];
            let whole = machine.capacity;
            let fits = |i: &&Item| {
                let is_there = i.signature != NONE && i.count > 0;
                is_there && machine.takes(i.signature) && within(&i.requests, &whole)
            };
            for item in items.iter().filter(fits) {
                for r in (0..dims).filter(|&r| item.requests[r] > 0.0) {
                    demand[r] += item.requests[r] * f64::from(item.count);
                    for s in 0..dims {
                        let part = match item.inverse[s] > 0.0 {
                            true => item.requests[r] * item.inverse[s],
                            false => f64::INFINITY,
                        };
                        per[r][s] = per[r][s].max(part);
                    }
                }
            }
            let mut capacity = whole;
            for r in 0..dims {
                let usable = (0..dims).map(|s| whole[s] * per[r][s]).fold(demand[r], f64::min);
                // Rounded up beyond what the quotients may be off by.
                let most = whole[r].min((usable * (1.0 + 1e-9)) as i64 as f64 + 1.0);
                let amounts = items.iter().filter(fits).map(|i| i.requests[r] as u64);
                capacity[r] = match units[r] {
                    0 => most,
                    unit => most.min(reachable(most as u64, unit, amounts) as f64),
                };
            }
            if demand.iter().any(|&sum| sum > 0.0) {
                machine.capacity = capacity;
                self.machines[kept] = machine;
                kept += 1;
            }
        }
        self.machines_len = kept;
    }

    /// Takes out machines that another one beats in everything, and sorts by price.
    pub(super) fn prune(&mut self) {
        let machines = &mut self.machines[..self.machines_len];
        machines.sort_unstable_by(|a, b| {
            let size =
                |m: &Machine| m.capacity.iter().zip([1.0, 1e-6]).map(|(c, w)| c * w).sum::<f64>();
            a.price
                .total_cmp(&b.price)
                .then(size(b).total_cmp(&size(a)))
                .then(a.template.cmp(&b.template))
                .then(a.instance_type.cmp(&b.instance_type))
                .then(a.offering.cmp(&b.offering))
        });
        let mut kept = 0;
        for k in 0..machines.len() {
            let new = machines[k];
            let is_beaten = machines[..kept].iter().any(|old| {
                old.units == NONE
                    && new.signatures.iter().zip(&old.signatures).all(|(n, o)| n & !o == 0)
                    && within(&new.capacity, &old.capacity)
            });
            if !is_beaten {
                machines[kept] = new;
                kept += 1;
            }
        }
        self.machines_len = kept;
    }
}

/// The greatest common divisor, where 0 divides nothing.
fn divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Words of the sums that [`reachable`] looks at.
const SUM_WORDS: usize = 32;

/// The largest sum of the amounts, each any number of times, that is no more than `most`; `most`
/// itself where its sums are too many to look at. Every amount is a multiple of `unit`.
fn reachable(most: u64, unit: u64, amounts: impl Iterator<Item = u64>) -> u64 {
    let last = (most / unit) as usize;
    if last >= 64 * SUM_WORDS {
        return most;
    }
    let mut sums = [0u64; SUM_WORDS];
    sums[0] = 1;
    for amount in amounts {
        let step = (amount / unit) as usize;
        // What others reach already leads nowhere new.
        if step == 0 || step > last || bit(&sums, step) {
            continue;
        }
        for at in step..=last {
            if bit(&sums, at - step) {
                sums[at / 64] |= 1 << (at % 64);
            }
        }
    }
    let top = (0..=last).rev().find(|&at| bit(&sums, at));
    top.unwrap_or(0) as u64 * unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_are_cut_to_sums_of_requests() {
        // 1930 is no sum of these; 1900 = 500 + 4 * 350 is.
        assert_eq!(reachable(1930, 50, [500, 350].into_iter()), 1900);
        assert_eq!(reachable(1930, 500, [1500].into_iter()), 1500);
        assert_eq!(reachable(400, 500, [500].into_iter()), 0);
        // Too many sums to look at: nothing is cut.
        assert_eq!(reachable(1 << 20, 1, [3, 5].into_iter()), 1 << 20);
    }

    #[test]
    fn every_amount_is_a_multiple_of_the_divisor() {
        assert_eq!([250, 100, 1500].into_iter().fold(0, divisor), 50);
        assert_eq!(divisor(0, 0), 0);
    }
}
