//! What each template can do, prepared once: types that satisfy it, DaemonSet overhead on
//! each, the label values its nodes can have, and what its limits leave.

use crate::decision::TemplateState;
use crate::place::state::{State, row};
use crate::place::types;
use crate::problem::{Effect, NONE};
use crate::resources;

impl State<'_, '_> {
    /// Fills every table of `self.templates`.
    pub(crate) fn fill_templates(&mut self) {
        let p = self.p;
        self.templates.overhead.fill(0);
        self.templates.ports.fill(0);
        self.has_preferring_taint = false;
        let mut at = 0;
        for t in 0..p.templates.len() {
            self.templates.at[t] = at;
            at += p.templates[t].types.len;
            let taints = p.templates[t].taints.of(p.taints);
            self.has_preferring_taint |=
                taints.iter().any(|x| x.effect == Effect::PreferNoSchedule);
            self.fill_limits(t);
            self.fill_daemons(t);
            self.fill_types(t);
        }
        for t in 0..p.templates.len() {
            self.fill_universe(t);
        }
        self.learn_domains();
    }

    fn fill_limits(&mut self, t: usize) {
        let (p, r) = (self.p, self.z.resources);
        let template = &p.templates[t];
        let left = &mut self.templates.remaining[t * r..][..r];
        left.fill(0);
        if template.limit != NONE {
            left.copy_from_slice(row(p.quantities, template.limit, r));
        }
        if template.usage != NONE {
            resources::subtract(left, row(p.quantities, template.usage, r));
        }
        self.templates.nodes[t] = match template.node_limit {
            None => NONE,
            // Over the limit already counts as used up; see `types` for Karpenter's rule.
            Some(limit) => limit.saturating_sub(template.node_usage),
        };
    }

    /// Overhead and ports of the DaemonSets that would run on each type of the template: all
    /// its soft taints are tolerated, and any required term may be the one that holds.
    fn fill_daemons(&mut self, t: usize) {
        let (p, w, r) = (self.p, self.z.set, self.z.resources);
        let template = &p.templates[t];
        for daemon in p.daemons {
            let tolerations = daemon.tolerations.of(p.tolerations);
            if crate::taints::untolerated(template.taints.of(p.taints), tolerations, true).is_some()
            {
                continue;
            }
            let terms = daemon.required.of(p.terms);
            for (i, &of_type) in template.types.of(p.template_types).iter().enumerate() {
                let at = self.templates.at[t] as usize + i;
                let of_type = &p.types[of_type as usize];
                let runs = (0..terms.len().max(1)).any(|i| {
                    if !self.load_daemon(daemon, terms.get(i)) {
                        return false;
                    }
                    let strict = &*self.scratch.strict;
                    let node = &self.sets[template.set as usize * w..][..w];
                    let labels = &self.sets[of_type.set as usize * w..][..w];
                    self.layout.incompatible(node, strict, true, &p).is_none()
                        && self.layout.conflict(labels, strict, &p).is_none()
                });
                if !runs {
                    continue;
                }
                if !cfg!(feature = "planted-overhead") {
                    let requests = row(p.quantities, daemon.requests, r);
                    resources::add(&mut self.templates.overhead[at * r..][..r], requests);
                }
                let ports = &mut self.templates.ports[at * self.z.port_mask..][..self.z.port_mask];
                daemon.ports.range().for_each(|q| ports[q / 64] |= 1 << (q % 64));
            }
        }
    }

    /// Types that satisfy the template and are offered; too few for its minValues closes it.
    fn fill_types(&mut self, t: usize) {
        let (p, w, m) = (self.p, self.z.set, self.z.mask);
        let template = &p.templates[t];
        let set = &self.sets[template.set as usize * w..][..w];
        let mask = &mut self.templates.masks[t * m..][..m];
        mask.fill(0);
        for at in template.types.range() {
            let index = p.template_types[at] as usize;
            let labels = &self.sets[p.types[index].set as usize * w..][..w];
            let offered = p.types[index]
                .offerings
                .of(p.offerings)
                .iter()
                .any(|o| types::usable(&p, &self.layout, set, o));
            if offered && self.layout.conflict(labels, set, &p).is_none() {
                mask[index / 64] |= 1 << (index % 64);
            }
        }
        self.templates.states[t] = if mask.iter().all(|&x| x == 0) {
            TemplateState::NoTypes
        } else if !p.rules.lowers_min_values
            && types::few_values(&p, &self.layout, self.sets, set, mask, self.scratch.distinct)
                .is_some()
        {
            TemplateState::MinValues
        } else {
            TemplateState::Open
        };
    }

    /// Values of each key that nodes of the template can have.
    ///
    /// DIFFERS: Karpenter takes every listed value of every type of the pool, excluded values
    /// and sold-out zones among them; mended, a value must be offerable.
    fn fill_universe(&mut self, t: usize) {
        let (p, w, m) = (self.p, self.z.set, self.z.mask);
        let template = &p.templates[t];
        let universe = &mut self.templates.universe[t * w..][..w];
        universe.fill(0);
        let set = &self.sets[template.set as usize * w..][..w];
        let joined = &mut *self.scratch.joined;
        for at in template.types.range() {
            let index = p.template_types[at] as usize;
            let fits = self.templates.masks[t * m + index / 64] >> (index % 64) & 1 != 0;
            if !fits && !p.rules.unofferable_domains {
                continue;
            }
            joined.copy_from_slice(set);
            self.layout.add(joined, &self.sets[p.types[index].set as usize * w..][..w], &p);
            for key in 0..self.z.keys {
                if !p.rules.unofferable_domains
                    && (self.offering_keys[key] != 0
                        || self.layout.get(joined, key).is_complement())
                {
                    continue;
                }
                self.layout.union_bits(universe, joined, key);
            }
            if !p.rules.unofferable_domains {
                for o in p.types[index].offerings.of(p.offerings) {
                    if types::usable(&p, &self.layout, set, o) {
                        for label in o.labels.of(p.offering_labels) {
                            self.layout.set_bit(universe, label.key as usize, label.value);
                        }
                    }
                }
            }
        }
        if p.rules.unofferable_domains {
            for key in 0..self.z.keys {
                if !self.layout.get(set, key).is_complement() {
                    self.layout.union_bits(universe, set, key);
                }
            }
        }
    }

    /// Makes the values of all templates known to the groups that may count them.
    fn learn_domains(&mut self) {
        let (p, w) = (self.p, self.z.set);
        for (g, group) in p.groups.iter().enumerate() {
            if group.is_hostname || group.key == NONE {
                continue;
            }
            for (t, template) in p.templates.iter().enumerate() {
                let closed = self.templates.states[t] != TemplateState::Open;
                if closed && !p.rules.unofferable_domains {
                    continue;
                }
                let tolerations = group.tolerations.of(p.tolerations);
                let taints = template.taints.of(p.taints);
                if group.honors_pool_taints
                    && crate::taints::untolerated(taints, tolerations, false).is_some()
                {
                    continue;
                }
                let universe = &self.templates.universe[t * w..][..w];
                for value in self.layout.get(universe, group.key as usize).ranks() {
                    self.counts.learn(g, value);
                }
            }
        }
    }
}
