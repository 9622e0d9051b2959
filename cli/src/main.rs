//! The dunnage command.
fn main() {}
