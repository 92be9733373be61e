//! Version negotiation (RFC 9000, §6): the response to a packet of an unknown version that opens a
//! connection.
//!
//! The response is a packet of version 0 with the versions that the server supports, one octet for
//! each. It repeats PKT.SEQ and departure time of the packet to which it responds, because these
//! have the same position in all versions. So an off-path attacker cannot forge a response. A
//! client that receives a response fails, because it supports only one version.

use super::{ConnectionId, Frame, HEADER, Packet, PktSeq, Timestamp, VERSION};
use crate::octets::Octets;
use acklab_base::Ecn;

/// The version of packets that respond to an unknown version.
pub const NEGOTIATION: u8 = 0;
/// The minimum size in octets of a datagram that opens a connection. Smaller datagrams get no
/// response (RFC 9000, §6, §14.1).
pub const MIN_OPEN: usize = 1200;
/// The maximum number of octets sent to an unvalidated address, relative to the octets received
/// from this address (RFC 9000, §8.1).
pub const AMPLIFICATION: u64 = 3;

/// Returns the version of the packet that starts with this octet. The other bits are reserved.
#[must_use]
pub const fn of(first: u8) -> u8 {
    first >> 4
}

/// Returns the first octet of a packet of this version and number. The reserved bits are arbitrary,
/// and derived from the number.
#[must_use]
pub const fn first_octet(version: u8, number: PktSeq) -> u8 {
    // Fibonacci hashing: the highest bits of the number times 2³²/φ, where φ is the golden ratio.
    version << 4 | (number.0.wrapping_mul(0x9e37_79b9) >> 28) as u8
}

/// Returns a server's response to a datagram of an unknown version. Returns `None` if the datagram
/// does not open a connection, if its version is supported, or if it is smaller than the response.
#[must_use]
pub fn answer(datagram: &[u8]) -> Option<Packet> {
    let head = datagram.first_chunk::<{ HEADER as usize }>().filter(|_| datagram.len() >= MIN_OPEN)?;
    if matches!(of(head[0]), NEGOTIATION | VERSION) {
        return None;
    }
    let mut fields = Octets(&head[1..]);
    let connection = ConnectionId(fields.word().filter(|id| *id == 0)?);
    let (number, departed) = (PktSeq(fields.half()?), Timestamp(fields.half()?));
    let frames = std::iter::once(Frame::Versions([VERSION].into())).collect();
    Some(Packet { ecn: Ecn::NotEct, connection, number, departed, frames })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_version_is_answered_with_those_that_are_known() {
        let mut datagram = vec![0; MIN_OPEN];
        datagram[..17].copy_from_slice(&[0x7a, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let answered = answer(&datagram).unwrap();
        assert_eq!((answered.number, answered.departed), (PktSeq(0x0102_0304), Timestamp(0x0506_0708)));
        assert_eq!(answered.frames.last(), Some(&Frame::Versions([VERSION].into())));
        assert_eq!(answer(&datagram[1..]), None, "too small");
        for (place, octet) in [(0, 0x1f), (0, 0x0f), (8, 1)] {
            let mut other = datagram.clone();
            other[place] = octet;
            assert_eq!(answer(&other), None, "known, an answer itself, or on a connection");
        }
    }

    #[test]
    fn reserved_bits_take_all_values() {
        let mut seen = [false; 16];
        (0..100).for_each(|number| seen[usize::from(first_octet(VERSION, PktSeq(number)) & 15)] = true);
        assert_eq!(seen, [true; 16]);
    }
}
