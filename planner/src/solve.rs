//! Lends the engine its memory, solves, and has the answer checked.
//!
//! Memory starts small and grows when the engine names a limit, so that what is lent stays
//! near what is used. A decision that the independent verifier refuses is never returned.

use dunnage_engine_core::Error;
use dunnage_engine_core::check::{CheckMemory, CheckNeed, Violation, check};
use dunnage_engine_core::decision::{
    Decision, Effort, NewNode, Placement, Reason, TemplateState, Unplaced,
};
use dunnage_engine_core::limits::Limit;
use dunnage_engine_core::place::{Room, Scoring, schedule};
use dunnage_engine_core::problem::{Problem, Rules};
use dunnage_engine_core::requirements::Layout;
use dunnage_engine_core::search::{
    Bound, Bundle, Column, Dual, Entry, Item, Machine, Method, SearchCaps, SearchMemory,
    SearchNeed, Settings, cheapest,
};
use dunnage_engine_core::stop::Stop;
use dunnage_engine_core::workspace::{Caps, Memory, Need};
use serde::{Deserialize, Serialize};

/// A decision that owns its tables, so that it can be stored and compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OwnedDecision {
    /// See `Decision::new_nodes`; so with each field of the same name.
    pub new_nodes: Vec<NewNode>,
    /// See `Decision::type_masks`.
    pub type_masks: Vec<u64>,
    /// See `Decision::type_words`.
    pub type_words: usize,
    /// See `Decision::sets`.
    pub sets: Vec<u64>,
    /// See `Decision::set_words`.
    pub set_words: usize,
    /// See `Decision::requests`.
    pub requests: Vec<i64>,
    /// See `Decision::placements`.
    pub placements: Vec<Placement>,
    /// See `Decision::unplaced`.
    pub unplaced: Vec<Unplaced>,
    /// See `Decision::reasons`.
    pub reasons: Vec<Reason>,
    /// See `Decision::templates`.
    pub templates: Vec<TemplateState>,
    /// See `Decision::effort`.
    pub effort: Effort,
    /// Bytes that were lent for the solve that succeeded.
    pub announced_bytes: u64,
    /// Caps within which it was solved.
    pub caps: Caps,
    /// What the new nodes must at least cost, when a search found out.
    pub bound: Option<Bound>,
    /// Values that prove the bound, by class; empty without a search.
    pub duals: Vec<Dual>,
}

impl OwnedDecision {
    /// The decision as the engine's functions take it.
    pub fn decision(&self) -> Decision<'_> {
        Decision {
            new_nodes: &self.new_nodes,
            type_masks: &self.type_masks,
            type_words: self.type_words,
            sets: &self.sets,
            set_words: self.set_words,
            requests: &self.requests,
            placements: &self.placements,
            unplaced: &self.unplaced,
            reasons: &self.reasons,
            templates: &self.templates,
            effort: self.effort,
        }
    }

    /// Pods left over, then price: what answers are compared by.
    pub fn rank(&self) -> (u64, i128) {
        let left = self.unplaced.iter().map(|x| u64::from(x.count)).sum();
        (left, self.price())
    }

    /// Micro-dollars per hour of all new nodes.
    fn price(&self) -> i128 {
        self.new_nodes.iter().map(|x| i128::from(x.price_microusd)).sum()
    }

    fn of(d: &Decision, announced_bytes: u64, caps: Caps) -> Self {
        Self {
            new_nodes: d.new_nodes.to_vec(),
            type_masks: d.type_masks.to_vec(),
            type_words: d.type_words,
            sets: d.sets.to_vec(),
            set_words: d.set_words,
            requests: d.requests.to_vec(),
            placements: d.placements.to_vec(),
            unplaced: d.unplaced.to_vec(),
            reasons: d.reasons.to_vec(),
            templates: d.templates.to_vec(),
            effort: d.effort,
            announced_bytes,
            caps,
            bound: None,
            duals: Vec::new(),
        }
    }
}

/// How to search, and what answers are compared by.
#[derive(Clone, Copy, Debug, Default)]
pub struct How<'a> {
    /// How the engine searches.
    pub search: Settings,
    /// Nodes count with the surcharge when answers are compared, too: the fewest are wanted.
    pub counts_nodes: bool,
    /// Ends the search without an answer.
    pub stop: Stop<'a>,
}

