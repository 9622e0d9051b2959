//! Public bug reports and rules of the specification, each as a small cluster with the right
//! answer: what is launched, at what price, and why the rest waits.

#[path = "cases/world.rs"]
mod world;

#[path = "cases/capacity.rs"]
mod capacity;
#[path = "cases/requirements.rs"]
mod requirements;
#[path = "cases/topology.rs"]
mod topology;
#[path = "cases/volumes.rs"]
mod volumes;
