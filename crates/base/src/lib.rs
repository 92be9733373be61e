//! The types and contracts that all other crates of acklab share.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`time`] | [`Instant`] and [`Duration`]: integer nanoseconds since the start of a run |
//! | [`size`] | [`Bytes`]: a number of octets |
//! | [`rate`] | [`Rate`], and the [`Serializer`] that turns sizes into transmission times without rounding drift |
//! | [`mul_div`](mod@mul_div) | [`mul_div()`]: the quotient of a product and a divisor |
//! | `decimal` | quantities as decimals with their unit |
//! | [`units`] | quantities as text with their unit, as in scenarios: `15ms`, `16Mbps`, `1448B` |
//! | `registry` | [`registry!`]: the enums of strategies from one list |
//! | `contract` | [`contract!`]: a contract, and its delegation by such an enum |
//! | [`random`] | named random streams, all derived from the run's one [`Seed`](random::Seed) |
//! | [`id`] | [`NodeId`]: a packet's destination; [`FlowKey`]: its flow; [`PortId`]: an endpoint's attachment to a network |
//! | [`flow_table`] | [`FlowTable`]: a map keyed by flow, with a deterministic order |
//! | [`ecn`] | [`Ecn`]: the ECN codepoint of an IP packet |
//! | [`datagram`] | [`Datagram`]: the fields of a packet that links and Wi-Fi cells read |
//! | [`machine`] | [`Machine`]: the sans-IO state machine, which every endpoint and every box implements |
//! | [`prefetch`](mod@prefetch) | [`prefetch()`]: fetches memory before it is read |
//! | [`world`] | [`World`]: connected machines; [`Alarms`]: their deadlines |
//! | [`port`] | [`Port`]: the interface between an application and an endpoint |
//! | [`event`] | [`Event`]: events inside an endpoint, in one vocabulary for all transports |
//! | [`stream_event`] | [`Fate`] of a datagram and [`StreamEvent`], for drivers that store octets |
//! | [`limiting_factor`] | [`LimitingFactor`]: the factor that limits a sender |
//! | [`endpoint`] | [`Endpoint`]: one end of a connection: a machine with a port, state, counters and events |

mod contract;
pub mod datagram;
mod decimal;
pub mod ecn;
pub mod endpoint;
pub mod event;
pub mod flow_table;
pub mod id;
pub mod limiting_factor;
pub mod machine;
pub mod mul_div;
pub mod port;
pub mod prefetch;
pub mod random;
pub mod rate;
mod registry;
pub mod size;
pub mod stream_event;
pub mod time;
pub mod units;
pub mod world;

pub use datagram::{AckHeader, Datagram, Opening, is_after};
pub use ecn::Ecn;
pub use endpoint::{Content, CounterValue, Endpoint, Vitals};
pub use event::Event;
pub use flow_table::FlowTable;
pub use id::{FlowKey, NodeId, PortId};
pub use limiting_factor::LimitingFactor;
pub use machine::Machine;
pub use mul_div::mul_div;
pub use port::{Arrival, DatagramPort, MessagePort, Port, StreamPort, StreamsPort};
pub use prefetch::prefetch;
pub use rate::{Rate, Serializer};
pub use size::Bytes;
pub use stream_event::{Fate, StreamEvent, StreamEvents, StreamState};
pub use time::{Duration, Instant};
pub use world::{Alarms, MachineId, World};
