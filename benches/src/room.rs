//! Memory to lend: exactly as much as announced, full of rubbish.

use dunnage_engine_core::check::{CheckMemory, CheckNeed, Violation, check};
use dunnage_engine_core::decision::{
    Decision, NewNode, Placement, Reason, ReasonCode, Target, TemplateState, Unplaced,
};
use dunnage_engine_core::problem::Problem;
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
        let memory = Memory {
            words: &mut self.words,
            amounts: &mut self.amounts,
            numbers: &mut self.numbers,
            new_nodes: &mut self.new_nodes,
            placements: &mut self.placements,
            unplaced: &mut self.unplaced,
            reasons: &mut self.reasons,
            templates: &mut self.templates,
        };
        place(problem, caps, memory)
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
