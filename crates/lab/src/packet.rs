//! A packet in simulation: what a transport sends, and when what it tells came into being.

use acklab_base::{AckHeader, Bytes, Datagram, Ecn, FlowId, Instant};
use acklab_wire::Pdu;
use acklab_wire::rohc::Ack;
use std::borrow::Borrow;

/// What a transport sends, on its way. It moves from box to box as a pointer, so a hop costs the same whatever options it carries.
#[derive(Clone, Debug)]
pub(crate) struct Packet(Box<Body>);

/// What a packet holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) pdu: Pdu,
    /// Octets of its IP packet.
    pub(crate) wire_len: Bytes,
    /// Of data, when it was sent; of an ACK, when the newest data that it reports had arrived.
    pub(crate) born: Instant,
}

impl Packet {
    pub(crate) const fn body(&self) -> &Body {
        &self.0
    }
}

impl Borrow<Pdu> for Packet {
    fn borrow(&self) -> &Pdu {
        &self.0.pdu
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        self.0.wire_len
    }

    fn flow(&self) -> FlowId {
        self.0.pdu.flow()
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

    fn is_pure_ack(&self) -> bool {
        self.0.pdu.is_pure_ack()
    }
}

impl acklab_wifi::Packet for Packet {
    fn ack(&self) -> Option<Ack> {
        match &self.0.pdu {
            Pdu::Tcp(segment) if segment.is_pure_ack() => Some(Ack::of(*segment)),
            _ => None,
        }
    }

    fn with_ack(&self, ack: &Ack) -> Self {
        Self(Box::new(Body { pdu: ack.segment.into(), ..*self.0 }))
    }
}

/// Packets that have arrived and wait to be used again, so that a run in its stride allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool(Vec<Packet>);

impl Pool {
    /// A packet with this segment or datagram, which is written where it will lie.
    pub(crate) fn packet<P: Copy + Datagram + Into<Pdu>>(&mut self, pdu: &P, born: Instant) -> Packet {
        let wire_len = pdu.wire_len();
        match self.0.pop() {
            Some(mut packet) => {
                packet.0.pdu = (*pdu).into();
                (packet.0.wire_len, packet.0.born) = (wire_len, born);
                packet
            }
            None => Packet(Box::new(Body { pdu: (*pdu).into(), wire_len, born })),
        }
    }

    pub(crate) fn take_back(&mut self, packet: Packet) {
        self.0.push(packet);
    }
}
