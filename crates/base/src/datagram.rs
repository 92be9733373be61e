//! The fields of a packet that links and Wi-Fi cells read.

use crate::{Bytes, Ecn, FlowKey, NodeId};

/// A packet in the view of queues, links and Wi-Fi cells.
///
/// In simulation, the packet is a typed value. In emulation, the packet is the octets of an IP
/// packet, which are parsed once. The crates `path`, `wifi` and `net` are generic over it, so a
/// queue or an ACK filter works on both.
pub trait Datagram {
    /// Returns the length of the IP packet, headers included.
    fn wire_len(&self) -> Bytes;
    /// Returns the flow: one direction of a connection.
    fn flow(&self) -> FlowKey;
    /// Returns the destination node, or [`NodeId::NOWHERE`] if the destination address belongs to
    /// no node.
    fn destination(&self) -> NodeId;
    /// Returns numbers that identify the sending and the receiving host: their addresses, if the
    /// hosts have addresses.
    fn hosts(&self) -> [u64; 2] {
        [0, self.destination().0.into()]
    }
    /// Returns the differentiated services codepoint (RFC 2474, §3): six bits.
    fn dscp(&self) -> u8 {
        0
    }
    /// Returns the ECN field (RFC 3168, §5).
    fn ecn(&self) -> Ecn;
    /// Sets the ECN field. A queue that marks packets calls this.
    fn set_ecn(&mut self, ecn: Ecn);
    /// Returns the acknowledgment fields of the TCP header. Returns `None` unless the packet is a
    /// TCP segment with ACK and without SYN.
    fn ack_header(&self) -> Option<AckHeader>;

    /// Returns the options of a TCP segment with SYN. Returns `None` for any other packet.
    fn opening(&self) -> Option<Opening> {
        None
    }

    /// Returns the acknowledgment fields of a pure ACK. Returns `None` for any other packet.
    #[inline]
    fn pure_ack(&self) -> Option<AckHeader> {
        self.ack_header().filter(|header| header.is_pure)
    }

    /// Returns a copy of a pure ACK with another acknowledgment number. Returns `None` for any
    /// other packet.
    fn with_ack_number(&self, _number: u32) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Prefetches the data that [`destination`](Self::destination), [`flow`](Self::flow) and
    /// [`wire_len`](Self::wire_len) read, because the packet is about to arrive.
    #[inline]
    fn prefetch_header(&self) {}

    /// Prefetches the data that an endpoint reads. Call after
    /// [`prefetch_header`](Self::prefetch_header).
    #[inline]
    fn prefetch_content(&self) {}

    /// Returns `true` if the packet is a pure ACK, without building its [`AckHeader`] if the type
    /// can avoid that.
    #[inline]
    fn is_pure_ack(&self) -> bool {
        self.pure_ack().is_some()
    }

    /// Returns `true` if the packet acknowledges and carries no data: a pure ACK of TCP, or of
    /// another transport whose packets the type can read.
    #[inline]
    fn is_transport_ack(&self) -> bool {
        self.is_pure_ack()
    }
}

/// The options of a TCP segment with SYN that describe segments and windows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The maximum segment size that the sender of the SYN accepts (RFC 9293, §3.7.1).
    pub mss: Option<u16>,
    /// The left shift of the windows that the sender of the SYN announces (RFC 7323, §2).
    pub window_scale: Option<u8>,
}

/// The fields of an acknowledging TCP segment that decide whether a newer ACK supersedes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckHeader {
    /// Acknowledgment number.
    pub ack: u32,
    /// Window field, unscaled.
    pub window: u16,
    /// The ECN flags AE, CWR and ECE, in bits 2, 1 and 0.
    pub ecn: u8,
    /// The timestamps option (RFC 7323, §3): TSval and TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// The SACK option (RFC 2018, §3).
    pub sack: SackRanges,
    /// `true` if the segment is a pure ACK: no payload, and none of FIN, RST and URG.
    pub is_pure: bool,
    /// `true` if the segment has content that the other fields do not describe: PSH, or an option
    /// besides timestamps and SACK.
    pub has_other_content: bool,
    /// The length of the AccECN option (RFC 9768, §3.2.3), in octets, if AccECN is the only other
    /// content. Otherwise zero.
    pub accurate_ecn: u8,
}

/// Returns `true` if the sequence number `number` of TCP is greater than `other` (RFC 9293, §3.4).
#[must_use]
pub const fn is_after(number: u32, other: u32) -> bool {
    number.wrapping_sub(other).cast_signed() > 0
}

/// The blocks of a SACK option, each with its left and right edge. The right edge is the sequence
/// number after the last octet of the block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackRanges {
    ranges: [(u32, u32); Self::MAX],
    len: u8,
}

impl SackRanges {
    /// The 40 octets of TCP options hold at most four blocks (RFC 2018, §3).
    const MAX: usize = 4;

    /// Returns the blocks in the order of the option.
    #[must_use]
    pub fn as_slice(&self) -> &[(u32, u32)] {
        &self.ranges[..usize::from(self.len)]
    }

    /// Returns `true` if there are no blocks.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl FromIterator<(u32, u32)> for SackRanges {
    /// Ignores blocks after the fourth.
    fn from_iter<I: IntoIterator<Item = (u32, u32)>>(iter: I) -> Self {
        let mut all = Self::default();
        for (slot, range) in all.ranges.iter_mut().zip(iter) {
            *slot = range;
            all.len += 1;
        }
        all
    }
}
