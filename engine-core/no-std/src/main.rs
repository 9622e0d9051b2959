//! The proof that the engine needs no std, no libc and no allocator: this program links
//! without any of them, solves a problem in static memory, has the decision checked, and
//! exits 0 only when the decision is the one expected.
//!
//! To see the proof fail, which shows that it proves something:
//! - `extern crate std` in engine-core, or serde with its feature `std`: "duplicate lang item
//!   `panic_impl`";
//! - a function of engine-core that returns an `alloc::vec::Vec`: "no global memory allocator
//!   found";
//! - another number in `expected`: exit code 4.
#![no_std]
#![no_main]

mod mem;
mod problem;

use core::arch::{asm, global_asm};
use core::mem::take;
use core::panic::PanicInfo;

use dunnage_engine_core::check::{CheckMemory, CheckNeed, check};
use dunnage_engine_core::decision::{
    Decision, NewNode, Placement, Reason, ReasonCode, Target, TemplateState, Unplaced,
};
use dunnage_engine_core::place;
use dunnage_engine_core::problem::Problem;
use dunnage_engine_core::stop::Stop;
use dunnage_engine_core::workspace::{Caps, Memory, Need};

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(101)
}

fn exit(code: i32) -> ! {
    // SAFETY: the system call `exit` takes one number and does not return.
    unsafe { asm!("syscall", in("rax") 60, in("rdi") code, options(noreturn)) }
}

global_asm!(".global _start", "_start:", "and rsp, -16", "call {main}", "ud2", main = sym main);

extern "C" fn main() -> ! {
    match solve(core::hint::black_box(&problem::PROBLEM)) {
        Ok(()) => exit(0),
        Err(code) => exit(code),
    }
}

/// Solves and checks; the exit code that says what went wrong.
fn solve(p: &Problem) -> Result<(), i32> {
    let caps = Caps { new_nodes: 8, placements: 16, reasons: 8, node_counts: 32 };
    let need = Need::of(p, caps);
    let mut words = [0; 2048];
    let mut amounts = [0; 512];
    let mut numbers = [0; 512];
    let memory = Memory {
        words: &mut words,
        amounts: &mut amounts,
        numbers: &mut numbers,
        new_nodes: &mut [NewNode::default(); 8],
        placements: &mut [Placement::default(); 16],
        unplaced: &mut [Unplaced::default(); 8],
        reasons: &mut [Reason::default(); 8],
        templates: &mut [TemplateState::default(); 4],
        stop: Stop::NEVER,
    };
    let fits = need.words <= memory.words.len()
        && need.amounts <= memory.amounts.len()
        && need.numbers <= memory.numbers.len();
    if !fits {
        return Err(2);
    }
    let decision = place(p, caps, memory).map_err(|_| 3)?;
    if !expected(&decision) {
        return Err(4);
    }
    let need = CheckNeed::of(p, &decision);
    let (mut numbers, mut words, mut amounts) = ([0; 512], [0; 512], [0; 64]);
    let mut memory = CheckMemory {
        numbers: numbers.get_mut(..need.numbers).ok_or(5)?,
        words: words.get_mut(..need.words).ok_or(5)?,
        amounts: amounts.get_mut(..need.amounts).ok_or(5)?,
    };
    check(p, &decision, &mut memory).map_err(|_| 6)?;
    // A decision that loses a pod is refused.
    let mut rows = [Placement::default(); 16];
    let rows = rows.get_mut(..decision.placements.len()).ok_or(5)?;
    rows.copy_from_slice(decision.placements);
    rows[0].count -= 1;
    let lossy = Decision { placements: take(&mut &*rows), ..decision };
    if check(p, &lossy, &mut memory).is_ok() { Err(7) } else { Ok(()) }
}

/// What `problem` says must come out.
fn expected(d: &Decision) -> bool {
    let on = |class: u32, target: fn(&Target) -> bool| -> u32 {
        let rows = d.placements.iter().filter(|p| p.class == class && target(&p.target));
        rows.map(|p| p.count).sum()
    };
    let pods_of = |zone_rank: usize| -> u32 {
        // Word 3 of a set is the value bits of the first key, the zone.
        let sets = d.sets.chunks(d.set_words).zip(d.new_nodes);
        sets.filter(|(set, _)| set[3] == 1 << zone_rank).map(|(_, node)| node.pods).sum()
    };
    on(problem::WEB, |t| matches!(t, Target::New(_))) == 6
        && (0..3).all(|zone| pods_of(zone) >= 2)
        && on(problem::SMALL, |t| matches!(t, Target::Node(0))) == 1
        && on(problem::BATCH, |_| true) == 2
        && d.new_nodes.iter().any(|n| n.template == problem::TAINTED)
        && d.unplaced.len() == 1
        && (d.unplaced[0].class, d.unplaced[0].count) == (problem::HUGE, 1)
        && d.reasons.iter().any(|r| r.code == ReasonCode::Size)
}
