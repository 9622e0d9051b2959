//! Which of a pod's terms and preferences hold at each step of giving preferences up.
//!
//! The sequence follows from the class alone. DIFFERS: Karpenter exhausts the required
//! node-affinity terms before it gives up any preference, and drops the heaviest preference
//! first; the mended order tries every required term under the same preferences and drops
//! the lightest first.

use heapless::Vec;

use crate::limits::{Exceeded, Limit, TERMS_PER_POD};
use crate::problem::{GroupKind, Link, PodClass, Problem, Rules};

/// What of a class still holds.
#[derive(Clone, Debug)]
pub(crate) struct Relaxed {
    /// Required node-affinity term in force, as an index into the class's terms.
    pub term: u32,
    /// Steps taken so far.
    pub steps: u32,
    /// Taints that only prefer are tolerated.
    pub tolerates_preferences: bool,
    dropped_links: u64,
    dropped_preferences: u64,
    /// Spreads that may be given up, in the order in which Karpenter's list then stands.
    soft_spreads: Vec<u8, TERMS_PER_POD>,
}

/// What a step of relaxation works on.
#[derive(Clone, Copy)]
pub(crate) struct Subject<'p> {
    pub links: &'p [Link],
    pub required: u32,
    pub preferred: &'p [crate::problem::Term],
    pub rules: Rules,
    pub groups: &'p [crate::problem::Group],
    /// Some template carries a taint that only prefers.
    pub has_preferring_taint: bool,
}

impl<'p> Subject<'p> {
    /// The subject of a class; the limit when it has more rules than one word tracks.
    pub fn of(p: &Problem<'p>, class: &PodClass, has_taint: bool) -> Result<Self, Exceeded> {
        let most = class.links.len.max(class.preferred.len).max(class.required.len);
        if most as usize > TERMS_PER_POD {
            let value = TERMS_PER_POD as u64;
            return Err(Exceeded { limit: Limit::TermsPerPod, value, need: u64::from(most) });
        }
        Ok(Self {
            links: class.links.of(p.links),
            required: class.required.len,
            preferred: class.preferred.of(p.terms),
            rules: p.rules,
            groups: p.groups,
            has_preferring_taint: has_taint,
        })
    }

    fn kind(&self, link: usize) -> GroupKind {
        self.groups[self.links[link].group as usize].kind
    }
}

impl Relaxed {
    /// Everything holds.
    pub fn start(s: &Subject) -> Self {
        let mut soft_spreads = Vec::new();
        for i in 0..s.links.len() {
            if s.kind(i) == GroupKind::Spread && s.links[i].weight > 0 {
                // INVARIANT: Subject::of bounds the number of links.
                let _ = soft_spreads.push(i as u8);
            }
        }
        Self {
            term: 0,
            steps: 0,
            tolerates_preferences: false,
            dropped_links: 0,
            dropped_preferences: 0,
            soft_spreads,
        }
    }

    /// True while the link still holds.
    pub fn holds(&self, link: usize) -> bool {
        self.dropped_links >> link & 1 == 0
    }

    /// The same without the spreads over single nodes that may be given up; nothing when there
    /// are none.
    pub fn without_soft_node_spreads(&self, s: &Subject) -> Option<Self> {
        let mut lenient = self.clone();
        for (i, link) in s.links.iter().enumerate() {
            let group = &s.groups[link.group as usize];
            let is_soft = link.weight > 0 && group.kind == GroupKind::Spread && group.is_hostname;
            if is_soft && self.holds(i) {
                lenient.dropped_links |= 1 << i;
            }
        }
        (lenient.dropped_links != self.dropped_links).then_some(lenient)
    }

    /// True while the node-affinity preference holds.
    pub fn prefers(&self, preference: usize) -> bool {
        self.dropped_preferences >> preference & 1 == 0
    }

    /// The next step; false when nothing is left to give up.
    pub fn step(&mut self, s: &Subject) -> bool {
        let moved = if s.rules.terms_before_preferences {
            self.next_term(s) || self.drop_heaviest(s) || self.tolerate(s)
        } else {
            self.next_term(s)
                || self.again_with(s, Self::drop_lightest)
                || self.again_with(s, Self::tolerate)
        };
        self.steps += u32::from(moved);
        moved
    }

    fn next_term(&mut self, s: &Subject) -> bool {
        let moves = self.term + 1 < s.required;
        self.term += u32::from(moves);
        moves
    }

    /// One more thing given up, and all required terms are tried again.
    fn again_with(&mut self, s: &Subject, drop: fn(&mut Self, &Subject) -> bool) -> bool {
        let dropped = drop(self, s);
        if dropped {
            self.term = 0;
        }
        dropped
    }

    fn tolerate(&mut self, s: &Subject) -> bool {
        let moves = s.has_preferring_taint && !self.tolerates_preferences;
        self.tolerates_preferences |= moves;
        moves
    }

    fn drop_heaviest(&mut self, s: &Subject) -> bool {
        for kind in [GroupKind::Affinity, GroupKind::AntiAffinity] {
            let soft = |&i: &usize| s.kind(i) == kind && s.links[i].weight > 0 && self.holds(i);
            if let Some(i) = (0..s.links.len()).find(soft) {
                self.dropped_links |= 1 << i;
                return true;
            }
        }
        if let Some(i) = (0..s.preferred.len()).find(|&i| self.prefers(i)) {
            self.dropped_preferences |= 1 << i;
            return true;
        }
        self.drop_spread(0)
    }

    fn drop_spread(&mut self, at: usize) -> bool {
        if at >= self.soft_spreads.len() {
            return false;
        }
        let link = self.soft_spreads.swap_remove(at);
        self.dropped_links |= 1 << link;
        true
    }

    fn drop_lightest(&mut self, s: &Subject) -> bool {
        let links = (0..s.links.len())
            .filter(|&i| s.links[i].weight > 0 && s.kind(i) != GroupKind::Spread && self.holds(i))
            .map(|i| (s.links[i].weight, 1, i));
        let preferences = (0..s.preferred.len())
            .filter(|&i| self.prefers(i))
            .map(|i| (s.preferred[i].weight, 0, i));
        // Of equal weight the later one goes first: list order is the user's order.
        match links
            .chain(preferences)
            .min_by_key(|&(w, kind, i)| (w, core::cmp::Reverse((kind, i))))
        {
            Some((_, 1, i)) => self.dropped_links |= 1 << i,
            Some((_, _, i)) => self.dropped_preferences |= 1 << i,
            None => {
                return !self.soft_spreads.is_empty()
                    && self.drop_spread(self.soft_spreads.len() - 1);
            }
        }
        true
    }
}
