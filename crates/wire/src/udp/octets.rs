//! Converts a user datagram to the octets of an IPv4 packet, and back.
//!
//! The test header is at the start of the payload, big-endian: seconds (32 bits), microseconds (32
//! bits), number (64 bits). The rest of the payload is zeros, which do not change a checksum. So
//! [`Extent::Headers`] only needs the three headers.

use super::header::{self, HeaderError, Received};
use super::{TEST_HEADER, UDP_HEADER, UserDatagram};
use crate::ip_version::IPV6_HEADER;
use crate::ipv4::{self, Carried, Checksums, Extent, IPV4_HEADER, Ipv4Fields, TooLong};
use crate::{Endpoints, pdu::Pdu as _};
use acklab_base::{Ecn, Instant};
use etherparse::{IpNumber, Ipv6Header, UdpHeader};
use std::net::{IpAddr, SocketAddr};

const NANOS_PER_SECOND: u64 = 1_000_000_000;
const MICROS_PER_SECOND: u64 = 1_000_000;

/// The reasons why a datagram cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The packet is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The payload is shorter than the test header.
    #[error("found a payload of {octets} octets, expected at least the 16 of the test header")]
    TooShort {
        /// Octets of payload.
        octets: u32,
    },
}

/// The reasons why octets cannot be decoded as a datagram of test traffic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The octets are not a UDP datagram in IPv4.
    #[error(transparent)]
    Header(#[from] HeaderError),
    /// The test header is incomplete.
    #[error("found {present} octets of payload, expected at least the 16 of the test header")]
    TooShort {
        /// Octets after the UDP header.
        present: usize,
    },
    /// The time of the test header is invalid.
    #[error("found {0} microseconds in the test header, expected less than a second")]
    Microseconds(u32),
}

/// Replaces the contents of `octets` with the IPv4 packet that carries `datagram` between
/// `endpoints`.
///
/// # Errors
/// If the datagram does not fit in a packet, or the test header does not fit in its payload.
/// `octets` is empty then.
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
    test.copy_from_slice(&datagram.test_header());
    udp.copy_from_slice(&header::header(endpoints, test, length));
    let payload = datagram.payload - TEST_HEADER as u32;
    let carried = Carried { protocol: IpNumber::UDP.0, ecn: datagram.ecn, header: &headers, payload };
    Ok(ipv4::encode(&carried, endpoints, fields, extent, octets)?)
}

/// Replaces the contents of `octets` with the IPv4 packet that carries `payload` in a user datagram
/// between `endpoints`.
///
/// # Errors
/// If the payload does not fit in a packet. `octets` is then empty.
pub fn encode_payload(
    payload: &[u8],
    ecn: Ecn,
    endpoints: Endpoints,
    fields: Ipv4Fields,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    octets.clear();
    let length = UDP_HEADER + payload.len() as u64;
    let total = IPV4_HEADER + length;
    let total_len = u16::try_from(total).map_err(|_| TooLong { octets: total })?;
    let udp = header::header(endpoints, payload, length as u16);
    octets.extend_from_slice(&ipv4::header(IpNumber::UDP, ecn, endpoints, fields, total_len));
    octets.extend_from_slice(&udp);
    octets.extend_from_slice(payload);
    Ok(())
}

/// Replaces the contents of `octets` with the IP packet that carries `payload` in a user datagram
/// between these sockets. If either address is IPv6, the packet is IPv6, and an IPv4 address is
/// mapped (RFC 4291, §2.5.5.2).
///
/// # Errors
/// If the payload does not fit in a packet. `octets` is then empty.
pub fn encode_between(
    [source, destination]: [SocketAddr; 2],
    ecn: Ecn,
    payload: &[u8],
    fields: Ipv4Fields,
    octets: &mut Vec<u8>,
) -> Result<(), TooLong> {
    if let (SocketAddr::V4(source), SocketAddr::V4(destination)) = (source, destination) {
        return encode_payload(payload, ecn, Endpoints { source, destination }, fields, octets);
    }
    octets.clear();
    let length = UDP_HEADER + payload.len() as u64;
    let too_long = || TooLong { octets: IPV6_HEADER as u64 + length };
    let address = |socket: SocketAddr| match socket.ip() {
        IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
        IpAddr::V6(address) => address.octets(),
    };
    let ip = Ipv6Header {
        traffic_class: fields.dscp << 2 | ecn.bits(),
        payload_length: u16::try_from(length).map_err(|_| too_long())?,
        next_header: IpNumber::UDP,
        hop_limit: fields.time_to_live,
        source: address(source),
        destination: address(destination),
        ..Ipv6Header::default()
    };
    let udp = UdpHeader::with_ipv6_checksum(source.port(), destination.port(), &ip, payload).map_err(|_| too_long())?;
    octets.extend_from_slice(&ip.to_bytes());
    octets.extend_from_slice(&udp.to_bytes());
    octets.extend_from_slice(payload);
    Ok(())
}

impl UserDatagram {
    /// Returns the header of test traffic at the start of its payload.
    #[must_use]
    pub fn test_header(&self) -> [u8; TEST_HEADER as usize] {
        let nanos = self.sent_at.as_nanos();
        let seconds = (nanos / NANOS_PER_SECOND) as u32;
        let micros = (nanos % NANOS_PER_SECOND / 1000) as u32;
        let mut octets = [0; TEST_HEADER as usize];
        octets[..4].copy_from_slice(&seconds.to_be_bytes());
        octets[4..8].copy_from_slice(&micros.to_be_bytes());
        octets[8..].copy_from_slice(&self.number.to_be_bytes());
        octets
    }

    /// Returns the number of the datagram in a header of test traffic.
    #[must_use]
    pub fn number_in(header: &[u8; TEST_HEADER as usize]) -> u64 {
        header.last_chunk().map_or(0, |number| u64::from_be_bytes(*number))
    }
}

/// Decodes the datagram in the IPv4 packet at the start of `octets`, and its endpoints.
///
/// # Errors
/// If the octets are not a complete, well-formed datagram of test traffic in IPv4.
pub fn decode(octets: &[u8], checksums: Checksums) -> Result<(Endpoints, UserDatagram), DecodeError> {
    let Received { endpoints, ecn, payload, length } = header::read(octets, checksums)?;
    Ok((endpoints, decode_payload(payload, ecn, length)?))
}

/// Decodes the datagram with a payload of `length` octets that begins with `payload`, behind an IP
/// header with this ECN field.
///
/// # Errors
/// If the payload does not begin with a header of test traffic.
pub(crate) fn decode_payload(payload: &[u8], ecn: Ecn, length: usize) -> Result<UserDatagram, DecodeError> {
    let Some(test) = payload.first_chunk::<{ TEST_HEADER as usize }>() else {
        return Err(DecodeError::TooShort { present: payload.len() });
    };
    let word = |at: usize| u32::from_be_bytes([test[at], test[at + 1], test[at + 2], test[at + 3]]);
    let (seconds, micros) = (word(0), word(4));
    if u64::from(micros) >= MICROS_PER_SECOND {
        return Err(DecodeError::Microseconds(micros));
    }
    Ok(UserDatagram {
        ecn,
        number: u64::from(word(8)) << 32 | u64::from(word(12)),
        sent_at: Instant::from_nanos(u64::from(seconds) * NANOS_PER_SECOND + u64::from(micros) * 1000),
        payload: length as u32,
    })
}
