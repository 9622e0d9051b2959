//! Fuzzes `dunnage_benches::fuzz_targets::place_check`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dunnage_fuzz::run(dunnage_benches::fuzz_targets::place_check, bytes));
