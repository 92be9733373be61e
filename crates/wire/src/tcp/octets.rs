//! Converts a segment to the octets of an IPv4 packet (RFC 791, RFC 9293), and back.
//!
//! A [`Segment`](super::Segment) contains only the length of its payload, so the payload is encoded
//! as zeros, unless [`encode_with`] gets its octets. Zeros do not change a checksum. So the headers
//! alone ([`Extent::Headers`](crate::ipv4::Extent::Headers)) have the checksums of the whole
//! packet.
//!
//! The urgent pointer is encoded as zero, and ignored when decoding.

mod decode;
mod encode;
mod options;

pub use decode::{DecodeError, decode, payload_of};
pub(crate) use decode::{decode_carried, flags_of, segment_of};
pub(crate) use encode::HeaderWords;
pub use encode::{EncodeError, Headers, encode_with, headers};
pub(crate) use options::{KIND_ACCURATE_ECN, KIND_EXPERIMENT, has_others, read as read_options, take};
