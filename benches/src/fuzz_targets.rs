//! The bodies of the fuzz targets. Each takes bytes, panics when a promise is broken, and
//! says whether it came as far as the thing under test.

mod engine;
#[cfg(feature = "planner")]
mod front_door;
#[cfg(feature = "planner")]
mod quantity;
mod requirements;
mod schedule;

pub use engine::{check_problem, place_check};
#[cfg(feature = "planner")]
pub use front_door::front_door;
#[cfg(feature = "planner")]
pub use quantity::quantity;
pub use requirements::requirements;
pub use schedule::cron;

/// A target.
pub type Target = fn(&[u8]) -> bool;

/// Every target by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("requirements", requirements),
    ("place_check", place_check),
    ("cron", cron),
    #[cfg(feature = "planner")]
    ("quantity", quantity),
    #[cfg(feature = "planner")]
    ("front_door", front_door),
];
