//! Resource rows: fit, add, shortest.
//!
//! Rows are stretches of `i64` with one cell per resource of the problem; a resource that a
//! row does not name is 0.

/// True when `used + more <= total` in every resource.
///
/// Only resources with a request count, unless `negative_blocks_all` (Karpenter): then a
/// negative amount of any resource refuses everything.
pub fn fits(used: &[i64], more: &[i64], total: &[i64], negative_blocks_all: bool) -> bool {
    used.iter().zip(more).zip(total).all(|((u, m), t)| {
        let need = u.saturating_add(*m);
        need <= *t || (need == 0 && !negative_blocks_all)
    })
}

/// Adds `more` to `row`.
pub fn add(row: &mut [i64], more: &[i64]) {
    for (r, m) in row.iter_mut().zip(more) {
        *r = r.saturating_add(*m);
    }
}

/// Takes `less` off `row`.
pub fn subtract(row: &mut [i64], less: &[i64]) {
    for (r, l) in row.iter_mut().zip(less) {
        *r = r.saturating_sub(*l);
    }
}

/// Raises each cell of `row` to that of `other` where it is larger.
pub fn raise(row: &mut [i64], other: &[i64]) {
    for (r, o) in row.iter_mut().zip(other) {
        *r = (*r).max(*o);
    }
}

/// Lowers each cell of `row` to that of `other` where it is smaller.
pub fn lower(row: &mut [i64], other: &[i64]) {
    for (r, o) in row.iter_mut().zip(other) {
        *r = (*r).min(*o);
    }
}
