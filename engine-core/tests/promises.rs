//! What every decision promises, held on random problems: it can be carried out, loses no
//! pod, needs no allocator and little stack, stays within the announced memory, and does not
//! depend on anything but the problem.

#[path = "promises/cron.rs"]
mod cron;
#[path = "promises/decisions.rs"]
mod decisions;
#[path = "promises/memory.rs"]
mod memory;
