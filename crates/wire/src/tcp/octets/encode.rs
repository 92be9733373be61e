//! From a segment to octets.

use super::checksum;
use super::options::Layout;
use crate::Endpoints;
use crate::tcp::{IPV4_HEADER, Segment, TCP_HEADER};
use acklab_base::{Datagram, Ecn};
use arrayvec::ArrayVec;
use etherparse::IpNumber;

const IP_OCTETS: usize = IPV4_HEADER as usize;
const TCP_OCTETS: usize = TCP_HEADER as usize;

/// The time to live of what an endpoint sends: the value that RFC 1700 recommends and Linux uses.
const TIME_TO_LIVE: u8 = 64;
/// Where the TCP checksum stands in a TCP header.
const CHECKSUM: std::ops::Range<usize> = 16..18;

/// The octets of an IPv4 and a TCP header.
pub type Headers = ArrayVec<u8, 80>;

/// What an IPv4 header says that a [`Segment`] does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ipv4Fields {
    /// Differentiated services (RFC 2474, §3): six bits.
    pub dscp: u8,
    /// Identification (RFC 791, §3.1; RFC 6864).
    pub identification: u16,
    /// Don't fragment.
    pub dont_fragment: bool,
    /// Time to live.
    pub time_to_live: u8,
}

impl Default for Ipv4Fields {
    fn default() -> Self {
        Self { dscp: 0, identification: 0, dont_fragment: true, time_to_live: TIME_TO_LIVE }
    }
}

/// How much of a packet is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The headers, whose lengths and checksums are those of the whole packet: at most 80 octets.
    Headers,
    /// The headers and the payload.
    Whole,
}

/// Why a segment has no octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The total length of an IPv4 packet has 16 bits.
    #[error("a packet of {octets} octets is longer than the 65535 that IPv4 allows")]
    TooLong {
        /// What it would take.
        octets: u64,
    },
    /// The data offset of a TCP header has four bits.
    #[error("the options take {octets} octets, and a TCP header has room for 40")]
    OptionsTooLong {
        /// What they would take.
        octets: u64,
    },
}

/// Put the octets of `segment`, sent between `endpoints` in an IPv4 packet with this `identification`, in place of those in
/// `octets`, whose memory is used again.
///
/// # Errors
/// If the segment does not fit a packet, or its options a header; `octets` is empty then.
pub fn encode(
    segment: &Segment,
    endpoints: Endpoints,
    identification: u16,
    extent: Extent,
    octets: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    octets.clear();
    let headers = headers(segment, endpoints, Ipv4Fields { identification, ..Ipv4Fields::default() })?;
    octets.extend_from_slice(&headers);
    if extent == Extent::Whole {
        octets.resize(octets.len() + segment.payload as usize, 0);
    }
    Ok(())
}

/// The headers of `segment`, with the lengths and checksums of the whole packet.
///
/// # Errors
/// If the segment does not fit a packet, or its options a header.
pub fn headers(segment: &Segment, endpoints: Endpoints, fields: Ipv4Fields) -> Result<Headers, EncodeError> {
    let options = Layout::of(&segment.options)
        .ok_or_else(|| EncodeError::OptionsTooLong { octets: segment.options.wire_len() })?;
    let wire_len = segment.wire_len().get();
    let total_len = u16::try_from(wire_len).map_err(|_| EncodeError::TooLong { octets: wire_len })?;

    let mut headers = Headers::new();
    let mut put =
        |octets: &[u8]| headers.try_extend_from_slice(octets).expect("60 octets of TCP and 20 of IPv4 are 80");
    put(&ip_header(segment.ecn, endpoints, fields, total_len));
    put(&tcp_header(segment, endpoints, options.as_slice().len() as u8));
    put(options.as_slice());
    let checksum = checksum::of_segment(endpoints, &headers[IP_OCTETS..], total_len - IP_OCTETS as u16);
    headers[IP_OCTETS..][CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
    Ok(headers)
}

/// An IPv4 header without options (RFC 791, §3.1).
fn ip_header(ecn: Ecn, endpoints: Endpoints, fields: Ipv4Fields, total_len: u16) -> [u8; IP_OCTETS] {
    let mut header = [0; IP_OCTETS];
    let words = (IP_OCTETS / 4) as u8;
    header[0] = 4 << 4 | words;
    header[1] = fields.dscp << 2 | ecn.bits();
    header[2..4].copy_from_slice(&total_len.to_be_bytes());
    header[4..6].copy_from_slice(&fields.identification.to_be_bytes());
    header[6] = u8::from(fields.dont_fragment) << 6;
    header[8] = fields.time_to_live;
    header[9] = IpNumber::TCP.0;
    header[12..16].copy_from_slice(&endpoints.source.ip().octets());
    header[16..20].copy_from_slice(&endpoints.destination.ip().octets());
    let checksum = checksum::of_header(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// A TCP header ahead of so many octets of options, without its checksum (RFC 9293, §3.1).
fn tcp_header(segment: &Segment, endpoints: Endpoints, options: u8) -> [u8; TCP_OCTETS] {
    let mut header = [0; TCP_OCTETS];
    let words = (TCP_OCTETS as u8 + options) / 4;
    header[0..2].copy_from_slice(&endpoints.source.port().to_be_bytes());
    header[2..4].copy_from_slice(&endpoints.destination.port().to_be_bytes());
    header[4..8].copy_from_slice(&segment.seq.0.to_be_bytes());
    header[8..12].copy_from_slice(&segment.ack.0.to_be_bytes());
    header[12..14].copy_from_slice(&(u16::from(words) << 12 | segment.flags.bits()).to_be_bytes());
    header[14..16].copy_from_slice(&segment.window.to_be_bytes());
    header
}
