//! schedule(): where kube-scheduler would put the pods of the queue on nodes that exist, and
//! what would have to be opened for those that it leaves pending.
//!
//! A model of its default profile: filters as in every acceptance, preferences left aside;
//! then the resource score (spreading or packing) and the balance of cpu and memory, both of
//! weight 1. Scores of preferences, soft spreads and images are not modelled. Equal scores are
//! settled by a hash, as the scheduler settles them by chance.
//!
//! A pod may be nominated for a node (`status.nominatedNodeName`, which a scheduler of
//! Kubernetes 1.35 takes from others as well): that node is asked first, and pods that are not
//! nominated for it leave the room of those that still are to come.

use crate::decision::{Decision, Target};
use crate::limits::Exceeded;
use crate::place::relax::{Relaxed, Subject};
use crate::place::state::row;
use crate::place::topology::mix;
use crate::place::{Pod, Solve};
use crate::problem::{NONE, PodClass, Problem, Run};
use crate::resources;
use crate::validate::Error;
use crate::workspace::{Caps, Memory};

/// How kube-scheduler scores what is left of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scoring {
    /// The emptiest node first: its default.
    #[default]
    LeastAllocated,
    /// The fullest node first.
    MostAllocated,
}

/// What became of the queue.
#[derive(Clone, Copy, Debug)]
pub struct Scheduled<'m> {
    /// Where pods went; new nodes are those opened for pods that were left pending.
    pub decision: Decision<'m>,
    /// Pods that the scheduler left pending.
    pub pending: u32,
}

/// What the caller lends beyond the memory of a solve.
#[derive(Debug)]
pub struct Room<'r> {
    /// The node that each pod of the queue is nominated for, `NONE` for none; empty when no pod
    /// is.
    pub nominated: &'r [u32],
    /// An amount for each node and resource.
    pub held: &'r mut [i64],
    /// A number for each class.
    pub left: &'r mut [u32],
}

/// Places the queue as kube-scheduler would, then opens nodes for what is left.
///
/// `memory` is at least as large as [`crate::workspace::Need::of`] says for `caps`.
///
/// # Errors
/// As [`crate::place`].
pub fn schedule<'m>(
    problem: &Problem,
    scoring: Scoring,
    caps: Caps,
    memory: Memory<'m>,
    room: Room,
) -> Result<Scheduled<'m>, Error> {
    problem.validate()?;
    let mut solve = Solve::new(problem, caps, memory)?;
    let Room { nominated, held, left } = room;
    left.fill(0);
    held.fill(0);
    let r = problem.resources.len();
    let mut first = 0;
    for run in problem.runs {
        let class = &problem.classes[run.class as usize];
        let own = nominated.get(first..first + run.count as usize).unwrap_or(&[]);
        for &node in own.iter().filter(|&&n| (n as usize) < problem.nodes.len()) {
            let asks = row(problem.quantities, class.requests, r);
            resources::add(&mut held[node as usize * r..][..r], asks);
        }
        first += run.count as usize;
    }
    first = 0;
    for run in problem.runs {
        let own = nominated.get(first..first + run.count as usize).unwrap_or(&[]);
        left[run.class as usize] += solve.schedule_run(*run, scoring, own, held)?;
        first += run.count as usize;
    }
    let pending = left.iter().sum();
    solve.run_left(left)?;
    Ok(Scheduled { decision: solve.finish()?, pending })
}

