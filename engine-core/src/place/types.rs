//! Which instance types can still be the node: labels, size and offering.

use crate::decision::{ReasonCode, TypeCounts};
use crate::place::state::{State, is_reserved, row};
use crate::problem::{NONE, Offering, Problem};
use crate::requirements::Layout;
use crate::resources;

/// A test that failed: what, where, and by how much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fail {
    pub code: ReasonCode,
    pub subject: u32,
    pub need: i64,
    pub best: i64,
    pub types: TypeCounts,
    /// The same pod cannot be accepted here later in its run either.
    pub is_final: bool,
}

impl Fail {
    pub fn new(code: ReasonCode, subject: u32) -> Self {
        Self { code, subject, need: 0, best: 0, types: TypeCounts::default(), is_final: true }
    }
}

/// True when the offering is not sold out and its labels are allowed. A well-known label
/// that `set` does not name is fine.
pub(crate) fn usable(p: &Problem, layout: &Layout, set: &[u64], offering: &Offering) -> bool {
    offering.is_available
        && offering.labels.of(p.offering_labels).iter().all(|label| {
            let key = label.key as usize;
            if layout.has(set, key) {
                layout.get(set, key).allows(label.value, crate::requirements::values_of(p, key))
            } else {
                p.keys[key].is_well_known
            }
        })
}

/// The first key whose minValues the types of `mask` do not reach, with the count reached.
/// A type counts with its own values; mended, only with those that `set` allows.
pub(crate) fn few_values(
    p: &Problem,
    layout: &Layout,
    sets: &[u64],
    set: &[u64],
    mask: &[u64],
    distinct: &mut [u64],
) -> Option<(usize, u16)> {
    let w = layout.len();
    (0..layout.keys()).find_map(|key| {
        let need = layout.get(set, key);
        if !layout.has(set, key) || need.min_values() == 0 {
            return None;
        }
        distinct.fill(0);
        for t in crate::requirements::ranks(mask) {
            let labels = &sets[p.types[t as usize].set as usize * w..][..w];
            if layout.has(labels, key) {
                layout.union_bits(distinct, labels, key);
            }
        }
        let values = crate::requirements::values_of(p, key);
        let count = layout
            .get(distinct, key)
            .ranks()
            .filter(|&v| p.rules.min_values_unfiltered || need.allows(v, values))
            .count();
        (count < usize::from(need.min_values())).then_some((key, count as u16))
    })
}

/// What a type filter asks: the template, what the node already is, what it would be.
#[derive(Clone, Copy)]
pub(crate) struct Question {
    pub template: usize,
    /// The new node whose reservations may be used again; `NONE` for a fresh one.
    pub new_node: u32,
}

/// The three tests of one type.
#[derive(Clone, Copy, Default)]
struct Passes {
    labels: bool,
    large: bool,
    offered: bool,
    /// Large enough and offered by one and the same variant.
    both: bool,
}

impl State<'_, '_> {
    /// Row of the overhead tables for a type of the template.
    pub(crate) fn template_type(&self, template: usize, index: u32) -> usize {
        let span = self.p.templates[template].types;
        let types = span.of(self.p.template_types);
        let guess = index.wrapping_sub(types[0]) as usize;
        let at = if types.get(guess) == Some(&index) {
            guess
        } else {
            // INVARIANT: masks of a template hold only its own types.
            types.binary_search(&index).unwrap_or(0)
        };
        self.templates.at[template] as usize + at
    }

    /// Narrows `scratch.mask` to `scratch.filtered`: types that pass under
    /// `scratch.result` with `scratch.total` and `scratch.pod_ports`.
    pub(crate) fn filter_types(&mut self, q: Question, base: Base) -> Result<(), Fail> {
        self.steps += 1;
        let changed = self.changed_keys(base);
        let mut any = false;
        for i in 0..self.z.mask {
            let mut left = self.scratch.mask[i];
            let mut kept = 0;
            while left != 0 {
                let bit = left.trailing_zeros();
                left &= left - 1;
                let index = i as u32 * 64 + bit;
                if self.passes(q, index, &changed).all() {
                    kept |= 1 << bit;
                }
            }
            self.scratch.filtered[i] = kept;
            any |= kept != 0;
        }
        if any {
            return Ok(());
        }
        Err(self.quota_in_the_way(q).unwrap_or_else(|| self.explain_types(q)))
    }

    /// True when the type of `scratch.mask` passes every test.
    pub(crate) fn passes_all(&self, q: Question, index: u32) -> bool {
        let every = Changed { is_all: true, offering: true, ..Changed::default() };
        self.passes(q, index, &every).all()
    }

