//! From scenario to world, run, tables and captures.
//!
//! | module | holds |
//! |---|---|
//! | [`scenario`] | the scenario language: a typed document, read, checked and explained |
//! | [`run()`] | one run of a scenario |
//! | [`Strategies`] | ACK policies and controllers of your own, for a run |
//! | [`Table`] | what a run yields: typed tables with units, as Arrow |
//! | [`capture`] | what passes a point, as pcapng |

mod air;
mod build;
pub mod capture;
mod ends;
mod error;
mod packet;
mod probe;
mod results;
mod run;
pub mod scenario;
mod statistics;
mod strategies;
mod table;
mod taps;
mod topology;
mod world;

pub use error::Error;
pub use run::{Results, RunOptions, run};
pub use strategies::Strategies;
pub use table::Table;
