//! A segment as the octets of an IPv4 packet (RFC 791, RFC 9293), and back.
//!
//! The payload of a [`Segment`](super::Segment) is a length, so on the wire it is octets of zero, which add nothing to a
//! checksum: the headers alone ([`Extent::Headers`]) already carry the checksums of the whole packet.
//!
//! What a segment does not hold is ignored on the way in. On the way out TCP has no urgent pointer, and IPv4 says what
//! [`Ipv4Fields`] say: with [`encode`] TTL 64, don't fragment and no differentiated service.

mod checksum;
mod decode;
mod encode;
mod options;

pub use decode::{Checksums, DecodeError, decode};
pub use encode::{EncodeError, Extent, Headers, Ipv4Fields, encode, headers};
pub(crate) use options::{KIND_ACCURATE_ECN, KIND_EXPERIMENT, take};
