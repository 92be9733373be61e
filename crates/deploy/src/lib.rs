//! The TACK transport between real hosts: over UDP, encrypted, in tokio's idiom.
//!
//! Uses the transport that simulations measure, [`acklab_transport::tack`], protected by
//! [`acklab_secure`]. An [`Endpoint`] is a socket with any number of connections. A [`Connection`]
//! has any number of streams and messages with deadlines. Streams implement
//! [`AsyncRead`](tokio::io::AsyncRead) and [`AsyncWrite`](tokio::io::AsyncWrite). To avoid copies,
//! use [`write_chunk`](SendStream::write_chunk) with shared memory, and
//! [`read_chunk`](ReceiveStream::read_chunk), which returns the endpoint's memory.
//!
//! A server that echoes received data, and a client that trusts the server's certificate:
//!
//! ```
//! use acklab_deploy::config::{Limits, Server};
//! use acklab_deploy::{Config, Endpoint};
//! use acklab_secure::identity::{Identity, Trust, client_config, server_config};
//! use acklab_secure::reset::ResetKey;
//! use std::sync::Arc;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt, copy};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (identity, _certificate, _key) = Identity::generate(["localhost".to_owned()])?;
//! let trust = Trust::Pinned(identity.fingerprint());
//! let tls = server_config(identity, Arc::new(rustls::NoKeyLog))?;
//! let server = Server { tls, reset_key: ResetKey::new(&[7; 32]), limits: Limits::default(), always_retry: false };
//! let server = Endpoint::bind("127.0.0.1:0".parse()?, Config { server: Some(server), ..Config::new() })?;
//! let address = server.local_address();
//! tokio::spawn(async move {
//!     while let Some(connection) = server.accept().await {
//!         tokio::spawn(async move {
//!             while let Ok((mut send, mut receive)) = connection.accept_stream().await {
//!                 copy(&mut receive, &mut send).await?;
//!                 send.end();
//!             }
//!             std::io::Result::Ok(())
//!         });
//!     }
//! });
//!
//! let tls = client_config(trust, Arc::new(rustls::NoKeyLog))?;
//! let client = Endpoint::bind("0.0.0.0:0".parse()?, Config { client: Some(tls), ..Config::new() })?;
//! let connection = client.connect(address, "localhost").await?;
//! let (mut send, mut receive) = connection.open_stream().await?;
//! send.write_all(b"how should this receiver acknowledge?").await?;
//! send.end();
//! let mut answer = String::new();
//! receive.read_to_string(&mut answer).await?;
//! assert_eq!(answer, "how should this receiver acknowledge?");
//! let acknowledgments = connection.statistics().map(|statistics| statistics.acknowledgments);
//! # assert!(acknowledgments.is_some());
//! # Ok(())
//! # }
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`endpoint`] | [`Endpoint`]: connect, accept |
//! | [`connection`] | [`Connection`]: streams and messages |
//! | [`config`] | settings, limits, certificates |
//! | [`statistics`] | the measurements of a connection |
//! | [`error`] | errors |
//! | [`hub`] | [`Hub`]: all connections of a socket, without the socket |
//! | [`tools`] | `serve`, `perf` and `proxy` |
//! | `association` | the state of one connection: protection, streams and path |
//! | `driver` | the thread that serves all connections of a socket |
//! | `moderation` | decides when to poll a socket again |
//! | `pipe` | bytes between applications and the thread of an endpoint |

mod association;
pub mod config;
pub mod connection;
mod driver;
pub mod endpoint;
pub mod error;
pub mod hub;
mod moderation;
mod pipe;
pub mod statistics;
pub mod tools;

pub use acklab_secure::identity::Identity;
pub use association::Counters;
pub use config::Config;
pub use connection::{Connection, ReceiveStream, SendStream};
pub use endpoint::Endpoint;
pub use error::{ConnectError, Lost};
pub use hub::{Handle, Hub};
pub use statistics::Statistics;
