//! The options of a TCP segment.

use super::SeqNumber;
use std::fmt;

/// The options that acklab's endpoints use.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Timestamps (RFC 7323, §3).
    pub timestamps: Option<Timestamps>,
    /// Selective acknowledgment (RFC 2018, §3).
    pub sack: SackBlocks,
    /// AccECN (RFC 9768, §3.2.3), not on a SYN without ACK.
    pub accurate_ecn: Option<AccurateEcn>,
    /// Maximum segment size (RFC 9293, §3.7.1), on SYN.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323, §2), on SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018, §2), on SYN.
    pub sack_permitted: bool,
    /// ACK Congestion Control Permitted (RFC 5690, §4.1), on SYN.
    pub ack_congestion_control: bool,
    /// ACK Ratio (RFC 5690, §4.2), on data: the number of segments to acknowledge with one ACK.
    pub ack_ratio: Option<u8>,
    /// TCP ACK Rate Request (draft-ietf-tcpm-ack-rate-request).
    pub ack_rate: Option<AckRate>,
}

/// A TCP ACK Rate Request option (TARR, draft-ietf-tcpm-ack-rate-request), in one of its two
/// lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckRate {
    /// Valid on a SYN: the sender of the segment supports requests.
    Supported,
    /// Valid on data: requests an ACK per this number of full-sized segments, at most
    /// [`MAX`](Self::MAX). 0 requests an immediate ACK of this segment.
    Every(u8),
}

impl AckRate {
    /// The maximum of R, a field of seven bits.
    pub const MAX: u8 = 127;

    /// Returns the number of octets on the wire, without padding.
    #[must_use]
    pub const fn wire_len(self) -> u64 {
        match self {
            Self::Supported => 4,
            Self::Every(_) => 5,
        }
    }
}

/// The two fields of a timestamps option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// TSval: the sender's timestamp clock.
    pub value: u32,
    /// TSecr: the most recent TSval of the peer, echoed.
    pub echo: u32,
}

/// The order of counters in an AccECN option. The CE counter is always the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOrder {
    /// ECT(0), CE, ECT(1): `AccECN0`.
    Ect0First,
    /// ECT(1), CE, ECT(0): `AccECN1`.
    Ect1First,
}

/// An AccECN option: the octets of payload that have arrived with each codepoint, modulo 2²⁴ (RFC
/// 9768, §3.2.3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    order: FieldOrder,
    fields: [u32; Self::MAX],
    len: u8,
}

impl AccurateEcn {
    /// The number of counters.
    pub const MAX: usize = 3;
    /// The modulus of a counter.
    pub const MODULUS: u64 = 1 << 24;

    /// Returns an option with the first three of `counters`, modulo 2²⁴.
    #[must_use]
    pub fn new(order: FieldOrder, counters: &[u64]) -> Self {
        let mut fields = [0; Self::MAX];
        let len = counters.len().min(Self::MAX);
        fields.iter_mut().zip(counters).for_each(|(field, counter)| *field = (counter % Self::MODULUS) as u32);
        Self { order, fields, len: len as u8 }
    }

    /// Returns the order of the counters.
    #[must_use]
    pub const fn order(&self) -> FieldOrder {
        self.order
    }

    /// Returns the counters in the option.
    #[must_use]
    pub fn fields(&self) -> &[u32] {
        &self.fields[..usize::from(self.len)]
    }

    /// Returns the counter of octets marked CE, if present.
    #[must_use]
    pub fn marked(&self) -> Option<u32> {
        self.fields().get(1).copied()
    }

    /// Returns the number of octets on the wire, without padding.
    #[must_use]
    pub const fn len(&self) -> u64 {
        2 + 3 * self.len as u64
    }

    /// Returns `true` if the option has no counter.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A block of octets that the receiver has: from `start` (inclusive) to `end` (exclusive).
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First octet of the block.
    pub start: SeqNumber,
    /// First octet after the block.
    pub end: SeqNumber,
}

/// Up to four SACK blocks, newest first.
#[derive(Clone, Copy, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// The maximum number of blocks in 40 octets of options.
    pub const MAX: usize = 4;

    /// Appends `block`. Returns `false` if there is no room.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else { return false };
        *slot = block;
        self.len += 1;
        true
    }

    /// Keeps the first `len` blocks.
    pub fn truncate(&mut self, len: usize) {
        self.len = len.min(usize::from(self.len)) as u8;
    }

    /// Returns the blocks, in the order of the option.
    #[must_use]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Returns `true` if there is no block.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl PartialEq for SackBlocks {
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl Eq for SackBlocks {}

