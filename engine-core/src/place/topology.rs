//! What spread, affinity and anti-affinity leave of a node's domains.

use heapless::Vec;

use crate::decision::ReasonCode;
use crate::limits::DOMAIN_CHOICES;
use crate::place::Pod;
use crate::place::accept::Owner;
use crate::place::counts::Place;
use crate::place::record::is_within_some;
use crate::place::state::State;
use crate::place::types::Fail;
use crate::problem::{Group, GroupKind, Link, NONE};
use crate::requirements::{Incompatible, values_of};

/// Most keys of which one domain must be picked at once.
const PICKS: usize = 4;

/// A key of which one domain must be picked, and the group whose counts rank the domains.
#[derive(Clone, Copy)]
struct Pick {
    key: usize,
    group: usize,
    /// Rank of the domain in force: count, tie-break, value.
    at: (u32, u32, u32),
}

/// What to ask once the domains are settled: the node accepts, or why not.
pub(crate) type Then<'f> = &'f mut dyn FnMut(&mut State) -> Result<(), Fail>;

impl State<'_, '_> {
    /// Narrows `scratch.placed` by every topology rule of the pod into `scratch.result` and
    /// asks `then`; where a rule leaves several domains of which one must be picked, the
    /// emptiest is tried first.
    ///
    /// DIFFERS: Karpenter picks the domain of a spread before the other rules are looked at
    /// and does not try another.
    pub(crate) fn with_domains(
        &mut self,
        pod: &Pod,
        place: Place,
        owner: Owner,
        then: Then,
    ) -> Result<(), Fail> {
        let mut picks: Vec<Pick, PICKS> = Vec::new();
        self.scratch.topology.fill(0);
        let links = pod.class.links.of(self.p.links);
        for (i, link) in links.iter().enumerate() {
            if pod.relaxed.holds(i) {
                self.narrow(pod, self.group_of(pod, link), place, &mut picks)?;
            }
        }
        for &group in pod.class.matches.of(self.p.matches) {
            if self.p.groups[group as usize].kind == GroupKind::Inverse {
                self.narrow(pod, group as usize, place, &mut picks)?;
            }
        }
        self.settle_counted(pod, place, &mut picks);
        let allows = !matches!(place, Place::Node(_));
        let (placed, topology) = (&*self.scratch.placed, &*self.scratch.topology);
        let own = self.own_labels(owner).unwrap_or(placed);
        if let Some(x) = self.layout.incompatible_on(own, placed, topology, allows, &self.p) {
            let (Incompatible::Unknown(key) | Incompatible::Conflict(key)) = x;
            return Err(Fail { is_final: false, ..Fail::new(ReasonCode::TopologyConflict, key) });
        }
        self.settle(&mut picks, then)
    }

    /// The group that counts for the link at the pod's step of relaxation.
    fn group_of(&self, pod: &Pod, link: &Link) -> usize {
        let terms = pod.class.required.len.max(1);
        let at = pod.relaxed.term + terms * u32::from(pod.relaxed.tolerates_preferences);
        let variants = link.variants.of(self.p.link_variants);
        variants.get(at as usize).copied().unwrap_or(link.group) as usize
    }

    /// Lets the groups of the pod's step of relaxation count from now on.
    pub(crate) fn start_counting(&mut self, pod: &Pod) {
        for (i, link) in pod.class.links.of(self.p.links).iter().enumerate() {
            if link.variants.len > 0 && pod.relaxed.holds(i) {
                self.counts.start(self.group_of(pod, link));
            }
        }
    }

    /// Marks the keys of which one domain must be picked because others count the pod there: a
    /// pod in a domain that is not settled would be counted nowhere.
    fn settle_counted(&self, pod: &Pod, place: Place, picks: &mut Vec<Pick, PICKS>) {
        if self.p.rules.counted_pods_leave_domains_open || !place_is_open(place) {
            return;
        }
        for &group in pod.class.matches.of(self.p.matches) {
            let g = &self.p.groups[group as usize];
            let counts = matches!(g.kind, GroupKind::Spread | GroupKind::Affinity);
            let key = g.key as usize;
            let group = group as usize;
            if counts
                && !g.is_hostname
                && self.counts.is_hard(group)
                && picks.iter().all(|x| x.key != key)
            {
                // LIMIT: as in `narrow`.
                let _ = picks.push(Pick { key, group, at: (0, 0, 0) });
            }
        }
    }

