//! The properties of QUIC headers that an observer on the path can read (RFC 9312, §2).
//!
//! | module | contents |
//! |---|---|
//! | `flows` | datagrams of UDP, and the connections that they belong to |
//! | `version` | version numbers |
//! | `header` | long headers |
//! | `short` | short headers without a handshake |
//! | `recognise` | decides whether a flow of UDP is QUIC |
//! | `ids` | connection IDs, for migrations and for several connections between two sockets |
//! | `offload` | datagrams that a NIC splits later |
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
