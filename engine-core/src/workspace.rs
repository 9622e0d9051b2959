//! Memory that the caller lends: how much a problem needs, known before solving.
//!
//! Memory comes as typed slices, one for each kind of cell. The fixed tables follow from the
//! problem alone; what grows while solving is bounded by [`Caps`], which the caller chooses.
//! Hitting a cap is an ordinary answer ([`Exceeded`]): lend more and solve again.

use crate::decision::{NewNode, Placement, Reason, TemplateState, Unplaced};
use crate::limits::{Exceeded, Limit};
use crate::problem::{NONE, Problem};
use crate::requirements::Layout;
use crate::stop::Stop;

/// How far the growing tables may grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Caps {
    /// New nodes.
    pub new_nodes: usize,
    /// Rows of placements.
    pub placements: usize,
    /// Rows of reasons.
    pub reasons: usize,
    /// Rows of per-node topology counts.
    pub node_counts: usize,
}

impl Caps {
    /// Caps that no decision on `problem` can hit: every pod on a node of its own.
    pub fn largest(problem: &Problem) -> Self {
        let pods: usize = problem.runs.iter().map(|r| r.count as usize).sum();
        let most = problem.classes.iter().map(|c| c.matches.len as usize).max().unwrap_or(0);
        let links = problem.classes.iter().map(|c| c.links.len as usize).max().unwrap_or(0);
        Self {
            new_nodes: pods,
            placements: pods,
            reasons: problem.classes.len() * problem.templates.len().max(1),
            node_counts: problem.node_counts.len() + pods * (most + links),
        }
    }
}

/// Cells of each kind that must be lent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Need {
    /// Words of bits.
    pub words: usize,
    /// Amounts of resources.
    pub amounts: usize,
    /// Indexes and counts.
    pub numbers: usize,
    /// New nodes.
    pub new_nodes: usize,
    /// Placements.
    pub placements: usize,
    /// Unplaced classes.
    pub unplaced: usize,
    /// Reasons.
    pub reasons: usize,
    /// Template states.
    pub templates: usize,
}

impl Need {
    /// What solving `problem` within `caps` needs.
    pub fn of(problem: &Problem, caps: Caps) -> Self {
        let s = Sizes::of(problem, caps);
        Self {
            words: s.words(),
            amounts: s.amounts(),
            numbers: s.numbers(),
            new_nodes: caps.new_nodes,
            placements: caps.placements,
            unplaced: problem.classes.len(),
            reasons: caps.reasons,
            templates: problem.templates.len(),
        }
    }

    /// The same in bytes.
    pub fn bytes(&self) -> u64 {
        let cells = (self.words + self.amounts) * 8 + self.numbers * 4;
        let rows = self.new_nodes * size_of::<NewNode>()
            + self.placements * size_of::<Placement>()
            + self.unplaced * size_of::<Unplaced>()
            + self.reasons * size_of::<Reason>()
            + self.templates * size_of::<TemplateState>();
        (cells + rows) as u64
    }
}

/// Memory lent for one solve; each slice at least as long as [`Need`] says. What it holds
/// before does not matter.
#[derive(Debug, Default)]
pub struct Memory<'m> {
    /// Words of bits.
    pub words: &'m mut [u64],
    /// Amounts of resources.
    pub amounts: &'m mut [i64],
    /// Indexes and counts.
    pub numbers: &'m mut [u32],
    /// New nodes.
    pub new_nodes: &'m mut [NewNode],
    /// Placements.
    pub placements: &'m mut [Placement],
    /// Unplaced classes.
    pub unplaced: &'m mut [Unplaced],
    /// Reasons.
    pub reasons: &'m mut [Reason],
    /// Template states.
    pub templates: &'m mut [TemplateState],
    /// Ends the solve when the caller wants it no more.
    pub stop: Stop<'m>,
}

/// The shape of a problem: the lengths from which every table follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Dense sets of the problem.
    pub sets: usize,
    /// Words of a dense set.
    pub set: usize,
    /// Resources.
    pub resources: usize,
    /// Words of a mask over instance types.
    pub mask: usize,
    /// Distinct host ports, and words of a mask over them.
    pub ports: usize,
    pub port_mask: usize,
    /// Words of a mask over reservations.
    pub hold: usize,
    /// Words of a mask over shared claims.
    pub claims: usize,
    pub keys: usize,
    pub nodes: usize,
    pub node_volumes: usize,
    pub templates: usize,
    pub template_types: usize,
    pub groups: usize,
    /// Words and counts of all per-value groups.
    pub group_words: usize,
    pub group_counts: usize,
    pub runs: usize,
    pub types: usize,
    pub classes: usize,
    /// Words of a mask over classes.
    pub class_mask: usize,
    pub reservations: usize,
    pub quotas: usize,
    pub caps: Caps,
}

/// Scratch sets, masks and rows of one acceptance test.
pub(crate) const SCRATCH_SETS: usize = 9;
pub(crate) const SCRATCH_MASKS: usize = 4;
pub(crate) const SCRATCH_ROWS: usize = 3;
/// Numbers of one queue entry: class, count, mark.
pub(crate) const ENTRY: usize = 3;
/// Numbers of one per-node count: group, count, next.
pub(crate) const COUNT: usize = 3;

