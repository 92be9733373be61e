//! A packet in simulation: what a transport sends, under the header of an IP packet, with when what it tells came into being.

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, Instant, NodeId};
use acklab_wire::Endpoints;
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::pdu::{EncodeError, Pdu};
use acklab_wire::rohc::Ack;
use acklab_wire::tcp::Segment;
use std::any::{Any, TypeId};

/// A typed packet. It moves from box to box as one pointer, so a hop costs the same whatever it carries.
#[derive(Clone, Debug)]
pub struct Packet(Box<Body>);

/// What a packet holds. All that a hop reads are these 64 octets.
#[derive(Debug)]
struct Body {
    header: Header,
    pdu: Box<dyn Carried>,
}

/// What stands around a protocol data unit.
#[derive(Clone, Copy, Debug)]
struct Header {
    route: Route,
    wire_len: u32,
    is_pure_ack: bool,
    born: Instant,
}

/// Who sends a packet where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Addresses and ports.
    pub endpoints: Endpoints,
    /// The flow that these make up with the protocol.
    pub flow: FlowKey,
    /// The node with the destination's address.
    pub destination: NodeId,
    /// Differentiated services codepoint.
    pub dscp: u8,
}

impl Route {
    /// That of a flow of this IP protocol between `endpoints`, to `destination`, with the default codepoint.
    #[must_use]
    pub fn new(protocol: u8, endpoints: Endpoints, destination: NodeId) -> Self {
        Self { endpoints, flow: endpoints.flow_key(protocol), destination, dscp: 0 }
    }
}

/// Any [`Pdu`] that can be copied.
trait Carried: Pdu {
    fn copy(&self) -> Box<dyn Carried>;
}

impl<P: Pdu + Clone> Carried for P {
    fn copy(&self) -> Box<dyn Carried> {
        Box::new(self.clone())
    }
}

const _: () = assert!(size_of::<Body>() <= 64);

impl Clone for Body {
    fn clone(&self) -> Self {
        Self { header: self.header, pdu: self.pdu.copy() }
    }
}

impl Packet {
    /// A packet that carries `pdu`. Data are born when they are sent, an acknowledgment when the newest data arrived that it reports.
    pub fn new<P: Pdu + Clone>(pdu: P, route: Route, born: Instant) -> Self {
        Self(Box::new(Body { header: Header::of(&pdu, route, born), pdu: Box::new(pdu) }))
    }

    /// What it carries, if that is of this type.
    #[must_use]
    #[inline]
    pub fn pdu<P: Pdu>(&self) -> Option<&P> {
        let pdu: &dyn Any = &*self.0.pdu;
        pdu.downcast_ref()
    }

    /// When what it tells came into being.
    #[must_use]
    pub const fn born(&self) -> Instant {
        self.0.header.born
    }

    /// Octets of payload, which a capture may leave out.
    #[must_use]
    pub fn payload(&self) -> u32 {
        self.0.pdu.payload()
    }

    /// Put its octets in place of those in `octets`.
    ///
    /// # Errors
    /// If it does not fit an IPv4 packet; `octets` is empty then.
    pub fn encode(&self, identification: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Route { endpoints, dscp, .. } = self.0.header.route;
        self.0.pdu.encode(endpoints, Ipv4Fields { identification, dscp, ..Ipv4Fields::default() }, extent, octets)
    }
}

impl Header {
    #[inline]
    fn of<P: Pdu>(pdu: &P, route: Route, born: Instant) -> Self {
        Self { route, wire_len: pdu.wire_len().get() as u32, is_pure_ack: pdu.is_pure_ack(), born }
    }
}

impl Datagram for Packet {
    #[inline]
    fn wire_len(&self) -> Bytes {
        Bytes(u64::from(self.0.header.wire_len))
    }

    #[inline]
    fn flow(&self) -> FlowKey {
        self.0.header.route.flow
    }

    #[inline]
    fn destination(&self) -> NodeId {
        self.0.header.route.destination
    }

    #[inline]
    fn dscp(&self) -> u8 {
        self.0.header.route.dscp
    }

    fn ecn(&self) -> Ecn {
        self.0.pdu.ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.0.pdu.set_ecn(ecn);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.0.pdu.ack_header()
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.0.header.is_pure_ack
    }
}

impl acklab_wifi::Packet for Packet {
    fn ack(&self) -> Option<Ack> {
        // The header tells it for most packets; the segment lies elsewhere.
        if !self.is_pure_ack() {
            return None;
        }
        Some(Ack::of(*self.pdu::<Segment>()?, self.0.header.route.endpoints))
    }

    fn with_ack(&self, ack: &Ack) -> Self {
        Self::new(ack.segment, self.0.header.route, self.born())
    }

    fn with_ack_in(&self, ack: &Ack, mut spare: Self) -> Self {
        let place: &mut dyn Any = &mut *spare.0.pdu;
        let Some(place) = place.downcast_mut::<Segment>() else { return self.with_ack(ack) };
        *place = ack.segment;
        spare.0.header = Header::of(place, self.0.header.route, self.born());
        spare
    }
}

/// Packets that have arrived and wait to be used again, so that a run in its stride allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<(TypeId, Vec<Packet>)>);

/// The place of a pool where packets of one type wait.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shelf(usize);

impl Pool {
    /// Where packets that carry a `P` wait.
    pub(crate) fn shelf<P: Pdu>(&mut self) -> Shelf {
        let known = self.0.iter().position(|(of, _)| *of == TypeId::of::<P>());
        Shelf(known.unwrap_or_else(|| {
            self.0.push((TypeId::of::<P>(), Vec::new()));
            self.0.len() - 1
        }))
    }

    /// A packet that carries `pdu`, which is written where it will lie.
    #[inline]
    pub(crate) fn packet<P: Pdu + Clone>(&mut self, shelf: Shelf, pdu: &P, route: &Route, born: Instant) -> Packet {
        if let Some(mut packet) = self.0[shelf.0].1.pop() {
            let place: &mut dyn Any = &mut *packet.0.pdu;
            if let Some(place) = place.downcast_mut::<P>() {
                place.clone_from(pdu);
                packet.0.header = Header::of(pdu, *route, born);
                return packet;
            }
        }
        Packet::new(pdu.clone(), *route, born)
    }

    /// Keeps a packet that has arrived.
    #[inline]
    pub(crate) fn take_back(&mut self, shelf: Shelf, packet: Packet) {
        self.0[shelf.0].1.push(packet);
    }
}
