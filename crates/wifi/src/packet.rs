//! What a cell carries.

use acklab_base::Datagram;
use acklab_wire::IpPacket;
use acklab_wire::rohc::Ack;

/// A packet as a cell carries it. Of a pure TCP ACK, a driver can read the headers.
pub trait Packet: Datagram + Clone {
    /// The content of its headers, if it is a pure TCP ACK over IPv4.
    fn ack(&self) -> Option<Ack>;

    /// The packet that the peer builds from the decompressed `ack`. What no header holds, such as a simulation's annotations, is taken
    /// from `self`, the packet that was compressed.
    #[must_use]
    fn with_ack(&self, ack: &Ack) -> Self;

    /// The same as [`with_ack`](Self::with_ack) in the memory of `spare`, a packet that is needed no longer.
    #[must_use]
    fn with_ack_in(&self, ack: &Ack, _spare: Self) -> Self {
        self.with_ack(ack)
    }
}

/// An IP packet as octets. Only ACKs that an [`Ack`] represents without loss are compressed.
impl Packet for IpPacket {
    fn ack(&self) -> Option<Ack> {
        self.compressible_ack()
    }

    fn with_ack(&self, ack: &Ack) -> Self {
        self.with_ack(ack)
    }
}
