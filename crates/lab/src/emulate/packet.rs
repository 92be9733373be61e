//! The packet of a real host, with the notes that the measurement of its flow adds.

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, Instant, NodeId, Opening};
use acklab_live::diversion::LinkHeader;
use acklab_measure::Observed;
use acklab_measure::capture::DataLink;
use acklab_wire::ipv4::Extent;
use acklab_wire::pdu::EncodeError;
use acklab_wire::rohc::Ack;
use acklab_wire::tcp::Segment;
use acklab_wire::udp::UserDatagram;
use acklab_wire::{IpPacket, IpVersion};

/// Data of a measured flow in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Data {
    /// The stream offset of the first byte.
    pub(super) offset: u64,
    /// The number of bytes.
    pub(super) payload: u32,
}

/// The notes that the measurement of a flow adds to a packet when a host sends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The index of the flow.
    pub(super) flow: u32,
    /// The end that sent the packet: 0 or 1.
    pub(super) end: u8,
    /// The data that the packet carries.
    pub(super) data: Option<Data>,
}

/// The bytes of an IP packet in the network. The type is a pointer, because a packet moves between
/// machines a dozen times.
#[derive(Clone, Debug)]
pub(crate) struct RealPacket(Box<Parts>);

#[derive(Clone, Debug)]
struct Parts {
    packet: IpPacket,
    origin: Instant,
    /// Present if the packet belongs to a measured flow.
    note: Option<Note>,
    /// The link-layer header; empty if there is none.
    link_header: LinkHeader,
}

impl RealPacket {
    /// Creates a packet with content of the time `origin`. Reuses the memory of `spare`, if given.
    pub(crate) fn new(packet: IpPacket, origin: Instant, spare: Option<Self>) -> Self {
        let parts = Parts { packet, origin, note: None, link_header: LinkHeader::new() };
        match spare {
            Some(mut spare) => {
                *spare.0 = parts;
                spare
            }
            None => Self(Box::new(parts)),
        }
    }

    /// Adds the packet's link-layer header.
    pub(crate) fn set_link_header(&mut self, header: &LinkHeader) {
        self.0.link_header.clone_from(header);
    }

    /// Returns the packet's link-layer header; empty if there is none.
    pub(crate) fn link_header(&self) -> &LinkHeader {
        &self.0.link_header
    }

    /// Returns the packet, and the origin time of its content.
    pub(super) fn parts(&self) -> (&IpPacket, Instant) {
        (&self.0.packet, self.0.origin)
    }

    /// Adds the note of the packet's flow, and the origin time of the packet's content.
    pub(super) fn annotate(&mut self, note: Note, origin: Instant) {
        (self.0.note, self.0.origin) = (Some(note), origin);
    }

    /// Returns the note, which is present if the packet belongs to a measured flow.
    pub(super) fn note(&self) -> Option<Note> {
        self.0.note
    }

    /// Returns the parsed packet.
    pub(super) fn ip(&self) -> &IpPacket {
        &self.0.packet
    }

    /// Returns the TCP segment in the packet, if the packet contains one.
    pub(super) fn segment(&self) -> Option<Segment> {
        self.0.packet.segment()
    }

    /// Returns the datagram of test traffic in the packet, if the packet contains one.
    pub(super) fn datagram(&self) -> Option<UserDatagram> {
        self.0.packet.datagram()
    }

    /// Returns `true` if the receiver's kernel alone answers the packet. UDP datagrams are answered
    /// by processes.
    pub(super) fn is_answered_by_kernel(&self) -> bool {
        !self.0.packet.is_udp()
    }

    pub(super) fn octets(&self) -> &[u8] {
        self.0.packet.octets()
    }

    /// Takes the bytes out of a packet that is no longer needed.
    pub(crate) fn take_octets(&mut self) -> Vec<u8> {
        self.0.packet.take_octets()
    }
}

impl Datagram for RealPacket {
    #[inline]
    fn wire_len(&self) -> Bytes {
        self.0.packet.wire_len()
    }

    /// Returns the key of the flow. Flows of different VLANs are different flows.
    #[inline]
    fn flow(&self) -> FlowKey {
        let flow = self.0.packet.flow();
        match self.0.link_header.as_slice() {
            [_, _, _, _, _, _, _, _, _, _, _, _, tag @ .., _, _] if !tag.is_empty() => {
                tag.iter().fold(flow, |flow, octet| FlowKey::of_words(&[flow.0, u64::from(*octet)]))
            }
            _ => flow,
        }
    }

    fn with_ack_number(&self, number: u32) -> Option<Self> {
        let Parts { packet, origin, note, link_header } = &*self.0;
        let packet = packet.with_ack_number(number)?;
        Some(Self(Box::new(Parts { packet, origin: *origin, note: *note, link_header: link_header.clone() })))
    }

    #[inline]
    fn destination(&self) -> NodeId {
        self.0.packet.destination()
    }

    fn hosts(&self) -> [u64; 2] {
        self.0.packet.hosts()
    }

    #[inline]
    fn dscp(&self) -> u8 {
        self.0.packet.dscp()
    }

    #[inline]
    fn ecn(&self) -> Ecn {
        self.0.packet.ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.0.packet.set_ecn(ecn);
    }

    #[inline]
    fn ack_header(&self) -> Option<AckHeader> {
        self.0.packet.ack_header()
    }

    fn opening(&self) -> Option<Opening> {
        self.0.packet.opening()
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.0.packet.is_pure_ack()
    }
}

impl acklab_wifi::Packet for RealPacket {
    fn ack(&self) -> Option<Ack> {
        self.0.packet.ack()
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        let Parts { origin, note, ref link_header, .. } = *self.0;
        Self(Box::new(Parts { packet: self.0.packet.with_ack(ack), origin, note, link_header: link_header.clone() }))
    }
}

impl Observed for RealPacket {
    /// Returns a link type for both IPv4 and IPv6.
    fn link_type(_: IpVersion) -> DataLink {
        DataLink::RAW
    }

    fn origin(&self) -> Instant {
        self.0.origin
    }

    fn payload(&self) -> u32 {
        self.0.packet.payload() as u32
    }

    fn encode(&self, _: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError> {
        let whole = self.0.packet.octets();
        let kept = match extent {
            Extent::Headers => whole.len() - self.0.packet.payload().min(whole.len()),
            Extent::Whole => whole.len(),
        };
        octets.clear();
        octets.extend_from_slice(&whole[..kept]);
        Ok(())
    }
}
