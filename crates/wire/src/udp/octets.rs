//! A user datagram as the octets of an IPv4 packet, and back.
//!
//! The test header stands at the start of the payload, big-endian: seconds (32 bits), microseconds (32 bits), number (64 bits). The rest
//! of the payload is octets of zero, which add nothing to a checksum, so [`Extent::Headers`] keeps the three headers alone.

use super::{TEST_HEADER, UDP_HEADER, UserDatagram};
use crate::ipv4::{self, Carried, Checksums, Extent, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::{Endpoints, pdu::Pdu as _};
use acklab_base::{Ecn, Instant};
use etherparse::{IpNumber, UdpHeader, UdpHeaderSlice};
use std::net::SocketAddrV4;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// Why a datagram could not be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The packet is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The payload is shorter than the test header.
    #[error("a payload of {octets} octets has no room for the 16 of the test header")]
    TooShort {
        /// Octets of payload.
        octets: u32,
    },
}

/// Why octets could not be decoded as a datagram of test traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not an IPv4 packet with UDP.
    #[error(transparent)]
    Ipv4(#[from] ipv4::DecodeError),
    /// The headers are cut off.
    #[error("the packet carries {present} octets, where the UDP header and that of the test take 24")]
    TooShort {
        /// Octets after the IPv4 header.
        present: usize,
    },
    /// The UDP length differs from that of the IPv4 payload.
    #[error("UDP says {udp} octets, IPv4 {ip}")]
    Length {
        /// The UDP length field.
        udp: usize,
        /// The length of the IPv4 payload.
        ip: usize,
    },
    /// The checksum of the datagram is wrong.
    #[error("the UDP checksum is wrong")]
    Checksum,
    /// The time in the test header is invalid.
    #[error("the test header says {0} microseconds beyond a second")]
    Microseconds(u32),
}

/// Replaces the contents of `octets` with the IPv4 packet that carries `datagram` between `endpoints`.
///
/// # Errors
/// If the datagram does not fit a packet, or the test header does not fit its payload. `octets` is empty then.
pub(super) fn encode(
    datagram: &UserDatagram,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    extent: Extent,
    octets: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    octets.clear();
    if u64::from(datagram.payload) < TEST_HEADER {
        return Err(EncodeError::TooShort { octets: datagram.payload });
    }
    let wire_len = datagram.wire_len().get();
    let total_len = u16::try_from(wire_len).map_err(|_| TooLong { octets: wire_len })?;
    let length = total_len - IPV4_HEADER as u16;

    let mut headers = [0; (UDP_HEADER + TEST_HEADER) as usize];
    let (udp, test) = headers.split_at_mut(UDP_HEADER as usize);
    test.copy_from_slice(&test_header(datagram));
    let mut header = UdpHeader {
        source_port: endpoints.source.port(),
        destination_port: endpoints.destination.port(),
        length,
        checksum: 0,
    };
    udp.copy_from_slice(&header.to_bytes());
    // RFC 768: a checksum of zero is sent as all ones, because zero means "no checksum".
    header.checksum = match ipv4::checksum(IpNumber::UDP, endpoints, &headers, length) {
        0 => u16::MAX,
        sum => sum,
    };
    headers[..UDP_HEADER as usize].copy_from_slice(&header.to_bytes());
    let payload = datagram.payload - TEST_HEADER as u32;
    let carried = Carried { protocol: IpNumber::UDP.0, ecn: datagram.ecn, header: &headers, payload };
    Ok(ipv4::encode(&carried, endpoints, fields, extent, octets)?)
}

fn test_header(datagram: &UserDatagram) -> [u8; TEST_HEADER as usize] {
    let nanos = datagram.sent_at.as_nanos();
    let seconds = (nanos / NANOS_PER_SECOND) as u32;
    let micros = (nanos % NANOS_PER_SECOND / 1000) as u32;
    let mut octets = [0; TEST_HEADER as usize];
    octets[..4].copy_from_slice(&seconds.to_be_bytes());
    octets[4..8].copy_from_slice(&micros.to_be_bytes());
    octets[8..].copy_from_slice(&datagram.number.to_be_bytes());
    octets
}

/// Decodes the datagram in the IPv4 packet at the start of `octets`, and its endpoints.
///
/// # Errors
/// If the octets are not a complete, well-formed datagram of test traffic in IPv4.
pub fn decode(octets: &[u8], checksums: Checksums) -> Result<(Endpoints, UserDatagram), DecodeError> {
    let (ip, carried, length) = ipv4::read(octets, IpNumber::UDP, checksums)?;
    let (Ok(udp), Some(test)) = (UdpHeaderSlice::from_slice(carried), carried.get(UDP_HEADER as usize..)) else {
        return Err(DecodeError::TooShort { present: carried.len() });
    };
    let Some(test) = test.first_chunk::<{ TEST_HEADER as usize }>() else {
        return Err(DecodeError::TooShort { present: carried.len() });
    };
    if usize::from(udp.length()) != length {
        return Err(DecodeError::Length { udp: usize::from(udp.length()), ip: length });
    }
    let endpoints = Endpoints {
        source: SocketAddrV4::new(ip.source_addr(), udp.source_port()),
        destination: SocketAddrV4::new(ip.destination_addr(), udp.destination_port()),
    };
    if checksums == Checksums::Verify {
        ipv4::check_complete(&ip, carried, length)?;
        // RFC 768: zero means that the sender computed no checksum.
        if udp.checksum() != 0 && ipv4::checksum(IpNumber::UDP, endpoints, carried, udp.length()) != 0 {
            return Err(DecodeError::Checksum);
        }
    }
    let word = |at: usize| u32::from_be_bytes([test[at], test[at + 1], test[at + 2], test[at + 3]]);
    let (seconds, micros) = (word(0), word(4));
    if u64::from(micros) >= MICROS_PER_SECOND {
        return Err(DecodeError::Microseconds(micros));
    }
    let datagram = UserDatagram {
        ecn: Ecn::from_bits(ip.ecn().value()),
        number: u64::from(word(8)) << 32 | u64::from(word(12)),
        sent_at: Instant::from_nanos(u64::from(seconds) * NANOS_PER_SECOND + u64::from(micros) * 1000),
        payload: (length - UDP_HEADER as usize) as u32,
    };
    Ok((endpoints, datagram))
}
