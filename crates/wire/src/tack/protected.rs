//! The form of protected packets.
//!
//! TLS 1.3 protects the packets of a connection between real hosts with three successive sets of
//! keys (RFC 9001, §4). The first octet identifies the keys:
//!
//! ```text
//!  bits  field
//!  4     version
//!  2     level: which keys protect the packet
//!  1     key phase (RFC 9001, §6)                ┐ masked
//!  1     reserved, arbitrary                     ┘
//! ```
//!
//! A packet of the level [`Session`](Level::Session) has the form of an
//! [unprotected packet](super). Packets of the other levels have a length field of 2 octets after
//! the connection ID. It contains the number of all following octets of the packet, so that further
//! packets can follow in the same datagram. A packet that opens a connection is the only one in its
//! datagram and has no length. Its first seventeen octets are neither masked nor encrypted, because
//! a server of another version repeats them.

use super::{ConnectionId, HEADER, TAG, VERSION, version};

/// Octets of the length field of packets that other packets may follow.
pub const LENGTH: usize = 2;
/// The offset of the encrypted octets in a packet of the level [`Session`](Level::Session): after
/// PKT.SEQ.
pub const SEALED_AT: u64 = 1 + 8 + 4;
/// Octets of the sample for the header protection mask (RFC 9001, §5.4.2). The sample begins after
/// PKT.SEQ.
pub const SAMPLE: usize = 16;
/// The key phase bit of the first octet.
pub const PHASE: u8 = 0b10;
/// The bits of the first octet that are masked.
pub const MASKED: u8 = 0b11;

/// The keys that protect a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The keys of the connection, which both endpoints have authenticated.
    Session = 0,
    /// Keys derived from public values. They only detect corruption.
    Initial = 1,
    /// The keys of the handshake, before the endpoints are authenticated.
    Handshake = 2,
}

/// The readable header fields of a protected packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The keys that protect the packet.
    pub level: Level,
    /// The connection ID of the receiver; zero if the packet opens a connection.
    pub connection: ConnectionId,
    /// The offset of PKT.SEQ.
    pub number_at: usize,
    /// The offset of the end of the packet.
    pub end: usize,
}

/// Returns the first octet of a packet before masking.
#[must_use]
pub const fn first_octet(level: Level, phase: bool, number: u32) -> u8 {
    let reserved = version::first_octet(VERSION, super::PktSeq(number)) & 1;
    VERSION << 4 | (level as u8) << 2 | (phase as u8) << 1 | reserved
}

/// Returns the readable header fields of the protected packet at the start of `datagram`. Returns
/// `None` if there is no packet of this version.
#[must_use]
pub fn head(datagram: &[u8]) -> Option<Head> {
    let (&first, rest) = datagram.split_first()?;
    let level = match (version::of(first), first >> 2 & 3) {
        (VERSION, 0) => Level::Session,
        (VERSION, 1) => Level::Initial,
        (VERSION, 2) => Level::Handshake,
        _ => return None,
    };
    let connection = ConnectionId(u64::from_be_bytes(*rest.first_chunk()?));
    let opens = level == Level::Initial && connection == ConnectionId(0);
    let (number_at, end) = if level == Level::Session || opens {
        (9, datagram.len())
    } else {
        let length = usize::from(u16::from_be_bytes(*rest.get(8..)?.first_chunk()?));
        (9 + LENGTH, 9 + LENGTH + length)
    };
    // PKT.SEQ, departure time, one frame and the tag.
    let minimum = number_at + (HEADER as usize - 9) + 1 + TAG as usize;
    (minimum <= end && end <= datagram.len()).then_some(Head { level, connection, number_at, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_identify_keys_connection_and_end() {
        let mut session = vec![first_octet(Level::Session, true, 5)];
        session.extend([0, 0, 0, 0, 0, 0, 0, 7]);
        session.resize(34, 0xff);
        let expected = Head { level: Level::Session, connection: ConnectionId(7), number_at: 9, end: 34 };
        assert_eq!(head(&session), Some(expected));
        assert_eq!((session[0] & PHASE, head(&session[..33])), (PHASE, None), "no room for a frame");
        let mut handshake = vec![first_octet(Level::Handshake, false, 5)];
        handshake.extend([0, 0, 0, 0, 0, 0, 0, 7, 0, 25]);
        handshake.resize(36 + 9, 0xff);
        let expected = Head { level: Level::Handshake, connection: ConnectionId(7), number_at: 11, end: 36 };
        assert_eq!(head(&handshake), Some(expected));
        handshake[10] = 35;
        assert_eq!(head(&handshake), None, "longer than the datagram");
    }

    #[test]
    fn a_packet_that_opens_has_no_length() {
        let mut open = vec![first_octet(Level::Initial, false, 0)];
        open.resize(1200, 0);
        let expected = Head { level: Level::Initial, connection: ConnectionId(0), number_at: 9, end: 1200 };
        assert_eq!(head(&open), Some(expected));
        open[0] = 0x2c;
        assert_eq!(head(&open), None, "another version");
        open[0] = 0x1c;
        assert_eq!(head(&open), None, "there is no such level");
    }
}
