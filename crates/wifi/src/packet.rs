//! What a cell carries.

use acklab_base::Datagram;
use acklab_wire::IpPacket;
use acklab_wire::rohc::Ack;

/// A packet as a cell carries it: one of which a driver can read the headers, if it is a pure ACK.
pub trait Packet: Datagram + Clone {
    /// All that its headers say, if it is a pure ACK over IPv4.
    fn ack(&self) -> Option<Ack>;

    /// Returns the packet that the peer rebuilds from `ack`, which it has decompressed. What no header holds, such as the notes of a
    /// simulation, is taken from this packet, which was compressed. `spare` is a packet that nobody needs any more; its memory may be
    /// used again.
    #[must_use]
    fn with_ack(&self, ack: &Ack, spare: Option<Self>) -> Self;
}

/// An IP packet that came as octets. Only what an [`Ack`] holds without loss is compressed; other ACKs go as they are.
impl Packet for IpPacket {
    fn ack(&self) -> Option<Ack> {
        self.compressible_ack()
    }

    fn with_ack(&self, ack: &Ack, _: Option<Self>) -> Self {
        self.with_ack(ack)
    }
}
