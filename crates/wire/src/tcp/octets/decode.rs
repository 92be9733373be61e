//! From octets to a segment.

use super::options;
use crate::Endpoints;
use crate::ipv4::{self, Checksums};
use crate::tcp::{Flags, Options, Segment, SeqNumber};
use acklab_base::Ecn;
use etherparse::err::tcp;
use etherparse::{IpNumber, TcpHeaderSlice};
use std::net::SocketAddrV4;

/// Why octets are no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They are no IPv4 packet that carries TCP.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// There is no TCP header.
    #[error(transparent)]
    Tcp(#[from] tcp::HeaderSliceError),
    /// The checksum of the TCP segment is wrong.
    #[error("the TCP checksum is wrong")]
    TcpChecksum,
    /// The octets of options end where an option's length should be.
    #[error("TCP option {kind} is cut off before its length")]
    OptionWithoutLength {
        /// The kind of option.
        kind: u8,
    },
    /// An option is longer than the header.
    #[error("TCP option {kind} says that it is {len} octets long, where {room} are left")]
    OptionTooLong {
        /// The kind of option.
        kind: u8,
        /// Its length field.
        len: u8,
        /// Octets of options from this one on.
        room: usize,
    },
    /// An option has a length that it cannot have.
    #[error("TCP option {kind} says that it is {len} octets long, which that option cannot be")]
    OptionLength {
        /// The kind of option.
        kind: u8,
        /// Its length field.
        len: u8,
    },
}

/// The segment in the IPv4 packet that `octets` starts with, and between whom it runs. Octets after the packet, as a link
/// layer pads it with, are left out.
///
/// # Errors
/// If the octets are not a whole, well-formed TCP segment in IPv4.
pub fn decode(octets: &[u8], checksums: Checksums) -> Result<(Endpoints, Segment), DecodeError> {
    let (ip, segment, length) = ipv4::read(octets, IpNumber::TCP, checksums)?;
    let tcp = TcpHeaderSlice::from_slice(segment)?;
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
    };
    if checksums == Checksums::Verify {
        ipv4::all_there(&ip, segment, length)?;
        if ipv4::checksum(IpNumber::TCP, endpoints, segment, length as u16) != 0 {
            return Err(DecodeError::TcpChecksum);
        }
    }

    let options = options::read(tcp.options(), flags_of(&tcp))?;
    Ok((endpoints, segment_of(&tcp, Ecn::from_bits(ip.ecn().value()), options, length)))
}

/// The segment with this header, which takes `length` octets of a packet.
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

/// The flags behind the data offset and three reserved bits (RFC 9293, §3.1).
pub(crate) fn flags_of(tcp: &TcpHeaderSlice<'_>) -> Flags {
    Flags::from_bits(u16::from_be_bytes([tcp.slice()[12], tcp.slice()[13]]))
}