impl How<'_> {
    /// Pods left over, then what the nodes count as: prices with penalties, and the nodes
    /// themselves where the fewest are wanted.
    pub fn rank(&self, problem: &Problem, decision: &OwnedDecision) -> (u64, i128) {
        let penalty = |node: &NewNode| {
            let offering = problem.offerings.get(node.offering as usize);
            offering.map_or(0, |o| i128::from(o.penalty_microusd))
        };
        let (left, price) = decision.rank();
        let penalties: i128 = decision.new_nodes.iter().map(penalty).sum();
        let nodes = if self.counts_nodes { decision.new_nodes.len() as i128 } else { 0 };
        (left, price + penalties + nodes * i128::from(self.search.surcharge_microusd))
    }

    /// True when every pod is placed at a price that is proven to be hardly more than the
    /// least.
    pub fn is_proven(&self, problem: &Problem, decision: &OwnedDecision) -> bool {
        // The bound is for the pods on new nodes: where there are others, other pods may get
        // there.
        let is_all = problem.nodes.is_empty() && decision.unplaced.is_empty();
        let bound = decision.bound.map_or(0, |b| b.price_microusd);
        let counted = self.rank(problem, decision).1;
        is_all && counted as f64 <= bound as f64 * (1.0 + self.search.gap)
    }
}

/// Decides where the pods of `problem` go.
///
/// # Errors
/// A limit of the engine that more memory does not lift, or a table that does not hang
/// together.
pub fn solve(problem: &Problem, stop: Stop) -> Result<OwnedDecision, Error> {
    let largest = Caps::largest(problem);
    let mut caps = smallest(problem, largest);
    loop {
        match solve_within(problem, caps, stop) {
            Ok(decision) => return Ok(decision),
            Err(e) => caps = larger(caps, largest, e)?,
        }
    }
}

/// Decides where the pods of `problem` go for as little money as `how` lets it find.
///
/// # Errors
/// As [`solve`].
pub fn search(problem: &Problem, how: &How) -> Result<OwnedDecision, Error> {
    let packed = packed(problem, how)?;
    if how.is_proven(problem, &packed) {
        return Ok(packed);
    }
    let single = one_by_one(problem, problem.rules, how, &packed)?;
    Ok(single.unwrap_or(packed))
}

/// The best packing of this effort and of those below it: the best in the model need not be the
/// best once it is placed, and more effort must never cost more. The bound is the best of all.
fn packed(problem: &Problem, how: &How) -> Result<OwnedDecision, Error> {
    let mut best: Option<OwnedDecision> = None;
    let mut proof: Option<(Bound, Vec<Dual>)> = None;
    let lower = EFFORTS.into_iter().filter(|&steps| steps < how.search.steps);
    for steps in lower.chain([how.search.steps]) {
        // A first packing is always finished; it is the same for every effort below its own.
        if best.as_ref().is_some_and(|b| b.effort.steps > steps) {
            continue;
        }
        let with = How { search: Settings { steps, ..how.search }, ..*how };
        let own = search_by(problem, &with, Method::Packed)?;
        let key = |b: &Bound| (b.pods, b.price_microusd);
        if let Some(bound) = own.bound
            && proof.as_ref().is_none_or(|(known, _)| key(&bound) > key(known))
        {
            proof = Some((bound, own.duals.clone()));
        }
        if best.as_ref().is_none_or(|b| how.rank(problem, &own) <= how.rank(problem, b)) {
            best = Some(own);
        }
        if best.as_ref().is_some_and(|b| how.is_proven(problem, b)) {
            break;
        }
    }
    let mut best = best.map_or_else(|| search_by(problem, how, Method::Packed), Ok)?;
    // A bound speaks of the pods on new nodes: those of another answer may be others.
    if let Some((bound, duals)) = proof
        && problem.nodes.is_empty()
        && best.bound.is_some_and(|b| b.pods == bound.pods)
    {
        (best.bound, best.duals) = (Some(bound), duals);
    }
    Ok(best)
}

/// Efforts that greater ones try first, in steps.
const EFFORTS: [u64; 2] = [500_000, Settings::DEFAULT.steps];

/// Most pods for which free choices of placing one by one are tried in other orders, too.
const TIE_PODS: u32 = 1_000;
/// Other orders of free choices.
const TIES: u32 = 8;

