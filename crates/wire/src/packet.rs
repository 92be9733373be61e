//! An IPv4 or IPv6 packet as octets, the form of packets on an emulated path.
//!
//! The octets are parsed once. The fields that queues, filters and cells need are stored in
//! addition to the octets. Only an ECN mark changes the octets.
//!
//! | module | holds |
//! |---|---|
//! | `parse` | the headers of IPv4 and IPv6, the flow and the destination |
//! | `ack` | the acknowledgment in a TCP header |
//! | `hosts` | its source and destination host |
//! | `traffic_class` | DSCP and ECN, and the checksum that covers them |

mod ack;
mod hosts;
mod parse;
mod traffic_class;

pub use parse::ParseError;

use crate::endpoints;
use crate::ipv4::IPV4_HEADER;
use crate::rohc;
use crate::tcp::{self, Segment};
use crate::udp::{self, UDP_HEADER, UserDatagram};
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId, Opening};
use etherparse::IpNumber;
use parse::Carried;
use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// An IP packet parsed from octets.
#[derive(Clone, PartialEq, Eq)]
pub struct IpPacket {
    octets: Vec<u8>,
    /// The length according to the IP header; octets may be missing at the end.
    wire_len: u32,
    flow: FlowKey,
    destination: NodeId,
    ack_header: Option<AckHeader>,
    payload: u32,
    carried: Carried,
}

impl IpPacket {
    /// Parses the packet at the start of `octets`, and cuts off the octets after it, such as
    /// padding of the link layer. `resolve` returns the node of an address, or [`NodeId::NOWHERE`].
    ///
    /// For TCP and UDP, the flow is the five-tuple. For other protocols, the flow consists of
    /// addresses and protocol. This also applies to fragments, because only the first fragment has
    /// ports. Octets may be missing after the IP header; an incomplete header of the transport is
    /// ignored.
    ///
    /// # Errors
    /// If the octets do not begin with an IPv4 or an IPv6 header.
    pub fn parse(octets: Vec<u8>, resolve: impl FnOnce(IpAddr) -> NodeId) -> Result<Self, ParseError> {
        let parsed = parse::parse(&octets)?;
        Ok(Self::of(&parsed, octets, resolve))
    }

    /// Like [`parse`](Self::parse), for a packet that is completely present.
    ///
    /// # Errors
    /// If the octets do not begin with an IP header, or end before the packet. Returns the octets
    /// unchanged.
    pub fn parse_whole(octets: Vec<u8>, resolve: impl FnOnce(IpAddr) -> NodeId) -> Result<Self, Vec<u8>> {
        match parse::parse(&octets) {
            Ok(parsed) if parsed.wire_len <= octets.len() => Ok(Self::of(&parsed, octets, resolve)),
            _ => Err(octets),
        }
    }

    fn of(parsed: &parse::Parsed, mut octets: Vec<u8>, resolve: impl FnOnce(IpAddr) -> NodeId) -> Self {
        octets.truncate(parsed.wire_len);
        Self {
            octets,
            wire_len: parsed.wire_len as u32,
            flow: parsed.flow,
            destination: resolve(parsed.destination),
            ack_header: parsed.ack_header,
            payload: parsed.payload as u32,
            carried: parsed.carried,
        }
    }

    /// Returns the octets of the packet that are present.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Returns the number of octets of the TCP or UDP payload that are present, at the end of the
    /// packet. Returns zero for fragments and other protocols.
    #[must_use]
    pub const fn payload(&self) -> usize {
        self.payload as usize
    }

