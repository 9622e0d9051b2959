//! Equal lists once: rows of a table that are shared by everything that says the same.

use std::collections::HashMap;
use std::hash::Hash;

use dunnage_engine_core::problem::Span;

/// Appends stretches to a table; a stretch that is there already is found again. The order
/// of rows is the order of first use, so it does not depend on the map.
#[derive(Debug)]
pub struct Lists<T> {
    found: HashMap<Vec<T>, Span>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { found: HashMap::new() }
    }
}

impl<T: Clone + Eq + Hash> Lists<T> {
    /// The stretch of `table` that holds `list`; an empty one is always at 0. `row` makes a
    /// new row.
    pub fn span<R>(&mut self, table: &mut Vec<R>, list: Vec<T>, row: impl FnMut(&T) -> R) -> Span {
        if list.is_empty() {
            return Span::default();
        }
        if let Some(span) = self.found.get(&list) {
            return *span;
        }
        let span = Span { start: table.len() as u32, len: list.len() as u32 };
        table.extend(list.iter().map(row));
        self.found.insert(list, span);
        span
    }
}

/// Numbers by first use.
#[derive(Debug)]
pub struct Numbers<T> {
    found: HashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { found: HashMap::new() }
    }
}

impl<T: Eq + Hash> Numbers<T> {
    /// The number of `thing`, and whether it is new.
    pub fn number(&mut self, thing: T) -> (u32, bool) {
        let next = self.found.len() as u32;
        let number = *self.found.entry(thing).or_insert(next);
        (number, number == next)
    }
}