/// The best decision of placing one by one under `rules` that is better than `found` and holds
/// under the problem's own.
///
/// # Errors
/// As [`solve`].
pub fn one_by_one(
    problem: &Problem,
    rules: Rules,
    how: &How,
    found: &OwnedDecision,
) -> Result<Option<OwnedDecision>, Error> {
    let pods: u32 = problem.runs.iter().map(|r| r.count).sum();
    let ties = if pods <= TIE_PODS { TIES } else { 0 };
    let mut best: Option<OwnedDecision> = None;
    for tie_seed in 0..=ties {
        let own = Problem { rules: Rules { tie_seed, ..rules }, ..*problem };
        let single = search_by(&own, how, Method::OneByOne)?;
        let known = best.as_ref().unwrap_or(found);
        let is_better = how.rank(problem, &single) < how.rank(problem, known);
        if is_better && verify(problem, &single.decision()).is_ok() {
            best = Some(single);
        }
    }
    Ok(best)
}

/// [`search`] by one method alone.
///
/// # Errors
/// As [`solve`].
pub fn search_by(problem: &Problem, how: &How, method: Method) -> Result<OwnedDecision, Error> {
    let largest = Caps::largest(problem);
    let mut caps = generous(problem, largest);
    let mut rows = (64 + 2 * problem.classes.len(), 512 + 8 * problem.classes.len());
    loop {
        let search = SearchCaps { new_nodes: caps.new_nodes, bundles: rows.0, entries: rows.1 };
        match search_within(problem, caps, search, (how, method)) {
            Ok(found) => return Ok(found),
            Err(Error::Limit(hit)) if hit.limit == Limit::Bundles => rows.0 *= 2,
            Err(Error::Limit(hit)) if hit.limit == Limit::Entries => rows.1 *= 2,
            Err(e) => caps = larger(caps, largest, e)?,
        }
    }
}

fn search_within(
    problem: &Problem,
    caps: Caps,
    search: SearchCaps,
    (how, method): (&How, Method),
) -> Result<OwnedDecision, Error> {
    let need = SearchNeed::of(problem, search);
    let mut items = vec![Item::default(); need.items];
    let mut machines = vec![Machine::default(); need.machines];
    let mut bundles = vec![Bundle::default(); need.bundles];
    let mut entries = vec![Entry::default(); need.entries];
    let mut floats = vec![0.0; need.floats];
    let mut columns = vec![Column::default(); need.columns];
    let mut numbers = vec![0; need.numbers];
    let mut words = vec![0; need.words];
    let mut duals = vec![Dual::default(); problem.classes.len()];
    let room = SearchMemory {
        items: &mut items,
        machines: &mut machines,
        bundles: &mut bundles,
        entries: &mut entries,
        floats: &mut floats,
        columns: &mut columns,
        numbers: &mut numbers,
        words: &mut words,
        duals: &mut duals,
    };
    let mut decision = lend(problem, caps, how.stop, |memory, bytes| {
        let found = cheapest(problem, caps, (&how.search, method), memory, room)?;
        let mut decision = OwnedDecision::of(&found.decision, bytes + need.bytes(), caps);
        decision.bound = Some(found.bound);
        decision.effort.steps += found.steps;
        Ok::<_, Error>(decision)
    })?;
    decision.duals = duals;
    Ok(decision)
}

fn smallest(problem: &Problem, largest: Caps) -> Caps {
    Caps {
        new_nodes: largest.new_nodes.min(32),
        placements: largest.placements.min(2 * problem.runs.len().max(64)),
        reasons: largest.reasons.min(64),
        node_counts: largest.node_counts.min(problem.node_counts.len() + 256),
    }
}

/// Caps for a search, which costs more to repeat than memory does.
fn generous(problem: &Problem, largest: Caps) -> Caps {
    Caps {
        new_nodes: largest.new_nodes.min(4096.max(largest.new_nodes / 2)),
        placements: largest.placements,
        node_counts: largest.node_counts,
        ..smallest(problem, largest)
    }
}