    /// Which keys `scratch.result` narrows beyond what the types were filtered by before.
    fn changed_keys(&self, base: Base) -> Changed {
        let w = self.z.set;
        let old = match base {
            Base::Template(t) => &self.sets[self.p.templates[t].set as usize * w..][..w],
            Base::New(n) => &self.news.sets[n * w..][..w],
        };
        let mut changed = Changed::default();
        for key in 0..self.z.keys {
            if self.layout.differs(old, self.scratch.result, key) {
                changed.offering |= self.offering_keys[key] != 0;
                if changed.keys.push(key as u32).is_err() {
                    changed.is_all = true;
                }
            }
        }
        // Reservations and quotas run out, so offerings are asked again each time.
        changed.offering |= self.z.reservations > 0 || self.z.quotas > 0;
        changed
    }

    fn passes(&self, q: Question, index: u32, changed: &Changed) -> Passes {
        let p = &self.p;
        let of_type = &p.types[index as usize];
        let labels = &self.sets[of_type.set as usize * self.z.set..][..self.z.set];
        let result = &*self.scratch.result;
        let conflicts = if changed.is_all {
            self.layout.conflict(labels, result, p).is_some()
        } else {
            let on = |&k: &u32| self.layout.conflicts_on(labels, result, k as usize, p);
            changed.keys.iter().any(on)
        };
        if conflicts && !changed.asks_all_tests {
            return Passes::default();
        }
        let mut passes = Passes { labels: !conflicts, ..Passes::default() };
        let at = self.template_type(q.template, index);
        if !self.ports_clash(at) {
            let variants = of_type.variants.of(p.variants);
            for v in 0..variants.len() {
                let large = self.is_large(variants[v].allocatable, at);
                passes.large |= large;
                if large && (!changed.offering && variants.len() == 1) {
                    passes.both = true;
                    passes.offered = true;
                } else if large {
                    passes.both |= self.offered(q, index, Some(v as u16));
                }
            }
        }
        if changed.asks_all_tests {
            passes.offered = self.offered(q, index, None);
        }
        passes
    }

    fn ports_clash(&self, at: usize) -> bool {
        let n = self.z.port_mask;
        let daemon = &self.templates.ports[at * n..][..n];
        ports_clash(self.clashes, daemon, self.scratch.pod_ports)
    }

    pub(crate) fn is_large(&self, allocatable: u32, at: usize) -> bool {
        let r = self.z.resources;
        resources::fits(
            self.scratch.total,
            &self.templates.overhead[at * r..][..r],
            row(self.p.quantities, allocatable, r),
            self.p.rules.negative_blocks_all,
        )
    }

    fn offered(&self, q: Question, index: u32, variant: Option<u16>) -> bool {
        let p = &self.p;
        p.types[index as usize].offerings.of(p.offerings).iter().any(|o| {
            variant.is_none_or(|v| o.variant == v)
                && usable(p, &self.layout, self.scratch.result, o)
                && (!p.rules.reserved_falls_back || self.can_hold(q.new_node, o))
                && self.can_afford(q.new_node, o)
        })
    }

    /// True unless the offering draws on a reservation of which no unit is left for the node.
    pub(crate) fn can_hold(&self, new_node: u32, o: &Offering) -> bool {
        if !is_reserved(o.capacity_type) || o.reservation == NONE {
            return true;
        }
        let id = o.reservation as usize;
        let holds = new_node != NONE
            && self.news.held[new_node as usize * self.z.hold + id / 64] >> (id % 64) & 1 != 0;
        holds || self.units[id] > 0
    }

