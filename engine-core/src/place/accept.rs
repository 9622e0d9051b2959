//! Whether one node takes one pod: a node that exists, one that this solve opened, or a
//! fresh one from a template. The order of the tests decides which reason is shown.

use crate::decision::{NewNode, ReasonCode};
use crate::limits::{Exceeded, Limit};
use crate::place::Pod;
use crate::place::counts::Place;
use crate::place::state::{State, is_reserved, row};
use crate::place::types::{self, Base, Fail, Question};
use crate::problem::{Daemon, NONE, PodClass, Term};
use crate::requirements::Incompatible;
use crate::resources;

/// Whose labels count: those of a node that exists, or of the template of a new one.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Node(usize),
    Template(usize),
}

impl State<'_, '_> {
    /// Writes the pod's requirements at its step of relaxation into the scratch sets.
    ///
    /// DIFFERS: under Karpenter's rule requirements that exclude each other read as "the label
    /// must be absent"; mended, nothing satisfies them, and the step fails.
    pub(crate) fn load_pod(&mut self, pod: &Pod) -> Result<(), Fail> {
        let (p, w) = (self.p, self.z.set);
        let class = &pod.class;
        let term = class.required.of(p.terms).get(pod.relaxed.term as usize);
        let mut contradiction = self.load_term(class.selector, term);
        self.scratch.all.copy_from_slice(self.scratch.strict);
        let preferred = class.preferred.of(p.terms);
        // Karpenter takes the heaviest preference that is left; mended, all that are left.
        let most = if p.rules.terms_before_preferences { 1 } else { preferred.len() };
        let held = (0..preferred.len()).filter(|&i| pod.relaxed.prefers(i)).take(most);
        for i in held {
            let set = &self.sets[preferred[i].set as usize * w..][..w];
            contradiction = contradiction.or(self.layout.conflict(self.scratch.all, set, &p));
            self.layout.add(self.scratch.all, set, &p);
        }
        self.scratch.pod_ports.fill(0);
        let planted = usize::from(cfg!(feature = "planted-port"));
        let ports = class.ports.range().skip(planted);
        ports.for_each(|q| self.scratch.pod_ports[q / 64] |= 1 << (q % 64));
        match contradiction {
            Some(key) if !p.rules.contradiction_is_absence => {
                Err(Fail::new(ReasonCode::Requirement, key as u32))
            }
            _ => Ok(()),
        }
    }

    /// Writes a node selector and one required term into `scratch.strict`; the key on which
    /// the two exclude each other, if there is one.
    pub(crate) fn load_term(&mut self, selector: u32, term: Option<&Term>) -> Option<usize> {
        let (p, w) = (self.p, self.z.set);
        let strict = &mut *self.scratch.strict;
        strict.copy_from_slice(&self.sets[selector as usize * w..][..w]);
        let set = &self.sets[term?.set as usize * w..][..w];
        let contradiction = self.layout.conflict(strict, set, &p);
        self.layout.add(strict, set, &p);
        contradiction
    }

    /// [`State::load_term`] for a DaemonSet; false when nothing can satisfy it.
    pub(crate) fn load_daemon(&mut self, daemon: &Daemon, term: Option<&Term>) -> bool {
        let contradiction = self.load_term(daemon.selector, term);
        contradiction.is_none() || self.p.rules.contradiction_is_absence
    }

    /// The set that says which labels the node has: the node's own or its template's, and
    /// under Karpenter's rule whatever it has come to be.
    pub(crate) fn own_labels(&self, owner: Owner) -> Option<&[u64]> {
        let (p, w) = (&self.p, self.z.set);
        if p.rules.pods_define_labels {
            return None;
        }
        let set = match owner {
            Owner::Node(n) => p.nodes[n].set,
            Owner::Template(t) => p.templates[t].set,
        };
        Some(&self.sets[set as usize * w..][..w])
    }

