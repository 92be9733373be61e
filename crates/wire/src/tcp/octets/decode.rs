//! Decoding of segments.

use super::options;
use crate::Endpoints;
use crate::ipv4::{self, Checksums};
use crate::tcp::{Flags, Options, Segment, SeqNumber};
use acklab_base::Ecn;
use etherparse::err::tcp;
use etherparse::{IpNumber, TcpHeaderSlice};
use std::net::SocketAddrV4;

/// The reasons why octets cannot be decoded as a segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not an IPv4 packet with TCP.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// There is no valid TCP header.
    #[error(transparent)]
    Tcp(#[from] tcp::HeaderSliceError),
    /// The checksum of the TCP segment is wrong.
    #[error("the TCP checksum is wrong")]
    TcpChecksum,
    /// The options end before the length of an option.
    #[error("TCP option {kind} is cut off before its length")]
    OptionWithoutLength {
        /// The kind of option.
        kind: u8,
    },
    /// An option is longer than the header.
    #[error("TCP option {kind}: found length {len}, expected at most {room}")]
    OptionTooLong {
        /// The kind of option.
        kind: u8,
        /// The length field of the option.
        len: u8,
        /// Octets from the start of this option to the end of the options.
        room: usize,
    },
    /// An option has an invalid length.
    #[error("TCP option {kind}: length {len} is invalid")]
    OptionLength {
        /// The kind of option.
        kind: u8,
        /// The length field of the option.
        len: u8,
    },
}

/// Decodes the segment in the IPv4 packet at the start of `octets`, and its endpoints. Octets after
/// the packet, such as padding of the link layer, are ignored.
///
/// # Errors
/// If the octets are not a complete, well-formed TCP segment in IPv4.
pub fn decode(octets: &[u8], checksums: Checksums) -> Result<(Endpoints, Segment), DecodeError> {
    let (ip, segment, length) = ipv4::read(octets, IpNumber::TCP, checksums)?;
    let tcp = TcpHeaderSlice::from_slice(segment)?;
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
    };
    if checksums == Checksums::Verify {
        ipv4::check_complete(&ip, segment, length)?;
        if ipv4::checksum(IpNumber::TCP, endpoints, segment, length as u16) != 0 {
            return Err(DecodeError::TcpChecksum);
        }
    }

    Ok((endpoints, whole_segment(&tcp, Ecn::from_bits(ip.ecn().value()), length)?))
}

/// Returns the present part of the payload of `segment`, which was decoded from the packet at the
/// start of `octets`.
#[must_use]
pub fn payload_of<'a>(octets: &'a [u8], segment: &Segment) -> &'a [u8] {
    let Ok((_, carried, length)) = ipv4::read(octets, IpNumber::TCP, Checksums::Ignore) else { return &[] };
    carried.get(length.saturating_sub(segment.payload as usize)..).unwrap_or_default()
}

/// Decodes the segment of `length` octets at the start of `octets`, behind an IP header with this
/// ECN field. The checksum is ignored.
///
/// # Errors
/// If `octets` do not begin with a well-formed TCP header.
pub(crate) fn decode_carried(octets: &[u8], ecn: Ecn, length: usize) -> Result<Segment, DecodeError> {
    whole_segment(&TcpHeaderSlice::from_slice(octets)?, ecn, length)
}

fn whole_segment(tcp: &TcpHeaderSlice<'_>, ecn: Ecn, length: usize) -> Result<Segment, DecodeError> {
    let options = options::read(tcp.options(), flags_of(tcp))?;
    Ok(segment_of(tcp, ecn, options, length))
}

/// Returns the segment of `length` octets with this header.
pub(crate) fn segment_of(tcp: &TcpHeaderSlice<'_>, ecn: Ecn, options: Options, length: usize) -> Segment {
    Segment {
        ecn,
        seq: SeqNumber(tcp.sequence_number()),
        ack: SeqNumber(tcp.acknowledgment_number()),
        flags: flags_of(tcp),
        window: tcp.window_size(),
        options,
        payload: (length - tcp.slice().len()) as u32,
    }
}

/// Returns the flags, which follow the data offset and three reserved bits (RFC 9293, §3.1).
pub(crate) fn flags_of(tcp: &TcpHeaderSlice<'_>) -> Flags {
    Flags::from_bits(u16::from_be_bytes([tcp.slice()[12], tcp.slice()[13]]))
}
