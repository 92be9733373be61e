//! Encoding of segments.

use super::options::Layout;
use crate::Endpoints;
use crate::ipv4::{self, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::tcp::{Options, Segment, TCP_HEADER};
use arrayvec::ArrayVec;
use etherparse::IpNumber;

const IP_OCTETS: usize = IPV4_HEADER as usize;
const TCP_OCTETS: usize = TCP_HEADER as usize;

/// The number of octets of both headers, without options and with the maximum of options.
const FIXED: usize = IP_OCTETS + TCP_OCTETS;
const MAX_HEADERS: usize = FIXED + Options::ROOM as usize;

/// The octets of an IPv4 and a TCP header.
pub type Headers = ArrayVec<u8, MAX_HEADERS>;

/// The reasons why a segment cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The packet is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The options are too long for the four bits of the data offset.
    #[error("found {octets} octets of TCP options, expected at most 40")]
    OptionsTooLong {
        /// Octets of the options.
        octets: u64,
    },
}

/// Encodes the headers of `segment`, with the lengths and checksums of the whole packet.
///
/// # Errors
/// If the segment does not fit in a packet, or its options do not fit in a header.
pub fn headers(segment: &Segment, endpoints: Endpoints, fields: Ipv4Fields) -> Result<Headers, EncodeError> {
    Ok(HeaderWords::of(segment, &endpoints, &fields)?.octets())
}

/// Replaces the contents of `octets` with the packet of `segment`, whose payload is `payload`.
///
/// # Errors
/// If the segment does not fit in a packet, or its options do not fit in a header. `octets` is then
/// empty.
pub fn encode_with(
    segment: &Segment,
    payload: &[u8],
    endpoints: Endpoints,
    fields: Ipv4Fields,
    octets: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    octets.clear();
    let segment = Segment { payload: u32::try_from(payload.len()).unwrap_or(u32::MAX), ..*segment };
    octets.extend_from_slice(&HeaderWords::over(&segment, ipv4::sum(payload), &endpoints, &fields)?.octets());
    octets.extend_from_slice(payload);
    Ok(())
}

/// An IPv4 and a TCP header, as words in host order and the octets of the options. Both ends of a
/// compressed ACK check its headers without converting them to octets.
pub(crate) struct HeaderWords {
    fixed: [u32; FIXED / 4],
    options: Layout,
}

impl HeaderWords {
    /// Returns the headers of `segment`, with the lengths and checksums of the whole packet.
    #[inline]
    pub(crate) fn of(segment: &Segment, endpoints: &Endpoints, fields: &Ipv4Fields) -> Result<Self, EncodeError> {
        Self::over(segment, 0, endpoints, fields)
    }

    /// Returns the headers before a payload with this [sum](ipv4::sum()). The length of the headers
    /// is a multiple of four octets, so that sums can be added.
    #[inline]
    fn over(segment: &Segment, payload: u64, endpoints: &Endpoints, fields: &Ipv4Fields) -> Result<Self, EncodeError> {
        let options = Layout::of(&segment.options)
            .ok_or_else(|| EncodeError::OptionsTooLong { octets: segment.options.wire_len() })?;
        let wire_len = (FIXED + options.len()) as u64 + u64::from(segment.payload);
        let total_len = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })?;

        let ip = ipv4::header_words(IpNumber::TCP, segment.ecn, *endpoints, *fields, total_len);
        let mut tcp = tcp_header(segment, *endpoints, options.len() as u8);
        let sum = ipv4::sum_of(&tcp) + options.sum() + payload;
        let checksum = ipv4::checksum_of(IpNumber::TCP, *endpoints, sum, total_len - IP_OCTETS as u16);
        tcp[4] |= u32::from(checksum) << 16;
        let mut fixed = [0; FIXED / 4];
        fixed[..ip.len()].copy_from_slice(&ip);
        fixed[ip.len()..].copy_from_slice(&tcp);
        Ok(Self { fixed, options })
    }

    /// Returns all words except those of the options.
    #[inline]
    pub(crate) const fn fixed(&self) -> &[u32; FIXED / 4] {
        &self.fixed
    }

    /// Returns the octets of the options.
    #[inline]
    pub(crate) fn options(&self) -> &[u8] {
        &self.options.padded()[..self.options.len()]
    }

    /// Returns the checksum of the TCP header.
    #[inline]
    pub(crate) const fn tcp_checksum(&self) -> u16 {
        (self.fixed[FIXED / 4 - 1] >> 16) as u16
    }

    fn octets(&self) -> Headers {
        // Arrays of constant size are copied fast.
        let mut octets = [0; MAX_HEADERS];
        octets[..FIXED].copy_from_slice(&ipv4::octets_of::<_, FIXED>(self.fixed));
        octets[FIXED..].copy_from_slice(self.options.padded());
        let mut headers = Headers::from(octets);
        headers.truncate(FIXED + self.options.len());
        headers
    }
}

/// Returns the words of a TCP header with `options` octets of options and a checksum of zero (RFC
/// 9293, §3.1).
fn tcp_header(segment: &Segment, endpoints: Endpoints, options: u8) -> [u32; TCP_OCTETS / 4] {
    let words = (TCP_OCTETS as u8 + options) / 4;
    [
        u32::from(endpoints.source.port()) << 16 | u32::from(endpoints.destination.port()),
        segment.seq.0,
        segment.ack.0,
        u32::from(words) << 28 | u32::from(segment.flags.bits()) << 16 | u32::from(segment.window),
        0,
    ]
}
