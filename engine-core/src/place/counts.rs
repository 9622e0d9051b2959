//! How many pods each topology group counts in each domain.
//!
//! Groups over a label key have one count per value. Groups whose domains are single nodes
//! keep a short list per node instead, since most nodes hold pods of few groups.

use crate::limits::{Exceeded, Limit};
use crate::problem::{NONE, Problem};
use crate::workspace::{COUNT, Carver, Sizes};

/// Some class must obey the group.
const HARD: u32 = 1;
/// Pods that are placed count in the group.
const COUNTING: u32 = 2;

/// Counters of all groups.
pub(crate) struct Counts<'m> {
    /// First count of each per-value group.
    at: &'m mut [u32],
    /// First word of each per-value group in `known`.
    word_at: &'m mut [u32],
    /// Pods counted in all domains of a group.
    totals: &'m mut [u32],
    /// Whether some class must obey the group, and whether it counts as yet.
    flags: &'m mut [u32],
    counts: &'m mut [u32],
    /// Of `counts`, pods on nodes that the group's filter may still refuse.
    unsure: &'m mut [u32],
    known: &'m mut [u64],
    /// First entry of each node's list, then of each new node's.
    heads: &'m mut [u32],
    new_heads: &'m mut [u32],
    entries: &'m mut [u32],
    used: usize,
}

/// Whose list: a node of the problem or a new node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Node(usize),
    New(usize),
    /// A node that is not open yet: nothing is counted on it.
    Fresh,
}

impl<'m> Counts<'m> {
    pub fn carve(
        z: &Sizes,
        words: &mut Carver<'m, u64>,
        numbers: &mut Carver<'m, u32>,
    ) -> Result<Self, Exceeded> {
        Ok(Self {
            at: numbers.take(z.groups)?,
            word_at: numbers.take(z.groups)?,
            totals: numbers.take(z.groups)?,
            flags: numbers.take(z.groups)?,
            counts: numbers.take(z.group_counts)?,
            unsure: numbers.take(z.group_counts)?,
            known: words.take(z.group_words)?,
            heads: numbers.take(z.nodes)?,
            new_heads: numbers.take(z.caps.new_nodes)?,
            entries: numbers.take(z.caps.node_counts * COUNT)?,
            used: 0,
        })
    }

    /// Sets every count to what real nodes hold.
    pub fn load(&mut self, p: &Problem) -> Result<(), Exceeded> {
        self.counts.fill(0);
        self.unsure.fill(0);
        self.known.fill(0);
        self.heads.fill(NONE);
        self.flags.fill(COUNTING);
        for link in p.links {
            for &group in link.variants.of(p.link_variants) {
                self.flags[group as usize] = 0;
            }
        }
        for link in p.links {
            let hard = if link.weight == 0 { HARD } else { 0 };
            self.flags[link.group as usize] |= COUNTING | hard;
        }
        let (mut at, mut word_at) = (0u32, 0u32);
        for (g, group) in p.groups.iter().enumerate() {
            self.at[g] = at;
            self.word_at[g] = word_at;
            self.totals[g] = group.total;
            if group.is_hostname || group.key == NONE {
                continue;
            }
            let values = p.keys[group.key as usize].values.len;
            at += values;
            word_at += values.div_ceil(64);
            for d in group.domains.of(p.domains) {
                self.counts[(self.at[g] + d.value) as usize] = d.count;
                self.learn(g, d.value);
            }
        }
        for (n, node) in p.nodes.iter().enumerate() {
            for c in node.counts.of(p.node_counts) {
                self.insert(Place::Node(n), c.group, c.count)?;
            }
        }
        Ok(())
    }

    /// Starts the list of a new node.
    pub fn open(&mut self, new_node: usize) {
        self.new_heads[new_node] = NONE;
    }

    /// Makes a value a domain of the group.
    pub fn learn(&mut self, group: usize, value: u32) {
        self.known[self.word_at[group] as usize + value as usize / 64] |= 1 << (value % 64);
    }

    /// True when the value is a domain of the group.
    pub fn knows(&self, group: usize, value: u32) -> bool {
        self.known[self.word_at[group] as usize + value as usize / 64] >> (value % 64) & 1 != 0
    }

    /// Known domains of a per-value group as bits by rank.
    pub fn known(&self, group: usize, words: usize) -> &[u64] {
        let at = self.word_at[group] as usize;
        &self.known[at..at + words]
    }

    /// Pods of a per-value group in one domain.
    pub fn get(&self, group: usize, value: u32) -> u32 {
        self.counts[(self.at[group] + value) as usize]
    }

    /// [`Counts::get`] without the pods on nodes that the filter may still refuse.
    pub fn least(&self, group: usize, value: u32) -> u32 {
        let at = (self.at[group] + value) as usize;
        self.counts[at] - self.unsure[at]
    }

    /// Says of one pod that was added that the filter may still refuse its node.
    pub fn doubt(&mut self, group: usize, value: u32) {
        self.unsure[(self.at[group] + value) as usize] += 1;
    }

    /// True when some class must obey the group.
    pub fn is_hard(&self, group: usize) -> bool {
        self.flags[group] & HARD != 0
    }

    /// True when pods that are placed count in the group.
    pub fn is_counting(&self, group: usize) -> bool {
        self.flags[group] & COUNTING != 0
    }

    /// From now on pods that are placed count in the group.
    pub fn start(&mut self, group: usize) {
        self.flags[group] |= COUNTING;
    }

    /// Pods of a group in all domains.
    pub fn total(&self, group: usize) -> u32 {
        self.totals[group]
    }

    /// Counts one more pod of a per-value group in a domain.
    pub fn add(&mut self, group: usize, value: u32) {
        self.counts[(self.at[group] + value) as usize] += 1;
        self.totals[group] += 1;
        self.learn(group, value);
    }

    /// Pods of a per-node group on a node.
    pub fn on(&self, place: Place, group: usize) -> u32 {
        let mut at = self.head(place);
        while at != NONE {
            let entry = &self.entries[at as usize * COUNT..][..COUNT];
            if entry[0] == group as u32 {
                return entry[1];
            }
            at = entry[2];
        }
        0
    }

    /// Counts one more pod of a per-node group on a node.
    pub fn add_on(&mut self, place: Place, group: usize) -> Result<(), Exceeded> {
        self.totals[group] += 1;
        let mut at = self.head(place);
        while at != NONE {
            let entry = &mut self.entries[at as usize * COUNT..][..COUNT];
            if entry[0] == group as u32 {
                entry[1] += 1;
                return Ok(());
            }
            at = entry[2];
        }
        self.insert(place, group as u32, 1)
    }

    /// Entries in use.
    pub fn used(&self) -> usize {
        self.used
    }

    fn head(&self, place: Place) -> u32 {
        match place {
            Place::Node(n) => self.heads[n],
            Place::New(n) => self.new_heads[n],
            Place::Fresh => NONE,
        }
    }

    fn insert(&mut self, place: Place, group: u32, count: u32) -> Result<(), Exceeded> {
        let next = self.head(place);
        let most = self.entries.len() / COUNT;
        if self.used == most {
            let value = most as u64;
            return Err(Exceeded { limit: Limit::NodeCounts, value, need: value + 1 });
        }
        self.entries[self.used * COUNT..][..COUNT].copy_from_slice(&[group, count, next]);
        let head = self.used as u32;
        self.used += 1;
        match place {
            Place::Node(n) => self.heads[n] = head,
            Place::New(n) => self.new_heads[n] = head,
            Place::Fresh => {}
        }
        Ok(())
    }
}