    /// [`Layout::incompatible_on`] for what a pod adds to `joined` on the owner's node.
    pub(crate) fn incompatible(
        &self,
        owner: Owner,
        node: &[u64],
        incoming: &[u64],
    ) -> Option<Incompatible> {
        let allows = matches!(owner, Owner::Template(_));
        let own = self.own_labels(owner).unwrap_or(node);
        self.layout.incompatible_on(own, node, incoming, allows, &self.p)
    }

    /// Places the pod on an existing node, or says why not.
    pub(crate) fn on_node(&mut self, pod: &Pod, n: usize) -> Result<(), Fail> {
        let (p, w, r) = (self.p, self.z.set, self.z.resources);
        self.steps += 1;
        let node = &p.nodes[n];
        let taints = node.taints.of(p.taints);
        self.tolerates(pod, taints, node.taints.start)?;
        self.volumes_fit(&pod.class, n)?;
        let used = &self.nodes.ports[n * self.z.port_mask..][..self.z.port_mask];
        if types::ports_clash(self.clashes, used, self.scratch.pod_ports) {
            return Err(Fail::new(ReasonCode::HostPort, NONE));
        }
        self.scratch.row.fill(0);
        let requests = row(p.quantities, pod.class.requests, r);
        let left = &self.nodes.remaining[n * r..][..r];
        if !resources::fits(self.scratch.row, requests, left, p.rules.negative_blocks_all) {
            return Err(shortest(requests, left));
        }
        let set = &self.nodes.sets[n * w..][..w];
        if let Some(x) = self.incompatible(Owner::Node(n), set, self.scratch.all) {
            return Err(requirement(x));
        }
        self.scratch.joined.copy_from_slice(set);
        self.layout.add(self.scratch.joined, self.scratch.all, &p);
        self.with_volumes(pod, Place::Node(n), Owner::Node(n), &mut |_| Ok(()))
    }

    pub(crate) fn tolerates(
        &self,
        pod: &Pod,
        taints: &[crate::problem::Taint],
        at: u32,
    ) -> Result<(), Fail> {
        let tolerations = pod.class.tolerations.of(self.p.tolerations);
        match crate::taints::untolerated(taints, tolerations, pod.relaxed.tolerates_preferences) {
            None => Ok(()),
            Some(i) => Err(Fail::new(ReasonCode::Taint, at + i as u32)),
        }
    }

    /// True when the node can attach what the class needs; claims in use already are free.
    fn volumes_fit(&self, class: &PodClass, n: usize) -> Result<(), Fail> {
        let p = &self.p;
        let span = p.nodes[n].volumes;
        let uses = class.volume_uses.of(p.volume_uses);
        for at in span.range() {
            let limit = &p.node_volumes[at];
            let more: u32 = uses
                .iter()
                .filter(|u| u.driver == limit.driver && !self.claims_on(n, u.claim))
                .map(|u| u.count)
                .sum();
            let asks = more > 0 || p.rules.full_attachments_block_all;
            if asks && self.nodes.volumes[at] + more > limit.limit {
                return Err(Fail {
                    need: i64::from(self.nodes.volumes[at] + more),
                    best: i64::from(limit.limit),
                    ..Fail::new(ReasonCode::Volume, NONE)
                });
            }
        }
        Ok(())
    }

    fn claims_on(&self, n: usize, claim: u32) -> bool {
        claim != NONE
            && self.nodes.claims[n * self.z.claims + claim as usize / 64] >> (claim % 64) & 1 != 0
    }

