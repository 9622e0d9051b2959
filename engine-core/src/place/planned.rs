//! Nodes whose whole content was planned: asked once for all of it, opened, copied.

use crate::decision::NewNode;
use crate::limits::{Exceeded, Limit};
use crate::place::Pod;
use crate::place::accept::Owner;
use crate::place::state::{State, row};
use crate::place::types::{self, Fail};
use crate::problem::NONE;

impl State<'_, '_> {
    /// Writes what a node of the template is with the pod at hand into `scratch.placed`; false
    /// when the pod cannot be there. For pods whose volumes leave at most one alternative.
    pub(crate) fn joins(&mut self, pod: &Pod, t: usize) -> bool {
        let (p, w) = (self.p, self.z.set);
        let taints = p.templates[t].taints;
        if self.tolerates(pod, taints.of(p.taints), taints.start).is_err() {
            return false;
        }
        let owner = Owner::Template(t);
        let set = &self.sets[p.templates[t].set as usize * w..][..w];
        if self.incompatible(owner, set, self.scratch.all).is_some() {
            return false;
        }
        self.scratch.placed.copy_from_slice(set);
        self.layout.add(self.scratch.placed, self.scratch.all, &p);
        if let [index] = pod.class.volume_alternatives.of(p.volume_alternatives) {
            let set = &self.sets[*index as usize * w..][..w];
            if self.incompatible(owner, self.scratch.placed, set).is_some() {
                return false;
            }
            self.layout.add(self.scratch.placed, set, &p);
        }
        true
    }

    /// True when the limits of the template leave room for a machine of the type.
    pub(crate) fn is_within_limits(&self, t: usize, index: u32) -> bool {
        let (p, r) = (&self.p, self.z.resources);
        let template = &p.templates[t];
        let capacity = row(p.quantities, p.types[index as usize].capacity, r);
        let left = &self.templates.remaining[t * r..][..r];
        template.limit == NONE
            || (0..r).all(|i| {
                template.limited >> i & 1 == 0 || capacity[i] <= left[i] || capacity[i] <= 0
            })
    }

    /// Asks a fresh node of the template whether it takes the pod as the first of pods that
    /// ask for `total` together; the answer is in the scratch tables. Of a pool with limits
    /// that `count` more machines are planned for, types larger than `planned` and than such a
    /// share of the limits are left out: the largest that may come is charged.
    pub(crate) fn on_planned(
        &mut self,
        pod: &Pod,
        t: usize,
        total: &[i64],
        (planned, count): (u32, u32),
    ) -> Result<(), Fail> {
        self.ask_fresh(pod, t, Some(total))?;
        let (p, r) = (self.p, self.z.resources);
        let template = &p.templates[t];
        if template.limit == NONE {
            return Ok(());
        }
        let most = row(p.quantities, p.types[planned as usize].capacity, r);
        let left = &self.templates.remaining[t * r..][..r];
        let is_larger = |index: u32| {
            let capacity = row(p.quantities, p.types[index as usize].capacity, r);
            (0..r).any(|i| {
                let share = left[i] / i64::from(count.max(1));
                template.limited >> i & 1 != 0 && capacity[i] > most[i].max(share)
            })
        };
        self.scratch.kept.copy_from_slice(self.scratch.filtered);
        for i in 0..self.z.mask {
            for bit in 0..64 {
                if self.scratch.kept[i] >> bit & 1 != 0 && is_larger(i as u32 * 64 + bit) {
                    self.scratch.kept[i] &= !(1 << bit);
                }
            }
        }
        let (set, mask) = (&*self.scratch.result, &*self.scratch.kept);
        let few = types::few_values(&p, &self.layout, self.sets, set, mask, self.scratch.distinct);
        if few.is_none() && mask.iter().any(|&x| x != 0) {
            self.scratch.filtered.copy_from_slice(self.scratch.kept);
        }
        Ok(())
    }

    /// Adds `count` pods like one that the new node has just taken, room for which was asked
    /// for when the node was opened. For pods that no topology rule counts or restricts.
    pub(crate) fn add_more(&mut self, pod: &Pod, b: usize, count: u32) {
        let r = self.z.resources;
        let requests = row(self.p.quantities, pod.class.requests, r);
        for (sum, more) in self.news.requests[b * r..][..r].iter_mut().zip(requests) {
            *sum = sum.saturating_add(more.saturating_mul(i64::from(count)));
        }
        self.news.rows[b].pods += count;
        self.placed += count;
    }

    /// Opens a node like `b`, pods included. For nodes that hold no reservation and whose pods
    /// no topology rule counts or restricts.
    pub(crate) fn open_copy(&mut self, b: usize) -> Result<usize, Exceeded> {
        let z = &self.z;
        let new = self.news.len;
        if new == z.caps.new_nodes {
            let value = new as u64;
            return Err(Exceeded { limit: Limit::NewNodes, value, need: value + 1 });
        }
        let (w, m, q, h, r) = (z.set, z.mask, z.port_mask, z.hold, z.resources);
        let c = z.class_mask;
        self.news.len += 1;
        self.news.rows[new] = NewNode { ..self.news.rows[b] };
        self.news.sets.copy_within(b * w..(b + 1) * w, new * w);
        self.news.masks.copy_within(b * m..(b + 1) * m, new * m);
        self.news.ports.copy_within(b * q..(b + 1) * q, new * q);
        self.news.held[new * h..][..h].fill(0);
        self.news.requests.copy_within(b * r..(b + 1) * r, new * r);
        self.news.ceilings.copy_within(b * r..(b + 1) * r, new * r);
        self.news.order[new] = new as u32;
        self.news.refused[new * c..][..c].fill(0);
        let is_next = b + 1 == new || self.news.copies[(new - 1) / 64] >> ((new - 1) % 64) & 1 != 0;
        if is_next && self.news.rows[new - 1].pods == self.news.rows[b].pods {
            self.news.copies[new / 64] |= 1 << (new % 64);
        }
        self.counts.open(new);
        self.placed += self.news.rows[b].pods;
        self.charge(self.news.rows[b].template as usize, new);
        Ok(new)
    }

    /// True when nothing limits how many nodes the template may open.
    pub(crate) fn is_unlimited(&self, t: usize) -> bool {
        self.p.templates[t].limit == NONE && self.templates.nodes[t] == NONE && self.z.quotas == 0
    }
}
