//! Placing and checking.

use dunnage_engine_core::decision::Decision;
use dunnage_engine_core::problem::{Problem, Rules};

use crate::draw::Draw;
use crate::problems::{Size, problem, rules};
use crate::room::{CheckRoom, Room};

/// Bytes choose a problem; it is solved under the mended rules, which `check` must accept, and
/// under others, which must not panic.
pub fn place_check(bytes: &[u8]) -> bool {
    let mut draw = Draw::bytes(bytes);
    let other = rules(&mut draw);
    let tables = problem(&mut draw, Size::SMALL);
    check_problem(&tables.problem(Rules::MENDED));
    check_problem(&tables.problem(other));
    true
}

/// Solves a problem and holds the decision against every promise that can be told from
/// outside.
///
/// # Panics
/// A promise is broken.
pub fn check_problem(problem: &Problem) {
    if let Err(e) = problem.validate() {
        panic!("the builder made a problem that does not hang together: {e}");
    }
    let mut room = Room::largest(problem);
    let announced = room.announced_bytes();
    let decision = match room.place(problem) {
        Ok(decision) => decision,
        Err(e) => panic!("the largest caps were hit: {e}"),
    };
    assert!(decision.effort.memory_bytes <= announced, "more memory used than announced");
    conserves(problem, &decision);
    if problem.rules == Rules::MENDED
        && let Err(violation) = CheckRoom::new(problem, &decision).check(problem, &decision)
    {
        panic!("{violation}");
    }
}

/// Every pod is placed or left over, once.
fn conserves(problem: &Problem, decision: &Decision) {
    let mut seen = vec![0; problem.classes.len()];
    decision.placements.iter().for_each(|p| seen[p.class as usize] += p.count);
    decision.unplaced.iter().for_each(|u| seen[u.class as usize] += u.count);
    let asked: Vec<u32> = problem.classes.iter().map(|c| c.count).collect();
    assert_eq!(seen, asked, "pods are lost or made up");
}
