//! From octets to a segment.

use super::{checksum, options};
use crate::Endpoints;
use crate::tcp::{Flags, Segment, SeqNumber};
use acklab_base::{Ecn, FlowId};
use etherparse::err::{ipv4, tcp};
use etherparse::{IpNumber, Ipv4HeaderSlice, TcpHeaderSlice};
use std::net::SocketAddrV4;

/// What to do about checksums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checksums {
    /// Refuse a packet whose checksums are wrong, or whose payload is not all there, so that it cannot be told.
    Verify,
    /// Take the packet as it is: its payload was cut off in a capture, or the sender leaves checksums to a network card.
    Ignore,
}

/// Why octets are no segment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// There is no IPv4 header.
    #[error(transparent)]
    Ipv4(#[from] ipv4::HeaderSliceError),
    /// There is no TCP header.
    #[error(transparent)]
    Tcp(#[from] tcp::HeaderSliceError),
    /// The IPv4 header is longer than the packet that it heads.
    #[error("the IPv4 header has {header} octets and says that the packet has {total}")]
    TotalLength {
        /// Octets of the IPv4 header.
        header: usize,
        /// Its total length.
        total: usize,
    },
    /// It is a part of a packet.
    #[error("the packet is a fragment")]
    Fragment,
    /// It carries something other than TCP.
    #[error("the packet carries protocol {0}, where 6 (TCP) was expected")]
    Protocol(u8),
    /// Octets are missing that the checksum was taken over.
    #[error("the packet has {total} octets, of which {there} are there: its checksum cannot be verified")]
    Cut {
        /// Octets of the packet.
        total: usize,
        /// Octets that are there.
        there: usize,
    },
    /// The checksum of the IPv4 header is wrong.
    #[error("the IPv4 checksum is wrong")]
    Ipv4Checksum,
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
    /// Nobody knows the connection.
    #[error("no flow runs {0}")]
    UnknownFlow(Endpoints),
}

/// The segment in the IPv4 packet that `octets` starts with, and between whom it runs. Octets after the packet, as a link
/// layer pads it with, are left out.
///
/// `flow` tells which flow the endpoints stand for: [`Endpoints::flow`] for what [`encode`](super::encode()) wrote by
/// [`Endpoints::of`].
///
/// # Errors
/// If the octets are not a whole, well-formed TCP segment in IPv4, or of a flow that is not known.
pub fn decode(
    octets: &[u8],
    checksums: Checksums,
    flow: impl FnOnce(Endpoints) -> Option<FlowId>,
) -> Result<(Endpoints, Segment), DecodeError> {
    let ip = Ipv4HeaderSlice::from_slice(octets)?;
    let (header, total) = (ip.slice().len(), usize::from(ip.total_len()));
    if total < header {
        return Err(DecodeError::TotalLength { header, total });
    }
    if checksums == Checksums::Verify && !checksum::holds(ip.slice()) {
        return Err(DecodeError::Ipv4Checksum);
    }
    if ip.is_fragmenting_payload() {
        return Err(DecodeError::Fragment);
    }
    if ip.protocol() != IpNumber::TCP {
        return Err(DecodeError::Protocol(ip.protocol().0));
    }

    let there = octets.len().min(total);
    let segment = &octets[header..there];
    let tcp = TcpHeaderSlice::from_slice(segment)?;
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), tcp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), tcp.destination_port()),
    };
    if checksums == Checksums::Verify {
        if there < total {
            return Err(DecodeError::Cut { total, there });
        }
        if checksum::of_segment(endpoints, segment, segment.len() as u16) != 0 {
            return Err(DecodeError::TcpChecksum);
        }
    }

    // Data offset, three reserved bits, then the flags (RFC 9293, §3.1).
    let flags = Flags::from_bits(u16::from_be_bytes([tcp.slice()[12], tcp.slice()[13]]));
    let segment = Segment {
        flow: flow(endpoints).ok_or(DecodeError::UnknownFlow(endpoints))?,
        ecn: Ecn::from_bits(ip.ecn().value()),
        seq: SeqNumber(tcp.sequence_number()),
        ack: SeqNumber(tcp.acknowledgment_number()),
        flags,
        window: tcp.window_size(),
        options: options::read(tcp.options(), flags)?,
        payload: (total - header - tcp.slice().len()) as u32,
    };
    Ok((endpoints, segment))
}
