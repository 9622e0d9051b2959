//! The one command of this repository.
fn main() {}
