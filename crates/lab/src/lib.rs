//! From scenario to world, run, tables and captures.
//!
//! | module | holds |
//! |---|---|
//! | [`scenario`] | the scenario language: a typed document, read, checked and explained |
//! | [`run()`] | one run of a scenario |
//! | [`Strategies`] | ACK policies and controllers of your own, for a run |
//! | [`Table`] | what a run yields: typed tables with units, as Arrow |
//! | [`transports`] | the endpoints of a flow, of a transport of your own too |
//! | [`packet`] | a packet in simulation |
//! | [`capture`] | what passes a point, as pcapng |

mod air;
mod build;
pub mod capture;
mod error;
mod flows;
pub mod packet;
mod probe;
mod results;
mod run;
pub mod scenario;
mod socket;
mod statistics;
mod strategies;
mod table;
pub mod transports;
mod watch;

pub use error::Error;
pub use packet::Packet;
pub use results::{Better, Description, metrics};
pub use run::{Results, RunOptions, run};
pub use strategies::Strategies;
pub use table::Table;
