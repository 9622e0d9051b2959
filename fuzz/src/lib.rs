//! Runs a target on behalf of the fuzzer, and says how many runs reach what is under test.

use std::sync::atomic::{AtomicU64, Ordering};

use dunnage_benches::fuzz_targets::Target;

static RUNS: AtomicU64 = AtomicU64::new(0);
static REACHED: AtomicU64 = AtomicU64::new(0);

/// Runs the target; every power of two of runs is told on standard error.
pub fn run(target: Target, bytes: &[u8]) {
    let came = target(bytes);
    let reached = REACHED.fetch_add(u64::from(came), Ordering::Relaxed) + u64::from(came);
    let runs = RUNS.fetch_add(1, Ordering::Relaxed) + 1;
    if runs.is_power_of_two() {
        eprintln!("reached: {reached} of {runs} runs ({} %)", reached * 100 / runs);
    }
}
