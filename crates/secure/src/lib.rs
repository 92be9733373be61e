//! TLS 1.3 around the packets of the TACK transport.
//!
//! A [`Session`] is the cryptography of either end of a connection: a machine without clock and
//! socket, between the [packets](acklab_wire::tack) of a transport and the datagrams of a network.
//! The handshake is that of QUIC (RFC 9001) through the interface that rustls has for it. Its
//! octets travel in Crypto frames beside the Open and the Accept of the transport. So both
//! handshakes take one round trip together, and the transport's timers repeat both.
//!
//! ```text
//!  client                                                      server
//!  Initial: Open, [Token], Crypto (ClientHello), Padding  ──▶
//!                         ◀──  Initial: Crypto (ServerHello)
//!                              Handshake: Crypto (EncryptedExtensions … Finished)
//!                              Session: Accept, Padding
//!  Handshake: Crypto (Finished)
//!  Session: Stream, …                                     ──▶
//!                         ◀──  Session: TACK, …
//! ```
//!
//! | module | contents |
//! |---|---|
//! | [`session`] | [`Session`]: the handshake, and packets to datagrams and back |
//! | [`hello`] | the first datagram of a client, which a server reads before it keeps anything |
//! | [`token`] | retry tokens: a client shows that it receives at its address |
//! | [`reset`] | stateless resets: a host that has lost a connection reports it |
//! | [`identity`] | certificates: from files, or made here and pinned by their fingerprint |
//! | [`outbox`] | [`Outbox`]: datagrams to be sent |
//! | [`refused`] | what is refused of datagrams, and how often |
//! | `phases` | keys of the connection, and their updates |
//! | `protection` | the protection of one packet |
//! | `crypto_stream` | the octets of the handshake at one level |

mod crypto_stream;
pub mod hello;
pub mod identity;
pub mod outbox;
mod parameters;
mod phases;
mod protection;
pub mod refused;
pub mod reset;
pub mod session;
pub mod token;

pub use hello::Hello;
pub use outbox::Outbox;
pub use refused::{Refused, RefusedCounts};
pub use session::{Piece, Session, Step};
