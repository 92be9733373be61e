//! Packets of QUIC version 1 (RFC 9000) as values, and their octets over UDP and IPv4.
//!
//! A [`Datagram`] contains one packet or several. All except the last have long headers (§12.2).
//! Nothing is encrypted here: packet numbers and first octets are not masked, payloads are
//! readable, and the authentication tag is 16 octets of zero. So all sizes equal the sizes of a
//! protected connection. Octets of streams and of the cryptographic handshake are represented by
//! their lengths.
//!
//! | module | holds |
//! |---|---|
//! | [`connection_id`] | [`ConnectionId`] |
//! | [`number`] | [`PacketNumber`], a packet number in the form of a header (§17.1, appendix A) |
//! | [`header`] | long and short headers (§17) |
//! | `kind` | types of frames |
//! | [`frame`] | the frames of packets (§19; draft-ietf-quic-ack-frequency, draft-ietf-quic-receive-ts) |
//! | [`ack`] | ACK frames |
//! | [`ack_ranges`] | [`AckRanges`]: the packet numbers that they acknowledge |
//! | [`frames`] | [`Frames`]: the frames of one packet |
//! | [`error`] | the codes of errors (§20) |
//! | [`encode`] and [`decode()`] | octets |

pub mod ack;
pub mod ack_ranges;
pub mod connection_id;
pub mod decode;
pub mod encode;
pub mod error;
pub mod frame;
pub mod frames;
pub mod header;
mod kind;
pub mod number;

pub use ack::{Ack, EcnCounts, TimestampRange};
pub use ack_ranges::{AckRanges, OlderRanges};
pub use connection_id::ConnectionId;
pub use decode::{DecodeError, decode};
pub use error::TransportError;
pub use frame::{AckFrequency, Close, Crypto, Direction, Frame, NewConnectionId, Stream};
pub use frames::Frames;
pub use header::{Header, Long, LongKind, PacketType, Short};
pub use number::PacketNumber;

use crate::Endpoints;
use crate::ipv4::{Extent, IPV4_HEADER, Ipv4Fields};
use crate::log;
use crate::pdu::{self, Pdu};
use crate::sequence::Sequence;
use crate::udp::UDP_HEADER;
use acklab_base::{Bytes, Ecn};
use etherparse::IpNumber;

/// The version of long headers (§15).
pub const VERSION: u32 = 1;
/// Octets that authenticated encryption adds to a packet: the tag of the AEADs of TLS 1.3 (RFC
/// 9001, §5.3).
pub const TAG: u64 = 16;
/// Octets of IPv4 and UDP before a datagram.
pub const OUTER_HEADERS: u64 = IPV4_HEADER + UDP_HEADER;
/// The minimum size of a datagram with an ack-eliciting Initial packet (§14.1).
pub const MIN_INITIAL: u64 = 1200;
/// The minimum number of octets of packet number and frames together. Header protection samples 16
/// octets, which begin four octets after the start of the packet number (RFC 9001, §5.4.2).
pub const MIN_SAMPLED: u64 = 4;
/// A QUIC packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The header before the packet number.
    pub header: Header,
    /// The packet number.
    pub number: PacketNumber,
    /// The frames of the packet. There is at least one.
    pub frames: Frames,
}

impl Clone for Packet {
    fn clone(&self) -> Self {
        Self { header: self.header.clone(), number: self.number, frames: self.frames.clone() }
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.header.clone_from(&source.header);
        self.frames.clone_from(&source.frames);
        self.number = source.number;
    }
}

impl Packet {
    /// Returns the number of octets of the packet, including the tag.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        self.header.wire_len() + u64::from(self.number.length()) + self.frames.wire_len() + TAG
    }
}

/// A datagram over UDP and IPv4: one or several packets.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The packets of the datagram. All except the last have long headers.
    pub packets: Sequence<Packet>,
}

impl Clone for Datagram {
    fn clone(&self) -> Self {
        Self { ecn: self.ecn, packets: self.packets.clone() }
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.packets.clone_from(&source.packets);
        self.ecn = source.ecn;
    }
}

impl Datagram {
    /// Returns the number of octets of the UDP payload.
    #[must_use]
    #[inline]
    pub fn udp_payload(&self) -> u64 {
        self.packets.iter().map(Packet::wire_len).sum()
    }

    /// Returns the frames of all packets.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.packets.iter().flat_map(|packet| packet.frames.iter())
    }

    /// Returns `true` if the datagram contains an ACK frame.
    #[must_use]
    #[inline]
    pub fn acknowledges(&self) -> bool {
        self.packets.iter().any(|packet| packet.frames.iter().any(|frame| matches!(frame, Frame::Ack(_))))
    }
}

impl Pdu for Datagram {
    fn protocol(&self) -> u8 {
        IpNumber::UDP.0
    }

    #[inline]
    fn wire_len(&self) -> Bytes {
        Bytes(OUTER_HEADERS + self.udp_payload())
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    #[inline]
    fn is_transport_ack(&self) -> bool {
        self.payload() == 0 && self.acknowledges()
    }

    #[inline]
    fn payload(&self) -> u32 {
        self.packets.iter().map(|packet| packet.frames.payload()).sum()
    }

    fn log_entries(&self, to: &mut dyn FnMut(log::Entry<'_>)) {
        for packet in self.packets.iter() {
            to(log::Entry {
                packet_type: packet.header.packet_type(),
                number: log::Number::Quic(packet.number),
                length: packet.wire_len(),
                frames: log::Frames::Quic(&packet.frames),
            });
        }
    }

    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), pdu::EncodeError> {
        Ok(encode::encode(self, endpoints, fields, extent, octets)?)
    }
}
