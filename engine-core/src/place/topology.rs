//! What spread, affinity and anti-affinity leave of a node's domains.

use heapless::Vec;

use crate::decision::ReasonCode;
use crate::limits::{DOMAIN_CHOICES, Exceeded};
use crate::place::Pod;
use crate::place::accept::Owner;
use crate::place::counts::Place;
use crate::place::state::State;
use crate::place::types::Fail;
use crate::problem::{Group, GroupKind, Link, NONE, Problem};
use crate::requirements::{Incompatible, Layout, values_of};

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

    /// Counts the pod where it was placed, with `scratch.result` as what its node now is.
    ///
    /// Spread and affinity count it only when the node's domain is settled; anti-affinity
    /// counts it in every domain that the node may still turn out to be in.
    pub(crate) fn record(
        &mut self,
        pod: &Pod,
        place: Place,
        taints: crate::Span,
    ) -> Result<(), Exceeded> {
        let p = self.p;
        // Minima that were found before this pod hold no longer.
        self.placed += 1;
        for &group in pod.class.matches.of(p.matches) {
            let g = &p.groups[group as usize];
            match g.kind {
                GroupKind::Inverse => {}
                GroupKind::AntiAffinity => self.count_everywhere(group as usize, g, place)?,
                GroupKind::Spread | GroupKind::Affinity => {
                    if self.counts.is_counting(group as usize)
                        && self.filter_accepts(g, place, taints)
                    {
                        let is_sure = self.filter_surely_accepts(g, place);
                        self.count_settled(group as usize, g, place, is_sure)?;
                    }
                }
            }
        }
        for link in pod.class.links.of(p.links) {
            if link.inverse != NONE {
                let g = &p.groups[link.inverse as usize];
                self.count_everywhere(link.inverse as usize, g, place)?;
            }
        }
        Ok(())
    }

    fn count_settled(
        &mut self,
        group: usize,
        g: &Group,
        place: Place,
        is_sure: bool,
    ) -> Result<(), Exceeded> {
        if g.is_hostname {
            return self.counts.add_on(place, group);
        }
        if let Some(value) = self.layout.get(self.scratch.result, g.key as usize).single() {
            self.counts.add(group, value);
            if !is_sure {
                self.counts.doubt(group, value);
            }
        }
        Ok(())
    }

    fn count_everywhere(&mut self, group: usize, g: &Group, place: Place) -> Result<(), Exceeded> {
        if g.is_hostname {
            return self.counts.add_on(place, group);
        }
        let key = g.key as usize;
        let need = self.layout.get(self.scratch.result, key);
        if need.is_complement() && !self.p.rules.anti_affinity_blocks_all {
            // DIFFERS: Karpenter counts the listed values only, which for a key that the node
            // does not name is none; the node may turn out to be in any known domain.
            let n = self.layout.bit_words(key);
            let values = values_of(&self.p, key);
            for value in 0..self.p.keys[key].values.len {
                let known = self.counts.known(group, n)[value as usize / 64] >> (value % 64) & 1;
                if known != 0 && self.layout.get(self.scratch.result, key).allows(value, values) {
                    self.counts.add(group, value);
                }
            }
            return Ok(());
        }
        for value in need.ranks() {
            self.counts.add(group, value);
        }
        Ok(())
    }

    /// True when the group's node filter accepts the node that `scratch.result` describes.
    fn filter_accepts(&self, g: &Group, place: Place, taints: crate::Span) -> bool {
        let allows = !matches!(place, Place::Node(_)) && !self.p.rules.filter_needs_labels;
        let node = match place {
            // What the pod forbids gives the node no label.
            Place::Node(n) if !self.p.rules.pods_define_labels => {
                &self.nodes.sets[n * self.z.set..][..self.z.set]
            }
            _ => &*self.scratch.result,
        };
        self.accepts(g, node, taints, allows)
    }

    /// True when the filter accepts every machine that `scratch.result` leaves.
    ///
    /// DIFFERS: Karpenter counts the pods of a node that the filter may still refuse as if it
    /// were accepted; mended, they do not raise the minimum.
    fn filter_surely_accepts(&mut self, g: &Group, place: Place) -> bool {
        let p = self.p;
        let (node, room) = (&*self.scratch.result, &mut *self.scratch.distinct);
        p.rules.filter_needs_labels
            || matches!(place, Place::Node(_))
            || is_within_some(&p, &self.layout, self.sets, g, node, room)
    }

    fn accepts(
        &self,
        g: &Group,
        node: &[u64],
        taints: crate::Span,
        allows_well_known: bool,
    ) -> bool {
        let p = &self.p;
        if g.honors_taints {
            let tolerations = g.tolerations.of(p.tolerations);
            if crate::taints::untolerated(taints.of(p.taints), tolerations, false).is_some() {
                return false;
            }
        }
        let terms = g.filter.of(p.terms);
        terms.is_empty()
            || terms.iter().any(|t| {
                let set = &self.sets[t.set as usize * self.z.set..][..self.z.set];
                self.layout.incompatible(node, set, allows_well_known, p).is_none()
            })
    }
}

/// True when every node that `node` describes satisfies one of the sets of the group's filter.
fn is_within_some(
    p: &Problem,
    layout: &Layout,
    sets: &[u64],
    g: &Group,
    node: &[u64],
    room: &mut [u64],
) -> bool {
    let (terms, w) = (g.filter.of(p.terms), layout.len());
    let set = |row: u32| &sets[row as usize * w..][..w];
    terms.is_empty() || terms.iter().any(|t| layout.is_within(node, set(t.set), room, p))
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
