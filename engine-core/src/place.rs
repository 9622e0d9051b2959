//! place(): where each pod of the queue goes, and what is opened for those that fit nowhere.
//!
//! Copies Karpenter's loop: pods in queue order; each tries nodes that exist, then nodes
//! opened by this solve from the emptiest on, then a fresh node of each template in order;
//! what fails gives up preferences step by step; what fails altogether waits until a whole
//! turn of the queue placed nobody. Equal pods stand in the queue as runs: when one of a run
//! fails, the rest of the run fails with it.

mod accept;
mod counts;
mod finish;
mod given_up;
mod planned;
mod quotas;
mod record;
pub(crate) mod relax;
mod reservations;
mod schedule;
pub(crate) mod state;
mod templates;
mod topology;
pub(crate) mod types;

use crate::decision::{Decision, Placement, ReasonCode, Target, TemplateState};
use crate::limits::{Exceeded, Limit};
use crate::problem::{NONE, PodClass, Problem, Run};
use crate::stop::Stop;
use crate::validate::Error;
use crate::workspace::{Caps, ENTRY, Memory};

use relax::{Relaxed, Subject};
use state::{Slices, State};
use types::Fail;

pub use given_up::{GivenUp, given_up};
pub use schedule::{Room, Scheduled, Scoring, schedule};
pub(crate) use types::usable;

/// The pod at hand: one of its class, at a step of relaxation.
pub(crate) struct Pod {
    pub class: PodClass,
    /// Row of the class.
    pub row: u32,
    pub relaxed: Relaxed,
}

/// Decides where the pods of `problem` go.
///
/// `memory` is at least as large as [`crate::workspace::Need::of`] says for `caps`.
///
/// # Errors
/// A limit that was hit, among them the caps: lend more and solve again. A table that does
/// not hang together.
pub fn place<'m>(problem: &Problem, caps: Caps, memory: Memory<'m>) -> Result<Decision<'m>, Error> {
    problem.validate()?;
    let mut solve = Solve::new(problem, caps, memory)?;
    solve.run(|run| run.count)?;
    Ok(solve.finish()?)
}

impl<'p, 'm> Solve<'p, 'm> {
    /// Carves and fills the tables of a solve.
    pub(crate) fn new(
        problem: &Problem<'p>,
        caps: Caps,
        memory: Memory<'m>,
    ) -> Result<Self, Exceeded> {
        let lent = Slices {
            words: memory.words,
            amounts: memory.amounts,
            numbers: memory.numbers,
            new_nodes: memory.new_nodes,
            templates: memory.templates,
        };
        Ok(Self {
            state: State::new(problem, caps, lent)?,
            placements: Rows::new(memory.placements, Limit::Placements),
            reasons: Rows::new(memory.reasons, Limit::Reasons),
            unplaced: Rows::new(memory.unplaced, Limit::Memory),
            stop: memory.stop,
        })
    }
}

/// Rows that grow in lent memory.
pub(crate) struct Rows<'m, T> {
    rows: &'m mut [T],
    len: usize,
    limit: Limit,
}

impl<'m, T> Rows<'m, T> {
    fn new(rows: &'m mut [T], limit: Limit) -> Self {
        Self { rows, len: 0, limit }
    }

    fn push(&mut self, row: T) -> Result<(), Exceeded> {
        let value = self.rows.len() as u64;
        let limit = Exceeded { limit: self.limit, value, need: value + 1 };
        *self.rows.get_mut(self.len).ok_or(limit)? = row;
        self.len += 1;
        Ok(())
    }

    fn last(&mut self) -> Option<&mut T> {
        self.rows[..self.len].last_mut()
    }
}

/// A solve under way.
pub(crate) struct Solve<'p, 'm> {
    pub(crate) state: State<'p, 'm>,
    placements: Rows<'m, Placement>,
    reasons: Rows<'m, crate::decision::Reason>,
    unplaced: Rows<'m, crate::decision::Unplaced>,
    pub(crate) stop: Stop<'m>,
}

/// A stretch of the queue: pods of a class, and how many pods had been placed when it was
/// put back.
#[derive(Clone, Copy)]
struct Entry {
    class: u32,
    count: u32,
    mark: u32,
}

impl Solve<'_, '_> {
    /// Works the queue off until a whole turn places nobody. `count` says how many pods of
    /// each run are still to be placed.
    pub(crate) fn run(&mut self, mut count: impl FnMut(&Run) -> u32) -> Result<(), Exceeded> {
        let (runs, mut len) = (self.state.z.runs, 0);
        for run in self.state.p.runs {
            let count = count(run);
            if count > 0 {
                self.put(len, Entry { class: run.class, count, mark: NONE });
                len += 1;
            }
        }
        let (mut head, mut placed) = (0, 0u32);
        while len > 0 {
            let entry = self.at(head);
            if entry.mark == placed {
                break;
            }
            head = (head + 1) % runs;
            len -= 1;
            let left = self.run_of(entry, &mut placed)?;
            if left > 0 {
                self.put((head + len) % runs, Entry { count: left, mark: placed, ..entry });
                len += 1;
            }
        }
        for i in 0..len {
            let entry = self.at((head + i) % runs);
            self.state.left[entry.class as usize] += entry.count;
        }
        Ok(())
    }

