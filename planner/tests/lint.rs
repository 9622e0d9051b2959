//! Findings: for each code an input that has it and the same with the fix applied, which has it
//! no more.

#[path = "lint/budgets.rs"]
mod budgets;
#[path = "lint/critical.rs"]
mod critical;
#[path = "lint/documents.rs"]
mod documents;
#[path = "lint/images.rs"]
mod images;
#[path = "lint/order.rs"]
mod order;
#[path = "lint/planned.rs"]
mod planned;
#[path = "lint/pools.rs"]
mod pools;
#[path = "lint/refusals.rs"]
mod refusals;
#[path = "lint/tutorial.rs"]
mod tutorial;
#[path = "lint/workloads.rs"]
mod workloads;
#[path = "lint/world.rs"]
mod world;
