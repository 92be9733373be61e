//! What every other crate of acklab stands on.
//!
//! | module | holds |
//! |---|---|
//! | [`time`] | [`Instant`] and [`Duration`]: integer nanoseconds since the start of a run |
//! | [`rate`] | [`Rate`] and the exact [`Serializer`], which keeps the remainder of each division |
//! | [`size`] | [`Bytes`] |
//! | [`units`] | values with their unit, as a person writes them: `15ms`, `16Mbps`, `1448B` |
//! | [`id`] | [`NodeId`], where a packet goes; [`FlowKey`], whose it is; [`PortId`], where an endpoint joins a network |
//! | [`flow_table`] | [`FlowTable`]: something kept for each flow |
//! | [`random`] | random streams by component name, all derived from one [`Seed`](random::Seed) |
//! | [`ecn`] | [`Ecn`], the codepoint by which boxes mark packets |
//! | [`datagram`] | [`Datagram`]: what a path needs to know of a packet |
//! | [`machine`] | [`Machine`]: the contract of everything that happens in time |
//! | [`world`] | [`World`]: machines and the wires between them, as a clock drives them |
//! | [`endpoint`] | [`Endpoint`]: a machine with ports and something to tell of itself |
//! | [`event`] | [`Event`]: what endpoints tell as it happens |
//! | [`port`] | [`Port`]: what lies between an application and an endpoint |

pub mod datagram;
pub mod ecn;
pub mod endpoint;
pub mod event;
pub mod flow_table;
pub mod id;
pub mod machine;
pub mod port;
pub mod random;
pub mod rate;
pub mod size;
pub mod time;
pub mod units;
pub mod world;

pub use datagram::{AckHeader, Datagram};
pub use ecn::Ecn;
pub use endpoint::{Content, Endpoint, Reading, Vitals};
pub use event::Event;
pub use flow_table::FlowTable;
pub use id::{FlowKey, NodeId, PortId};
pub use machine::Machine;
pub use port::{DatagramPort, Port, StreamPort};
pub use rate::{Rate, Serializer};
pub use size::Bytes;
pub use time::{Duration, Instant};
pub use world::{MachineId, Step, World};
