//! Memory to lend: exactly as much as announced, full of rubbish.

use dunnage_engine_core::check::{CheckMemory, CheckNeed, Violation, check};
use dunnage_engine_core::decision::{
    Decision, NewNode, Placement, Reason, ReasonCode, Target, TemplateState, Unplaced,
};
use dunnage_engine_core::problem::Problem;
use dunnage_engine_core::search::{
    Bundle, Column, Dual, Entry, Found, Item, Machine, Method, SearchCaps, SearchMemory,
    SearchNeed, Settings, cheapest,
};
use dunnage_engine_core::stop::Stop;
use dunnage_engine_core::workspace::{Caps, Memory, Need};
use dunnage_engine_core::{Error, Span, place};

/// Memory for one solve.
#[derive(Debug, Default)]
pub struct Room {
    words: Vec<u64>,
    amounts: Vec<i64>,
    numbers: Vec<u32>,
    new_nodes: Vec<NewNode>,
    placements: Vec<Placement>,
    unplaced: Vec<Unplaced>,
    reasons: Vec<Reason>,
    templates: Vec<TemplateState>,
    caps: Option<Caps>,
    bytes: u64,
}

impl Room {
    /// As much as solving `problem` within `caps` needs.
    pub fn new(problem: &Problem, caps: Caps) -> Self {
        let need = Need::of(problem, caps);
        let rubbish = 0xabad_cafe_u32;
        let placement = Placement {
            class: rubbish,
            count: rubbish,
            target: Target::New(rubbish),
            relaxed: rubbish,
        };
        let span = Span { start: rubbish, len: rubbish };
        let unplaced = Unplaced { class: rubbish, count: rubbish, reasons: span };
        let reason =
            Reason { code: ReasonCode::DeviceClaims, subject: rubbish, ..Reason::default() };
        let new_node = NewNode { template: rubbish, pods: rubbish, ..NewNode::default() };
        Self {
            words: vec![0xdead_beef_f00d_cafe; need.words],
            amounts: vec![-0x0bad_0bad_0bad_0bad; need.amounts],
            numbers: vec![rubbish; need.numbers],
            new_nodes: vec![new_node; need.new_nodes],
            placements: vec![placement; need.placements],
            unplaced: vec![unplaced; need.unplaced],
            reasons: vec![reason; need.reasons],
            templates: vec![TemplateState::MinValues; need.templates],
            caps: Some(caps),
            bytes: need.bytes(),
        }
    }

    /// As much as any decision on `problem` can need.
    pub fn largest(problem: &Problem) -> Self {
        Self::new(problem, Caps::largest(problem))
    }

    /// Bytes that were announced.
    pub fn announced_bytes(&self) -> u64 {
        self.bytes
    }

    /// Solves in this memory.
    ///
    /// # Errors
    /// As `place`.
    pub fn place(&mut self, problem: &Problem) -> Result<Decision<'_>, Error> {
        let caps = self.caps.unwrap_or_else(|| Caps::largest(problem));
        place(problem, caps, self.memory(Stop::NEVER))
    }

    /// Searches in this memory and in `search`.
    ///
    /// # Errors
    /// As `cheapest`.
    pub fn search<'m>(
        &'m mut self,
        problem: &Problem,
        how: (&Settings, Method),
        search: &mut SearchRoom,
        stop: Stop<'m>,
    ) -> Result<Found<'m>, Error> {
        let caps = self.caps.unwrap_or_else(|| Caps::largest(problem));
        cheapest(problem, caps, how, self.memory(stop), search.memory())
    }

    fn memory<'m>(&'m mut self, stop: Stop<'m>) -> Memory<'m> {
        Memory {
            words: &mut self.words,
            amounts: &mut self.amounts,
            numbers: &mut self.numbers,
            new_nodes: &mut self.new_nodes,
            placements: &mut self.placements,
            unplaced: &mut self.unplaced,
            reasons: &mut self.reasons,
            templates: &mut self.templates,
            stop,
        }
    }
}