fn larger(caps: Caps, largest: Caps, e: Error) -> Result<Caps, Error> {
    let Error::Limit(hit) = e else { return Err(e) };
    let double = |now: usize, most: usize| {
        if now >= most { Err(e) } else { Ok((now * 2).max(64).min(most)) }
    };
    let mut next = caps;
    match hit.limit {
        Limit::NewNodes => next.new_nodes = double(caps.new_nodes, largest.new_nodes)?,
        Limit::Placements => next.placements = double(caps.placements, largest.placements)?,
        Limit::Reasons => next.reasons = double(caps.reasons, largest.reasons)?,
        Limit::NodeCounts => next.node_counts = double(caps.node_counts, largest.node_counts)?,
        _ => return Err(e),
    }
    Ok(next)
}

fn solve_within(problem: &Problem, caps: Caps, stop: Stop) -> Result<OwnedDecision, Error> {
    lend(problem, caps, stop, |memory, bytes| {
        let decision = dunnage_engine_core::place(problem, caps, memory)?;
        Ok(OwnedDecision::of(&decision, bytes, caps))
    })
}

/// Places the pods as kube-scheduler would on the nodes of `problem` and opens nodes for the
/// rest; also how many it leaves pending. `nominated` is the node of each pod of the queue.
///
/// # Errors
/// As [`solve`].
pub fn scheduled(
    problem: &Problem,
    scoring: Scoring,
    nominated: &[u32],
    stop: Stop,
) -> Result<(OwnedDecision, u32), Error> {
    let largest = Caps::largest(problem);
    let mut caps = generous(problem, largest);
    let mut left = vec![0; problem.classes.len()];
    let mut held = vec![0; problem.nodes.len() * problem.resources.len()];
    loop {
        let found = lend(problem, caps, stop, |memory, bytes| {
            let room = Room { nominated, held: &mut held, left: &mut left };
            let found = schedule(problem, scoring, caps, memory, room)?;
            Ok((OwnedDecision::of(&found.decision, bytes, caps), found.pending))
        });
        match found {
            Ok(found) => return Ok(found),
            Err(e) => caps = larger(caps, largest, e)?,
        }
    }
}

/// The first value that a new node's requirements allow, by key; nothing for keys that they do
/// not list values of.
pub fn values_of_set(problem: &Problem, decision: &OwnedDecision, row: usize) -> Vec<Option<u32>> {
    let mut offsets = vec![0; problem.keys.len() + 1];
    let layout = Layout::build(problem, &mut offsets);
    let width = decision.set_words;
    let set = &decision.sets[row * width..][..width];
    (0..problem.keys.len())
        .map(|key| {
            let need = layout.get(set, key);
            let values = problem.keys[key].values.of(problem.values);
            let is_listed = layout.has(set, key) && !need.is_complement();
            is_listed.then(|| (0..values.len() as u32).find(|&v| need.allows(v, values))).flatten()
        })
        .collect()
}

/// Lends memory for one solve: `f` also learns how many bytes that is.
fn lend<T>(problem: &Problem, caps: Caps, stop: Stop, f: impl FnOnce(Memory, u64) -> T) -> T {
    let need = Need::of(problem, caps);
    let mut words = vec![0; need.words];
    let mut amounts = vec![0; need.amounts];
    let mut numbers = vec![0; need.numbers];
    let mut new_nodes = vec![NewNode::default(); need.new_nodes];
    let mut placements = vec![Placement::default(); need.placements];
    let mut unplaced = vec![Unplaced::default(); need.unplaced];
    let mut reasons = vec![Reason::default(); need.reasons];
    let mut templates = vec![TemplateState::default(); need.templates];
    let memory = Memory {
        words: &mut words,
        amounts: &mut amounts,
        numbers: &mut numbers,
        new_nodes: &mut new_nodes,
        placements: &mut placements,
        unplaced: &mut unplaced,
        reasons: &mut reasons,
        templates: &mut templates,
        stop,
    };
    f(memory, need.bytes())
}

/// Has the decision checked by the independent verifier, which judges by the mended rules.
///
/// # Errors
/// The first rule that the decision breaks.
pub fn verify(problem: &Problem, decision: &Decision) -> Result<(), Violation> {
    let need = CheckNeed::of(problem, decision);
    let mut numbers = vec![0; need.numbers];
    let mut words = vec![0; need.words];
    let mut amounts = vec![0; need.amounts];
    let mut memory =
        CheckMemory { numbers: &mut numbers, words: &mut words, amounts: &mut amounts };
    check(problem, decision, &mut memory)
}