impl Solve<'_, '_> {
    /// Places the pods of a run; returns how many no node takes.
    fn schedule_run(
        &mut self,
        run: Run,
        scoring: Scoring,
        nominated: &[u32],
        held: &mut [i64],
    ) -> Result<u32, Exceeded> {
        let own = self.state.p.classes[run.class as usize];
        let subject = Subject::of(&self.state.p, &own, self.state.has_preferring_taint)?;
        let mut last = Relaxed::start(&subject);
        while last.step(&subject) {}
        let terms = own.required.len.max(1).min(last.steps + 1);
        let steps = last.steps + 1 - terms..=last.steps;
        let mut pending = 0;
        for i in 0..run.count as usize {
            self.stop.poll()?;
            let node = nominated.get(i).copied().unwrap_or(NONE);
            self.give_back(&own, node, held);
            let mut best = None;
            for steps in steps.clone() {
                let pod = Pod::at(&self.state, run.class as usize, steps)?;
                if own.has_device_claims || self.state.load_pod(&pod).is_err() {
                    continue;
                }
                let is_there = (node as usize) < self.state.z.nodes;
                if is_there && self.state.on_node(&pod, node as usize).is_ok() {
                    best = Some((u64::MAX, node, steps));
                    break;
                }
                best = self.best_node(&pod, scoring, held, best);
            }
            let Some((_, node, steps)) = best else {
                pending += 1;
                // Pods without a nomination are all alike: the rest finds no node either.
                if nominated.is_empty() {
                    return Ok(run.count - i as u32);
                }
                continue;
            };
            let pod = Pod::at(&self.state, run.class as usize, steps)?;
            // INVARIANT: the same test passed for the same pod and node just now.
            let taken = self.state.load_pod(&pod).is_ok()
                && self.state.on_node(&pod, node as usize).is_ok();
            debug_assert!(taken);
            self.state.commit_node(&pod, node as usize)?;
            self.note_more(run.class, Target::Node(node), steps, 1)?;
        }
        Ok(pending)
    }

    /// The room that was held for a pod on its node is the pod's own now.
    fn give_back(&self, class: &PodClass, node: u32, held: &mut [i64]) {
        let r = self.state.z.resources;
        if (node as usize) < self.state.z.nodes {
            let asks = row(self.state.p.quantities, class.requests, r);
            resources::subtract(&mut held[node as usize * r..][..r], asks);
        }
    }

    /// The node of the highest score that takes the pod at hand, if it beats `best`: score,
    /// node and steps of relaxation.
    fn best_node(
        &mut self,
        pod: &Pod,
        scoring: Scoring,
        held: &[i64],
        mut best: Option<(u64, u32, u32)>,
    ) -> Option<(u64, u32, u32)> {
        for n in 0..self.state.z.nodes {
            let Some(score) = self.score(pod, n, scoring, held) else { continue };
            let tie = mix(mix(n as u32 ^ 0x5bd1) ^ self.state.placed);
            let score = u64::from(score) << 32 | u64::from(tie);
            if best.is_some_and(|(known, ..)| known >= score) {
                continue;
            }
            if self.state.on_node(pod, n).is_ok() {
                best = Some((score, n as u32, pod.relaxed.steps));
            }
        }
        best
    }

    /// The score of a node with the pod on it, up to 200; nothing when it has no room.
    fn score(&self, pod: &Pod, n: usize, scoring: Scoring, held: &[i64]) -> Option<u32> {
        let s = &self.state;
        let r = s.z.resources;
        let left = &s.nodes.remaining[n * r..][..r];
        let asks = row(s.p.quantities, pod.class.requests, r);
        let whole = row(s.p.quantities, s.p.nodes[n].allocatable, r);
        let held = &held[n * r..][..r];
        if asks.iter().zip(left).zip(held).any(|((a, l), h)| *a > 0 && *a > *l - *h) {
            return None;
        }
        let (mut sum, mut count) = (0i64, 0i64);
        let mut shares = [0i64; 2];
        // Columns 0 and 1 are what the scheduler scores: cpu and memory.
        for i in 0..r.min(2) {
            let (most, used) = (whole.get(i).copied().unwrap_or(0), left[i] - asks[i]);
            if most <= 0 {
                continue;
            }
            let free = used.clamp(0, most);
            let permille = (i128::from(free) * 1000 / i128::from(most)) as i64;
            shares[i] = permille;
            sum += match scoring {
                Scoring::LeastAllocated => permille / 10,
                Scoring::MostAllocated => 100 - permille.div_euclid(10).min(100),
            };
            count += 1;
        }
        let balance = 100 - (shares[0] - shares[1]).abs() / 20;
        Some((sum / count.max(1) + balance).clamp(0, 200) as u32)
    }
}
