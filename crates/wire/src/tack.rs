//! Packets of the TACK transport as values, and their octets over UDP and IPv4.
//!
//! The protocol is described by Li et al., *TACK: Improving Wireless Transport Performance by
//! Taming Acknowledgments*, SIGCOMM 2020, and in its extended version, IEEE/ACM ToN 2021. Both
//! papers encode it in TCP options. The packet format here is modelled on RFC 9000, so that
//! authenticated encryption can wrap it.
//!
//! ```text
//!  octets  field
//!  1       version (4 bits), reserved (4 bits)
//!  8       connection id: the receiver's name of the connection
//!  4       PKT.SEQ: the number of this transmission, modulo 2³²     masked when protected
//!  4       time of departure, in microseconds of the sender's clock  ┐
//!  …       frames                                                    │ enciphered when protected
//!  16      authentication tag                                        ┘
//! ```
//!
//! Unprotected packets carry a tag of zeros, so that sizes equal the sizes of a protected
//! connection. Each packet that an endpoint sends has a PKT.SEQ larger than the PKT.SEQ of the
//! previous packet, whatever its content.
//!
//! Rules for later versions:
//!
//! * The first seventeen octets of a packet that opens a connection are the same in all versions. A
//!   server responds to an unknown version with a packet of version 0: see [`versions`](version).
//! * The reserved bits are ignored. Senders set them arbitrarily, so that no middlebox depends on
//!   their value (RFC 8701, §1).
//! * Frames of types from [`Extension::FIRST`] on include their length, so that a receiver can skip
//!   unknown frames.
//! * Parameters of the handshake include their length as well; unknown ones are skipped (RFC 9000,
//!   §7.4.2).
//!
//! | module | holds |
//! |---|---|
//! | [`number`] | [`PktSeq`], a PKT.SEQ in the form of a header |
//! | [`time`] | [`Timestamp`], a departure time |
//! | [`frame`] | the frames of packets |
//! | [`frames`] | [`Frames`]: the frames of one packet |
//! | [`parameters`] | the handshake parameters of an endpoint |
//! | [`protected`] | the form of packets that are protected |
//! | [`version`] | the response to an unknown version |
//! | [`encode`] and [`decode()`] | octets |

pub mod decode;
pub mod encode;
pub mod frame;
pub mod frames;
pub mod number;
pub mod parameters;
pub mod protected;
pub mod time;
pub mod version;

pub use decode::{DecodeError, decode};
pub use frame::{Crypto, EcnCounts, Extension, Frame, Loss, Run, Stream, Sync, Tack, ranges};
pub use frames::Frames;
pub use number::PktSeq;
pub use parameters::Parameters;
pub use time::Timestamp;

use crate::ipv4::{Extent, IPV4_HEADER, Ipv4Fields};
use crate::log;
use crate::pdu::{self, Pdu};
use crate::quic::PacketType;
use crate::udp::UDP_HEADER;
use crate::{Endpoints, IpPacket};
use acklab_base::{Bytes, Datagram as _, Ecn};
use etherparse::IpNumber;

/// The version of the format.
pub const VERSION: u8 = 1;
/// Octets of the header, including the departure time.
pub const HEADER: u64 = 1 + 8 + 4 + 4;
/// Octets of the authentication tag of AES-GCM and of ChaCha20-Poly1305 (RFC 5116, §5.1; RFC 8439,
/// §2.8).
pub const TAG: u64 = 16;
/// Octets of the IPv4 and UDP headers before a datagram.
pub const BELOW: u64 = IPV4_HEADER + UDP_HEADER;
/// Octets of a packet without frames, including the IPv4 and UDP headers.
pub const OVERHEAD: u64 = BELOW + HEADER + TAG;

/// A connection ID, chosen by the endpoint that receives packets with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u64);

/// A packet over UDP and IPv4. Octets of streams are represented by their lengths.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The connection ID of the receiver.
    pub connection: ConnectionId,
    /// The number of the transmission.
    pub number: PktSeq,
    /// The departure time, by the clock of the sender.
    pub departed: Timestamp,
    /// The frames of the packet.
    pub frames: Frames,
}

impl Clone for Packet {
    fn clone(&self) -> Self {
        Self { frames: self.frames.clone(), ..*self }
    }

    /// Reuses the memory of `self`.
    fn clone_from(&mut self, source: &Self) {
        self.frames.clone_from(&source.frames);
        (self.ecn, self.connection) = (source.ecn, source.connection);
        (self.number, self.departed) = (source.number, source.departed);
    }
}

impl Packet {
    /// Returns `true` if the packet carries a TACK or an IACK.
    #[must_use]
    #[inline]
    pub fn acknowledges(&self) -> bool {
        self.frames.iter().any(Frame::acknowledges)
    }
}

impl Pdu for Packet {
    fn protocol(&self) -> u8 {
        IpNumber::UDP.0
    }

    #[inline]
    fn wire_len(&self) -> Bytes {
        Bytes(OVERHEAD + self.frames.wire_len())
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
        self.frames.payload()
    }

    fn log_entries(&self, to: &mut dyn FnMut(log::Entry<'_>)) {
        let is_handshake =
            |frame: &Frame| matches!(frame, Frame::Open { .. } | Frame::Accept { .. } | Frame::Versions(_));
        let packet_type = if self.frames.iter().any(is_handshake) { PacketType::Initial } else { PacketType::OneRtt };
        to(log::Entry {
            packet_type,
            number: log::Number::Tack(self.number),
            length: HEADER + self.frames.wire_len() + TAG,
            frames: log::Frames::Tack(&self.frames),
        });
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

    fn encode_with(
        &self,
        carried: &[u8],
        endpoints: Endpoints,
        fields: Ipv4Fields,
        octets: &mut Vec<u8>,
    ) -> Result<(), pdu::EncodeError> {
        Ok(encode::encode_with(self, carried, endpoints, fields, octets)?)
    }

    fn decode(packet: &IpPacket, carried: &mut Vec<u8>) -> Option<Self> {
        let (datagram, length) = packet.datagram_payload()?;
        let take = |frame: &Frame, octets: &[u8]| {
            if let Frame::Stream(_) = frame {
                carried.extend_from_slice(octets);
            }
        };
        decode::decode_datagram(datagram.get(..length)?, packet.ecn(), take).ok()
    }
}