    /// Counts which tests the types of `scratch.mask` pass and names the kind of failure.
    fn explain_types(&mut self, q: Question) -> Fail {
        let every =
            Changed { is_all: true, offering: true, asks_all_tests: true, ..Changed::default() };
        let mut c = TypeCounts::default();
        let mut ports = 0;
        for t in crate::requirements::ranks(self.scratch.mask) {
            let clashes = self.ports_clash(self.template_type(q.template, t));
            let mut x = self.passes(q, t, &every);
            if self.p.rules.size_needs_offering {
                // Karpenter does not look at a type further whose DaemonSets hold the port.
                x = if clashes { Passes::default() } else { Passes { large: x.both, ..x } };
            }
            ports += u32::from(clashes);
            c.all += 1;
            c.labels += u32::from(x.labels);
            c.large += u32::from(x.large);
            c.offered += u32::from(x.offered);
            c.labels_large += u32::from(x.labels && x.large);
            c.labels_offered += u32::from(x.labels && x.offered);
            c.large_offered += u32::from(x.both);
        }
        if c.all > 0 && ports == c.all && !self.p.rules.size_needs_offering {
            return Fail { types: c, ..Fail::new(ReasonCode::HostPort, NONE) };
        }
        let code = kind_of_failure(&c);
        let fail = Fail { types: c, ..Fail::new(code, NONE) };
        match code {
            ReasonCode::Size | ReasonCode::NoTypePassesAll => self.with_shortest(q, fail, false),
            ReasonCode::OfferedTooSmall => self.with_shortest(q, fail, true),
            ReasonCode::Labels => Fail { subject: self.unmet_key(), ..fail },
            _ => fail,
        }
    }

    /// The first key that no type of `scratch.mask` meets.
    fn unmet_key(&self) -> u32 {
        let w = self.z.set;
        (0..self.z.keys)
            .find(|&key| {
                crate::requirements::ranks(self.scratch.mask).all(|t| {
                    let labels = &self.sets[self.p.types[t as usize].set as usize * w..][..w];
                    self.layout.conflicts_on(labels, self.scratch.result, key, &self.p)
                })
            })
            .map_or(NONE, |key| key as u32)
    }

    /// Adds the resource that is shortest, over all types or those whose labels fit.
    fn with_shortest(&mut self, q: Question, fail: Fail, fitting: bool) -> Fail {
        let (p, r, w) = (self.p, self.z.resources, self.z.set);
        let mut worst: Option<(f64, Fail)> = None;
        for i in 0..r {
            let need = self.scratch.total[i];
            if need <= 0 {
                continue;
            }
            let mut best = i64::MIN;
            for t in crate::requirements::ranks(self.scratch.mask) {
                let of_type = &p.types[t as usize];
                let labels = &self.sets[of_type.set as usize * w..][..w];
                if fitting && self.layout.conflict(labels, self.scratch.result, &p).is_some() {
                    continue;
                }
                let overhead = self.templates.overhead[self.template_type(q.template, t) * r + i];
                for v in of_type.variants.of(p.variants) {
                    best = best.max(row(p.quantities, v.allocatable, r)[i] - overhead);
                }
            }
            let ratio = need as f64 / (best.max(0) as f64 + 1.0);
            if worst.is_none_or(|(x, _)| ratio > x) {
                worst = Some((ratio, Fail { subject: i as u32, need, best, ..fail }));
            }
        }
        worst.map_or(fail, |(_, f)| f)
    }
}

impl Passes {
    fn all(self) -> bool {
        self.labels && self.both
    }
}

/// What the types were filtered by before.
#[derive(Clone, Copy)]
pub(crate) enum Base {
    Template(usize),
    New(usize),
}

/// Keys to test again.
#[derive(Default)]
struct Changed {
    keys: heapless::Vec<u32, 32>,
    /// More keys than fit: test all.
    is_all: bool,
    /// Offerings must be tested again.
    offering: bool,
    /// Every test is wanted, even after one failed.
    asks_all_tests: bool,
}

/// True when some port of `a` clashes with one of `b`.
pub(crate) fn ports_clash(clashes: &[u64], a: &[u64], b: &[u64]) -> bool {
    let n = a.len();
    crate::requirements::ranks(a).any(|port| {
        let row = &clashes[port as usize * n..][..n];
        row.iter().zip(b).any(|(x, y)| x & y != 0)
    })
}

/// The first condition that holds, most general first.
fn kind_of_failure(c: &TypeCounts) -> ReasonCode {
    match (c.labels > 0, c.large > 0, c.offered > 0) {
        (false, false, false) => ReasonCode::NothingFits,
        (false, false, true) => ReasonCode::LabelsAndSize,
        (false, true, false) => ReasonCode::LabelsAndOffering,
        (true, false, false) => ReasonCode::SizeAndOffering,
        (false, true, true) => ReasonCode::Labels,
        (true, false, true) => ReasonCode::Size,
        (true, true, false) => ReasonCode::Offering,
        (true, true, true) if c.labels_large > 0 => ReasonCode::FittingNotOffered,
        (true, true, true) if c.large_offered > 0 => ReasonCode::OfferedNotFitting,
        (true, true, true) if c.labels_offered > 0 => ReasonCode::OfferedTooSmall,
        _ => ReasonCode::NoTypePassesAll,
    }
}