    /// Tries what the pod's volumes leave, one alternative after the other, from
    /// `scratch.joined`; the first that `then` takes wins.
    fn with_volumes(
        &mut self,
        pod: &Pod,
        place: Place,
        owner: Owner,
        then: super::topology::Then,
    ) -> Result<(), Fail> {
        let (p, w) = (self.p, self.z.set);
        let alternatives = pod.class.volume_alternatives.of(p.volume_alternatives);
        if alternatives.is_empty() {
            self.scratch.placed.copy_from_slice(self.scratch.joined);
            return self.with_domains(pod, place, owner, then);
        }
        let mut last = Fail::new(ReasonCode::Volume, NONE);
        let mut is_final = true;
        for &index in alternatives {
            let set = &self.sets[index as usize * w..][..w];
            if let Some(x) = self.incompatible(owner, self.scratch.joined, set) {
                let (Incompatible::Unknown(key) | Incompatible::Conflict(key)) = x;
                last = Fail::new(ReasonCode::Volume, key);
                continue;
            }
            self.scratch.placed.copy_from_slice(self.scratch.joined);
            self.layout.add(self.scratch.placed, set, &p);
            match self.with_domains(pod, place, owner, then) {
                Ok(()) => return Ok(()),
                Err(fail) => {
                    is_final &= fail.is_final;
                    last = fail;
                }
            }
        }
        Err(Fail { is_final, ..last })
    }

    /// Takes the pod onto the node after [`State::on_node`] said yes.
    pub(crate) fn commit_node(&mut self, pod: &Pod, n: usize) -> Result<(), Exceeded> {
        let (p, w, r) = (self.p, self.z.set, self.z.resources);
        let node = &p.nodes[n];
        resources::subtract(
            &mut self.nodes.remaining[n * r..][..r],
            row(p.quantities, pod.class.requests, r),
        );
        for (used, more) in
            self.nodes.ports[n * self.z.port_mask..].iter_mut().zip(self.scratch.pod_ports.iter())
        {
            *used |= more;
        }
        for u in pod.class.volume_uses.of(p.volume_uses) {
            let limits = node.volumes.range().find(|&at| p.node_volumes[at].driver == u.driver);
            if self.claims_on(n, u.claim) {
                continue;
            }
            if let Some(at) = limits {
                self.nodes.volumes[at] += u.count;
            }
            if u.claim != NONE {
                let at = n * self.z.claims + u.claim as usize / 64;
                self.nodes.claims[at] |= 1 << (u.claim % 64);
            }
        }
        if p.rules.node_takes_requirements {
            self.nodes.sets[n * w..][..w].copy_from_slice(self.scratch.result);
        }
        self.record(pod, Place::Node(n), node.taints)
    }

    /// Asks a node that this solve opened; the answer is in the scratch tables.
    pub(crate) fn on_new(&mut self, pod: &Pod, b: usize) -> Result<(), Fail> {
        let (p, w, r, m) = (self.p, self.z.set, self.z.resources, self.z.mask);
        let t = self.news.rows[b].template as usize;
        let requests = row(p.quantities, pod.class.requests, r);
        let used = &self.news.requests[b * r..][..r];
        let ceiling = &self.news.ceilings[b * r..][..r];
        if !resources::fits(used, requests, ceiling, p.rules.negative_blocks_all) {
            return Err(Fail::new(ReasonCode::Size, NONE));
        }
        let taints = p.templates[t].taints;
        self.tolerates(pod, taints.of(p.taints), taints.start)?;
        let ports = &self.news.ports[b * self.z.port_mask..][..self.z.port_mask];
        if types::ports_clash(self.clashes, ports, self.scratch.pod_ports) {
            return Err(Fail::new(ReasonCode::HostPort, NONE));
        }
        let set = &self.news.sets[b * w..][..w];
        if let Some(x) = self.incompatible(Owner::Template(t), set, self.scratch.all) {
            return Err(requirement(x));
        }
        self.scratch.joined.copy_from_slice(set);
        self.layout.add(self.scratch.joined, self.scratch.all, &p);
        self.scratch.total.copy_from_slice(used);
        resources::add(self.scratch.total, requests);
        self.scratch.mask.copy_from_slice(&self.news.masks[b * m..][..m]);
        let q = Question { template: t, new_node: b as u32 };
        self.with_volumes(pod, Place::New(b), Owner::Template(t), &mut |s| {
            s.machines(q, Base::New(b))
        })
    }