    /// Tries the joint choices of the picked keys in order.
    fn settle(&mut self, picks: &mut Vec<Pick, PICKS>, then: Then) -> Result<(), Fail> {
        self.joint();
        // A key of which no known domain is left stays as it is: nothing counts there.
        for i in (0..picks.len()).rev() {
            match self.next_domain(&picks[i], None) {
                Some(at) => picks[i].at = at,
                None => {
                    picks.swap_remove(i);
                }
            }
        }
        // Where a rule chose the domain, another choice may do later.
        let is_free = picks.is_empty() && self.scratch.topology.iter().all(|&w| w == 0);
        let mut last = Fail::new(ReasonCode::TopologyConflict, NONE);
        for _ in 0..DOMAIN_CHOICES {
            self.joint();
            for pick in picks.iter() {
                let n = self.layout.bit_words(pick.key);
                let bits = &mut self.scratch.bits[..n];
                bits.fill(0);
                bits[pick.at.2 as usize / 64] |= 1 << (pick.at.2 % 64);
                let values = values_of(&self.p, pick.key);
                self.layout.restrict(self.scratch.result, pick.key, values, bits);
            }
            match then(self) {
                Ok(()) => return Ok(()),
                Err(fail) => last = Fail { is_final: fail.is_final && is_free, ..fail },
            }
            if !self.advance(picks) {
                break;
            }
        }
        Err(last)
    }

    /// `scratch.result` = node, pod, volume and topology together.
    fn joint(&mut self) {
        self.scratch.result.copy_from_slice(self.scratch.placed);
        self.layout.add(self.scratch.result, self.scratch.topology, &self.p);
    }

    fn advance(&mut self, picks: &mut Vec<Pick, PICKS>) -> bool {
        self.joint();
        for i in (0..picks.len()).rev() {
            if let Some(at) = self.next_domain(&picks[i], Some(picks[i].at)) {
                picks[i].at = at;
                return true;
            }
            picks[i].at = self.next_domain(&picks[i], None).unwrap_or_default();
        }
        false
    }

    /// The known domain that `scratch.result` allows and that follows `after` by count, then
    /// by name.
    fn next_domain(&self, pick: &Pick, after: Option<(u32, u32, u32)>) -> Option<(u32, u32, u32)> {
        let need = self.layout.get(self.scratch.result, pick.key);
        let n = self.layout.bit_words(pick.key);
        let values = values_of(&self.p, pick.key);
        crate::requirements::ranks(self.counts.known(pick.group, n))
            .filter(|&v| need.allows(v, values))
            .map(|v| (self.counts.get(pick.group, v), self.tie(v), v))
            .filter(|at| after.is_none_or(|a| *at > a))
            .min()
    }

    /// The stated tie-break, or a permutation of it by the tie seed.
    pub(crate) fn tie(&self, value: u32) -> u32 {
        match self.p.rules.tie_seed {
            0 => value,
            seed => mix(seed ^ mix(value ^ self.news.len as u32)),
        }
    }

    /// Adds to `scratch.topology` what one group leaves.
    fn narrow(
        &mut self,
        pod: &Pod,
        group: usize,
        place: Place,
        picks: &mut Vec<Pick, PICKS>,
    ) -> Result<(), Fail> {
        let g = self.p.groups[group];
        if g.is_hostname {
            return self.allows_node(pod, group, &g, place);
        }
        let key = g.key as usize;
        let must_pick = match g.kind {
            GroupKind::Spread => self.spread(pod, group, &g)?,
            GroupKind::Affinity => self.affinity(pod, group, &g)?,
            GroupKind::AntiAffinity | GroupKind::Inverse => self.anti_affinity(group, &g)?,
        };
        let n = self.layout.bit_words(key);
        let values = values_of(&self.p, key);
        self.layout.restrict(self.scratch.topology, key, values, &self.scratch.bits[..n]);
        // DIFFERS: Karpenter reads domains that exclude each other as "the label must be absent".
        let leaves_none = self.layout.get(self.scratch.topology, key).is_empty();
        if leaves_none && !self.p.rules.contradiction_is_absence {
            let fail = Fail::new(ReasonCode::TopologyConflict, g.key);
            return Err(Fail { is_final: false, ..fail });
        }
        if must_pick && place_is_open(place) && picks.iter().all(|x| x.key != key) {
            // LIMIT: further keys keep all their domains, as a rule that does not pick would.
            let _ = picks.push(Pick { key, group, at: (0, 0, 0) });
        }
        Ok(())
    }

