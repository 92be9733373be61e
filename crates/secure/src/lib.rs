//! TLS 1.3 around the packets of the TACK transport.
//!
//! A [`Session`] is the cryptography of one end of a connection: a state machine without clock and
//! socket. It converts between the [packets](acklab_wire::tack) of a transport and the datagrams of
//! a network. The handshake is that of QUIC (RFC 9001), with rustls' interface for QUIC. Its bytes
//! are sent in Crypto frames, together with the Open and the Accept of the transport. Both
//! handshakes therefore take a single round trip, and the transport's timers repeat both.
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
//! | [`session`] | [`Session`]: the handshake, and the conversion between packets and datagrams |
//! | [`hello`] | the first datagram of a client, which a server reads before it stores any state |
//! | [`token`] | retry tokens: a client shows that it receives at its address |
//! | [`reset`] | stateless resets: a host that has lost a connection reports it |
//! | [`identity`] | certificates: from files, or made here and pinned by their fingerprint |
//! | [`outbox`] | [`Outbox`]: datagrams to be sent |
//! | [`refused`] | reasons for refusing packets, and their counts |
//! | `phases` | keys of the connection, and their updates |
//! | `protection` | the protection of one packet |
//! | `crypto_stream` | the bytes of the handshake at one level |

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
