//! What is compressed: a pure ACK with all that its headers say.

use crate::Endpoints;
use crate::ipv4::{self, Checksums, Ipv4Fields};
use crate::tcp::{EncodeError, Headers, Segment, decode, headers};

/// A pure ACK as it goes over IPv4: each value that its octets depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// Who sends it to whom.
    pub endpoints: Endpoints,
    /// The segment. It is a pure ACK if [it says so](Segment::is_pure_ack).
    pub segment: Segment,
    /// What its IPv4 header says besides.
    pub ip: Ipv4Fields,
}

impl Ack {
    /// This segment between `endpoints`, with the IPv4 header of a simulated endpoint.
    #[must_use]
    pub fn of(segment: Segment, endpoints: Endpoints) -> Self {
        Self { endpoints, segment, ip: Ipv4Fields::default() }
    }

    /// The ACK that these octets of an IPv4 packet stand for, or `None` if they are no pure ACK or if [`headers`](Self::headers) would
    /// write others: an `Ack` holds no IP options, no TCP options that acklab does not know, and no wrong checksum.
    #[must_use]
    pub fn of_octets(octets: &[u8]) -> Option<Self> {
        let (endpoints, segment) = decode(octets, Checksums::Ignore).ok()?;
        let (ip, _) = ipv4::read_header(octets).ok()?;
        let ack = Self { endpoints, segment, ip: Ipv4Fields::of(&ip) };
        (segment.is_pure_ack() && ack.headers().is_ok_and(|headers| headers[..] == *octets)).then_some(ack)
    }

    /// The octets that it stands for.
    ///
    /// # Errors
    /// If its options do not fit a header.
    pub fn headers(&self) -> Result<Headers, EncodeError> {
        headers(&self.segment, self.endpoints, self.ip)
    }
}

/// Octets of an IPv4 and a TCP header without options, after which the options stand.
pub(super) const FIXED_HEADERS: usize = 40;
/// Where the TCP checksum stands in [`Headers`].
pub(super) const TCP_CHECKSUM: std::ops::Range<usize> = 36..38;
