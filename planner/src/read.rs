//! From texts to a Snapshot.

mod decode;
mod json;
mod node;
mod yaml;
