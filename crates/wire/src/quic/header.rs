//! Headers before the packet number (RFC 9000, §17).

use super::ConnectionId;
use crate::varint;

/// The header form bit (§17.2).
pub(super) const LONG: u8 = 0x80;
/// The fixed bit.
pub(super) const FIXED: u8 = 0x40;
/// The spin bit of a short header (§17.4).
pub(super) const SPIN: u8 = 0x20;
/// The key phase bit of a short header (RFC 9001, §6).
pub(super) const KEY_PHASE: u8 = 0x04;
/// The type of a long header.
pub(super) const LONG_TYPE: u8 = 0x30;
/// The number of octets in which this module encodes the Length field of a long header.
pub(super) const LENGTH_FIELD: u64 = 2;

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PacketType {
    /// Initial (§17.2.2).
    Initial,
    /// Handshake (§17.2.4).
    Handshake,
    /// 1-RTT (§17.3.1).
    OneRtt,
}

/// The header of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Header {
    /// A long header (§17.2).
    Long(Box<Long>),
    /// A short header (§17.3).
    Short(Short),
}

/// A long header of version 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Long {
    /// The type of packet.
    pub kind: LongKind,
    /// The connection ID of the receiver.
    pub destination: ConnectionId,
    /// The connection ID of the sender.
    pub source: ConnectionId,
}

/// The types of packets with long headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LongKind {
    /// Initial.
    Initial {
        /// The address validation token (§8.1), which may be empty.
        token: Vec<u8>,
    },
    /// Handshake.
    Handshake,
}

/// A short header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Short {
    /// The connection ID of the receiver.
    pub destination: ConnectionId,
    /// The spin bit (§17.4).
    pub spin: bool,
    /// The key phase (RFC 9001, §6).
    pub key_phase: bool,
}

impl Default for Header {
    fn default() -> Self {
        Self::Short(Short::default())
    }
}

impl Header {
    /// Returns the type of the packet.
    #[must_use]
    #[inline]
    pub fn packet_type(&self) -> PacketType {
        match self {
            Self::Short(_) => PacketType::OneRtt,
            Self::Long(long) => match long.kind {
                LongKind::Initial { .. } => PacketType::Initial,
                LongKind::Handshake => PacketType::Handshake,
            },
        }
    }

    /// Returns the connection ID of the receiver.
    #[must_use]
    pub fn destination(&self) -> &ConnectionId {
        match self {
            Self::Short(short) => &short.destination,
            Self::Long(long) => &long.destination,
        }
    }

    /// Returns the number of octets before the packet number.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        match self {
            Self::Short(short) => 1 + short.destination.wire_len(),
            Self::Long(long) => {
                let ids = 1 + long.destination.wire_len() + 1 + long.source.wire_len();
                let token = match &long.kind {
                    LongKind::Initial { token } => varint::len(token.len() as u64) + token.len() as u64,
                    LongKind::Handshake => 0,
                };
                1 + 4 + ids + token + LENGTH_FIELD
            }
        }
    }
}
