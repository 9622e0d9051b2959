//! What is to be packed: pods that are left as items, templates and types as machines.
//!
//! The search sees what it can count: requests, what restricts machines, one slot per node,
//! a zone for each pod of a spread. Pods with other rules (affinity, alternatives of volumes,
//! spreads over other keys) are not its items; they are placed one by one afterwards.

use heapless::Vec;

use super::tables::{
    Amounts, DIMS, Item, Machine, SIGNATURE_WORDS, SIGNATURES, Shape, Tables, within,
};
use super::zones::{divides, is_affinity, is_zonal, zonal_group};
use crate::decision::TemplateState;
use crate::limits::Exceeded;
use crate::place::relax::{Relaxed, Subject};
use crate::place::state::{State, is_reserved, row};
use crate::place::{Pod, types};
use crate::problem::{GroupKind, NONE, PodClass, Span};
use crate::requirements::values_of;
use crate::workspace::Carver;

/// Numbers that the model needs.
pub(crate) fn numbers(s: &Shape) -> usize {
    3 * s.signatures + 2 * s.slots
}

/// Most times that signatures without a machine give up something before they are left out.
const RELAXING_TURNS: usize = 8;

/// What the model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To pack: items hold what may be placed together, limits as they stand.
    Pack,
    /// To bound the price: whatever the search cannot count is left out of the question, so
    /// that nothing that could be done is excluded.
    Bound,
}

/// The items and machines of a solve under way.
pub(crate) struct Model<'m> {
    pub items: &'m mut [Item],
    pub items_len: usize,
    pub machines: &'m mut [Machine],
    pub machines_len: usize,
    /// Most pods per node of each slot in use.
    pub slots: &'m mut [u32],
    pub slots_len: usize,
    pub signatures: usize,
    purpose: Purpose,
    /// Resource of each dimension.
    pub dims: Vec<u8, DIMS>,
    /// Slot number by group, then by host port.
    slot_of: &'m mut [u32],
    /// Of each signature: a class that has it, its zone, its steps of relaxation.
    class_of: &'m mut [u32],
    zone_of: &'m mut [u32],
    relaxed_of: &'m mut [u32],
    sets: &'m mut [u64],
}

impl<'m> Model<'m> {
    pub fn carve(
        s: &Shape,
        items: &'m mut [Item],
        machines: &'m mut [Machine],
        n: &mut Carver<'m, u32>,
        w: &mut Carver<'m, u64>,
    ) -> Result<Self, Exceeded> {
        Ok(Self {
            items: Carver::new(items).take(s.items)?,
            items_len: 0,
            machines: Carver::new(machines).take(s.machines)?,
            machines_len: 0,
            slots: n.take(s.slots)?,
            slots_len: 0,
            signatures: 0,
            purpose: Purpose::Pack,
            dims: Vec::new(),
            slot_of: n.take(s.slots)?,
            class_of: n.take(s.signatures)?,
            zone_of: n.take(s.signatures)?,
            relaxed_of: n.take(s.signatures)?,
            sets: w.take(s.signatures * s.set_words)?,
        })
    }

    /// Reads what is left of each class (`left`, by class) and the machines that take it.
    pub fn read(
        &mut self,
        state: &mut State,
        left: &[u32],
        purpose: Purpose,
    ) -> Result<(), Exceeded> {
        self.purpose = purpose;
        self.read_dims(state, left);
        self.read_items(state, left)?;
        for _ in 0..RELAXING_TURNS {
            self.read_machines(state)?;
            if !self.relax(state)? {
                break;
            }
        }
        self.keep_heaviest(state);
        if purpose == Purpose::Pack {
            self.split_zones(state, left)?;
        }
        self.prune();
        self.tighten();
        self.prune();
        Ok(())
    }

