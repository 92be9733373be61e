//! From a segment to octets.

use super::options::Layout;
use crate::Endpoints;
use crate::ipv4::{self, Extent, TooLong};
use crate::tcp::{Flags, Segment};
use acklab_base::Datagram;
use etherparse::{IpNumber, TcpHeader};

/// Where the TCP checksum stands in a TCP header.
const CHECKSUM: std::ops::Range<usize> = 16..18;

/// Why a segment has no octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// It is longer than a packet may be.
    #[error(transparent)]
    TooLong(#[from] TooLong),
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
    let options = Layout::of(&segment.options)
        .ok_or_else(|| EncodeError::OptionsTooLong { octets: segment.options.wire_len() })?;
    let wire_len = segment.wire_len().get();
    let total_len = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })?;

    let ip = ipv4::header(IpNumber::TCP, segment.ecn, endpoints, identification, total_len).to_bytes();
    octets.extend_from_slice(&ip);

    let mut tcp = tcp_header(segment, endpoints, &options).to_bytes();
    let checksum = ipv4::checksum(IpNumber::TCP, endpoints, &tcp, total_len - ip.len() as u16);
    tcp[CHECKSUM].copy_from_slice(&checksum.to_be_bytes());
    octets.extend_from_slice(&tcp);

    if extent == Extent::Whole {
        octets.resize(usize::from(total_len), 0);
    }
    Ok(())
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
