//! Runs a target on behalf of the fuzzer, and says how many runs reach what is under test.

use std::cell::RefCell;

use dunnage_benches::fuzz_targets::Target;

/// Counts runs; tells at every power of two, and when the thread ends, which is when libFuzzer
/// exits.
#[derive(Default)]
struct Tally {
    runs: u64,
    reached: u64,
}

impl Tally {
    fn tell(&self) {
        let share = self.reached * 100 / self.runs.max(1);
        eprintln!("reached: {} of {} runs ({share} %)", self.reached, self.runs);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.tell();
    }
}

thread_local! {
    static TALLY: RefCell<Tally> = RefCell::default();
}

/// Runs the target and counts whether it came as far as what is under test.
pub fn run(target: Target, bytes: &[u8]) {
    let came = target(bytes);
    TALLY.with_borrow_mut(|tally| {
        tally.reached += u64::from(came);
        tally.runs += 1;
        if tally.runs.is_power_of_two() {
            tally.tell();
        }
    });
}
