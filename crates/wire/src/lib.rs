//! Octets to typed headers and back.
//!
//! | module | holds |
//! |---|---|
//! | [`endpoints`] | [`Endpoints`]: addresses and ports, and the rule that gives each flow its own |
//! | [`rohc`] | compressed TCP ACKs: ROHC-TCP (RFC 6846), and what TCP/HACK makes of it |
//! | [`tcp`] | [`tcp::Segment`] and its options, sequence numbers, and the octets of both |

pub mod endpoints;
pub mod rohc;
pub mod tcp;

pub use endpoints::Endpoints;
