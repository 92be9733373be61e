//! What a path needs to know of a packet, and nothing more.

use crate::{Bytes, Ecn, FlowKey, NodeId};

/// A packet as the boxes on a wire see it.
///
/// In simulation it is a typed packet, in emulation the octets of an IP packet, parsed once. Path and Wi-Fi are generic
/// over it, so a queue or an ACK filter works on both.
pub trait Datagram {
    /// Octets of the IP packet, headers included.
    fn wire_len(&self) -> Bytes;
    /// The direction of the connection that it belongs to.
    fn flow(&self) -> FlowKey;
    /// The node that it goes to, or [`NodeId::NOWHERE`] if its address belongs to none.
    fn destination(&self) -> NodeId;
    /// Its differentiated services codepoint (RFC 2474, §3): six bits.
    fn dscp(&self) -> u8 {
        0
    }
    /// Its ECN field (RFC 3168, §5).
    fn ecn(&self) -> Ecn;
    /// Set its ECN field, as a box does that marks it.
    fn set_ecn(&mut self, ecn: Ecn);
    /// What its header says to the sender of data, if it is a TCP segment with ACK and without SYN.
    fn ack_header(&self) -> Option<AckHeader>;

    /// The same, if it is a pure ACK.
    #[inline]
    fn pure_ack(&self) -> Option<AckHeader> {
        self.ack_header().filter(|header| header.is_pure)
    }

    /// Is it a pure ACK? For those who need not know what it says.
    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.pure_ack().is_some()
    }
}

/// Of a TCP segment that acknowledges, what decides whether a newer one says all that it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckHeader {
    /// Acknowledgment number.
    pub ack: u32,
    /// Window field, unscaled.
    pub window: u16,
    /// The ECN flags AE, CWR, ECE, as the bits 2, 1, 0.
    pub ecn: u8,
    /// Timestamps (RFC 7323, §3): the value and the echo.
    pub timestamps: Option<(u32, u32)>,
    /// Selective acknowledgment (RFC 2018, §3).
    pub sack: SackRanges,
    /// Is it a pure ACK: no payload, and none of FIN, RST, URG?
    pub is_pure: bool,
    /// Does it say more than stands here: PSH, or an option besides timestamps and SACK?
    pub says_more: bool,
}

/// The blocks of a SACK option, each from its first sequence number to the first after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackRanges {
    ranges: [(u32, u32); Self::MAX],
    len: u8,
}

impl SackRanges {
    /// As many as 40 octets of options hold.
    const MAX: usize = 4;

    /// The blocks in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges[..usize::from(self.len)]
    }

    /// Does it hold no block?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<(u32, u32)> for SackRanges {
    /// Blocks past the fourth are left out.
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(iter: I) -> Self {
        let mut all = Self::default();
        for (place, range) in all.ranges.iter_mut().zip(iter) {
            *place = range;
            all.len += 1;
        }
        all
    }
}
