//! The packet of a real host, with what the measurement of its flow keeps of it.

use crate::packet::Observed;
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, Instant, NodeId};
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use acklab_wire::rohc::Ack;
use acklab_wire::{IpPacket, IpVersion};
use pcap_file::DataLink;

/// Data of a measured flow in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// The stream offset of the first octet.
    pub(super) offset: u64,
    /// The number of octets.
    pub(super) payload: u32,
}

/// What the measurement of a flow notes when a packet leaves its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The index of the flow.
    pub(super) flow: u32,
    /// The end that sent the packet: 0 or 1.
    pub(super) end: u8,
    /// The data that it carries.
    pub(super) data: Option<Data>,
}

/// The octets of an IP packet that passes the network.
#[derive(Clone, Debug)]
pub(crate) struct RealPacket {
    packet: IpPacket,
    origin: Instant,
    /// Present if the packet belongs to a measured flow.
    pub(super) note: Option<Note>,
}

impl RealPacket {
    /// A packet that is read from its host at `now`.
    pub(super) const fn new(packet: IpPacket, now: Instant) -> Self {
        Self { packet, origin: now, note: None }
    }

    /// The same packet, with the note of its flow and the instant from which its content dates.
    pub(super) fn noted(self, note: Note, origin: Instant) -> Self {
        Self { note: Some(note), origin, ..self }
    }

    pub(super) fn octets(&self) -> &[u8] {
        self.packet.octets()
    }

    pub(super) fn into_octets(self) -> Vec<u8> {
        self.packet.into_octets()
    }
}

impl Datagram for RealPacket {
    #[inline]
    fn wire_len(&self) -> Bytes {
        self.packet.wire_len()
    }

    #[inline]
    fn flow(&self) -> FlowKey {
        self.packet.flow()
    }

    #[inline]
    fn destination(&self) -> NodeId {
        self.packet.destination()
    }

    #[inline]
    fn dscp(&self) -> u8 {
        self.packet.dscp()
    }

    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }

    #[inline]
    fn ack_header(&self) -> Option<AckHeader> {
        self.packet.ack_header()
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.packet.is_pure_ack()
    }
}

impl acklab_wifi::Packet for RealPacket {
    fn ack(&self) -> Option<Ack> {
        self.packet.ack()
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        Self { packet: self.packet.with_ack(ack), origin: self.origin, note: self.note }
    }
}

impl Observed for RealPacket {
    /// IPv4 or IPv6.
    fn link_type(_: IpVersion) -> DataLink {
        DataLink::RAW
    }

    fn origin(&self) -> Instant {
        self.origin
    }

    fn payload(&self) -> u32 {
        self.packet.payload() as u32
    }

    fn encode(&self, _: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError> {
        let whole = self.packet.octets();
        let kept = match extent {
            Extent::Headers => whole.len() - self.packet.payload().min(whole.len()),
            Extent::Whole => whole.len(),
        };
        octets.clear();
        octets.extend_from_slice(&whole[..kept]);
        Ok(())
    }
}
