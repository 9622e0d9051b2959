//! From Kubernetes objects to an explained plan.

pub mod catalog;
pub mod defaults;
pub mod door;
pub mod duration;
pub mod error;
pub mod explain;
pub mod html;
pub mod instance_type;
pub mod lint;
pub mod lower;
mod nearest;
pub mod options;
pub mod plan;
pub mod pod;
pub mod quantity;
pub mod raise;
pub mod read;
pub mod replay;
pub mod settings;
pub mod snapshot;
pub mod solve;
pub mod workload;

pub use dunnage_api::crd::crds_yaml;