    fn put(&mut self, at: usize, e: Entry) {
        self.state.queue[at * ENTRY..][..ENTRY].copy_from_slice(&[e.class, e.count, e.mark]);
    }

    fn at(&self, at: usize) -> Entry {
        let e = &self.state.queue[at * ENTRY..][..ENTRY];
        Entry { class: e[0], count: e[1], mark: e[2] }
    }

    /// Places pods of one run until one fails; returns how many are left.
    fn run_of(&mut self, entry: Entry, placed: &mut u32) -> Result<u32, Exceeded> {
        let class = self.state.p.classes[entry.class as usize];
        if class.has_device_claims {
            return Ok(entry.count);
        }
        let s = &mut self.state;
        let subject = Subject::of(&s.p, &class, s.has_preferring_taint)?;
        s.forget_refusals(entry.class);
        let start = Pod { class, row: entry.class, relaxed: Relaxed::start(&subject) };
        for done in 0..entry.count {
            self.stop.poll()?;
            match self.place_relaxing(&start, &subject)? {
                Ok((target, relaxed)) => {
                    self.note(entry.class, target, relaxed)?;
                    *placed += 1;
                }
                Err(_) => return Ok(entry.count - done),
            }
        }
        Ok(0)
    }

    /// Places what is left of each class one by one, in the order of the queue.
    pub(crate) fn run_left(&mut self, left: &mut [u32]) -> Result<(), Exceeded> {
        self.run(|run| {
            let left = &mut left[run.class as usize];
            let count = run.count.min(*left);
            *left -= count;
            count
        })
    }

    /// Where pods were placed, so far.
    pub(crate) fn placements(&self) -> &[Placement] {
        &self.placements.rows[..self.placements.len]
    }

    /// Places what it can of every run on nodes that exist, giving nothing up; `left` loses the
    /// pods placed, by class.
    pub(crate) fn fill_existing(&mut self, left: &mut [u32]) -> Result<(), Exceeded> {
        for i in 0..self.state.p.runs.len() {
            let run = self.state.p.runs[i];
            let class = self.state.p.classes[run.class as usize];
            if class.has_device_claims {
                continue;
            }
            let s = &mut self.state;
            let subject = Subject::of(&s.p, &class, s.has_preferring_taint)?;
            let relaxed = Relaxed::start(&subject);
            let lenient = relaxed.without_soft_node_spreads(&subject);
            let strict = Pod { class, row: run.class, relaxed };
            if s.load_pod(&strict).is_err() {
                continue;
            }
            for _ in 0..run.count {
                self.stop.poll()?;
                let mut target = self.place_existing(&strict, true)?;
                if let (None, Some(relaxed)) = (target, &lenient) {
                    let pod = Pod { class, row: run.class, relaxed: relaxed.clone() };
                    target = self.place_existing(&pod, false)?;
                }
                let Some(target) = target else { break };
                self.note(run.class, target, 0)?;
                left[run.class as usize] -= 1;
            }
        }
        Ok(())
    }

    /// Tries the pod, giving up one thing after the other.
    fn place_relaxing(
        &mut self,
        start: &Pod,
        subject: &Subject,
    ) -> Result<Result<(Target, u32), Fail>, Exceeded> {
        let mut pod = Pod { relaxed: start.relaxed.clone(), ..*start };
        loop {
            let asked = match self.state.load_pod(&pod) {
                Ok(()) => self.place_one(&pod, subject)?,
                Err(fail) => Err(fail),
            };
            match asked {
                Ok(target) => return Ok(Ok((target, pod.relaxed.steps))),
                Err(fail) if is_deferral(&fail) => return Ok(Err(fail)),
                Err(fail) => {
                    if !pod.relaxed.step(subject) {
                        return Ok(Err(fail));
                    }
                    self.state.start_counting(&pod);
                }
            }
        }
    }

    /// The first that accepts: nodes that exist, nodes opened by this solve, fresh nodes.
    fn place_one(
        &mut self,
        pod: &Pod,
        subject: &Subject,
    ) -> Result<Result<Target, Fail>, Exceeded> {
        // Refusals are remembered for the class at its first step only.
        if let Some(target) = self.place_open(pod, pod.relaxed.steps == 0)? {
            return Ok(Ok(target));
        }
        // DIFFERS: a spread over single nodes that may be given up opens no node by itself.
        if !subject.rules.soft_node_spreads_open_nodes
            && let Some(relaxed) = pod.relaxed.without_soft_node_spreads(subject)
        {
            let lenient = Pod { relaxed, ..*pod };
            if let Some(target) = self.place_open(&lenient, false)? {
                return Ok(Ok(target));
            }
        }
        self.place_fresh(pod)
    }

    /// The first open node that accepts. `remembers` those that refuse the class for good.
    fn place_open(&mut self, pod: &Pod, remembers: bool) -> Result<Option<Target>, Exceeded> {
        match self.place_existing(pod, remembers)? {
            Some(target) => Ok(Some(target)),
            None => self.place_new(pod, remembers),
        }
    }

