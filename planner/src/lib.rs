//! From Kubernetes objects to an explained plan.

pub mod catalog;
pub mod duration;
pub mod error;
pub mod instance_type;
pub mod lower;
pub mod pod;
pub mod quantity;
pub mod read;
pub mod settings;
pub mod snapshot;
pub mod solve;
