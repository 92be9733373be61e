//! Transport endpoints: machines that turn segments and time into segments.
//!
//! | module | holds |
//! |---|---|
//! | [`ack`] | when a receiver acknowledges: the ledger of what is unacknowledged, and the policies that decide |
//! | [`cc`] | how much a sender may have in flight, and how fast it may send |
//! | [`congestion`] | controllers driven by packet numbers, for TACK and QUIC |
//! | `events` | the events of a connection, until they are taken |
//! | [`fault`] | what is wrong with settings |
//! | [`custom`] | policies and controllers that are not built in |
//! | [`limit`] | what limits a sender: window, pacing or application |
//! | [`mtu`] | the search for the largest datagram that a path carries |
//! | [`octets`] | the octets of a stream, for a driver that moves them |
//! | [`pacing`] | when the next segment may leave |
//! | [`quic`] | the QUIC transport |
//! | [`reading`] | when an application reads what has arrived |
//! | [`recovery`] | loss recovery: what a sender considers lost, and how it repairs it |
//! | `registry` | the macro that makes the enums of policies and of controllers from a list |
//! | [`send_buffer`] | what the application has written |
//! | [`streams`] | streams of octets, for transports that number packets |
//! | [`tack`] | the TACK transport |
//! | `windowed_max` | a windowed maximum, for receivers and controllers |
//! | [`tcp`] | the TCP sender and receiver, put together from the above |
//! | [`udp`] | the UDP sender and receiver |
//!
//! A mechanism is apart from a policy: a new ACK policy or controller is one file and one line of
//! registration.

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
mod registry;
pub mod send_buffer;
pub mod streams;
pub mod tack;
pub mod tcp;
pub mod udp;
mod windowed_max;
