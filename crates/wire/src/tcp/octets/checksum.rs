//! The Internet checksum (RFC 1071).

use crate::Endpoints;
use etherparse::IpNumber;
use etherparse::checksum::Sum16BitWords;

/// Is the checksum in this IPv4 header right (RFC 791, §3.1)?
pub(super) fn holds(header: &[u8]) -> bool {
    Sum16BitWords::new().add_slice(header).ones_complement() == 0
}

/// The checksum of an IPv4 header that has none yet.
pub(super) fn of_header(header: &[u8]) -> u16 {
    Sum16BitWords::new().add_slice(header).ones_complement().to_be()
}

/// The TCP checksum (RFC 9293, §3.1) of a segment of `len` octets, of which those after `octets` are zero. Taken over a segment that carries its
/// checksum, it is zero if that is right.
pub(super) fn of_segment(endpoints: Endpoints, octets: &[u8], len: u16) -> u16 {
    Sum16BitWords::new()
        .add_4bytes(endpoints.source.ip().octets())
        .add_4bytes(endpoints.destination.ip().octets())
        .add_2bytes([0, IpNumber::TCP.0])
        .add_2bytes(len.to_be_bytes())
        .add_slice(octets)
        .ones_complement()
        .to_be()
}
