//! The packets of these tests.

#![allow(unreachable_pub, reason = "others pass it on")]

pub use super::nodes::attach_nodes;
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId};
use acklab_wifi::access::Category;
use acklab_wire::rohc::Ack;

/// A packet of octets of a flow, with its position in the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The index of the packet's flow in the list of flows.
    pub flow: usize,
    /// The node of the cell that is its destination.
    pub to: usize,
    pub category: Category,
    pub size: Bytes,
    pub number: u64,
}

/// Returns the index of the flow with this key.
pub const fn place_of(flow: FlowKey) -> usize {
    flow.0 as usize
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.size
    }

    fn flow(&self) -> FlowKey {
        FlowKey(self.flow as u64)
    }

    fn destination(&self) -> NodeId {
        NodeId(self.to as u32)
    }

    fn dscp(&self) -> u8 {
        self.category.dscp()
    }

    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    fn set_ecn(&mut self, _ecn: Ecn) {}

    fn ack_header(&self) -> Option<AckHeader> {
        None
    }
}

impl acklab_wifi::Packet for Packet {
    fn ack(&self) -> Option<Ack> {
        None
    }

    fn with_ack(&self, _: &Ack, _: Option<Self>) -> Self {
        unreachable!("nothing here is an ACK")
    }
}
