//! What a path needs to know of a packet, and nothing more.

use crate::{Bytes, Ecn, FlowId};

/// A packet as the boxes on a wire see it.
///
/// In simulation it is a typed packet, in emulation the octets of an IP packet, parsed once. Path and Wi-Fi are generic
/// over it, so a queue or an ACK filter works on both.
pub trait Datagram {
    /// Octets of the IP packet, headers included.
    fn wire_len(&self) -> Bytes;
    /// The direction of the connection that it belongs to.
    fn flow(&self) -> FlowId;
    /// Its ECN field (RFC 3168, §5).
    fn ecn(&self) -> Ecn;
    /// Set its ECN field, as a box does that marks it.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Its header, if it is a pure TCP ACK: no payload, and none of SYN, FIN, RST, URG.
    fn pure_ack(&self) -> Option<PureAck>;
}

/// Of a pure TCP ACK, what decides whether a newer one says all that it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PureAck {
    /// Acknowledgment number.
    pub ack: u32,
    /// Window field, unscaled.
    pub window: u16,
    /// The ECN flags AE, CWR, ECE, as the bits 2, 1, 0.
    pub ecn: u8,
    /// Does it carry a SACK option?
    pub has_sack: bool,
}
