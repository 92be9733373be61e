//! Packets in the form of a log.
//!
//! [`Pdu::log_entries`](crate::Pdu::log_entries) returns the packets of a protocol data unit, so
//! that a log is independent of the transport that sent it.

use crate::tcp::Segment;
use crate::{quic, tack};

/// One packet of a protocol data unit.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The type of the packet in the terms of QUIC. It shows if the packet belongs to the
    /// handshake.
    pub packet_type: quic::PacketType,
    /// The packet number in the form that the packet carries.
    pub number: Number,
    /// The number of octets from the transport header on, without IP and UDP headers.
    pub length: u64,
    /// The content of the packet.
    pub frames: Frames<'a>,
}

/// A packet number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// The packet has none, as in TCP.
    None,
    /// The full number.
    Full(u64),
    /// A truncated number of QUIC.
    Quic(quic::PacketNumber),
    /// A truncated number of TACK.
    Tack(tack::PktSeq),
}

impl Number {
    /// Returns the full number. `largest` is the largest packet number before it. Returns `None`
    /// for a packet without a number.
    #[must_use]
    pub fn expand(self, largest: Option<u64>) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Full(number) => Some(number),
            Self::Quic(number) => Some(number.expand(largest)),
            Self::Tack(number) => Some(number.near(largest.unwrap_or(0))),
        }
    }
}

/// The content of a packet, in the terms of its transport.
#[derive(Clone, Copy, Debug)]
pub enum Frames<'a> {
    /// Frames of QUIC.
    Quic(&'a quic::Frames),
    /// Frames of TACK.
    Tack(&'a tack::Frames),
    /// A TCP segment.
    Tcp(&'a Segment),
}
