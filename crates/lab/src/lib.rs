//! From scenario to world, run, tables and captures.

pub mod scenario;
