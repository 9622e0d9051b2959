//! What a class has given up after a number of steps of relaxation, for those who explain.

use crate::limits::Exceeded;
use crate::problem::{Effect, PodClass, Problem};

use super::relax::{Relaxed, Subject};

/// What no longer holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GivenUp {
    /// Required node-affinity term in force, as an index into the class's terms.
    pub term: u32,
    /// Topology rules given up, as bits by index into the class's links.
    pub links: u64,
    /// Node-affinity preferences given up, as bits by index into the class's preferences.
    pub preferences: u64,
    /// Taints that only prefer are tolerated.
    pub tolerates_preferences: bool,
}

/// What `class` has given up after `steps` steps, as [`crate::decision::Placement::relaxed`]
/// counts them.
///
/// # Errors
/// The limit on terms of one pod.
pub fn given_up(problem: &Problem, class: &PodClass, steps: u32) -> Result<GivenUp, Exceeded> {
    let prefers = |taint: &crate::problem::Taint| taint.effect == Effect::PreferNoSchedule;
    let has_taint =
        problem.templates.iter().any(|t| t.taints.of(problem.taints).iter().any(prefers));
    let subject = Subject::of(problem, class, has_taint)?;
    let mut relaxed = Relaxed::start(&subject);
    while relaxed.steps < steps && relaxed.step(&subject) {}
    let bits = |len: u32, gone: &dyn Fn(usize) -> bool| {
        (0..len as usize).filter(|&i| gone(i)).fold(0u64, |bits, i| bits | 1 << i)
    };
    Ok(GivenUp {
        term: relaxed.term,
        links: bits(class.links.len, &|i| !relaxed.holds(i)),
        preferences: bits(class.preferred.len, &|i| !relaxed.prefers(i)),
        tolerates_preferences: relaxed.tolerates_preferences,
    })
}