impl FromIterator<SackBlock> for SackBlocks {
    /// Ignores blocks after the fourth.
    fn from_iter<I: IntoIterator<Item = SackBlock>>(iter: I) -> Self {
        let mut blocks = Self::default();
        iter.into_iter().take(Self::MAX).for_each(|block| {
            blocks.push(block);
        });
        blocks
    }
}

impl Options {
    /// The maximum number of octets of options that the data offset allows.
    pub const ROOM: u64 = 40;

    /// Returns the number of octets on the wire, padded to a multiple of four. TCP stacks insert
    /// padding between options. This padding is omitted if the options do not fit otherwise.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        if self.has_nothing_but_timestamps() {
            return if self.timestamps.is_some() { 12 } else { 0 };
        }
        self.wire_len_of_many()
    }

    /// Returns `true` if there are no options except timestamps, the common case.
    #[inline]
    pub(crate) const fn has_nothing_but_timestamps(&self) -> bool {
        self.sack.is_empty()
            && self.accurate_ecn.is_none()
            && self.ack_ratio.is_none()
            && self.ack_rate.is_none()
            && !(self.mss.is_some() || self.window_scale.is_some())
            && !(self.sack_permitted || self.ack_congestion_control)
    }

    fn wire_len_of_many(&self) -> u64 {
        let aligned = self.aligned_len();
        if aligned <= Self::ROOM {
            return aligned;
        }
        let dense = self.dense_len();
        if dense <= Self::ROOM { dense } else { aligned }
    }

    /// Returns the length with the padding that TCP stacks insert. Two NOPs precede timestamps and
    /// SACK. On a SYN, SACK-permitted replaces the NOPs of the timestamps. ACK Ratio follows one
    /// NOP before the SACK. TARR and AccECN follow as many NOPs as their alignment requires.
    pub(super) fn aligned_len(&self) -> u64 {
        let accurate_ecn = self.accurate_ecn.map_or(0, |option| option.len().next_multiple_of(4));
        let timestamps = if self.timestamps.is_some() { 12 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 4 + 8 * self.sack.as_slice().len() as u64 };
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 4 } else { 0 };
        let permitted = if self.sack_permitted && self.timestamps.is_none() { 4 } else { 0 };
        let congestion_control = if self.ack_congestion_control { 4 } else { 0 };
        let ratio = match self.ack_ratio {
            None => 0,
            Some(_) if self.sack.is_empty() => 8,
            Some(_) => 4,
        };
        let rate = self.ack_rate.map_or(0, |option| option.wire_len().next_multiple_of(4));
        timestamps + sack + mss + scale + permitted + congestion_control + ratio + rate + accurate_ecn
    }

    /// Returns the length without padding between the options.
    fn dense_len(&self) -> u64 {
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.as_slice().len() as u64 };
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let permitted = if self.sack_permitted { 2 } else { 0 };
        let congestion_control = if self.ack_congestion_control { 4 } else { 0 };
        let ratio = if self.ack_ratio.is_some() { 5 } else { 0 };
        let accurate_ecn = self.accurate_ecn.map_or(0, |option| option.len());
        let rate = self.ack_rate.map_or(0, AckRate::wire_len);
        let all = timestamps + sack + mss + scale + permitted + congestion_control + ratio + rate + accurate_ecn;
        all.next_multiple_of(4)
    }
}

impl fmt::Debug for SackBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}-{:?}", self.start, self.end)
    }
}

impl fmt::Debug for SackBlocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_slice(), f)
    }
}

impl fmt::Debug for Timestamps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.value, self.echo)
    }
}

impl fmt::Debug for AccurateEcn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.order, self.fields())
    }
}

impl fmt::Debug for Options {
    /// Lists the options that are present.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_struct("Options");
        if let Some(mss) = self.mss {
            list.field("mss", &mss);
        }
        if let Some(scale) = self.window_scale {
            list.field("wscale", &scale);
        }
        if self.sack_permitted {
            list.field("sack_permitted", &true);
        }
        if self.ack_congestion_control {
            list.field("ackcc", &true);
        }
        if let Some(ratio) = self.ack_ratio {
            list.field("ack_ratio", &ratio);
        }
        if let Some(option) = self.ack_rate {
            list.field("tarr", &option);
        }
        if let Some(timestamps) = self.timestamps {
            list.field("ts", &timestamps);
        }
        if !self.sack.is_empty() {
            list.field("sack", &self.sack);
        }
        if let Some(option) = self.accurate_ecn {
            list.field("accurate_ecn", &option);
        }
        list.finish()
    }
}
