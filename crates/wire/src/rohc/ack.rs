//! A pure ACK with all fields of its headers.

use crate::Endpoints;
use crate::ipv4::{self, Checksums, Ipv4Fields};
use crate::tcp::octets::HeaderWords;
use crate::tcp::{EncodeError, Headers, Segment, decode, headers};

/// A pure ACK over IPv4, with every field that affects its octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Source and destination.
    pub endpoints: Endpoints,
    /// The segment. [`Segment::is_pure_ack`] returns `true` for it.
    pub segment: Segment,
    /// The other fields of the IPv4 header.
    pub ip: Ipv4Fields,
}

impl Ack {
    /// Returns an ACK of a segment between `endpoints`, with the IPv4 header of a simulated
    /// endpoint.
    #[must_use]
    pub fn of(segment: Segment, endpoints: Endpoints) -> Self {
        Self { endpoints, segment, ip: Ipv4Fields::default() }
    }

    /// Decodes the octets of an IPv4 packet. Returns `None` if it is not a pure ACK, or if
    /// [`headers`](Self::headers) would not restore the same octets: an `Ack` cannot represent IP
    /// options, TCP options that acklab does not support, or a wrong checksum.
    #[must_use]
    pub fn of_octets(octets: &[u8]) -> Option<Self> {
        let (endpoints, segment) = decode(octets, Checksums::Ignore).ok()?;
        let (ip, _) = ipv4::read_header(octets).ok()?;
        let ack = Self { endpoints, segment, ip: Ipv4Fields::of(&ip) };
        (segment.is_pure_ack() && ack.headers().is_ok_and(|headers| headers[..] == *octets)).then_some(ack)
    }

    /// Returns the octets of the headers.
    ///
    /// # Errors
    /// If the options do not fit a header.
    pub fn headers(&self) -> Result<Headers, EncodeError> {
        headers(&self.segment, self.endpoints, self.ip)
    }

    /// Returns the headers as words. Callers should borrow the result instead of moving it: moving
    /// words that were just written costs more than computing them.
    #[inline]
    pub(super) fn header_words(&self) -> Result<HeaderWords, EncodeError> {
        HeaderWords::of(&self.segment, &self.endpoints, &self.ip)
    }

    /// Returns the octet of the irregular chain with all ECN bits (RFC 6846, §8.2:
    /// `tcp_irregular`): the ECN field of IP, the reserved bits of TCP (AE is the last of them),
    /// and CWR and ECE.
    pub(super) const fn ecn_octet(&self) -> u8 {
        self.segment.ecn.bits() << 6 | self.segment.flags.ace()
    }
}