/// What numbers hold that no search has written.
const NUMBER: u32 = 0xabad_cafe;
/// What words hold that no search has written.
const WORD: u64 = 0xdead_beef_f00d_cafe;

/// Memory for what a search needs beside a solve.
#[derive(Debug, Default)]
pub struct SearchRoom {
    items: Vec<Item>,
    machines: Vec<Machine>,
    bundles: Vec<Bundle>,
    entries: Vec<Entry>,
    floats: Vec<f64>,
    columns: Vec<Column>,
    numbers: Vec<u32>,
    words: Vec<u64>,
    duals: Vec<Dual>,
    bytes: u64,
}

impl SearchRoom {
    /// As much as searching `problem` within `caps` needs.
    pub fn new(problem: &Problem, caps: SearchCaps) -> Self {
        let need = SearchNeed::of(problem, caps);
        Self {
            items: vec![Item::default(); need.items],
            machines: vec![Machine::default(); need.machines],
            bundles: vec![Bundle::default(); need.bundles],
            entries: vec![Entry::default(); need.entries],
            // What a sum would spoil, so that a cell that is read before it is written shows.
            floats: vec![f64::from_bits(WORD); need.floats],
            columns: vec![Column::default(); need.columns],
            numbers: vec![NUMBER; need.numbers],
            words: vec![WORD; need.words],
            duals: vec![Dual::default(); problem.classes.len()],
            bytes: need.bytes(),
        }
    }

    /// Bytes that were announced.
    pub fn announced_bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes that were written since the memory was made, by name: cells that no longer hold what
    /// they held.
    pub fn written_bytes(&self) -> Vec<(&'static str, usize, usize)> {
        fn row<T>(
            name: &'static str,
            cells: &[T],
            is_fresh: impl Fn(&T) -> bool,
        ) -> (&'static str, usize, usize) {
            let written = cells.iter().filter(|cell| !is_fresh(cell)).count();
            (name, written * size_of::<T>(), size_of_val(cells))
        }
        fn is_default<T: Default + std::fmt::Debug>(cell: &T) -> bool {
            format!("{cell:?}") == format!("{:?}", T::default())
        }
        vec![
            row("items", &self.items, is_default),
            row("machines", &self.machines, is_default),
            row("bundles", &self.bundles, is_default),
            row("entries", &self.entries, is_default),
            row("columns", &self.columns, is_default),
            row("floats", &self.floats, |x| x.to_bits() == WORD),
            row("numbers", &self.numbers, |x| *x == NUMBER),
            row("words", &self.words, |x| *x == WORD),
        ]
    }

    fn memory(&mut self) -> SearchMemory<'_> {
        SearchMemory {
            items: &mut self.items,
            machines: &mut self.machines,
            bundles: &mut self.bundles,
            entries: &mut self.entries,
            floats: &mut self.floats,
            columns: &mut self.columns,
            numbers: &mut self.numbers,
            words: &mut self.words,
            duals: &mut self.duals,
        }
    }
}

/// Memory for one check.
#[derive(Debug, Default)]
pub struct CheckRoom {
    numbers: Vec<u32>,
    words: Vec<u64>,
    amounts: Vec<i64>,
}

impl CheckRoom {
    /// As much as checking `decision` needs.
    pub fn new(problem: &Problem, decision: &Decision) -> Self {
        let need = CheckNeed::of(problem, decision);
        Self {
            numbers: vec![0xabad_cafe; need.numbers],
            words: vec![0xdead_beef_f00d_cafe; need.words],
            amounts: vec![-0x0bad_0bad_0bad_0bad; need.amounts],
        }
    }

    /// Checks in this memory.
    ///
    /// # Errors
    /// As `check`.
    pub fn check(&mut self, problem: &Problem, decision: &Decision) -> Result<(), Violation> {
        let mut memory = CheckMemory {
            numbers: &mut self.numbers,
            words: &mut self.words,
            amounts: &mut self.amounts,
        };
        check(problem, decision, &mut memory)
    }
}
