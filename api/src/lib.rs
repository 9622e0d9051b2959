//! Kubernetes API types.
