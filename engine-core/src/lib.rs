//! The placement decision: problem in, decision out.
//!
//! `no_std`, no allocator, no I/O, no clock, no randomness: the same problem gives the same
//! decision on every machine. Memory is lent by the caller and sized before solving.
#![no_std]
#![forbid(unsafe_code)]
#![deny(clippy::std_instead_of_core, clippy::std_instead_of_alloc, clippy::alloc_instead_of_core)]

#[cfg(test)]
extern crate std;

pub mod check;
pub mod cron;
pub mod decision;
pub mod limits;
pub mod place;
pub mod price;
pub mod problem;
pub mod requirements;
pub mod resources;
pub mod search;
pub mod stop;
pub mod taints;
pub mod validate;
pub mod workspace;

pub use decision::Decision;
pub use limits::{Exceeded, Limit};
pub use place::place;
pub use problem::{Problem, Rules, Span};
pub use validate::Error;
