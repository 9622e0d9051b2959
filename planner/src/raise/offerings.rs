//! Which offerings a set of requirements leaves, and types in the order of their price.

use dunnage_engine_core::price;
use dunnage_engine_core::problem::{InstanceType, NONE, Offering, Problem};
use dunnage_engine_core::requirements::{Layout, ranks, values_of};

/// True when the offering is not sold out and `set` allows each of its labels. A key that
/// the set does not hold is set at launch.
pub(crate) fn is_usable(p: &Problem, layout: &Layout, set: &[u64], offering: &Offering) -> bool {
    offering.is_available
        && offering.labels.of(p.offering_labels).iter().all(|label| {
            let key = label.key as usize;
            !layout.has(set, key) || layout.get(set, key).allows(label.value, values_of(p, key))
        })
}

/// Usable offerings of a type, as rows of `offerings`. Those of a reservation count only for
/// a node that holds one.
pub(crate) fn usable<'a>(
    p: &'a Problem<'a>,
    layout: &'a Layout<'a>,
    set: &'a [u64],
    instance_type: &InstanceType,
    holds_reservation: bool,
) -> impl Iterator<Item = usize> + 'a {
    let range = instance_type.offerings.range();
    range.filter(move |&row| {
        p.offerings.get(row).is_some_and(|o| {
            (holds_reservation || o.reservation == NONE) && is_usable(p, layout, set, o)
        })
    })
}

/// The types of a mask in the order of their cheapest usable offering, ties by name (types
/// ascend by name). A type without a usable offering comes last.
pub(crate) fn by_price(
    p: &Problem,
    layout: &Layout,
    set: &[u64],
    mask: &[u64],
    holds_reservation: bool,
) -> Vec<usize> {
    let mut rows: Vec<(i64, u32)> = ranks(mask)
        .map(|row| {
            let best = price::of_type(p, layout, set, row, holds_reservation);
            (best.map_or(i64::MAX, |best| best.price_microusd), row)
        })
        .collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row as usize).collect()
}
