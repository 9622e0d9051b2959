//! How a caller ends a solve that is under way.
//!
//! The solver reads no clock: patience is the caller's. Another thread raises the flag, and the
//! solve ends soon with [`Limit::Stopped`] and no answer. Whether the flag was raised is the only
//! thing besides the problem that a solve looks at, and no answer depends on it.

use core::sync::atomic::{AtomicBool, Ordering};

use crate::limits::{Exceeded, Limit};

/// A flag that ends a solve once it is raised.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop<'a>(Option<&'a AtomicBool>);

impl<'a> Stop<'a> {
    /// Never ends it.
    pub const NEVER: Self = Self(None);

    /// Ends it once `flag` is true.
    pub const fn when(flag: &'a AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// True when the solve is to end.
    pub fn is_raised(self) -> bool {
        // Nothing else is read on the strength of the flag, so no order is needed.
        self.0.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// Ends the function that asks.
    ///
    /// # Errors
    /// [`Limit::Stopped`] once the flag is raised.
    pub fn poll(self) -> Result<(), Exceeded> {
        match self.is_raised() {
            true => Err(Exceeded { limit: Limit::Stopped, value: 0, need: 1 }),
            false => Ok(()),
        }
    }
}
