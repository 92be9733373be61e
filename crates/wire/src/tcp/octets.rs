//! A segment as the octets of an IPv4 packet (RFC 791, RFC 9293), and back.
//!
//! The payload of a [`Segment`](super::Segment) is a length, so on the wire it is octets of zero, which add nothing to a
//! checksum: the headers alone ([`Extent::Headers`](crate::ipv4::Extent::Headers)) already carry the checksums of the whole packet.
//!
//! There is no urgent pointer; on the way in it is ignored.

mod decode;
mod encode;
mod options;

pub use decode::{DecodeError, decode};
pub(crate) use decode::{flags_of, segment_of};
pub use encode::{EncodeError, Headers, headers};
pub(crate) use options::{KIND_ACCURATE_ECN, KIND_EXPERIMENT, has_others, read as read_options, take};
