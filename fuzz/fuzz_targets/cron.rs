//! Fuzzes `dunnage_benches::fuzz_targets::cron`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| dunnage_fuzz::run(dunnage_benches::fuzz_targets::cron, bytes));