    /// Asks a fresh node of the template; the answer is in the scratch tables.
    pub(crate) fn on_fresh(&mut self, pod: &Pod, t: usize) -> Result<(), Fail> {
        self.ask_fresh(pod, t, None)
    }

    /// [`State::on_fresh`] for a pod that comes with others: `total` is what they ask for
    /// together.
    pub(crate) fn ask_fresh(
        &mut self,
        pod: &Pod,
        t: usize,
        total: Option<&[i64]>,
    ) -> Result<(), Fail> {
        let (p, w, r) = (self.p, self.z.set, self.z.resources);
        self.within_limits(pod, t)?;
        let taints = p.templates[t].taints;
        self.tolerates(pod, taints.of(p.taints), taints.start)?;
        let set = &self.sets[p.templates[t].set as usize * w..][..w];
        if let Some(x) = self.incompatible(Owner::Template(t), set, self.scratch.all) {
            return Err(requirement(x));
        }
        self.scratch.joined.copy_from_slice(set);
        self.layout.add(self.scratch.joined, self.scratch.all, &p);
        let alone = row(p.quantities, pod.class.requests, r);
        self.scratch.total.copy_from_slice(total.unwrap_or(alone));
        let q = Question { template: t, new_node: NONE };
        self.with_volumes(pod, Place::Fresh, Owner::Template(t), &mut |s| {
            s.machines(q, Base::Template(t))
        })
    }

    /// Writes the template's types within its limits into `scratch.mask`.
    ///
    /// DIFFERS: under Karpenter's rule a resource that is over its limit drops types that
    /// have none of it, too.
    fn within_limits(&mut self, pod: &Pod, t: usize) -> Result<(), Fail> {
        let (p, r, m) = (self.p, self.z.resources, self.z.mask);
        let template = &p.templates[t];
        if self.templates.nodes[t] == 0 {
            return Err(Fail {
                need: i64::from(template.node_usage) + 1,
                best: template.node_limit.map_or(0, i64::from),
                ..Fail::new(ReasonCode::NodeLimit, NONE)
            });
        }
        self.scratch.mask.copy_from_slice(&self.templates.masks[t * m..][..m]);
        if template.limit == NONE {
            return Ok(());
        }
        let left = &self.templates.remaining[t * r..][..r];
        let exceeds = |index: u32, i: usize| {
            let capacity = row(p.quantities, p.types[index as usize].capacity, r)[i];
            template.limited >> i & 1 != 0
                && capacity > left[i]
                && (capacity > 0 || p.rules.limit_drops_unrelated)
        };
        let mask = &mut *self.scratch.mask;
        let mut any = false;
        for (i, word) in mask.iter_mut().enumerate() {
            for bit in 0..64 {
                let index = i as u32 * 64 + bit;
                if *word >> bit & 1 != 0 && (0..r).any(|i| exceeds(index, i)) {
                    *word &= !(1 << bit);
                }
            }
            any |= *word != 0;
        }
        if any {
            return Ok(());
        }
        let requests = row(p.quantities, pod.class.requests, r);
        let types = &self.templates.masks[t * m..][..m];
        let least = |i: usize| {
            crate::requirements::ranks(types)
                .map(|x| row(p.quantities, p.types[x as usize].capacity, r)[i])
                .filter(|&c| c >= requests[i])
                .min()
        };
        let tight = (0..r)
            .filter(|&i| template.limited >> i & 1 != 0)
            .find(|&i| least(i).is_none_or(|c| c > left[i]))
            .unwrap_or(0);
        Err(Fail {
            need: least(tight).unwrap_or(requests[tight]),
            best: left[tight],
            ..Fail::new(ReasonCode::Limit, tight as u32)
        })
    }

    /// The last tests of a new node: types, minValues, reservations.
    fn machines(&mut self, q: Question, base: Base) -> Result<(), Fail> {
        self.filter_types(q, base)?;
        self.min_values(q)?;
        self.reserve(q)
    }