    /// The first node that exists that accepts.
    fn place_existing(&mut self, pod: &Pod, remembers: bool) -> Result<Option<Target>, Exceeded> {
        let s = &mut self.state;
        let (width, row) = (64 * s.z.class_mask, pod.row as usize);
        for i in 0..s.z.nodes {
            let n = s.nodes.order[i] as usize;
            if remembers && bit(s.nodes.refused, n * width + row) {
                continue;
            }
            match s.on_node(pod, n) {
                Ok(()) => {
                    s.commit_node(pod, n)?;
                    return Ok(Some(Target::Node(n as u32)));
                }
                Err(fail) if remembers && fail.is_final => set(s.nodes.refused, n * width + row),
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// The first node opened by this solve that accepts.
    fn place_new(&mut self, pod: &Pod, remembers: bool) -> Result<Option<Target>, Exceeded> {
        let s = &mut self.state;
        let (width, row) = (64 * s.z.class_mask, pod.row as usize);
        s.sort_news();
        for i in 0..s.news.len {
            let b = s.news.order[i] as usize;
            if remembers && bit(s.news.refused, b * width + row) {
                continue;
            }
            match s.on_new(pod, b) {
                Ok(()) => {
                    s.commit_new(pod, b)?;
                    return Ok(Some(Target::New(b as u32)));
                }
                Err(fail) if remembers && fail.is_final => set(s.news.refused, b * width + row),
                Err(_) => {}
            }
        }
        Ok(None)
    }

    fn place_fresh(&mut self, pod: &Pod) -> Result<Result<Target, Fail>, Exceeded> {
        let s = &mut self.state;
        let mut last = Fail::new(ReasonCode::NoPools, NONE);
        for t in 0..s.z.templates {
            if s.templates.states[t] != TemplateState::Open {
                continue;
            }
            match s.on_fresh(pod, t) {
                Ok(()) => {
                    let b = s.open(pod, t)?;
                    return Ok(Ok(Target::New(b as u32)));
                }
                // A lighter pool must not take what a reservation of a heavier one will.
                Err(fail) if is_deferral(&fail) => return Ok(Err(fail)),
                Err(fail) => last = fail,
            }
        }
        Ok(Err(last))
    }

    fn note(&mut self, class: u32, target: Target, relaxed: u32) -> Result<(), Exceeded> {
        self.note_more(class, target, relaxed, 1)
    }

    /// Notes that `count` pods go to the target.
    pub(crate) fn note_more(
        &mut self,
        class: u32,
        target: Target,
        relaxed: u32,
        count: u32,
    ) -> Result<(), Exceeded> {
        if let Some(last) = self.placements.last()
            && (last.class, last.target, last.relaxed) == (class, target, relaxed)
        {
            last.count += count;
            return Ok(());
        }
        self.placements.push(Placement { class, count, target, relaxed })
    }
}

impl State<'_, '_> {
    /// Under Karpenter's rules what a node says of a label may also widen as other pods come,
    /// so refusals hold for one run only.
    fn forget_refusals(&mut self, class: u32) {
        let rules = &self.p.rules;
        let widens =
            rules.existence_is_lost || rules.contradiction_is_absence || rules.pods_define_labels;
        let (width, at) = (self.z.class_mask, class as usize / 64);
        if !widens {
            return;
        }
        let nodes = self.nodes.refused.iter_mut().skip(at).step_by(width.max(1));
        let news = self.news.refused[..self.news.len * width].iter_mut().skip(at);
        for word in nodes.chain(news.step_by(width.max(1))) {
            *word &= !(1 << (class % 64));
        }
    }

    /// Brings `news.order` into ascending number of pods. The list is nearly sorted, so
    /// insertion is enough.
    ///
    /// DIFFERS: Karpenter sorts the list it sorted before, so equal nodes keep the order of
    /// their last turn; mended, they stand in order of creation.
    fn sort_news(&mut self) {
        let (rows, rules) = (&*self.news.rows, self.p.rules);
        let seed = rules.tie_seed;
        let order = &mut self.news.order[..self.news.len];
        let key = |b: u32| {
            let tie = match (seed, rules.stable_resort) {
                (0, true) => 0,
                (0, false) => b,
                (seed, _) => topology::mix(seed ^ topology::mix(b ^ rows[b as usize].pods << 16)),
            };
            (rows[b as usize].pods, tie)
        };
        for i in 1..order.len() {
            let (moved, at) = (order[i], key(order[i]));
            let mut j = i;
            while j > 0 && key(order[j - 1]) > at {
                order[j] = order[j - 1];
                j -= 1;
            }
            order[j] = moved;
        }
    }
}

/// True when the pod waits for a reservation instead of giving something up.
fn is_deferral(fail: &Fail) -> bool {
    matches!(fail.code, ReasonCode::ReservationTaken | ReasonCode::ReservationLost)
}

pub(crate) fn bit(words: &[u64], at: usize) -> bool {
    words[at / 64] >> (at % 64) & 1 != 0
}

fn set(words: &mut [u64], at: usize) {
    words[at / 64] |= 1 << (at % 64);
}
