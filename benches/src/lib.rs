//! What tests, fuzzing and benchmarks share: random problems with every feature of the
//! engine, memory to solve them in, and the bodies of the fuzz targets.
//!
//! Nothing here decides anything about pods; everything here may panic, which is how a
//! broken promise is told.

pub mod allocations;
pub mod draw;
pub mod fuzz_targets;
#[cfg(feature = "planner")]
pub mod manifests;
pub mod problems;
pub mod room;
#[cfg(feature = "planner")]
pub mod study;
pub mod tables;