    /// What was read, for those who pack.
    pub fn tables(&self) -> Tables<'_> {
        Tables {
            items: &self.items[..self.items_len],
            machines: &self.machines[..self.machines_len],
            slots: &self.slots[..self.slots_len],
            signatures: self.signatures,
        }
    }

    fn read_dims(&mut self, state: &State, left: &[u32]) {
        let (p, r) = (&state.p, state.z.resources);
        self.dims.clear();
        for i in 0..r {
            let is_asked = (0..left.len())
                .any(|c| left[c] > 0 && row(p.quantities, p.classes[c].requests, r)[i] > 0);
            // LIMIT: pods that ask for more resources than this are not searched.
            if is_asked && self.dims.push(i as u8).is_err() {
                break;
            }
        }
    }

    fn read_items(&mut self, state: &mut State, left: &[u32]) -> Result<(), Exceeded> {
        (self.items_len, self.slots_len, self.signatures) = (0, 0, 0);
        self.slot_of.fill(NONE);
        for (class, &count) in left.iter().enumerate() {
            let bounds = self.purpose == Purpose::Bound;
            if count == 0 || !(bounds || self.is_searched(state, class)) {
                continue;
            }
            match zonal_group(&state.p, class).filter(|_| !bounds) {
                None => self.add_item(state, class, NONE, count),
                Some(group) => {
                    let group = group as usize;
                    let pod = Pod::start(state, class)?;
                    if state.load_pod(&pod).is_err() {
                        continue;
                    }
                    let key = state.p.well.zone as usize;
                    let follows = is_affinity(&state.p, group) && state.is_somewhere(group);
                    for zone in 0..state.p.keys[key].values.len {
                        let is_there = !follows || state.counts.get(group, zone) > 0;
                        let is_known = state.counts.knows(group, zone);
                        if is_known && is_there && state.pod_allows(key, zone) {
                            self.add_item(state, class, zone, 0);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// True when the search can count everything that the class asks for.
    fn is_searched(&self, state: &State, class: usize) -> bool {
        let (p, r) = (&state.p, state.z.resources);
        let c = &p.classes[class];
        let requests = row(p.quantities, c.requests, r);
        let counted = |i: usize| requests[i] <= 0 || self.dims.contains(&(i as u8));
        let mut divided = 0;
        let links = c.links.of(p.links).iter().all(|l| {
            let g = &p.groups[l.group as usize];
            let divides = divides(p, c, l);
            divided += usize::from(divides);
            // A spread that counts other pods only leaves every zone open while those are even.
            let is_lenient = is_zonal(p, l.group) && g.kind == GroupKind::Spread && !divides;
            (divides && divided == 1)
                || is_lenient
                || (g.is_hostname && matches!(g.kind, GroupKind::Spread | GroupKind::AntiAffinity))
        });
        let is_kept_away = c.matches.of(p.matches).iter().any(|&g| {
            let g = &p.groups[g as usize];
            g.kind == GroupKind::Inverse && !g.is_hostname
        });
        !c.has_device_claims
            && c.volume_alternatives.len <= 1
            && links
            && !is_kept_away
            && (0..r).all(counted)
    }

    fn add_item(&mut self, state: &State, class: usize, zone: u32, count: u32) {
        let (p, r) = (&state.p, state.z.resources);
        let c = &p.classes[class];
        let Some(signature) = self.signature(state, class, zone) else { return };
        let requests = row(p.quantities, c.requests, r);
        let (mut amounts, mut inverse) = ([0.0; DIMS], [0.0; DIMS]);
        for (d, &i) in self.dims.iter().enumerate() {
            amounts[d] = requests[usize::from(i)] as f64;
            inverse[d] = if amounts[d] > 0.0 { 1.0 / amounts[d] } else { 0.0 };
        }
        let slot = self.slot(state, c);
        self.items[self.items_len] = Item {
            class: class as u32,
            zone,
            signature,
            slot,
            relaxed: 0,
            count,
            requests: amounts,
            inverse,
        };
        self.items_len += 1;
    }

    /// The signature of the class in the zone; nothing when there are too many.
    fn signature(&mut self, state: &State, class: usize, zone: u32) -> Option<u32> {
        let key = signature_of(&state.p.classes[class]);
        for s in 0..self.signatures {
            let other = &state.p.classes[self.class_of[s] as usize];
            if self.zone_of[s] == zone && signature_of(other) == key {
                return Some(s as u32);
            }
        }
        // LIMIT: pods of further signatures are not searched.
        if self.signatures == self.class_of.len() {
            return None;
        }
        let s = self.signatures;
        self.signatures += 1;
        (self.class_of[s], self.zone_of[s], self.relaxed_of[s]) = (class as u32, zone, 0);
        Some(s as u32)
    }

    /// The tightest rule of the class on single nodes, as a slot.
    fn slot(&mut self, state: &State, c: &PodClass) -> u32 {
        let p = &state.p;
        let mut tightest: Option<(u32, usize)> = None;
        let mut consider = |most: u32, at: usize| {
            if tightest.is_none_or(|(known, _)| most < known) {
                tightest = Some((most, at));
            }
        };
        for link in c.links.of(p.links).iter().filter(|l| l.weight == 0) {
            let g = &p.groups[link.group as usize];
            let selects = c.matches.of(p.matches).binary_search(&link.group).is_ok();
            match g.kind {
                GroupKind::AntiAffinity if g.is_hostname && selects => {
                    consider(1, link.group as usize);
                }
                // The minimum over nodes rises, so this is no bound on what a node may hold.
                GroupKind::Spread if g.is_hostname && selects && self.purpose == Purpose::Pack => {
                    consider(g.max_skew.max(1), link.group as usize);
                }
                _ => {}
            }
        }
        if c.ports.len > 0 {
            consider(1, p.groups.len() + c.ports.start as usize);
        }
        let Some((most, at)) = tightest else { return NONE };
        if self.slot_of[at] == NONE {
            self.slot_of[at] = self.slots_len as u32;
            self.slots[self.slots_len] = most;
            self.slots_len += 1;
        }
        self.slot_of[at]
    }

    /// Reads every offering that takes some signature.
    fn read_machines(&mut self, state: &mut State) -> Result<(), Exceeded> {
        self.machines_len = 0;
        for t in 0..state.z.templates {
            let is_full = self.purpose == Purpose::Pack && state.templates.nodes[t] == 0;
            if state.templates.states[t] != TemplateState::Open || is_full {
                continue;
            }
            let open = self.read_sets(state, t)?;
            let m = state.z.mask;
            for word in 0..m {
                let mut left = state.templates.masks[t * m + word];
                while left != 0 {
                    let bit = left.trailing_zeros();
                    left &= left - 1;
                    self.read_type(state, t, word as u32 * 64 + bit, &open);
                }
            }
        }
        Ok(())
    }

    /// Writes what a node of the template is with each signature; which ones can be there.
    fn read_sets(
        &mut self,
        state: &mut State,
        t: usize,
    ) -> Result<[u64; SIGNATURE_WORDS], Exceeded> {
        let w = state.z.set;
        let mut open = [0; SIGNATURE_WORDS];
        for s in 0..self.signatures {
            let mut pod = Pod::at(state, self.class_of[s] as usize, self.relaxed_of[s])?;
            if self.purpose == Purpose::Bound {
                forget_alternatives(&mut pod.class);
            }
            if state.load_pod(&pod).is_err() {
                continue;
            }
            if self.zone_of[s] != NONE {
                state.pin(state.p.well.zone as usize, self.zone_of[s]);
            }
            if state.joins(&pod, t) {
                self.sets[s * w..][..w].copy_from_slice(state.scratch.placed);
                open[s / 64] |= 1 << (s % 64);
            }
        }
        Ok(open)
    }

    fn read_type(&mut self, state: &State, t: usize, index: u32, open: &[u64; SIGNATURE_WORDS]) {
        let (p, w, r) = (&state.p, state.z.set, state.z.resources);
        let of_type = &p.types[index as usize];
        if self.purpose == Purpose::Pack && !state.is_within_limits(t, index) {
            return;
        }
        let labels = &state.sets[of_type.set as usize * w..][..w];
        let mut fitting = [0u64; SIGNATURE_WORDS];
        for s in crate::requirements::ranks(open) {
            let set = &self.sets[s as usize * w..][..w];
            if state.layout.conflict(labels, set, p).is_none() {
                fitting[s as usize / 64] |= 1 << (s % 64);
            }
        }
        if fitting.iter().all(|&x| x == 0) {
            return;
        }
        let at = state.template_type(t, index);
        let overhead = &state.templates.overhead[at * r..][..r];
        for (o, offering) in of_type.offerings.range().zip(of_type.offerings.of(p.offerings)) {
            let Some(variant) = of_type.variants.of(p.variants).get(offering.variant as usize)
            else {
                continue;
            };
            let allocatable = row(p.quantities, variant.allocatable, r);
            let holds_daemons = overhead.iter().zip(allocatable).all(|(o, a)| *o <= 0 || o <= a);
            let is_known = offering.price_microusd < i64::MAX;
            let is_there = self.purpose == Purpose::Bound
                || (state.can_hold(NONE, offering) && state.can_afford(NONE, offering));
            if !holds_daemons || !is_known || !is_there {
                continue;
            }
            let mut signatures = [0u64; SIGNATURE_WORDS];
            for s in crate::requirements::ranks(&fitting) {
                let set = &self.sets[s as usize * w..][..w];
                if types::usable(p, &state.layout, set, offering) {
                    signatures[s as usize / 64] |= 1 << (s % 64);
                }
            }
            if signatures.iter().all(|&x| x == 0) {
                continue;
            }
            let mut capacity: Amounts = [0.0; DIMS];
            for (d, &i) in self.dims.iter().enumerate() {
                let i = usize::from(i);
                capacity[d] = allocatable[i].saturating_sub(overhead[i]).max(0) as f64;
            }
            let draws = is_reserved(offering.capacity_type) && offering.reservation != NONE;
            let reservation = if draws { offering.reservation } else { NONE };
            let zone = offering.labels.of(p.offering_labels).iter().find(|l| l.key == p.well.zone);
            self.machines[self.machines_len] = Machine {
                price: match self.purpose {
                    Purpose::Pack => offering.counted_microusd(),
                    Purpose::Bound => offering.price_microusd,
                } as f64,
                capacity,
                signatures,
                template: t as u32,
                instance_type: index,
                offering: o as u32,
                zone: zone.map_or(NONE, |l| l.value),
                units: match self.purpose {
                    _ if !draws => NONE,
                    Purpose::Pack => state.units[reservation as usize],
                    Purpose::Bound => p.reservations[reservation as usize],
                },
                reservation,
            };
            self.machines_len += 1;
        }
    }

    fn has_machine(&self, item: &Item) -> bool {
        let takes = |m: &Machine| m.takes(item.signature) && within(&item.requests, &m.capacity);
        self.machines[..self.machines_len].iter().any(takes)
    }

    /// Lets signatures of which no item has a machine give up one more thing; false when none
    /// can.
    fn relax(&mut self, state: &State) -> Result<bool, Exceeded> {
        let mut any = false;
        for s in 0..self.signatures {
            let mut items =
                self.items[..self.items_len].iter().filter(|i| i.signature as usize == s);
            if items.any(|i| self.has_machine(i)) {
                continue;
            }
            let class = state.p.classes[self.class_of[s] as usize];
            let subject = Subject::of(&state.p, &class, state.has_preferring_taint)?;
            let mut relaxed = Relaxed::start(&subject);
            let wanted = self.relaxed_of[s] + 1;
            while relaxed.steps < wanted && relaxed.step(&subject) {}
            if relaxed.steps == wanted {
                self.relaxed_of[s] = wanted;
                any = true;
            }
        }
        Ok(any)
    }

    /// Leaves each item the machines of the heaviest pools that take it: weights are strict.
    fn keep_heaviest(&mut self, state: &State) {
        // Pods may join a node that was opened in a lighter pool for others, so weights exclude
        // nothing for good.
        let bounds = self.purpose == Purpose::Bound;
        let weight = |m: &Machine| match bounds {
            true => 0,
            false => state.p.templates[m.template as usize].weight,
        };
        // A signature for each pair of signature and weight.
        let mut pairs: Vec<(u32, u32), SIGNATURES> = Vec::new();
        for i in 0..self.items_len {
            let item = self.items[i];
            let takes =
                |m: &&Machine| m.takes(item.signature) && within(&item.requests, &m.capacity);
            let best = self.machines[..self.machines_len].iter().filter(takes).map(weight).max();
            self.items[i].relaxed = self.relaxed_of[item.signature as usize];
            let pair = (item.signature, best.unwrap_or(0));
            let at = pairs.iter().position(|x| *x == pair);
            // LIMIT: an item of a pair too many is not searched.
            let at = at.or_else(|| pairs.push(pair).ok().map(|()| pairs.len() - 1));
            match (best, at) {
                (Some(_), Some(at)) => self.items[i].signature = at as u32,
                _ => self.items[i].signature = NONE,
            }
        }
        for machine in &mut self.machines[..self.machines_len] {
            let mut signatures = [0u64; SIGNATURE_WORDS];
            for (at, &(s, w)) in pairs.iter().enumerate() {
                if machine.takes(s) && weight(machine) == w {
                    signatures[at / 64] |= 1 << (at % 64);
                }
            }
            machine.signatures = signatures;
        }
        self.signatures = pairs.len();
    }

    /// Takes out items without pods or machines and sorts the rest by signature.
    pub fn drop_empty(&mut self) {
        let mut kept = 0;
        for i in 0..self.items_len {
            if self.items[i].signature != NONE && self.items[i].count > 0 {
                self.items[kept] = self.items[i];
                kept += 1;
            }
        }
        self.items_len = kept;
        self.items[..kept].sort_unstable_by_key(|i| (i.signature, i.class, i.zone));
    }
}

/// What of a class restricts its machines. Links count where preferences are given up in turn
/// with them.
fn signature_of(c: &PodClass) -> (u32, [Span; 6]) {
    let links = if c.preferred.len > 0 || c.required.len > 1 { c.links } else { Span::default() };
    let spans = [c.required, c.preferred, c.tolerations, c.volume_alternatives, c.ports, links];
    (c.selector, spans.map(|s| if s.len == 0 { Span::default() } else { s }))
}

/// Leaves out of a class what it may choose among.
fn forget_alternatives(class: &mut PodClass) {
    if class.required.len > 1 {
        class.required = Span::default();
    }
    if class.volume_alternatives.len > 1 {
        class.volume_alternatives = Span::default();
    }
}

impl Pod {
    /// A pod of the class with every preference.
    pub(crate) fn start(state: &State, class: usize) -> Result<Self, Exceeded> {
        Self::at(state, class, 0)
    }

    /// A pod of the class after a number of steps of relaxation.
    pub(crate) fn at(state: &State, class: usize, steps: u32) -> Result<Self, Exceeded> {
        let row = class as u32;
        let class = state.p.classes[class];
        let subject = Subject::of(&state.p, &class, state.has_preferring_taint)?;
        let mut relaxed = Relaxed::start(&subject);
        while relaxed.steps < steps && relaxed.step(&subject) {}
        Ok(Self { class, row, relaxed })
    }
}

impl State<'_, '_> {
    /// Asks of the pod at hand that one value of a key, too.
    pub(crate) fn pin(&mut self, key: usize, value: u32) {
        let n = self.layout.bit_words(key);
        let bits = &mut self.scratch.bits[..n];
        bits.fill(0);
        bits[value as usize / 64] |= 1 << (value % 64);
        let values = values_of(&self.p, key);
        self.layout.restrict(self.scratch.all, key, values, bits);
    }
}
