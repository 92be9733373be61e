//! A network: links and Wi-Fi cells between nodes, the way from each node to each other, and ports at the edges.
//!
//! | module | holds |
//! |---|---|
//! | [`map`] | [`Map`]: nodes, the hops between them, and the next hop to each destination |
//! | [`hosts`] | [`Hosts`]: what lies behind the ports |
//! | [`taps`] | [`Taps`]: who watches what passes |
//! | [`network`] | [`Network`]: all of it as one world of machines |
//!
//! It knows no transport, and it is generic over the datagram: typed packets of a simulation and the octets of real ones pass the same
//! boxes. Packets go by their destination; a packet that has come to its destination is handed to the port of its flow.

pub mod hosts;
pub mod map;
pub mod network;
pub mod taps;

pub use hosts::{Departure, Hosts};
pub use map::{Hop, Map};
pub use network::{Network, Refusal};
pub use taps::Taps;