    /// A rule over single nodes: the node is allowed or it is not.
    fn allows_node(
        &mut self,
        pod: &Pod,
        group: usize,
        g: &Group,
        place: Place,
    ) -> Result<(), Fail> {
        let count = self.counts.on(place, group);
        let selects = self.selects(pod, group);
        match g.kind {
            GroupKind::Spread => {
                let minimum = self.node_minimum(group, g, place);
                let skew = i64::from(count + u32::from(selects)) - i64::from(minimum);
                if skew <= i64::from(g.max_skew) {
                    return Ok(());
                }
                Err(Fail {
                    need: i64::from(g.max_skew),
                    best: skew,
                    is_final: self.p.rules.node_minimum_is_zero,
                    ..Fail::new(ReasonCode::Spread, group as u32)
                })
            }
            GroupKind::Affinity => {
                let total = self.counts.total(group);
                if count > 0 || (selects && total == 0) {
                    return Ok(());
                }
                // A pod of another class may bring what this one seeks.
                Err(Fail {
                    best: i64::from(total),
                    is_final: false,
                    ..Fail::new(ReasonCode::Affinity, group as u32)
                })
            }
            GroupKind::AntiAffinity | GroupKind::Inverse if count == 0 => Ok(()),
            _ => Err(Fail {
                best: i64::from(count),
                ..Fail::new(ReasonCode::AntiAffinity, group as u32)
            }),
        }
    }

    /// Lowest count of a per-node group over the nodes that its filter accepts.
    ///
    /// DIFFERS: Karpenter takes zero, since a node without such pods could always be opened;
    /// kube-scheduler, which has the last word, looks at the nodes there are. A fresh node
    /// brings the minimum to zero in both.
    fn node_minimum(&mut self, group: usize, g: &Group, place: Place) -> u32 {
        if self.p.rules.node_minimum_is_zero || place == Place::Fresh {
            return 0;
        }
        let version = self.placed;
        let slot = group % self.minima.len();
        let (at, of, minimum) = self.minima[slot];
        if (at, of) == (version, group as u32) {
            return minimum;
        }
        let p = self.p;
        let (mut lowest, mut domains) = (u32::MAX, 0);
        let w = self.z.set;
        for n in 0..self.z.nodes {
            let set = &self.nodes.sets[n * w..][..w];
            if self.accepts(g, set, p.nodes[n].taints, false) {
                lowest = lowest.min(self.counts.on(Place::Node(n), group));
                domains += 1;
            }
        }
        for b in 0..self.news.len {
            let taints = p.templates[self.news.rows[b].template as usize].taints;
            let set = &self.news.sets[b * w..][..w];
            if self.accepts(g, set, taints, !p.rules.filter_needs_labels) {
                lowest = lowest.min(self.counts.on(Place::New(b), group));
                let room = &mut *self.scratch.distinct;
                // One that the filter may still refuse cannot make up the number of domains.
                domains += u32::from(
                    g.min_domains == 0 || is_within_some(&p, &self.layout, self.sets, g, set, room),
                );
            }
        }
        let is_few = domains < g.min_domains || lowest == u32::MAX;
        let minimum = if is_few { 0 } else { lowest };
        self.minima[slot] = (version, group as u32, minimum);
        minimum
    }

    /// True when the group selects the pod.
    fn selects(&self, pod: &Pod, group: usize) -> bool {
        pod.class.matches.of(self.p.matches).binary_search(&(group as u32)).is_ok()
    }

