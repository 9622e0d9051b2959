//! The end of a solve: types cut to what a launch can carry, cheapest offerings named,
//! reasons found for the pods that are left, tables handed out.

use crate::decision::{
    Decision, Effort, NewNode, Placement, Reason, ReasonCode, Target, TemplateState, Unplaced,
};
use crate::limits::{Exceeded, TYPES_PER_NEW_NODE};
use crate::place::relax::{Relaxed, Subject};
use crate::place::state::State;
use crate::place::types::{self, Fail};
use crate::place::{Pod, Solve, is_deferral};
use crate::price;
use crate::problem::{NONE, Span};
use crate::resources;
use crate::workspace::COUNT;

impl<'m> Solve<'_, 'm> {
    /// Turns the tables into the answer.
    pub(crate) fn finish(mut self) -> Result<Decision<'m>, Exceeded> {
        self.settle()?;
        Ok(self.into_decision())
    }

    /// Settles every new node and finds the reasons of pods that are left.
    pub(crate) fn settle(&mut self) -> Result<(), Exceeded> {
        for b in 0..self.state.news.len {
            self.state.finish_new(b);
        }
        for b in 0..self.state.news.len {
            self.state.drop_unaffordable(b);
        }
        self.drop_closed();
        self.explain_left()
    }

    /// Hands the tables out, once settled.
    pub(crate) fn into_decision(self) -> Decision<'m> {
        let s = self.state;
        let bytes = s.z.fixed_bytes()
            + s.news.len as u64 * s.z.bytes_per_new_node()
            + (self.placements.len * size_of::<Placement>()
                + self.reasons.len * size_of::<Reason>()
                + s.counts.used() * COUNT * 4) as u64;
        let n = s.news.len;
        Decision {
            new_nodes: &s.news.rows[..n],
            type_masks: &s.news.masks[..n * s.z.mask],
            type_words: s.z.mask,
            sets: &s.news.sets[..n * s.z.set],
            set_words: s.z.set,
            requests: &s.news.requests[..n * s.z.resources],
            placements: &self.placements.rows[..self.placements.len],
            unplaced: &self.unplaced.rows[..self.unplaced.len],
            reasons: &self.reasons.rows[..self.reasons.len],
            templates: s.templates.states,
            effort: Effort { steps: s.steps, memory_bytes: bytes },
        }
    }

    /// Takes out new nodes that lost their last type, with their pods.
    fn drop_closed(&mut self) {
        let s = &mut self.state;
        let is_closed = |row: &NewNode| row.pods == 0;
        if !s.news.rows[..s.news.len].iter().any(is_closed) {
            return;
        }
        let mut kept = 0;
        for b in 0..s.news.len {
            // The order is not used any more: it now holds the new number of each node.
            s.news.order[b] = NONE;
            if is_closed(&s.news.rows[b]) {
                continue;
            }
            s.news.order[b] = kept as u32;
            s.news.rows[kept] = s.news.rows[b];
            let (w, m, r) = (s.z.set, s.z.mask, s.z.resources);
            s.news.sets.copy_within(b * w..(b + 1) * w, kept * w);
            s.news.masks.copy_within(b * m..(b + 1) * m, kept * m);
            s.news.requests.copy_within(b * r..(b + 1) * r, kept * r);
            kept += 1;
        }
        s.news.len = kept;
        let mut rows = 0;
        for i in 0..self.placements.len {
            let mut row = self.placements.rows[i];
            if let Target::New(b) = row.target {
                let number = s.news.order[b as usize];
                if number == NONE {
                    s.left[row.class as usize] += row.count;
                    continue;
                }
                row.target = Target::New(number);
            }
            self.placements.rows[rows] = row;
            rows += 1;
        }
        self.placements.len = rows;
    }

    fn explain_left(&mut self) -> Result<(), Exceeded> {
        for class in 0..self.state.z.classes {
            let count = self.state.left[class];
            if count == 0 {
                continue;
            }
            let start = self.reasons.len;
            self.explain_class(class)?;
            let reasons = Span { start: start as u32, len: (self.reasons.len - start) as u32 };
            self.unplaced.push(Unplaced { class: class as u32, count, reasons })?;
        }
        Ok(())
    }

    /// Asks every template once more, at the step of relaxation where the class gave up.
    fn explain_class(&mut self, index: usize) -> Result<(), Exceeded> {
        let s = &mut self.state;
        let class = s.p.classes[index];
        if class.has_device_claims {
            return self.reasons.push(reason(Fail::new(ReasonCode::DeviceClaims, NONE), NONE));
        }
        if s.z.templates == 0 {
            return self.reasons.push(reason(Fail::new(ReasonCode::NoPools, NONE), NONE));
        }
        if s.templates.states.iter().all(|x| *x != TemplateState::Open) {
            return self.reasons.push(reason(Fail::new(ReasonCode::NoTypesInPools, NONE), NONE));
        }
        let subject = Subject::of(&s.p, &class, s.has_preferring_taint)?;
        let mut pod = Pod { class, row: index as u32, relaxed: Relaxed::start(&subject) };
        loop {
            let start = self.reasons.len;
            let loaded = self.state.load_pod(&pod);
            if self.ask_templates(&pod, loaded)? || !pod.relaxed.step(&subject) {
                return Ok(());
            }
            self.reasons.len = start;
        }
    }

    /// One reason per open template; true when the class is deferred.
    fn ask_templates(&mut self, pod: &Pod, loaded: Result<(), Fail>) -> Result<bool, Exceeded> {
        for t in 0..self.state.z.templates {
            if self.state.templates.states[t] != TemplateState::Open {
                continue;
            }
            let asked = loaded.and_then(|()| self.state.on_fresh(pod, t));
            let fail = match asked {
                Err(fail) => fail,
                // A node that was dropped at the end had room for it: its minValues failed.
                Ok(()) => Fail::new(ReasonCode::MinValues, NONE),
            };
            self.reasons.push(reason(fail, t as u32))?;
            if is_deferral(&fail) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

fn reason(fail: Fail, template: u32) -> Reason {
    let Fail { code, subject, need, best, types, .. } = fail;
    Reason { code, template, subject, need, best, types }
}

impl State<'_, '_> {
    /// Settles one new node: reservation, length of its list, overhead, cheapest offering.
    fn finish_new(&mut self, b: usize) {
        if self.news.copies[b / 64] >> (b % 64) & 1 != 0 {
            // In everything like the one before, and so is what becomes of it.
            let (w, m, r) = (self.z.set, self.z.mask, self.z.resources);
            self.news.rows[b] = self.news.rows[b - 1];
            self.news.sets.copy_within((b - 1) * w..b * w, b * w);
            self.news.masks.copy_within((b - 1) * m..b * m, b * m);
            self.news.requests.copy_within((b - 1) * r..b * r, b * r);
            return;
        }
        self.settle_reservation(b);
        self.cut_types(b);
        if self.news.rows[b].pods > 0 {
            self.give_quotas_back(b);
            self.name_cheapest(b);
            self.draw_on_quotas(b);
            self.add_overhead(b);
        } else {
            self.give_quotas_back(b);
        }
    }

    /// Keeps the cheapest types that a launch can carry; too few for minValues closes the
    /// node, which its pods of zero say.
    fn cut_types(&mut self, b: usize) {
        let (p, w, m) = (self.p, self.z.set, self.z.mask);
        let set = &self.news.sets[b * w..][..w];
        let mask = &mut self.news.masks[b * m..][..m];
        if !price::cut(&p, &self.layout, set, mask, TYPES_PER_NEW_NODE, self.scratch.prices) {
            return;
        }
        let (set, mask) = (&mut self.news.sets[b * w..][..w], &self.news.masks[b * m..][..m]);
        let distinct = &mut *self.scratch.distinct;
        while let Some((key, count)) =
            types::few_values(&p, &self.layout, self.sets, set, mask, distinct)
        {
            if !p.rules.lowers_min_values {
                self.news.rows[b].pods = 0;
                return;
            }
            // DIFFERS: Karpenter leaves a minimum that the shortened list does not reach.
            if p.rules.min_values_unfiltered {
                return;
            }
            self.layout.set_min_values(set, key, count);
            self.news.rows[b].is_min_values_lowered = true;
        }
    }

    fn add_overhead(&mut self, b: usize) {
        let (r, m) = (self.z.resources, self.z.mask);
        let t = self.news.rows[b].template as usize;
        self.scratch.row.fill(i64::MAX);
        for x in crate::requirements::ranks(&self.news.masks[b * m..][..m]) {
            let at = self.template_type(t, x);
            resources::lower(self.scratch.row, &self.templates.overhead[at * r..][..r]);
        }
        resources::add(&mut self.news.requests[b * r..][..r], self.scratch.row);
    }

    /// Names the cheapest machine that the node can be; none when quotas leave none.
    pub(crate) fn name_cheapest(&mut self, b: usize) {
        let (p, w, m, r) = (self.p, self.z.set, self.z.mask, self.z.resources);
        let set = &self.news.sets[b * w..][..w];
        let t = self.news.rows[b].template as usize;
        let holds = self.news.rows[b].is_reserved;
        self.scratch.total.copy_from_slice(&self.news.requests[b * r..][..r]);
        let best = crate::requirements::ranks(&self.news.masks[b * m..][..m])
            .filter_map(|x| {
                let at = self.template_type(t, x);
                let variants = p.types[x as usize].variants.of(p.variants);
                price::of_type_where(&p, &self.layout, set, x, holds, |o| {
                    self.can_afford(NONE, o)
                        && variants
                            .get(o.variant as usize)
                            .is_some_and(|v| self.is_large(v.allocatable, at))
                })
            })
            .min_by_key(|x| (x.counted_microusd, x.instance_type, x.offering));
        let row = &mut self.news.rows[b];
        match best {
            Some(best) => {
                row.offering = best.offering;
                row.instance_type = best.instance_type;
                row.price_microusd = best.price_microusd;
            }
            None if self.z.quotas > 0 => (row.offering, row.pods) = (NONE, 0),
            None => {}
        }
    }
}
