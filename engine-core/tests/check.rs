//! The verifier: good decisions pass, each rule refuses what breaks it, corruptions are found.

#[path = "check/corruption.rs"]
mod corruption;
#[path = "check/existing.rs"]
mod existing;
#[path = "check/garbage.rs"]
mod garbage;
#[path = "check/generated.rs"]
mod generated;
#[path = "check/machines.rs"]
mod machines;
#[path = "check/mended.rs"]
mod mended;
#[path = "check/source.rs"]
mod source;
#[path = "check/tables.rs"]
mod tables;
#[path = "check/topology.rs"]
mod topology;
#[path = "check/truth.rs"]
mod truth;
