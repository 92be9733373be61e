//! A TCP segment in a packet, typed, as simulations carry it.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId};
use acklab_wifi::Packet;
use acklab_wire::ipv4::Ipv4Fields;
use acklab_wire::rohc::Ack;
use acklab_wire::tcp::Segment;
use acklab_wire::{Endpoints, Pdu};

/// A segment with the fields of its IPv4 header.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Typed {
    pub flow: FlowKey,
    pub to: NodeId,
    pub endpoints: Endpoints,
    pub ip: Ipv4Fields,
    pub segment: Segment,
    /// Its position in its flow, from 1, if a test numbers them. It is not in any header.
    pub number: usize,
}

impl Typed {
    pub fn new(endpoints: Endpoints, to: usize, dscp: u8, segment: Segment) -> Self {
        let flow = endpoints.flow_key(segment.protocol());
        let ip = Ipv4Fields { dscp, ..Ipv4Fields::default() };
        Self { flow, to: NodeId(to as u32), endpoints, ip, segment, number: 0 }
    }

    pub const fn is_data(&self) -> bool {
        self.segment.payload > 0
    }
}

impl Datagram for Typed {
    fn wire_len(&self) -> Bytes {
        self.segment.wire_len()
    }

    fn flow(&self) -> FlowKey {
        self.flow
    }

    fn destination(&self) -> NodeId {
        self.to
    }

    fn hosts(&self) -> [u64; 2] {
        [self.endpoints.source, self.endpoints.destination].map(|end| end.ip().to_bits().into())
    }

    fn dscp(&self) -> u8 {
        self.ip.dscp
    }

    fn ecn(&self) -> Ecn {
        self.segment.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.segment.ecn = ecn;
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.segment.ack_header()
    }
}

impl Packet for Typed {
    fn ack(&self) -> Option<Ack> {
        self.is_pure_ack().then_some(Ack { endpoints: self.endpoints, segment: self.segment, ip: self.ip })
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        Self { segment: ack.segment, ip: ack.ip, ..*self }
    }
}
