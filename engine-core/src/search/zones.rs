//! In which zone pods go that a rule over zones divides or keeps together.

use heapless::Vec;

use super::model::Model;
use super::tables::{Item, most};
use crate::limits::Exceeded;
use crate::place::Pod;
use crate::place::state::State;
use crate::problem::{GroupKind, Link, NONE, PodClass, Problem};

impl Model<'_> {
    /// Divides the pods of each spread among its zones, always one more for the emptiest, ties
    /// for the cheapest; those of an affinity go to one zone.
    pub(super) fn split_zones(&mut self, state: &mut State, left: &[u32]) -> Result<(), Exceeded> {
        let mut start = 0;
        while start < self.items_len {
            let class = self.items[start].class;
            let mut end = start + 1;
            while end < self.items_len && self.items[end].class == class {
                end += 1;
            }
            if let Some(group) = zonal_group(&state.p, class as usize) {
                let pod = Pod::start(state, class as usize)?;
                if state.load_pod(&pod).is_ok() {
                    self.fill_zones(state, group as usize, start..end, left[class as usize]);
                }
            }
            start = end;
        }
        Ok(())
    }

    fn fill_zones(
        &mut self,
        state: &State,
        group: usize,
        rows: core::ops::Range<usize>,
        pods: u32,
    ) {
        let g = &state.p.groups[group];
        let mut order: Vec<(f64, usize, u32), 64> = Vec::new();
        let mut least = u32::MAX;
        for i in rows {
            let item = self.items[i];
            let level = state.counts.get(group, item.zone) + self.sent(state, group, item.zone);
            if item.signature == NONE {
                least = least.min(level);
                continue;
            }
            let per_pod = self.machines[..self.machines_len]
                .iter()
                .filter(|m| m.takes(item.signature))
                .map(|m| m.price / most(&item, &m.capacity).max(1e-9))
                .fold(f64::INFINITY, f64::min);
            // LIMIT: pods spread over more zones than this are placed one by one.
            let _ = order.push((per_pod, i, level));
        }
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        if g.kind == GroupKind::Affinity {
            let own = order.iter().find(|&&(.., level)| level > 0).or(order.first());
            if let Some(&(_, i, _)) = own {
                self.items[i].count = pods;
            }
            return;
        }
        let top = if g.min_domains as usize > order.len() { 0 } else { least };
        for _ in 0..pods {
            let Some((_, i, level)) = order.iter_mut().min_by_key(|row| row.2) else { return };
            if *level >= top.saturating_add(g.max_skew) {
                return;
            }
            self.items[*i].count += 1;
            *level += 1;
        }
    }

    /// Pods of the classes divided before that the group counts in the zone.
    fn sent(&self, state: &State, group: usize, zone: u32) -> u32 {
        let counts = |item: &&Item| {
            let matches = state.p.classes[item.class as usize].matches.of(state.p.matches);
            item.zone == zone && item.count > 0 && matches.binary_search(&(group as u32)).is_ok()
        };
        self.items[..self.items_len].iter().filter(counts).map(|item| item.count).sum()
    }
}

/// The group by which pods of the class are divided among zones: a spread over zones, or an
/// affinity to one, that selects the class itself. A class that a spread of other pods restricts
/// is divided by a spread that counts it, so that what restricts others stays even.
pub(super) fn zonal_group(p: &Problem, class: usize) -> Option<u32> {
    let class = &p.classes[class];
    let links = class.links.of(p.links);
    let own = links.iter().find(|l| divides(p, class, l)).map(|l| l.group);
    let is_ruled = links.iter().any(|l| is_zonal(p, l.group));
    let counting = |g: &&u32| is_zonal(p, **g) && p.groups[**g as usize].kind == GroupKind::Spread;
    let counted = class.matches.of(p.matches).iter().find(counting).copied();
    own.or(counted.filter(|_| is_ruled))
}

/// True when the link says by zone where the pods of the class go.
pub(super) fn divides(p: &Problem, class: &PodClass, link: &Link) -> bool {
    let kind = p.groups[link.group as usize].kind;
    is_zonal(p, link.group)
        && matches!(kind, GroupKind::Spread | GroupKind::Affinity)
        && class.matches.of(p.matches).binary_search(&link.group).is_ok()
}

/// True when the domains of the group are zones.
pub(super) fn is_zonal(p: &Problem, group: u32) -> bool {
    let g = &p.groups[group as usize];
    !g.is_hostname && g.key == p.well.zone && p.well.zone != NONE
}

pub(super) fn is_affinity(p: &Problem, group: usize) -> bool {
    p.groups[group].kind == GroupKind::Affinity
}

impl State<'_, '_> {
    /// True when some pod counts in a zone of the group.
    pub(super) fn is_somewhere(&self, group: usize) -> bool {
        let zones = self.p.keys[self.p.well.zone as usize].values.len;
        (0..zones).any(|zone| self.counts.get(group, zone) > 0)
    }
}
