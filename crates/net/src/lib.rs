//! Networks: links and Wi-Fi cells between nodes, routes, and ports at the edges.
//!
//! In the order of reading:
//!
//! | module | contents |
//! |---|---|
//! | [`map`] | [`Map`]: nodes, the hops between them, and routes of the fewest hops |
//! | [`hosts`] | [`Hosts`]: the endpoints behind the ports, which the user of a network provides |
//! | [`taps`] | [`Taps`]: observers of packets |
//! | [`network`] | [`Network`]: links, cells and ports as one [`World`](acklab_base::World) of machines |
//!
//! A network is independent of transports and generic over the datagram. So typed packets of a
//! simulation and the octets of real packets pass the same links and cells. Packets are forwarded
//! by their destination, and delivered there to the port of their flow.

pub mod hosts;
pub mod map;
pub mod network;
pub mod taps;

pub use hosts::{Departure, Hosts};
pub use map::{Hop, Map};
pub use network::{AttachError, Network};
pub use taps::Taps;
