//! What cells carry in these tests.

#![allow(unreachable_pub, reason = "others pass it on")]

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowId};
use acklab_wire::rohc::Ack;

/// A packet that is nothing but octets of a flow. It knows its place there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub flow: FlowId,
    pub size: Bytes,
    pub number: u64,
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.size
    }

    fn flow(&self) -> FlowId {
        self.flow
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

    fn with_ack(&self, _: &Ack) -> Self {
        unreachable!("nothing here is an ACK")
    }
}
