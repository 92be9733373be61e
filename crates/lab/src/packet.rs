//! A packet in simulation: a segment, and when what it tells came into being.

use acklab_base::{Bytes, Datagram, FlowId, Instant, PureAck};
use acklab_wire::tcp::Segment;

/// A segment on its way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    pub(crate) segment: Segment,
    /// Of data, when it was sent; of an ACK, when the newest data that it reports had arrived.
    pub(crate) born: Instant,
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.segment.wire_len()
    }

    fn flow(&self) -> FlowId {
        self.segment.flow
    }

    fn pure_ack(&self) -> Option<PureAck> {
        self.segment.pure_ack()
    }
}
