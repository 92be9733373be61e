//! Measures transports in turns between two hosts. The results show which transport is fastest on
//! this path, and the cost of each.
//!
//! A measurement has a control channel and one data channel for each of its parallel streams. A
//! channel is a separate connection with one stream: of TACK, of QUIC, or of the kernel's TCP. The
//! counters of data channels therefore include only data, and "four parallel streams" means the
//! same for all transports.
//!
//! # Protocol, version 1
//!
//! The client opens every channel and sends sixteen octets first: `acklab`, the version, the kind
//! of channel (0 control, 1 data) and the random number of the measurement in big endian. A data
//! channel then carries meaningless octets in one direction. A control channel carries messages in
//! both directions. A message is its length in four octets, big endian, at most
//! [64 KiB](protocol::LARGEST), and an object in JSON ([`protocol::Message`]).
//!
//! ```text
//!  client                              server
//!  control: request             ──▶
//!                               ◀──    accepted
//!  data channels                ──▶
//!                               ◀──    started
//!  data ──▶ (reverse: ◀──)
//!                               ◀──    report, each interval (not in reverse)
//!  stop (in reverse only)       ──▶
//!                               ◀──    result
//! ```
//!
//! The receiver of the data ends the measurement. The measured time runs from the first received
//! octet until the measurement ends. Octets in buffers at that time are therefore not included. A
//! server carries out one measurement at a time. It answers an unexpected message with `refused`.
//!
//! | module | contents |
//! |---|---|
//! | [`contender`] | [`Contender`]: a transport with its settings |
//! | [`protocol`] | the messages |
//! | [`client`] | [`measure`]: rounds of measurements |
//! | [`row`] | [`Row`]: the result of a measurement |
//! | `server` | the server's side of a measurement |
//! | `channel` | one connection with one stream, of any transport |
//! | `traffic` | sends, receives and counts bytes |

pub(crate) mod channel;
pub mod client;
pub mod contender;
pub mod protocol;
pub mod row;
pub(crate) mod server;
mod traffic;

pub use client::{Options, Progress, measure};
pub use contender::Contender;
pub use row::Row;
