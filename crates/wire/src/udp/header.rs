//! The UDP header (RFC 768), for any payload.

use super::UDP_HEADER;
use crate::Endpoints;
use crate::ipv4::{self, Checksums};
use acklab_base::Ecn;
use etherparse::{IpNumber, UdpHeader, UdpHeaderSlice};
use std::net::SocketAddrV4;

/// The reasons why octets are not a UDP datagram in IPv4.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// The octets are not an IPv4 packet that carries UDP.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// The UDP header is incomplete.
    #[error("found {present} octets, expected at least the 8 of a UDP header")]
    TooShort {
        /// Octets after the IPv4 header.
        present: usize,
    },
    /// The lengths of UDP and IPv4 differ.
    #[error("found UDP length {udp}, expected {ip} as in the IPv4 header")]
    Length {
        /// The length field of UDP.
        udp: usize,
        /// The length of the IPv4 payload.
        ip: usize,
    },
    /// The checksum of the datagram is wrong.
    #[error("the UDP checksum is wrong")]
    Checksum,
}

/// A received datagram.
pub(crate) struct Received<'a> {
    pub(crate) endpoints: Endpoints,
    pub(crate) ecn: Ecn,
    /// The part of the payload that is present.
    pub(crate) payload: &'a [u8],
    /// Octets of the payload, including missing ones.
    pub(crate) length: usize,
}

/// Returns the header of a datagram of `length` octets. Its payload is `payload`, followed by
/// zeros.
pub(crate) fn header(endpoints: Endpoints, payload: &[u8], length: u16) -> [u8; UDP_HEADER as usize] {
    let mut header = UdpHeader {
        source_port: endpoints.source.port(),
        destination_port: endpoints.destination.port(),
        length,
        checksum: 0,
    };
    // The header consists of whole words, so both parts can be summed separately.
    let sum = ipv4::sum(&header.to_bytes()) + ipv4::sum(payload);
    // RFC 768: a sum of zero is sent as all ones, because zero means that there is no checksum.
    header.checksum = match ipv4::checksum_of(IpNumber::UDP, endpoints, sum, length) {
        0 => u16::MAX,
        sum => sum,
    };
    header.to_bytes()
}

/// Reads the datagram in the IPv4 packet at the start of `octets`.
pub(crate) fn read(octets: &[u8], checksums: Checksums) -> Result<Received<'_>, HeaderError> {
    let (ip, carried, length) = ipv4::read(octets, IpNumber::UDP, checksums)?;
    let (Ok(udp), Some(payload)) = (UdpHeaderSlice::from_slice(carried), carried.get(UDP_HEADER as usize..)) else {
        return Err(HeaderError::TooShort { present: carried.len() });
    };
    if usize::from(udp.length()) != length {
        return Err(HeaderError::Length { udp: usize::from(udp.length()), ip: length });
    }
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), udp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), udp.destination_port()),
    };
    if checksums == Checksums::Verify {
        ipv4::check_complete(&ip, carried, length)?;
        // RFC 768: zero means that the sender computed no checksum.
        if udp.checksum() != 0 && ipv4::checksum(IpNumber::UDP, endpoints, carried, udp.length()) != 0 {
            return Err(HeaderError::Checksum);
        }
    }
    let ecn = Ecn::from_bits(ip.ecn().value());
    Ok(Received { endpoints, ecn, payload, length: length - UDP_HEADER as usize })
}