    /// Known domains as bits into `scratch.bits`, those kept that `keep` says: (value, count).
    fn keep_domains(
        &mut self,
        group: usize,
        key: usize,
        keep: impl Fn(&Self, u32, u32) -> bool,
    ) -> bool {
        let n = self.layout.bit_words(key);
        let mut any = false;
        for i in 0..n {
            let known = self.counts.known(group, n)[i];
            let mut kept = 0;
            let mut rest = known;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let value = i as u32 * 64 + bit;
                if keep(self, value, self.counts.get(group, value)) {
                    kept |= 1 << bit;
                }
            }
            self.scratch.bits[i] = kept;
            any |= kept != 0;
        }
        any
    }

    pub(crate) fn pod_allows(&self, key: usize, value: u32) -> bool {
        self.layout.get(self.scratch.strict, key).allows(value, values_of(&self.p, key))
    }

    fn node_allows(&self, key: usize, value: u32) -> bool {
        self.layout.get(self.scratch.placed, key).allows(value, values_of(&self.p, key))
    }

    /// Lowest count over the domains that the pod may use, by the rule of minDomains.
    fn minimum(&self, group: usize, g: &Group) -> u32 {
        let key = g.key as usize;
        let n = self.layout.bit_words(key);
        let (mut lowest, mut domains) = (u32::MAX, 0);
        for value in crate::requirements::ranks(self.counts.known(group, n)) {
            if self.pod_allows(key, value) {
                lowest = lowest.min(self.counts.least(group, value));
                domains += 1;
            }
        }
        if domains < g.min_domains { 0 } else { lowest }
    }

    fn spread(&mut self, pod: &Pod, group: usize, g: &Group) -> Result<bool, Fail> {
        let key = g.key as usize;
        let own = u32::from(self.selects(pod, group));
        let minimum = self.minimum(group, g);
        let planted = u32::from(cfg!(feature = "planted-skew"));
        let most = minimum.saturating_add(g.max_skew).saturating_add(planted);
        let any = self.keep_domains(group, key, |s, value, count| {
            s.node_allows(key, value) && count + own <= most
        });
        if !any {
            let n = self.layout.bit_words(key);
            let skew = crate::requirements::ranks(self.counts.known(group, n))
                .filter(|&v| self.node_allows(key, v))
                .map(|v| i64::from(self.counts.get(group, v) + own) - i64::from(minimum))
                .min();
            return Err(Fail {
                need: i64::from(g.max_skew),
                best: skew.unwrap_or(i64::MAX),
                is_final: false,
                ..Fail::new(ReasonCode::Spread, group as u32)
            });
        }
        if self.p.rules.spread_picks_first {
            self.keep_one(group, key);
        }
        Ok(!self.p.rules.spread_picks_first)
    }

    /// Leaves the one domain of `scratch.bits` with the lowest count.
    fn keep_one(&mut self, group: usize, key: usize) {
        let n = self.layout.bit_words(key);
        let best = crate::requirements::ranks(&self.scratch.bits[..n])
            .min_by_key(|&v| (self.counts.get(group, v), self.tie(v), v));
        self.scratch.bits[..n].fill(0);
        if let Some(v) = best {
            self.scratch.bits[v as usize / 64] |= 1 << (v % 64);
        }
    }

    fn affinity(&mut self, pod: &Pod, group: usize, g: &Group) -> Result<bool, Fail> {
        let key = g.key as usize;
        if self.keep_domains(group, key, |s, v, count| {
            count > 0 && s.pod_allows(key, v) && s.node_allows(key, v)
        }) {
            return Ok(false);
        }
        let reachable =
            self.keep_domains(group, key, |s, v, count| count > 0 && s.pod_allows(key, v));
        if self.selects(pod, group)
            && (self.counts.total(group) == 0 || !reachable)
            && self
                .keep_domains(group, key, |s, v, _| s.pod_allows(key, v) && s.node_allows(key, v))
        {
            if self.p.rules.spread_picks_first {
                self.keep_one(group, key);
            }
            return Ok(!self.p.rules.spread_picks_first);
        }
        Err(Fail {
            best: i64::from(self.counts.total(group)),
            is_final: false,
            ..Fail::new(ReasonCode::Affinity, group as u32)
        })
    }

    fn anti_affinity(&mut self, group: usize, g: &Group) -> Result<bool, Fail> {
        let key = g.key as usize;
        if self.keep_domains(group, key, |s, v, count| {
            count == 0 && s.pod_allows(key, v) && s.node_allows(key, v)
        }) {
            return Ok(g.kind == GroupKind::AntiAffinity && !self.p.rules.anti_affinity_blocks_all);
        }
        let n = self.layout.bit_words(key);
        let lowest = crate::requirements::ranks(self.counts.known(group, n))
            .filter(|&v| self.pod_allows(key, v) && self.node_allows(key, v))
            .map(|v| self.counts.get(group, v))
            .min();
        Err(Fail {
            best: lowest.map_or(0, i64::from),
            ..Fail::new(ReasonCode::AntiAffinity, group as u32)
        })
    }
}

fn place_is_open(place: Place) -> bool {
    !matches!(place, Place::Node(_))
}

/// A bijective mix of 32 bits.
pub(crate) fn mix(x: u32) -> u32 {
    let x = (x ^ x >> 16).wrapping_mul(0x7feb_352d);
    let x = (x ^ x >> 15).wrapping_mul(0x846c_a68b);
    x ^ x >> 16
}
