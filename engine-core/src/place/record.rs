//! Counting a pod that was placed: in which domains, and for which topology groups.

use crate::limits::Exceeded;
use crate::place::Pod;
use crate::place::counts::Place;
use crate::place::state::State;
use crate::problem::{Group, GroupKind, NONE, Problem};
use crate::requirements::{Layout, values_of};

impl State<'_, '_> {
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

    pub(super) fn accepts(
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
pub(super) fn is_within_some(
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
