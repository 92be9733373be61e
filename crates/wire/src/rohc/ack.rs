//! What is compressed: a pure ACK with all that its headers say.

use crate::Endpoints;
use crate::ipv4::Ipv4Fields;
use crate::tcp::{EncodeError, Headers, Segment, headers};

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
