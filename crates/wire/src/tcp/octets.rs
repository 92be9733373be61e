//! A segment as the octets of an IPv4 packet (RFC 791, RFC 9293), and back.
//!
//! The payload of a [`Segment`](super::Segment) is a length, so on the wire it is octets of zero, which add nothing to a
//! checksum: the headers alone ([`Extent::Headers`]) already carry the checksums of the whole packet.
//!
//! What a segment does not hold is fixed on the way out and ignored on the way in: TTL 64, don't fragment
//! and no differentiated service in IPv4; no urgent pointer in TCP.

mod checksum;
mod decode;
mod encode;
mod options;

pub use decode::{Checksums, DecodeError, decode};
pub use encode::{EncodeError, Extent, encode};
