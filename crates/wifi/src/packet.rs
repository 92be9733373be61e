//! What a cell carries.

use acklab_base::Datagram;
use acklab_wire::IpPacket;
use acklab_wire::rohc::Ack;

/// A packet as a cell carries it: one of which a driver can read the headers, if it is a pure ACK.
pub trait Packet: Datagram + Clone {
    /// All that its headers say, if it is a pure ACK over IPv4.
    fn ack(&self) -> Option<Ack>;

    /// The packet that the other end makes of `ack`, which it has decompressed. What no header holds, such as the notes of a
    /// simulation, it has from this one, which was compressed.
    #[must_use]
    fn with_ack(&self, ack: &Ack) -> Self;
}

/// An IP packet that came as octets. Only what an [`Ack`] holds without loss is compressed; other ACKs go as they are.
impl Packet for IpPacket {
    fn ack(&self) -> Option<Ack> {
        self.compressible_ack()
    }

    fn with_ack(&self, ack: &Ack) -> Self {
        self.with_ack(ack)
    }
}
