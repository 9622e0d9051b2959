//! Prices of machines: cheapest usable offering, order of types, cut of a long list.
//!
//! Ties are broken by type (name order), then by offering (zone order in the tables).

use crate::place::usable;
use crate::problem::{CapacityType, NONE, Offering, Problem};
use crate::requirements::{Layout, ranks};

/// An offering with the type it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priced {
    /// Micro-dollars per hour.
    pub price_microusd: i64,
    /// The same with the penalty of its offering: what choices go by.
    pub counted_microusd: i64,
    /// Row of `types`.
    pub instance_type: u32,
    /// Row of `offerings`.
    pub offering: u32,
}

/// The cheapest usable offering of one type under the dense set `set`. Offerings of a
/// reservation count only when `holds_reservation`, or when they draw on none by id.
pub fn of_type(
    p: &Problem,
    layout: &Layout,
    set: &[u64],
    instance_type: u32,
    holds_reservation: bool,
) -> Option<Priced> {
    of_type_where(p, layout, set, instance_type, holds_reservation, |_| true)
}

/// [`of_type`] over the offerings that `serves`.
pub(crate) fn of_type_where(
    p: &Problem,
    layout: &Layout,
    set: &[u64],
    instance_type: u32,
    holds_reservation: bool,
    serves: impl Fn(&Offering) -> bool,
) -> Option<Priced> {
    p.types[instance_type as usize]
        .offerings
        .range()
        .filter(|&o| serves(&p.offerings[o]))
        .filter(|&o| {
            let offering = &p.offerings[o];
            let is_held = holds_reservation
                || offering.capacity_type != CapacityType::Reserved
                || offering.reservation == NONE;
            is_held && usable(p, layout, set, offering)
        })
        .map(|o| Priced {
            price_microusd: p.offerings[o].price_microusd,
            counted_microusd: p.offerings[o].counted_microusd(),
            instance_type,
            offering: o as u32,
        })
        .min_by_key(|x| (x.counted_microusd, x.offering))
}

/// Keeps the `most` cheapest types of `mask`; types without a usable offering are dearest.
/// True when something was cut. `prices` is room for one price per type.
pub fn cut(
    p: &Problem,
    layout: &Layout,
    set: &[u64],
    mask: &mut [u64],
    most: usize,
    prices: &mut [i64],
) -> bool {
    let count: usize = mask.iter().map(|w| w.count_ones() as usize).sum();
    if count <= most {
        return false;
    }
    let mut len = 0;
    for t in ranks(mask) {
        prices[len] = of_type(p, layout, set, t, true).map_or(i64::MAX, |x| x.counted_microusd);
        len += 1;
    }
    let prices = &prices[..len];
    // The highest price of which at most `most` types are no dearer, by bisection: no memory
    // to sort in.
    let no_dearer = |limit: i64| prices.iter().filter(|&&price| price <= limit).count();
    let (mut low, mut high) = (-1i64, i64::MAX);
    while low + 1 < high {
        let middle = i64::midpoint(low, high);
        if no_dearer(middle) <= most { low = middle } else { high = middle }
    }
    let mut room = most - no_dearer(low);
    let mut at = 0;
    for word in mask.iter_mut() {
        for bit in 0..64 {
            if *word >> bit & 1 == 0 {
                continue;
            }
            let price = prices[at];
            at += 1;
            let keeps = price <= low || (price == high && room > 0);
            room -= usize::from(keeps && price > low);
            if !keeps {
                *word &= !(1 << bit);
            }
        }
    }
    true
}
