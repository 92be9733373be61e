//! The UDP datagram that carries QUIC packets as encrypted bytes.

use crate::tap::{Packet, Space};
use acklab_base::{Bytes, Ecn};
use acklab_wire::Endpoints;
use acklab_wire::ipv4::{Extent, IPV4_HEADER, Ipv4Fields};
use acklab_wire::log;
use acklab_wire::pdu::{EncodeError, Pdu};
use acklab_wire::quic::{Frame, PacketType};
use acklab_wire::udp::{self, UDP_HEADER};
use std::sync::Arc;

/// IP protocol number of UDP (RFC 768).
const PROTOCOL: u8 = 17;

/// A UDP datagram.
#[derive(Clone, Debug)]
pub struct Datagram {
    pub(crate) octets: bytes::Bytes,
    pub(crate) ecn: Ecn,
    /// The unencrypted packets of the datagram, as the ends decrypt them.
    pub(crate) packets: Arc<[Packet]>,
    /// The keys of the connection at the sender when the datagram was sent.
    pub(crate) secrets: Option<Arc<str>>,
    /// The number of stream bytes in the datagram.
    pub(crate) payload: u32,
    /// The offset of the first stream byte.
    pub(crate) offset: Option<u64>,
    /// `true` if one of the 1-RTT packets contains an acknowledgment.
    pub(crate) acknowledges: bool,
}

impl Datagram {
    pub(crate) fn new(octets: Vec<u8>, ecn: Ecn, packets: Vec<Packet>, secrets: Option<Arc<str>>) -> Self {
        let (mut payload, mut first, mut acknowledges) = (0, None, false);
        for packet in &packets {
            payload += packet.frames.payload();
            for frame in packet.frames.iter() {
                match frame {
                    Frame::Stream(stream) => first = first.or(Some(stream.offset)),
                    Frame::Ack(_) => acknowledges |= packet.space == Space::Data,
                    _ => {}
                }
            }
        }
        Self { octets: octets.into(), ecn, packets: packets.into(), secrets, payload, offset: first, acknowledges }
    }

    /// Returns the unencrypted packets of the datagram.
    #[must_use]
    pub fn packets(&self) -> &[Packet] {
        &self.packets
    }

    /// Returns its UDP payload.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }
}

impl Pdu for Datagram {
    fn protocol(&self) -> u8 {
        PROTOCOL
    }

    fn wire_len(&self) -> Bytes {
        Bytes(IPV4_HEADER + UDP_HEADER + self.octets.len() as u64)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn is_transport_ack(&self) -> bool {
        self.payload == 0 && self.acknowledges
    }

    /// Returns the number of zero bytes that a capture may omit. It is zero, because encrypted
    /// bytes cannot be restored from their number.
    fn payload(&self) -> u32 {
        0
    }

    fn secrets(&self) -> Option<&Arc<str>> {
        self.secrets.as_ref()
    }

    fn log_entries(&self, to: &mut dyn FnMut(log::Entry<'_>)) {
        for packet in self.packets.iter() {
            to(log::Entry {
                packet_type: match packet.space {
                    Space::Initial => PacketType::Initial,
                    Space::Handshake => PacketType::Handshake,
                    Space::Data => PacketType::OneRtt,
                },
                number: log::Number::Full(packet.number),
                length: packet.length.into(),
                frames: log::Frames::Quic(&packet.frames),
            });
        }
    }

    /// Encodes the whole datagram, for any `extent`.
    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        _extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError> {
        Ok(udp::octets::encode_payload(&self.octets, self.ecn, endpoints, fields, octets)?)
    }
}
