//! The visible properties of QUIC headers to an observer on the path (RFC 9312, §2).
//!
//! | module | contents |
//! |---|---|
//! | `flows` | datagrams of UDP, and the connections that they belong to |
//! | `version` | version numbers |
//! | `header` | long headers |
//! | `short` | short headers without a handshake |
//! | `recognise` | whether a flow of UDP is QUIC |
//! | `ids` | connection ids: other addresses, and several connections between two sockets |
//! | `offload` | datagrams that a card cuts later |
//! | `handshake` | round-trip times by the handshake |
//! | `spin` | round-trip times by the spin bit |

pub(crate) mod flows;
pub(crate) mod handshake;
pub(crate) mod header;
pub(crate) mod ids;
pub(crate) mod offload;
pub(crate) mod recognise;
pub(crate) mod short;
pub(crate) mod spin;
mod version;
