//! What every other crate of acklab stands on.
//!
//! | module | holds |
//! |---|---|
//! | [`time`] | [`Instant`] and [`Duration`]: integer nanoseconds since the start of a run |
//! | [`rate`] | [`Rate`] and the exact [`Serializer`], which keeps the remainder of each division |
//! | [`size`] | [`Bytes`] |
//! | [`units`] | values with their unit, as a person writes them: `15ms`, `16Mbps`, `1448B` |
//! | [`id`] | [`FlowId`], one direction of one connection |
//! | [`random`] | random streams by component name, all derived from one [`Seed`](random::Seed) |
//! | [`ecn`] | [`Ecn`], the codepoint by which boxes mark packets |
//! | [`datagram`] | [`Datagram`]: what a path needs to know of a packet |
//! | [`machine`] | [`Machine`]: the contract of everything that happens in time |

pub mod datagram;
pub mod ecn;
pub mod id;
pub mod machine;
pub mod random;
pub mod rate;
pub mod size;
pub mod time;
pub mod units;

pub use datagram::{AckHeader, Datagram};
pub use ecn::Ecn;
pub use id::FlowId;
pub use machine::Machine;
pub use rate::{Rate, Serializer};
pub use size::Bytes;
pub use time::{Duration, Instant};
