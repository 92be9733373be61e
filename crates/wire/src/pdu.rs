//! The contract of a protocol data unit: what an IP packet of a transport carries.

use crate::ipv4::{Extent, Ipv4Fields, TooLong};
use crate::{Endpoints, tcp, udp};
use acklab_base::{AckHeader, Bytes, Ecn};
use std::any::Any;
use std::fmt::Debug;

/// What one transport sends in an IP packet, as a typed value. Whoever carries it knows this contract and no transport by name.
pub trait Pdu: Any + Debug + Send {
    /// The number of its transport among IP's protocols (IANA, Protocol Numbers).
    fn protocol(&self) -> u8;

    /// Octets of the IPv4 packet that carries it, headers included.
    fn wire_len(&self) -> Bytes;

    /// The ECN field of the IP header that it travels in.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Set that field, as a box does that marks the packet. A transport that is not ECN-capable need not keep it.
    fn set_ecn(&mut self, _ecn: Ecn) {}

    /// What its header says to the sender of data, if it is a TCP segment with ACK and without SYN.
    fn ack_header(&self) -> Option<AckHeader> {
        None
    }

    /// Is it a pure ACK, as [`AckHeader::is_pure`] says?
    fn is_pure_ack(&self) -> bool {
        self.ack_header().is_some_and(|header| header.is_pure)
    }

    /// Octets of its payload, which a capture may leave out.
    fn payload(&self) -> u32;

    /// Put the octets of the IPv4 packet that carries it between `endpoints` in place of those in `octets`.
    ///
    /// # Errors
    /// If it does not fit a packet; `octets` is empty then.
    fn encode(
        &self,
        endpoints: Endpoints,
        fields: Ipv4Fields,
        extent: Extent,
        octets: &mut Vec<u8>,
    ) -> Result<(), EncodeError>;
}

/// Why a protocol data unit has no octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A TCP segment.
    #[error(transparent)]
    Tcp(#[from] tcp::EncodeError),
    /// A user datagram.
    #[error(transparent)]
    Udp(#[from] udp::EncodeError),
    /// Of any transport.
    #[error(transparent)]
    TooLong(#[from] TooLong),
}
