//! The simulated packet: a transport's protocol data unit, the fields of an IP header, and the
//! origin time of the content.

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, Endpoint, FlowKey, Instant, NodeId, Opening, prefetch};
use acklab_measure::Observed;
use acklab_wire::ipv4::{Extent, Ipv4Fields};
use acklab_wire::pdu::{EncodeError, Pdu};
use acklab_wire::rohc::Ack;
use acklab_wire::tcp::{Segment, SeqNumber};
use acklab_wire::{Endpoints, IpVersion};
use std::any::{Any, TypeId};
use std::sync::Arc;

/// A typed packet. It moves through the network as one pointer, so a hop costs the same for any
/// content.
#[derive(Clone, Debug)]
pub struct Packet(Box<Body>);

/// The content of a packet. A hop reads only the header.
#[derive(Clone, Debug)]
struct Body {
    header: Header,
    pdu: Content,
}

/// The protocol data unit of a packet. Most packets are segments. Segments are therefore stored
/// next to their header, without a pointer.
#[derive(Debug)]
enum Content {
    /// A segment of TCP.
    Segment(Segment),
    /// A protocol data unit of any other transport.
    Other(Box<dyn Carried>),
}

/// The header of a packet, with cached properties of its protocol data unit.
#[derive(Clone, Copy, Debug)]
struct Header {
    route: Route,
    wire_len: u32,
    is_pure_ack: bool,
    is_transport_ack: bool,
    origin: Instant,
}

/// The addresses and other IP fields of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Addresses and ports.
    pub endpoints: Endpoints,
    /// The key of the flow with these addresses, ports and protocol.
    pub flow: FlowKey,
    /// The node that has the destination address.
    pub destination: NodeId,
    /// Differentiated services codepoint.
    pub dscp: u8,
    /// The version of IP.
    pub version: IpVersion,
}

impl Route {
    /// Creates the addressing of packets between `endpoints` to the node `destination`. `protocol`
    /// is the IP protocol number. The version is IPv4, with the default codepoint.
    #[must_use]
    pub fn new(protocol: u8, endpoints: Endpoints, destination: NodeId) -> Self {
        Self { endpoints, flow: endpoints.flow_key(protocol), destination, dscp: 0, version: IpVersion::V4 }
    }
}

/// A [`Pdu`] behind a pointer that can be copied.
trait Carried: Pdu {
    fn copy(&self) -> Box<dyn Carried>;
    fn prefetch(&self);
}

impl<P: Pdu + Clone> Carried for P {
    fn copy(&self) -> Box<dyn Carried> {
        Box::new(self.clone())
    }

    fn prefetch(&self) {
        prefetch(self);
    }
}

impl Content {
    #[inline]
    fn new<P: Pdu + Clone>(pdu: P) -> Self {
        let any: &dyn Any = &pdu;
        match any.downcast_ref() {
            Some(segment) => Self::Segment(*segment),
            None => Self::Other(Box::new(pdu)),
        }
    }

    /// Returns the protocol data unit, if its type is `P`. For a segment, the compiler knows the
    /// result.
    #[inline]
    fn get<P: Pdu>(&self) -> Option<&P> {
        let pdu: &dyn Any = match self {
            Self::Segment(segment) => return (segment as &dyn Any).downcast_ref(),
            Self::Other(pdu) => &**pdu,
        };
        pdu.downcast_ref()
    }

    /// Returns the protocol data unit, mutable, if its type is `P`.
    #[inline]
    fn get_mut<P: Pdu>(&mut self) -> Option<&mut P> {
        let pdu: &mut dyn Any = match self {
            Self::Segment(segment) => return (segment as &mut dyn Any).downcast_mut(),
            Self::Other(pdu) => &mut **pdu,
        };
        pdu.downcast_mut()
    }

    /// Returns the protocol data unit, whatever the transport.
    fn carried(&self) -> &dyn Carried {
        match self {
            Self::Segment(segment) => segment,
            Self::Other(pdu) => &**pdu,
        }
    }
}

impl Clone for Content {
    fn clone(&self) -> Self {
        match self {
            Self::Segment(segment) => Self::Segment(*segment),
            Self::Other(pdu) => Self::Other(pdu.copy()),
        }
    }
}

impl Packet {
    /// Creates a packet that carries `pdu`. `origin` is the origin time of its content. For data,
    /// it is the time of transmission. For an acknowledgment, it is the arrival time of the newest
    /// data that it reports.
    pub fn new<P: Pdu + Clone>(pdu: P, route: Route, origin: Instant) -> Self {
        Self(Box::new(Body { header: Header::of(&pdu, route, origin), pdu: Content::new(pdu) }))
    }

    /// Like [`new`](Self::new), but reuses the memory of `spare` if `spare` also carries a `P`.
    fn reuse<P: Pdu + Clone>(spare: Option<Self>, pdu: P, route: Route, origin: Instant) -> Self {
        if let Some(mut packet) = spare
            && let Some(carried) = packet.pdu_mut::<P>()
        {
            let header = Header::of(&pdu, route, origin);
            *carried = pdu;
            packet.0.header = header;
            return packet;
        }
        Self::new(pdu, route, origin)
    }

    /// Returns the protocol data unit, mutable, if its type is `P`. After changing it, the caller
    /// must update the header.
    #[inline]
    fn pdu_mut<P: Pdu>(&mut self) -> Option<&mut P> {
        self.0.pdu.get_mut()
    }

    /// Returns the protocol data unit. Returns `None` if its type is not `P`.
    #[must_use]
    #[inline]
    pub fn pdu<P: Pdu>(&self) -> Option<&P> {
        self.0.pdu.get()
    }
}