    fn min_values(&mut self, q: Question) -> Result<(), Fail> {
        let p = self.p;
        while let Some((key, count)) = types::few_values(
            &p,
            &self.layout,
            self.sets,
            self.scratch.result,
            self.scratch.filtered,
            self.scratch.distinct,
        ) {
            if p.rules.lowers_min_values && q.new_node == NONE && count > 0 {
                self.layout.set_min_values(self.scratch.result, key, count);
                continue;
            }
            let need = self.layout.get(self.scratch.result, key).min_values();
            return Err(Fail {
                need: i64::from(need),
                best: i64::from(count),
                ..Fail::new(ReasonCode::MinValues, key as u32)
            });
        }
        Ok(())
    }

    /// Finds the reservations that the types left could draw on, into `scratch.held`.
    fn reserve(&mut self, q: Question) -> Result<(), Fail> {
        let p = self.p;
        self.scratch.held.fill(0);
        if self.z.reservations == 0 {
            return Ok(());
        }
        let (mut exists, mut any) = (false, false);
        for t in crate::requirements::ranks(self.scratch.filtered) {
            for o in p.types[t as usize].offerings.of(p.offerings) {
                if !is_reserved(o.capacity_type)
                    || o.reservation == NONE
                    || !types::usable(&p, &self.layout, self.scratch.result, o)
                    || !self.brings_enough(q, t, o.variant)
                {
                    continue;
                }
                exists = true;
                if self.can_hold(q.new_node, o) {
                    any = true;
                    self.scratch.held[o.reservation as usize / 64] |= 1 << (o.reservation % 64);
                }
            }
        }
        let held = q.new_node != NONE && self.holds(q.new_node as usize);
        if held && !any {
            return Err(not_final(ReasonCode::ReservationLost));
        }
        if exists && !any && !p.rules.reserved_falls_back {
            return Err(not_final(ReasonCode::ReservationTaken));
        }
        if any && p.rules.reserved_falls_back && !self.can_settle(q) {
            return Err(not_final(ReasonCode::MinValues));
        }
        Ok(())
    }

    /// True when the size that an offering brings holds the pods.
    fn brings_enough(&self, q: Question, index: u32, variant: u16) -> bool {
        let variants = self.p.types[index as usize].variants.of(self.p.variants);
        let at = self.template_type(q.template, index);
        variants.get(variant as usize).is_some_and(|v| self.is_large(v.allocatable, at))
    }

    /// True when the new node holds a unit of some reservation.
    pub(crate) fn holds(&self, b: usize) -> bool {
        self.news.held[b * self.z.hold..][..self.z.hold].iter().any(|&x| x != 0)
    }

    /// Opens a node of the template for the pod after [`State::on_fresh`] said yes.
    pub(crate) fn open(&mut self, pod: &Pod, t: usize) -> Result<usize, Exceeded> {
        let (p, r) = (self.p, self.z.resources);
        let b = self.news.len;
        if b == self.z.caps.new_nodes {
            let value = b as u64;
            return Err(Exceeded { limit: Limit::NewNodes, value, need: value + 1 });
        }
        self.news.len += 1;
        self.news.rows[b] = NewNode { template: t as u32, offering: NONE, ..NewNode::default() };
        self.news.requests[b * r..][..r].fill(0);
        self.news.ports[b * self.z.port_mask..][..self.z.port_mask].fill(0);
        self.news.held[b * self.z.hold..][..self.z.hold].fill(0);
        self.news.order[b] = b as u32;
        let c = self.z.class_mask;
        self.news.refused[b * c..][..c].fill(0);
        self.counts.open(b);
        let template = &self.sets[p.templates[t].set as usize * self.z.set..][..self.z.set];
        self.news.rows[b].is_min_values_lowered = (0..self.z.keys).any(|key| {
            let asked = self.layout.get(template, key).min_values();
            asked > self.layout.get(self.scratch.result, key).min_values()
        });
        self.commit_new(pod, b)?;
        self.charge(t, b);
        Ok(b)
    }

