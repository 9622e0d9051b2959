//! Kubernetes API types of dunnage: the tour of the crate.
//!
//! What stands here: the six custom resources a user writes ([`NodePool`], [`NodeClaim`],
//! [`NodeOverlay`], [`CapacityBuffer`], [`EC2NodeClass`], [`AKSNodeClass`]), the names of labels,
//! annotations, taints and finalizers ([`labels`]), the condition types ([`conditions`]), the
//! CustomResourceDefinitions ([`crd`]), and the verdict on an object ([`mod@validate`]).
//! What does not: any decision. Types are read leniently (enum-like fields are strings, `null`
//! means absent, unknown fields are ignored), so that a verdict with a path can be given instead
//! of a parse error.

#![allow(clippy::duplicated_attributes, reason = "each printer column says its type")]

pub mod aks_node_class;
pub mod built_in;
pub mod capacity_buffer;
pub mod conditions;
pub mod crd;
pub mod duration;
pub mod ec2_node_class;
pub mod labels;
mod lenient;
pub mod node_claim;
pub mod node_overlay;
pub mod node_pool;

mod schema;
pub mod validate;

pub use aks_node_class::AKSNodeClass;
pub use capacity_buffer::CapacityBuffer;
pub use crd::{crds, crds_yaml};
pub use ec2_node_class::EC2NodeClass;
pub use node_claim::NodeClaim;
pub use node_overlay::NodeOverlay;
pub use node_pool::NodePool;
pub use validate::{Kind, Violation, validate, validate_update};
