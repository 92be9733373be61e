//! From a segment to octets.

use super::checksum;
use super::options::Layout;
use crate::Endpoints;
use crate::tcp::{Flags, Segment};
use acklab_base::{Datagram, Ecn};
use arrayvec::ArrayVec;
use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader};

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
    let fits = "60 octets of TCP and 20 of IPv4 are 80";
    let ip = ip_header(segment.ecn, endpoints, fields, total_len).to_bytes();
    headers.try_extend_from_slice(&ip).expect(fits);

    let mut tcp = tcp_header(segment, endpoints, &options).to_bytes();
    let checksum = checksum::of_segment(endpoints, &tcp, total_len - ip.len() as u16);
    tcp[CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
    headers.try_extend_from_slice(&tcp).expect(fits);
    Ok(headers)
}

fn ip_header(ecn: Ecn, endpoints: Endpoints, fields: Ipv4Fields, total_len: u16) -> Ipv4Header {
    let mut header = Ipv4Header {
        dscp: IpDscp::try_new(fields.dscp & 0x3f).expect("six bits are a codepoint"),
        ecn: match ecn {
            Ecn::NotEct => IpEcn::ZERO,
            Ecn::Ect1 => IpEcn::ONE,
            Ecn::Ect0 => IpEcn::TWO,
            Ecn::Ce => IpEcn::THREE,
        },
        total_len,
        identification: fields.identification,
        dont_fragment: fields.dont_fragment,
        time_to_live: fields.time_to_live,
        protocol: IpNumber::TCP,
        source: endpoints.source.ip().octets(),
        destination: endpoints.destination.ip().octets(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

fn tcp_header(segment: &Segment, endpoints: Endpoints, options: &Layout) -> TcpHeader {
    let has = |flag| segment.flags.contains(flag);
    let mut header = TcpHeader {
        source_port: endpoints.source.port(),
        destination_port: endpoints.destination.port(),
        sequence_number: segment.seq.0,
        acknowledgment_number: segment.ack.0,
        ns: has(Flags::AE),
        cwr: has(Flags::CWR),
        ece: has(Flags::ECE),
        urg: has(Flags::URG),
        ack: has(Flags::ACK),
        psh: has(Flags::PSH),
        rst: has(Flags::RST),
        syn: has(Flags::SYN),
        fin: has(Flags::FIN),
        window_size: segment.window,
        ..TcpHeader::default()
    };
    header.set_options_raw(options.as_slice()).expect("a layout fits the header");
    header
}