    /// Charges the pool for the largest machine that the node may turn out to be.
    pub(crate) fn charge(&mut self, t: usize, b: usize) {
        let (p, r, m) = (self.p, self.z.resources, self.z.mask);
        self.scratch.row.fill(0);
        for x in crate::requirements::ranks(&self.news.masks[b * m..][..m]) {
            let capacity = row(p.quantities, p.types[x as usize].capacity, r);
            resources::raise(self.scratch.row, capacity);
        }
        resources::subtract(&mut self.templates.remaining[t * r..][..r], self.scratch.row);
        if !p.rules.node_limit_is_static && self.templates.nodes[t] != NONE {
            self.templates.nodes[t] -= 1;
        }
    }

    /// Takes the pod onto a new node after [`State::on_new`] or [`State::on_fresh`] said yes.
    pub(crate) fn commit_new(&mut self, pod: &Pod, b: usize) -> Result<(), Exceeded> {
        let (p, w, r, m) = (self.p, self.z.set, self.z.resources, self.z.mask);
        self.news.rows[b].pods += 1;
        // No longer like the node before, nor the next like this one.
        for x in [b, b + 1].into_iter().filter(|&x| x < self.z.caps.new_nodes) {
            self.news.copies[x / 64] &= !(1 << (x % 64));
        }
        self.news.sets[b * w..][..w].copy_from_slice(self.scratch.result);
        self.news.masks[b * m..][..m].copy_from_slice(self.scratch.filtered);
        let requests = row(p.quantities, pod.class.requests, r);
        resources::add(&mut self.news.requests[b * r..][..r], requests);
        let ports = &mut self.news.ports[b * self.z.port_mask..][..self.z.port_mask];
        ports.iter_mut().zip(self.scratch.pod_ports.iter()).for_each(|(x, y)| *x |= y);
        for id in 0..self.z.reservations {
            let bit = 1u64 << (id % 64);
            let had = self.news.held[b * self.z.hold + id / 64] & bit != 0;
            let has = self.scratch.held[id / 64] & bit != 0;
            match (had, has) {
                (false, true) => self.units[id] -= 1,
                (true, false) => self.units[id] += 1,
                _ => {}
            }
        }
        self.news.held[b * self.z.hold..][..self.z.hold].copy_from_slice(self.scratch.held);
        self.raise_ceiling(b);
        self.take_quotas(b);
        let taints = p.templates[self.news.rows[b].template as usize].taints;
        self.record(pod, Place::New(b), taints)
    }

    fn raise_ceiling(&mut self, b: usize) {
        let (p, r, m) = (self.p, self.z.resources, self.z.mask);
        let t = self.news.rows[b].template as usize;
        let ceiling = &mut self.scratch.row;
        ceiling.fill(i64::MIN);
        for x in crate::requirements::ranks(&self.news.masks[b * m..][..m]) {
            let at = self.template_type(t, x);
            let overhead = &self.templates.overhead[at * r..][..r];
            for v in p.types[x as usize].variants.of(p.variants) {
                let allocatable = row(p.quantities, v.allocatable, r);
                for ((c, a), o) in self.scratch.row.iter_mut().zip(allocatable).zip(overhead) {
                    *c = (*c).max(a.saturating_sub(*o));
                }
            }
        }
        self.news.ceilings[b * r..][..r].copy_from_slice(self.scratch.row);
    }
}

fn not_final(code: ReasonCode) -> Fail {
    Fail { is_final: false, ..Fail::new(code, NONE) }
}

fn requirement(x: Incompatible) -> Fail {
    match x {
        Incompatible::Unknown(key) => Fail::new(ReasonCode::UnknownLabel, key),
        Incompatible::Conflict(key) => Fail::new(ReasonCode::Requirement, key),
    }
}

/// The resource of which most is missing on a node.
fn shortest(requests: &[i64], left: &[i64]) -> Fail {
    let i = (0..requests.len()).find(|&i| requests[i] > left[i]).unwrap_or(0);
    Fail { need: requests[i], best: left[i], ..Fail::new(ReasonCode::Size, i as u32) }
}