    /// Removes and returns the octets, so that their memory can be reused.
    pub fn take_octets(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.octets)
    }

    /// Sets the length of a packet that is longer than its header can express, such as a segment
    /// that a network interface splits later.
    pub fn lengthen(&mut self, length: u32) {
        self.wire_len = self.wire_len.max(length);
    }

    /// Returns the identification in the IPv4 header (RFC 791, §3.1), or `None` for IPv6.
    #[must_use]
    #[inline]
    pub fn identification(&self) -> Option<u16> {
        match *self.octets {
            [version, _, _, _, high, low, ..] if version >> 4 == 4 => Some(u16::from_be_bytes([high, low])),
            _ => None,
        }
    }

    /// Returns the source and the destination socket of a TCP segment or a UDP datagram. Returns
    /// `None` for fragments and other protocols.
    #[must_use]
    pub fn sockets(&self) -> Option<[SocketAddr; 2]> {
        if !matches!(self.carried.protocol, Some(IpNumber::TCP | IpNumber::UDP)) {
            return None;
        }
        let octets = self.octets.as_slice();
        let [source, destination] = parse::addresses(octets)?;
        let ports = octets.get(self.carried.offset..)?.first_chunk::<4>()?;
        let port = |high: usize| u16::from_be_bytes([ports[high], ports[high + 1]]);
        Some([SocketAddr::new(source, port(0)), SocketAddr::new(destination, port(2))])
    }

    /// Returns the flow of packets in the opposite direction. Returns `None` if
    /// [`sockets`](Self::sockets) returns `None`.
    #[must_use]
    pub fn reverse_flow(&self) -> Option<FlowKey> {
        let [source, destination] = self.sockets()?;
        Some(endpoints::flow_key_between([destination, source], self.carried.protocol?.0))
    }

    /// Returns the number of the protocol behind all IP headers. Returns `None` for a fragment,
    /// because only the first fragment has a header of this protocol.
    #[must_use]
    pub fn protocol(&self) -> Option<u8> {
        self.carried.protocol.map(|protocol| protocol.0)
    }

    /// Returns the number of octets of the IP headers, including extension headers.
    #[must_use]
    pub const fn headers(&self) -> usize {
        self.carried.offset
    }

    /// Returns `true` if the packet carries a whole UDP datagram.
    #[must_use]
    pub fn is_udp(&self) -> bool {
        self.carried.protocol == Some(IpNumber::UDP)
    }

    /// Returns the present part of the payload and the complete length of the payload, if the
    /// packet has this protocol.
    fn carries(&self, protocol: IpNumber) -> Option<(&[u8], usize)> {
        let Carried { protocol: carried, offset } = self.carried;
        (carried == Some(protocol)).then_some((self.octets.get(offset..)?, self.wire_len as usize - offset))
    }

    /// Returns the segment that the packet carries. Returns `None` for a fragment, and for a packet
    /// without a well-formed TCP header. Checksums are ignored.
    #[must_use]
    pub fn segment(&self) -> Option<Segment> {
        let (octets, length) = self.carries(IpNumber::TCP)?;
        tcp::octets::decode_carried(octets, self.ecn(), length).ok()
    }

    /// Returns the present part of the payload of the UDP datagram that the packet carries, and the
    /// complete length of the payload. Returns `None` for a fragment, and for other protocols.
    #[must_use]
    pub fn datagram_payload(&self) -> Option<(&[u8], usize)> {
        const HEADER: usize = UDP_HEADER as usize;
        let (octets, length) = self.carries(IpNumber::UDP)?;
        Some((octets.get(HEADER..)?, length.checked_sub(HEADER)?))
    }

    /// Returns the datagram of test traffic that the packet carries. Returns `None` for a fragment,
    /// and for other protocols. Checksums are ignored.
    #[must_use]
    pub fn datagram(&self) -> Option<UserDatagram> {
        let (payload, length) = self.datagram_payload()?;
        udp::octets::decode_payload(payload, self.ecn(), length).ok()
    }

    /// Returns the pure ACK in a form that a compressor accepts. Returns `None` if this is not a
    /// pure ACK over IPv4, or if [`rohc::Ack`] cannot represent the whole ACK.
    #[must_use]
    pub fn compressible_ack(&self) -> Option<rohc::Ack> {
        if self.is_pure_ack() { rohc::Ack::of_octets(&self.octets) } else { None }
    }

    /// Returns this packet with the octets of `ack`, which belongs to the same flow and has the
    /// same destination.
    #[must_use]
    pub fn with_ack(&self, ack: &rohc::Ack) -> Self {
        let Ok(headers) = ack.headers() else {
            debug_assert!(false, "a decompressor delivers only ACKs that can be encoded");
            return self.clone();
        };
        Self {
            octets: headers.to_vec(),
            wire_len: headers.len() as u32,
            flow: self.flow,
            destination: self.destination,
            ack_header: ack.segment.ack_header(),
            payload: 0,
            carried: Carried { protocol: Some(IpNumber::TCP), offset: IPV4_HEADER as usize },
        }
    }
}

impl Datagram for IpPacket {
    #[inline]
    fn wire_len(&self) -> Bytes {
        Bytes(self.wire_len.into())
    }

    #[inline]
    fn flow(&self) -> FlowKey {
        self.flow
    }

    #[inline]
    fn destination(&self) -> NodeId {
        self.destination
    }

    fn hosts(&self) -> [u64; 2] {
        hosts::of(&self.octets)
    }

    #[inline]
    fn dscp(&self) -> u8 {
        traffic_class::of(&self.octets) >> 2
    }

    #[inline]
    fn ecn(&self) -> Ecn {
        Ecn::from_bits(traffic_class::of(&self.octets))
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        traffic_class::set_ecn(&mut self.octets, ecn);
    }

    #[inline]
    fn ack_header(&self) -> Option<AckHeader> {
        self.ack_header
    }

    fn opening(&self) -> Option<Opening> {
        self.segment()?.opening()
    }

    fn with_ack_number(&self, number: u32) -> Option<Self> {
        let header = self.pure_ack()?;
        let mut copy = self.clone();
        ack::set_number(copy.octets.get_mut(self.carried.offset..)?, number)?;
        copy.ack_header = Some(AckHeader { ack: number, ..header });
        Some(copy)
    }

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.ack_header.as_ref().is_some_and(|header| header.is_pure)
    }
}

impl fmt::Debug for IpPacket {
    /// Prints the packet without its octets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B of {:?} to {:?} {}", self.wire_len, self.flow, self.destination, self.ecn().name())?;
        self.ack_header.iter().try_for_each(|header| write!(f, " {header:?}"))
    }
}
