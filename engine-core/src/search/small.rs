//! The best packing of a handful of pods, by looking at every way to divide them.
//!
//! Most batches in a running cluster are this small.

use heapless::Vec;

use super::pack::Packing;
use super::tables::{DIMS, Entry, Machine, Tables, within};
use crate::limits::Exceeded;
use crate::problem::NONE;

/// Most pods whose divisions are all looked at: three to their power.
pub(crate) const PODS: usize = 10;
const SETS: usize = 1 << PODS;

/// The best way to divide the pods.
struct Division {
    pods: Vec<u32, PODS>,
    /// Price of each set of pods, surcharges included.
    price: [f64; SETS],
    /// Machine for each set of pods that shares one.
    machine: [u32; SETS],
    /// The part of each set that shares a machine with its first pod.
    part: [u16; SETS],
}

/// Packs all items into `out` at the least price, surcharge included; false when there are too
/// many pods, or machines of which only so many exist.
pub(crate) fn pack_small(
    tables: &Tables,
    surcharge: f64,
    out: &mut Packing,
) -> Result<bool, Exceeded> {
    let Some(division) = divide(tables, surcharge) else { return Ok(false) };
    let mut set = (1usize << division.pods.len()) - 1;
    while set != 0 {
        let own = usize::from(division.part[set]);
        let mut content: Vec<Entry, PODS> = Vec::new();
        let on = division.pods.iter().enumerate().filter(|(at, _)| own >> at & 1 != 0);
        for (_, &item) in on {
            match content.last_mut() {
                Some(last) if last.item == item => last.count += 1,
                // INVARIANT: there are no more kinds than pods.
                _ => drop(content.push(Entry { item, count: 1 })),
            }
        }
        out.push(tables, division.machine[own], 1, &content)?;
        set ^= own;
    }
    Ok(true)
}

/// The least price of machines for all items; nothing as for [`pack_small`].
pub(crate) fn least_price(tables: &Tables) -> Option<f64> {
    let division = divide(tables, 0.0)?;
    Some(division.price[(1 << division.pods.len()) - 1])
}

fn divide(tables: &Tables, surcharge: f64) -> Option<Division> {
    let mut pods = Vec::new();
    for (i, item) in tables.items.iter().enumerate() {
        for _ in 0..item.count {
            pods.push(i as u32).ok()?;
        }
    }
    if tables.machines.iter().any(|m| m.units != NONE) {
        return None;
    }
    let sets = 1usize << pods.len();
    let (price, machine, part) = ([f64::INFINITY; SETS], [NONE; SETS], [0; SETS]);
    let mut x = Division { pods, price, machine, part };
    for set in 1..sets {
        if let Some(k) = cheapest(tables, &x.pods, set) {
            x.machine[set] = k;
            x.price[set] = tables.machines[k as usize].price + surcharge;
        }
    }
    x.price[0] = 0.0;
    for set in 1..sets {
        let rest = set & (set - 1);
        let mut best = (x.price[set], set);
        let mut other = rest;
        while other != 0 {
            let own = set ^ other;
            // Prices of smaller sets are those of their best division by now; that of a set on
            // one machine is asked for again.
            if x.machine[own] != NONE {
                let alone = tables.machines[x.machine[own] as usize].price + surcharge;
                if alone + x.price[other] < best.0 {
                    best = (alone + x.price[other], own);
                }
            }
            other = (other - 1) & rest;
        }
        (x.price[set], x.part[set]) = (best.0, best.1 as u16);
    }
    (x.price[sets - 1] < f64::INFINITY).then_some(x)
}

/// The cheapest machine that holds the pods of `set`.
fn cheapest(tables: &Tables, pods: &[u32], set: usize) -> Option<u32> {
    let own = || pods.iter().enumerate().filter(|(at, _)| set >> at & 1 != 0).map(|(_, &i)| i);
    let mut sum = [0.0; DIMS];
    for i in own() {
        let item = &tables.items[i as usize];
        for r in 0..DIMS {
            sum[r] += item.requests[r];
        }
        let same = |j: &u32| tables.items[*j as usize].slot == item.slot;
        let is_over = |&most: &u32| own().filter(same).count() > most as usize;
        if tables.slots.get(item.slot as usize).is_some_and(is_over) {
            return None;
        }
    }
    let holds = |m: &Machine| {
        within(&sum, &m.capacity) && own().all(|i| m.takes(tables.items[i as usize].signature))
    };
    // Machines ascend by price.
    tables.machines.iter().position(holds).map(|k| k as u32)
}
