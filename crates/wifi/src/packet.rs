//! The packets that a cell carries.

use acklab_base::Datagram;
use acklab_wire::IpPacket;
use acklab_wire::rohc::Ack;

/// A packet as a cell carries it. A driver can read the headers of a pure TCP ACK.
pub trait Packet: Datagram + Clone {
    /// Returns the content of its headers, if it is a pure TCP ACK over IPv4.
    fn ack(&self) -> Option<Ack>;

    /// Returns the packet that the peer builds from the decompressed `ack`. Values outside the
    /// headers, such as a simulation's annotations, are copied from `self`, the packet that was
    /// compressed. `spare` is a packet that is no longer needed; its memory may be reused.
    #[must_use]
    fn with_ack(&self, ack: &Ack, spare: Option<Self>) -> Self;
}

/// An IP packet as octets. Only ACKs that an [`Ack`] represents without loss are compressed.
impl Packet for IpPacket {
    fn ack(&self) -> Option<Ack> {
        self.compressible_ack()
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        self.with_ack(ack)
    }
}
