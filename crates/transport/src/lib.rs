//! Transport endpoints: state machines that process segments and time and produce segments.
//!
//! | module | contents |
//! |---|---|
//! | [`ack`] | acknowledgment: the ledger of unacknowledged data, and the policies that decide |
//! | [`cc`] | congestion controllers: the bytes in flight, and the rate of sending |
//! | [`congestion`] | controllers driven by packet numbers, for TACK and QUIC |
//! | `events` | the events of a connection, in a queue |
//! | [`fault`] | errors in settings |
//! | [`custom`] | policies and controllers that are not built in |
//! | [`limit`] | the limit of a sender: window, pacing or application |
//! | [`mtu`] | the search for the largest datagram that a path carries |
//! | [`octets`] | the bytes of a stream, for a driver that moves them |
//! | [`pacing`] | the time at which the next segment may leave |
//! | [`quic`] | the QUIC transport |
//! | [`reading`] | the times at which an application reads |
//! | [`recovery`] | loss recovery: detection and repair of losses |
//! | [`send_buffer`] | the bytes that the application has written |
//! | [`streams`] | byte streams, for transports that number packets |
//! | [`tack`] | the TACK transport |
//! | `windowed_max` | a windowed maximum, for receivers and controllers |
//! | [`tcp`] | the TCP sender and receiver, composed of these parts |
//! | [`udp`] | the UDP sender and receiver |
//!
//! Mechanisms are separate from policies: a new ACK policy or controller requires one file and one
//! entry in a registry.

pub mod ack;
pub mod cc;
pub mod congestion;
pub mod custom;
mod events;
pub mod fault;
pub mod limit;
pub mod mtu;
pub mod octets;
pub mod pacing;
pub mod quic;
pub mod reading;
pub mod recovery;
#[cfg(test)]
mod registry;
pub mod send_buffer;
pub mod streams;
pub mod tack;
pub mod tcp;
pub mod udp;
mod windowed_max;
