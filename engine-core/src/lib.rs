//! The placement decision. See ARCHITECTURE.md.
#![no_std]
#![forbid(unsafe_code)]
