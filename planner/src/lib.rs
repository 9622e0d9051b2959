//! From Kubernetes objects to an explained plan.

pub mod instance_type;
pub mod lower;
