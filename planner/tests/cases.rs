//! Public bug reports and rules of the specification, each as a small cluster with the right
//! answer: what is launched, at what price, and why the rest waits.

#[path = "cases/world.rs"]
mod world;

#[path = "cases/buffers.rs"]
mod buffers;
#[path = "cases/capacity.rs"]
mod capacity;
#[path = "cases/dual.rs"]
mod dual;
#[path = "cases/exhaustive.rs"]
mod exhaustive;
#[path = "cases/exhaustive_overlays.rs"]
mod exhaustive_overlays;
#[path = "cases/noticed.rs"]
mod noticed;
#[path = "cases/order.rs"]
mod order;
#[path = "cases/packed.rs"]
mod packed;
#[path = "cases/page.rs"]
mod page;
#[path = "cases/priced.rs"]
mod priced;
#[path = "cases/quotas.rs"]
mod quotas;
#[path = "cases/rare_reasons.rs"]
mod rare_reasons;
#[path = "cases/reasons.rs"]
mod reasons;
#[path = "cases/regional.rs"]
mod regional;
#[path = "cases/replayed.rs"]
mod replayed;
#[path = "cases/requirements.rs"]
mod requirements;
#[path = "cases/shuffled.rs"]
mod shuffled;
#[path = "cases/topology.rs"]
mod topology;
#[path = "cases/volumes.rs"]
mod volumes;
#[path = "cases/wasted.rs"]
mod wasted;

use dunnage_planner::error::PlanError;
use dunnage_planner::read::{Source, read};
use dunnage_planner::snapshot::Snapshot;

/// The Snapshot of a JSON text, read as users' files are.
fn snapshot(json: &str) -> Result<Snapshot, Vec<PlanError>> {
    read(&[Source { name: "case.json".to_owned(), text: json.to_owned() }])
}
