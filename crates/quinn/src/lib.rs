//! quinn-proto, a QUIC implementation (RFC 9000), as a transport endpoint in virtual time.
//!
//! The packets are real: TLS 1.3 creates the keys, each datagram carries encrypted bytes, and a
//! capture with the keys can be decrypted. Time and randomness come from the caller, so the bytes
//! are a function of the seed.
//!
//! | module | contents |
//! |---|---|
//! | [`Connection`] | one end: its parts, and the steps after each call |
//! | `input`, `output`, `port`, `vitals` | arriving datagrams, departing datagrams, the application, counters and state |
//! | `sender` | sent packets: acknowledged, lost, in flight |
//! | `control` | quinn-proto's congestion controller, backed by those of `acklab_transport` |
//! | [`Settings`] | the settings of a scenario |
//! | `watch` | events of streams, for a driver that stores their bytes |
//! | `time` | the boundary between virtual time and `std::time::Instant` |
//! | `entropy`, `tls` | seeded randomness; keys, certificate and key log |
//! | `tap` | packets in clear |
//! | [`Datagram`] | the UDP datagram |

mod connection;
mod control;
mod datagram;
mod entropy;
mod input;
mod output;
mod port;
mod sender;
mod settings;
mod tap;
mod time;
mod tls;
mod vitals;
mod watch;

#[cfg(test)]
mod tests;

pub use connection::Connection;
pub use datagram::Datagram;
pub use settings::{Controllers, Settings};
pub use tap::{Packet, Space};
pub use tls::Error;