impl Sizes {
    pub fn of(p: &Problem, caps: Caps) -> Self {
        let claims = p.volume_uses.iter().filter(|u| u.claim != NONE).map(|u| u.claim);
        let claims = claims.chain(p.node_claims.iter().copied()).max().map_or(0, |c| c + 1);
        let per_value = p.groups.iter().filter(|g| !g.is_hostname && g.key != NONE);
        let values = |key: u32| p.keys.get(key as usize).map_or(0, |k| k.values.len as usize);
        let (words, counts) = per_value.fold((0, 0), |(w, c), g| {
            let n = values(g.key);
            (w + n.div_ceil(64), c + n)
        });
        Self {
            sets: p.sets.len(),
            set: Layout::words(p),
            resources: p.resources.len(),
            mask: p.types.len().div_ceil(64),
            ports: p.ports.len(),
            port_mask: p.ports.len().div_ceil(64),
            hold: p.reservations.len().div_ceil(64),
            claims: (claims as usize).div_ceil(64),
            keys: p.keys.len(),
            nodes: p.nodes.len(),
            node_volumes: p.node_volumes.len(),
            templates: p.templates.len(),
            template_types: p.templates.iter().map(|t| t.types.of(p.template_types).len()).sum(),
            groups: p.groups.len(),
            group_words: words,
            group_counts: counts,
            runs: p.runs.len(),
            types: p.types.len(),
            classes: p.classes.len(),
            class_mask: p.classes.len().div_ceil(64),
            reservations: p.reservations.len(),
            quotas: p.quotas.len(),
            caps,
        }
    }

    /// Words that one new node takes.
    pub fn words_per_new_node(&self) -> usize {
        self.set + self.mask + self.port_mask + self.hold + self.class_mask
    }

    fn fixed_words(&self) -> usize {
        self.sets * self.set
            + self.nodes * (self.set + self.port_mask + self.claims + self.class_mask)
            + self.ports * self.port_mask
            + self.templates * (self.set + self.mask)
            + self.template_types * self.port_mask
            + self.group_words
            + SCRATCH_SETS * self.set
            + SCRATCH_MASKS * self.mask
            + 2 * self.port_mask
            + self.hold
    }

    fn words(&self) -> usize {
        self.fixed_words()
            + self.caps.new_nodes * self.words_per_new_node()
            + self.caps.new_nodes.div_ceil(64)
    }

    fn fixed_amounts(&self) -> usize {
        self.resources * (self.nodes + self.templates + self.template_types + SCRATCH_ROWS)
            + self.types
            + self.quotas
    }

    /// Amounts that one new node takes: requests and the largest size left.
    pub fn amounts_per_new_node(&self) -> usize {
        2 * self.resources
    }

    fn amounts(&self) -> usize {
        self.fixed_amounts() + self.caps.new_nodes * self.amounts_per_new_node()
    }

    fn fixed_numbers(&self) -> usize {
        (self.keys + 1)
            + self.keys
            + self.groups * 4
            + self.group_counts * 2
            + self.nodes * 2
            + self.node_volumes
            + self.templates * 2
            + self.runs * ENTRY
            + self.classes
            + self.reservations
    }

    /// Numbers that one new node takes: place in the order, head of its counts.
    pub fn numbers_per_new_node(&self) -> usize {
        2
    }

    fn numbers(&self) -> usize {
        self.fixed_numbers()
            + self.caps.new_nodes * self.numbers_per_new_node()
            + self.caps.node_counts * COUNT
    }

    /// Bytes of the tables that do not grow.
    pub fn fixed_bytes(&self) -> u64 {
        let cells = (self.fixed_words() + self.fixed_amounts()) * 8 + self.fixed_numbers() * 4;
        (cells + self.classes * size_of::<Unplaced>() + self.templates * size_of::<TemplateState>())
            as u64
    }

    /// Bytes that one new node takes.
    pub fn bytes_per_new_node(&self) -> u64 {
        ((self.words_per_new_node() + self.amounts_per_new_node()) * 8
            + self.numbers_per_new_node() * 4
            + size_of::<NewNode>()) as u64
    }
}

/// Cuts tables off a lent slice.
pub(crate) struct Carver<'m, T> {
    rest: &'m mut [T],
    value: u64,
}

impl<'m, T> Carver<'m, T> {
    pub fn new(rest: &'m mut [T]) -> Self {
        let value = rest.len() as u64;
        Self { rest, value }
    }

    /// What is left.
    pub fn rest(&mut self) -> &'m mut [T] {
        core::mem::take(&mut self.rest)
    }

    /// The next `n` cells, or the limit that the lent memory is.
    pub fn take(&mut self, n: usize) -> Result<&'m mut [T], Exceeded> {
        let rest = core::mem::take(&mut self.rest);
        match rest.split_at_mut_checked(n) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(Exceeded { limit: Limit::Memory, value: self.value, need: self.value + 1 }),
        }
    }
}
