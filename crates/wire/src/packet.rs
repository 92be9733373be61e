//! An IP packet as its octets, of either version: what an emulated path carries.
//!
//! The octets are parsed once. What queues, filters and cells ask for afterwards is at hand; only a mark changes the octets.
//!
//! | module | holds |
//! |---|---|
//! | `parse` | the headers of IPv4 and IPv6, and whose packet it is |
//! | `ack` | what a TCP header says to the sender of data |
//! | `traffic_class` | DSCP and ECN, and the checksum that covers them |

mod ack;
mod parse;
mod traffic_class;

pub use parse::ParseError;

use crate::rohc;
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId};
use std::fmt;
use std::net::IpAddr;

/// An IP packet that came as octets.
#[derive(Clone, PartialEq, Eq)]
pub struct IpPacket {
    octets: Vec<u8>,
    /// What its header says; octets may be missing at the end.
    wire_len: u32,
    flow: FlowKey,
    destination: NodeId,
    ack_header: Option<AckHeader>,
}

impl IpPacket {
    /// The packet that `octets` start with. Octets after it, as a link layer pads it with, are cut off. `resolve` tells the node that an
    /// address belongs to, or [`NodeId::NOWHERE`].
    ///
    /// Any IP packet has a length, a destination, a DSCP, an ECN field and a flow. The flow is that of the five-tuple for TCP and UDP;
    /// for other protocols, and for fragments, of which only the first has ports, it is that of addresses and protocol. Octets may be
    /// missing after the IP header; no header that is cut off counts.
    ///
    /// # Errors
    /// If the octets do not start with the header of an IPv4 or an IPv6 packet.
    pub fn parse(mut octets: Vec<u8>, resolve: impl FnOnce(IpAddr) -> NodeId) -> Result<Self, ParseError> {
        let parsed = parse::parse(&octets)?;
        octets.truncate(parsed.wire_len);
        Ok(Self {
            octets,
            wire_len: parsed.wire_len as u32,
            flow: parsed.flow,
            destination: resolve(parsed.destination),
            ack_header: parsed.ack_header,
        })
    }

    /// The octets, as many as there are.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// The octets, whose memory may be used again.
    #[must_use]
    pub fn into_octets(self) -> Vec<u8> {
        self.octets
    }

    /// What a compressor takes: the ACK, if this is a pure one over IPv4 of which nothing would be lost.
    #[must_use]
    pub fn compressible_ack(&self) -> Option<rohc::Ack> {
        if self.is_pure_ack() { rohc::Ack::of_octets(&self.octets) } else { None }
    }

    /// This packet with the octets of `ack`, which is of the same flow and goes to the same node.
    #[must_use]
    pub fn with_ack(&self, ack: &rohc::Ack) -> Self {
        let Ok(headers) = ack.headers() else {
            debug_assert!(false, "a decompressor delivers nothing that has no octets");
            return self.clone();
        };
        Self {
            octets: headers.to_vec(),
            wire_len: headers.len() as u32,
            flow: self.flow,
            destination: self.destination,
            ack_header: ack.segment.ack_header(),
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

    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.ack_header.as_ref().is_some_and(|header| header.is_pure)
    }
}

impl fmt::Debug for IpPacket {
    /// Without the octets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B of {:?} to {:?} {}", self.wire_len, self.flow, self.destination, self.ecn().name())?;
        self.ack_header.iter().try_for_each(|header| write!(f, " {header:?}"))
    }
}
