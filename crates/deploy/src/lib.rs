//! The TACK transport between real hosts: over UDP, encrypted, in tokio's idiom.
//!
//! The machine that moves octets here is the one that simulations measure, [`acklab_transport::tack`], under the protection of
//! [`acklab_secure`]. An [`Endpoint`] is a socket with any number of connections; a [`Connection`] has any number of streams, which are
//! [`AsyncRead`](tokio::io::AsyncRead) and [`AsyncWrite`](tokio::io::AsyncWrite), and messages with deadlines.
//!
//! | module | contents |
//! |---|---|
//! | [`endpoint`] | [`Endpoint`]: connect, accept |
//! | [`connection`] | [`Connection`]: streams and messages |
//! | [`config`] | settings, limits, certificates |
//! | [`statistics`] | what a connection has measured |
//! | [`error`] | what can go wrong |
//! | [`hub`] | [`Hub`]: all connections of a socket, without the socket |
//! | `association` | one end of a connection with its protection, its octets and its path |

mod association;
pub mod config;
pub mod connection;
pub mod endpoint;
pub mod error;
pub mod hub;
pub mod statistics;

pub use association::Counters;
pub use config::Config;
pub use connection::{Connection, ReceiveStream, SendStream};
pub use endpoint::Endpoint;
pub use error::{ConnectError, Lost};
pub use hub::{Handle, Hub};
pub use statistics::Statistics;
