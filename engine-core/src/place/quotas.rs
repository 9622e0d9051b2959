//! What new nodes take together from quotas: each counts as the cheapest machine that it can be
//! at the time, and gives back when it becomes another.

use crate::decision::ReasonCode;
use crate::place::state::State;
use crate::place::types::{self, Fail, Question};
use crate::problem::{NONE, Offering};

impl State<'_, '_> {
    /// True when quotas leave room for a node of the offering, those of the node itself added.
    pub(crate) fn can_afford(&self, new_node: u32, o: &Offering) -> bool {
        self.exceeded(new_node, o).is_none()
    }

    /// The first quota that a node of the offering would exceed, what it takes and what is left.
    fn exceeded(&self, new_node: u32, o: &Offering) -> Option<(u32, i64, i64)> {
        if self.z.quotas == 0 || self.forgets_quotas {
            return None;
        }
        let p = &self.p;
        let own = self.news.rows.get(new_node as usize).map_or(NONE, |row| row.offering);
        let own = p.offerings.get(own as usize).map_or(&[][..], |o| o.charges.of(p.charges));
        o.charges.of(p.charges).iter().find_map(|c| {
            let back: i64 = own.iter().filter(|x| x.quota == c.quota).map(|x| x.amount).sum();
            let left = self.quotas[c.quota as usize].saturating_add(back);
            (c.amount > left).then_some((c.quota, c.amount, left))
        })
    }

    /// Counts a new node as the cheapest machine that it can be now.
    pub(crate) fn take_quotas(&mut self, b: usize) {
        if self.z.quotas == 0 {
            return;
        }
        let pods = self.news.rows[b].pods;
        self.give_quotas_back(b);
        self.name_cheapest(b);
        // Acceptance saw that some machine can be afforded.
        self.news.rows[b].pods = pods;
        self.draw_on_quotas(b);
    }

    /// Takes from quotas what the machine that the node is named takes.
    pub(crate) fn draw_on_quotas(&mut self, b: usize) {
        self.change_quotas(b, -1);
    }

    /// Gives back what the machine that the node was named takes, and forgets its name.
    pub(crate) fn give_quotas_back(&mut self, b: usize) {
        self.change_quotas(b, 1);
        if self.z.quotas > 0 {
            self.news.rows[b].offering = NONE;
        }
    }

    fn change_quotas(&mut self, b: usize, sign: i64) {
        let p = self.p;
        let Some(o) = p.offerings.get(self.news.rows[b].offering as usize) else { return };
        for c in o.charges.of(p.charges) {
            let left = &mut self.quotas[c.quota as usize];
            *left = left.saturating_add(sign * c.amount);
        }
    }

    /// Takes types out of a settled node's list that quotas leave no room for, unless too few
    /// would be left for its minValues.
    pub(crate) fn drop_unaffordable(&mut self, b: usize) {
        if self.z.quotas == 0 || self.news.rows[b].pods == 0 {
            return;
        }
        let (p, w, m) = (self.p, self.z.set, self.z.mask);
        let set = &self.news.sets[b * w..][..w];
        self.scratch.kept.copy_from_slice(&self.news.masks[b * m..][..m]);
        for x in crate::requirements::ranks(&self.news.masks[b * m..][..m]) {
            let affords =
                p.types[x as usize].offerings.of(p.offerings).iter().any(|o| {
                    types::usable(&p, &self.layout, set, o) && self.can_afford(b as u32, o)
                });
            if !affords {
                self.scratch.kept[x as usize / 64] &= !(1 << (x % 64));
            }
        }
        let (mask, distinct) = (&*self.scratch.kept, &mut *self.scratch.distinct);
        if types::few_values(&p, &self.layout, self.sets, set, mask, distinct).is_none() {
            self.news.masks[b * m..][..m].copy_from_slice(mask);
        }
    }

    /// What to say when no type passes: the quota that stands in the way, when one does.
    pub(crate) fn quota_in_the_way(&mut self, q: Question) -> Option<Fail> {
        if self.z.quotas == 0 {
            return None;
        }
        self.forgets_quotas = true;
        let passing = crate::requirements::ranks(self.scratch.mask)
            .filter(|&x| self.passes_all(q, x))
            .flat_map(|x| self.p.types[x as usize].offerings.range())
            .filter(|&o| {
                types::usable(&self.p, &self.layout, self.scratch.result, &self.p.offerings[o])
            })
            .min_by_key(|&o| (self.p.offerings[o].counted_microusd(), o));
        self.forgets_quotas = false;
        let (quota, need, best) = self.exceeded(q.new_node, &self.p.offerings[passing?])?;
        Some(Fail { need, best, is_final: false, ..Fail::new(ReasonCode::Quota, quota) })
    }
}
