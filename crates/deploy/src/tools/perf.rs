//! Measures transports in turns between two hosts, to find the fastest on this path and its cost.
//!
//! A measurement has a control channel and one data channel for each of its parallel streams. A
//! channel is a separate connection with one stream: of TACK, of QUIC, or of the kernel's TCP. Thus
//! data channels count only data, and "four parallel streams" means the same for all transports.
//!
//! # Protocol, version 1
//!
//! The client opens every channel and sends sixteen octets first: `acklab`, the version, the kind
//! of channel (0 control, 1 data) and the random number of the measurement in big endian. A data
//! channel then carries octets without meaning, one way. A control channel carries messages in both
//! directions: the length in four octets, big endian, at most [64 KiB](protocol::LARGEST), and an
//! object in JSON ([`protocol::Message`]).
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
//! The receiver of the data ends the measurement. Its time runs from the first octet until the
//! measurement ends. Thus octets that still wait in a buffer do not count. A server carries out one
//! measurement at a time. It refuses anything unexpected with the message `refused`.
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
