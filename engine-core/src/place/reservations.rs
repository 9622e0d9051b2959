//! What a new node is once it draws on the reservations it holds, or does without them.

use crate::place::state::{State, is_reserved};
use crate::place::types::{self, Question};
use crate::problem::{NONE, Offering};

impl State<'_, '_> {
    /// Settles whether a new node draws on reservations, at the end of a solve.
    pub(crate) fn settle_reservation(&mut self, b: usize) {
        let (w, m, r) = (self.z.set, self.z.mask, self.z.resources);
        let holds = self.z.reservations > 0 && self.holds(b);
        self.news.rows[b].is_reserved = holds;
        if !holds {
            return;
        }
        self.scratch.result.copy_from_slice(&self.news.sets[b * w..][..w]);
        self.scratch.filtered.copy_from_slice(&self.news.masks[b * m..][..m]);
        self.scratch.held.copy_from_slice(&self.news.held[b * self.z.hold..][..self.z.hold]);
        self.scratch.total.copy_from_slice(&self.news.requests[b * r..][..r]);
        if !self.p.rules.reserved_falls_back {
            self.narrow_to_held();
            self.news.sets[b * w..][..w].copy_from_slice(self.scratch.narrowed);
            return;
        }
        let q = Question { template: self.news.rows[b].template as usize, new_node: b as u32 };
        // INVARIANT: `can_settle` held when the last pod came, so one of the two does.
        let draws = self.comes(q, true);
        if !draws && !self.comes(q, false) {
            self.news.rows[b].pods = 0;
        }
        self.news.rows[b].is_reserved = draws;
        self.news.sets[b * w..][..w].copy_from_slice(self.scratch.narrowed);
        self.news.masks[b * m..][..m].copy_from_slice(self.scratch.kept);
    }

    /// True when the node of `scratch.result` can be launched with the reservations of
    /// `scratch.held`, or without. Asked for each pod: a node that turned out at the end to be
    /// neither would take pods along that others were placed by.
    pub(crate) fn can_settle(&mut self, q: Question) -> bool {
        self.comes(q, true) || self.comes(q, false)
    }

    /// Writes into `scratch.narrowed` and `scratch.kept` what is left of `scratch.result` and
    /// `scratch.filtered` when the node draws on the reservations of `scratch.held`, or on
    /// none; false when no type is left, or too few for minValues.
    fn comes(&mut self, q: Question, draws: bool) -> bool {
        let p = self.p;
        if draws {
            self.narrow_to_held();
        } else {
            self.scratch.narrowed.copy_from_slice(self.scratch.result);
        }
        for i in 0..self.z.mask {
            let mut left = self.scratch.filtered[i];
            let mut kept = 0;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                if self.type_comes(q, i as u32 * 64 + bit, draws) {
                    kept |= 1 << bit;
                }
            }
            self.scratch.kept[i] = kept;
        }
        let (set, mask) = (&*self.scratch.narrowed, &*self.scratch.kept);
        let distinct = &mut *self.scratch.distinct;
        mask.iter().any(|&x| x != 0)
            && types::few_values(&p, &self.layout, self.sets, set, mask, distinct).is_none()
    }

    /// True when an offering of the type that is large enough is left.
    fn type_comes(&self, q: Question, index: u32, draws: bool) -> bool {
        let p = &self.p;
        let of_type = &p.types[index as usize];
        let variants = of_type.variants.of(p.variants);
        let at = self.template_type(q.template, index);
        of_type.offerings.of(p.offerings).iter().any(|o| {
            draws == draws_on_reservation(o)
                && self.can_afford(q.new_node, o)
                && types::usable(p, &self.layout, self.scratch.narrowed, o)
                && variants
                    .get(o.variant as usize)
                    .is_some_and(|v| self.is_large(v.allocatable, at))
        })
    }

    /// Writes `scratch.result`, narrowed to units of the reservations in `scratch.held`, into
    /// `scratch.narrowed`.
    fn narrow_to_held(&mut self) {
        let p = self.p;
        self.scratch.narrowed.copy_from_slice(self.scratch.result);
        if let Some(key) = crate::requirements::key(p.well.capacity_type) {
            let n = self.layout.bit_words(key);
            self.scratch.bits[..n].fill(0);
            if p.well.reserved < p.keys[key].values.len {
                self.scratch.bits[p.well.reserved as usize / 64] |= 1 << (p.well.reserved % 64);
            }
            self.narrow_to_bits(key);
        }
        if let Some(key) = crate::requirements::key(p.well.reservation) {
            let n = self.layout.bit_words(key);
            self.scratch.bits[..n].fill(0);
            for t in crate::requirements::ranks(self.scratch.filtered) {
                for o in p.types[t as usize].offerings.of(p.offerings) {
                    let id = o.reservation;
                    if id == NONE || self.scratch.held[id as usize / 64] >> (id % 64) & 1 == 0 {
                        continue;
                    }
                    let labels = o.labels.of(p.offering_labels);
                    for label in labels.iter().filter(|l| l.key as usize == key) {
                        self.scratch.bits[label.value as usize / 64] |= 1 << (label.value % 64);
                    }
                }
            }
            self.narrow_to_bits(key);
        }
    }

    fn narrow_to_bits(&mut self, key: usize) {
        let values = crate::requirements::values_of(&self.p, key);
        let bits = &self.scratch.bits[..self.layout.bit_words(key)];
        self.layout.restrict(self.scratch.narrowed, key, values, bits);
    }
}

fn draws_on_reservation(o: &Offering) -> bool {
    is_reserved(o.capacity_type) && o.reservation != NONE
}