impl Observed for Packet {
    #[inline]
    fn origin(&self) -> Instant {
        self.0.header.origin
    }

    fn payload(&self) -> u32 {
        self.0.pdu.carried().payload()
    }

    fn secrets(&self) -> Option<&Arc<str>> {
        self.0.pdu.carried().secrets()
    }

    fn encode(&self, identification: u16, extent: Extent, octets: &mut Vec<u8>) -> Result<(), EncodeError> {
        let Route { endpoints, dscp, version, .. } = self.0.header.route;
        let fields = Ipv4Fields { identification, dscp, ..Ipv4Fields::default() };
        self.0.pdu.carried().encode(endpoints, fields, extent, octets)?;
        version.convert(octets);
        Ok(())
    }
}

impl Header {
    #[inline]
    fn of<P: Pdu>(pdu: &P, route: Route, origin: Instant) -> Self {
        let mut header = Self { route, wire_len: 0, is_pure_ack: false, is_transport_ack: false, origin };
        header.describe(pdu);
        header
    }

    /// Stores the properties of `pdu` in the header.
    #[inline]
    fn describe<P: Pdu>(&mut self, pdu: &P) {
        self.wire_len = (pdu.wire_len().get() + self.route.version.longer_by()) as u32;
        self.is_pure_ack = pdu.is_pure_ack();
        self.is_transport_ack = self.is_pure_ack || pdu.is_transport_ack();
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

    fn hosts(&self) -> [u64; 2] {
        let endpoints = self.0.header.route.endpoints;
        [endpoints.source, endpoints.destination].map(|end| end.ip().to_bits().into())
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
        self.0.pdu.carried().ecn()
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        match &mut self.0.pdu {
            Content::Segment(segment) => segment.ecn = ecn,
            Content::Other(pdu) => pdu.set_ecn(ecn),
        }
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.0.pdu.carried().ack_header()
    }

    fn opening(&self) -> Option<Opening> {
        self.pdu::<Segment>()?.opening()
    }

    fn with_ack_number(&self, number: u32) -> Option<Self> {
        if !self.is_pure_ack() {
            return None;
        }
        let mut segment = *self.pdu::<Segment>()?;
        segment.ack = SeqNumber(number);
        Some(Self::new(segment, self.0.header.route, self.0.header.origin))
    }

    #[inline]
    fn prefetch_header(&self) {
        prefetch(&self.0.header);
        prefetch(&self.0.pdu);
    }

    #[inline]
    fn prefetch_content(&self) {
        if let Content::Other(pdu) = &self.0.pdu {
            pdu.prefetch();
        }
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.0.header.is_pure_ack
    }

    #[inline]
    fn is_transport_ack(&self) -> bool {
        self.0.header.is_transport_ack
    }
}

impl acklab_wifi::Packet for Packet {
    fn ack(&self) -> Option<Ack> {
        if !self.is_pure_ack() {
            return None;
        }
        Some(Ack::of(*self.pdu::<Segment>()?, self.0.header.route.endpoints))
    }

    fn with_ack(&self, ack: &Ack, spare: Option<Self>) -> Self {
        Self::reuse(spare, ack.segment, self.0.header.route, self.origin())
    }
}

/// Delivered packets whose memory is reused, so that a run in its steady state does not allocate.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<(TypeId, Vec<Packet>)>);

/// The index of a list of a pool: the spare packets of one type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SpareList(usize);

impl Pool {
    /// Returns the list of spare packets that carry a `P`.
    pub(crate) fn spares<P: Pdu>(&mut self) -> SpareList {
        let known = self.0.iter().position(|(of, _)| *of == TypeId::of::<P>());
        SpareList(known.unwrap_or_else(|| {
            self.0.push((TypeId::of::<P>(), Vec::new()));
            self.0.len() - 1
        }))
    }

    /// Returns a packet that carries `pdu`. `origin` has the same meaning as for [`Packet::new`].
    pub(crate) fn packet<P: Pdu + Clone>(
        &mut self,
        spares: SpareList,
        pdu: P,
        route: &Route,
        origin: Instant,
    ) -> Packet {
        Packet::reuse(self.0[spares.0].1.pop(), pdu, *route, origin)
    }

    /// Returns the next packet that `endpoint` sends. Writes its protocol data unit to the memory
    /// of `spare` or of another delivered packet. Returns `None` if the endpoint sends nothing now.
    #[inline(always)]
    pub(crate) fn poll<E>(
        &mut self,
        spares: SpareList,
        spare: Option<Packet>,
        now: Instant,
        endpoint: &mut E,
        route: &Route,
    ) -> Option<Packet>
    where
        E: Endpoint,
        E::Datagram: Pdu + Clone,
    {
        let spares = &mut self.0[spares.0].1;
        let Some(mut packet) = spare.or_else(|| spares.pop()) else {
            let pdu = endpoint.poll(now)?;
            return Some(Packet::new(pdu, *route, endpoint.content_origin(now)));
        };
        let Body { header, pdu } = &mut *packet.0;
        let pdu = pdu.get_mut::<E::Datagram>()?;
        if !endpoint.poll_into(now, pdu) {
            spares.push(packet);
            return None;
        }
        (header.route, header.origin) = (*route, endpoint.content_origin(now));
        header.describe(pdu);
        Some(packet)
    }

    /// Keeps a delivered packet for reuse.
    #[inline]
    pub(crate) fn take_back(&mut self, spares: SpareList, packet: Packet) {
        self.0[spares.0].1.push(packet);
    }
}
