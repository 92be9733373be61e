//! A packet for tests.

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) flow: u32,
    pub(super) size: u64,
    pub(super) ecn: Ecn,
    pub(super) header: Option<AckHeader>,
}

/// Data of flow 0.
pub(super) fn data(size: u64) -> Packet {
    Packet { flow: 0, size, ecn: Ecn::NotEct, header: None }
}

/// A pure ACK.
pub(super) fn ack(flow: u32, ack: u32) -> Packet {
    Packet { header: Some(AckHeader { ack, is_pure: true, ..AckHeader::default() }), flow, ..data(52) }
}

impl Packet {
    /// The same packet with a changed header.
    pub(super) fn with(mut self, change: impl FnOnce(&mut AckHeader)) -> Self {
        self.header.as_mut().map(change);
        self
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes(self.size)
    }

    fn flow(&self) -> FlowKey {
        FlowKey(self.flow.into())
    }

    fn destination(&self) -> NodeId {
        NodeId(0)
    }

    fn ecn(&self) -> Ecn {
        self.ecn
    }

    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    fn ack_header(&self) -> Option<AckHeader> {
        self.header
    }
}
