//! What the headers of QUIC show to an observer on the path (RFC 9312, §2).
//!
//! | module | contents |
//! |---|---|
//! | `handshake` | round-trip times by the handshake |
//! | `spin` | round-trip times by the spin bit |

pub(crate) mod handshake;
pub(crate) mod spin;
