//! Tests of the API types: one binary.
//!
//! `verdicts` holds each rule against an accepted and a refused object, `mutations` spoils every
//! field of full objects, `definitions` compares the CRDs with the tables of the specification,
//! `examples` reads the manifests of the two tutorials.

mod definitions;
mod examples;
mod mutations;
mod table;
mod types;
mod verdicts;
