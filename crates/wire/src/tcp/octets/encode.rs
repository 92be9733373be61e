//! Encoding of segments.

use super::options::Layout;
use crate::Endpoints;
use crate::ipv4::{self, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::tcp::{Options, Segment, TCP_HEADER};
use arrayvec::ArrayVec;
use etherparse::IpNumber;

const IP_OCTETS: usize = IPV4_HEADER as usize;
const TCP_OCTETS: usize = TCP_HEADER as usize;

/// Octets of both headers without options, and with the maximum of options.
const FIXED: usize = IP_OCTETS + TCP_OCTETS;
const MOST: usize = FIXED + Options::ROOM as usize;

/// The octets of an IPv4 and a TCP header.
pub type Headers = ArrayVec<u8, MOST>;

/// Why a segment could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The packet is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The options are too long for the four bits of the data offset.
    #[error("the options take {octets} octets, and a TCP header has room for 40")]
    OptionsTooLong {
        /// Octets of the options.
        octets: u64,
    },
}

/// Encodes the headers of `segment`, with the lengths and checksums of the whole packet.
///
/// # Errors
/// If the segment does not fit a packet, or its options do not fit a header.
pub fn headers(segment: &Segment, endpoints: Endpoints, fields: Ipv4Fields) -> Result<Headers, EncodeError> {
    headers_over(segment, 0, endpoints, fields)
}

/// Replaces the contents of `octets` with the packet of `segment`, whose payload is `payload`.
///
/// # Errors
/// If the segment does not fit a packet, or its options do not fit a header. `octets` is empty then.
pub fn encode_with(
    segment: &Segment,
    payload: &[u8],
    endpoints: Endpoints,
    fields: Ipv4Fields,
    octets: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    octets.clear();
    let segment = Segment { payload: u32::try_from(payload.len()).unwrap_or(u32::MAX), ..*segment };
    octets.extend_from_slice(&headers_over(&segment, ipv4::sum(payload), endpoints, fields)?);
    octets.extend_from_slice(payload);
    Ok(())
}

/// The headers before a payload with this [sum](ipv4::sum()). They have a multiple of four octets, so that sums add up.
fn headers_over(
    segment: &Segment,
    payload: u64,
    endpoints: Endpoints,
    fields: Ipv4Fields,
) -> Result<Headers, EncodeError> {
    let options = Layout::of(&segment.options)
        .ok_or_else(|| EncodeError::OptionsTooLong { octets: segment.options.wire_len() })?;
    let end = FIXED + options.len();
    let wire_len = end as u64 + u64::from(segment.payload);
    let total_len = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })?;

    let mut tcp = tcp_header(segment, endpoints, options.len() as u8);
    let sum = ipv4::sum_of(&tcp) + options.sum() + payload;
    let checksum = ipv4::checksum_of(IpNumber::TCP, endpoints, sum, total_len - IP_OCTETS as u16);
    tcp[4] |= u32::from(checksum) << 16;
    // Copy arrays of constant size, which is fast: both ends of a compressed ACK encode its headers.
    let mut octets = [0; MOST];
    octets[..IP_OCTETS].copy_from_slice(&ipv4::header(IpNumber::TCP, segment.ecn, endpoints, fields, total_len));
    octets[IP_OCTETS..FIXED].copy_from_slice(&ipv4::octets_of(tcp));
    octets[FIXED..].copy_from_slice(options.padded());
    let mut headers = Headers::from(octets);
    headers.truncate(end);
    Ok(headers)
}

/// The words of a TCP header before `options` octets of options, with a checksum of zero (RFC 9293, §3.1).
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
