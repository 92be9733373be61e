//! A packet for tests.

use acklab_base::random::{Seed, Stream};
use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowKey, NodeId, Opening};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) flow: u32,
    pub(crate) size: u64,
    pub(crate) ecn: Ecn,
    pub(crate) header: Option<AckHeader>,
    pub(crate) opening: Option<Opening>,
}

/// Returns the draws of a discipline under test.
pub(crate) fn draws() -> Stream {
    Seed(1).stream("queue")
}

/// Returns data of flow 0.
pub(crate) fn data(size: u64) -> Packet {
    Packet { flow: 0, size, ecn: Ecn::NotEct, header: None, opening: None }
}

/// Returns a pure ACK.
pub(crate) fn ack(flow: u32, ack: u32) -> Packet {
    Packet { header: Some(AckHeader { ack, is_pure: true, ..AckHeader::default() }), flow, ..data(52) }
}

impl Packet {
    /// Returns the same packet with a changed header.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut AckHeader)) -> Self {
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

    fn opening(&self) -> Option<Opening> {
        self.opening
    }

    fn with_ack_number(&self, number: u32) -> Option<Self> {
        self.is_pure_ack().then(|| self.with(|header| header.ack = number))
    }
}
