//! An empty room: see ARCHITECTURE.md for what moves in, and when.
