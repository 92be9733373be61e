//! The options of a TCP segment.

use super::SeqNumber;
use std::fmt;

/// The options that acklab's endpoints speak.
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
    /// ACK Ratio (RFC 5690, §4.2), with data: acknowledge every so many segments.
    pub ack_ratio: Option<u8>,
}

/// The two clocks of a timestamps option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock.
    pub value: u32,
    /// The latest clock of the peer, returned.
    pub echo: u32,
}

/// Which counter an AccECN option begins with; that of CE stands second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOrder {
    /// ECT(0), CE, ECT(1): `AccECN0`.
    Ect0First,
    /// ECT(1), CE, ECT(0): `AccECN1`.
    Ect1First,
}

/// An AccECN option: counts of the octets of payload that have arrived with each codepoint, modulo 2²⁴ (RFC 9768, §3.2.3).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccurateEcn {
    order: FieldOrder,
    fields: [u32; Self::MAX],
    len: u8,
}

impl AccurateEcn {
    /// As many counters as there are.
    pub const MAX: usize = 3;
    /// What a counter counts modulo.
    pub const MODULUS: u64 = 1 << 24;

    /// The first counters in this order; what does not fit 24 bits is cut off, and what comes after the third is left out.
    #[must_use]
    pub fn new(order: FieldOrder, counters: &[u64]) -> Self {
        let mut fields = [0; Self::MAX];
        let len = counters.len().min(Self::MAX);
        fields.iter_mut().zip(counters).for_each(|(field, counter)| *field = (counter % Self::MODULUS) as u32);
        Self { order, fields, len: len as u8 }
    }

    /// Which counter comes first.
    #[must_use]
    pub const fn order(&self) -> FieldOrder {
        self.order
    }

    /// The counters that it carries.
    #[must_use]
    pub fn fields(&self) -> &[u32] {
        &self.fields[..usize::from(self.len)]
    }

    /// The counter of marked octets, if it carries that.
    #[must_use]
    pub fn marked(&self) -> Option<u32> {
        self.fields().get(1).copied()
    }

    /// Octets on the wire, without padding.
    #[must_use]
    pub const fn len(&self) -> u64 {
        2 + 3 * self.len as u64
    }

    /// Does it carry no counter?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A run of octets that the receiver holds: from `start` to before `end`.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct SackBlock {
    /// First octet of the run.
    pub start: SeqNumber,
    /// First octet after the run.
    pub end: SeqNumber,
}

/// Up to four SACK blocks, newest first.
#[derive(Clone, Copy, Default)]
pub struct SackBlocks {
    blocks: [SackBlock; Self::MAX],
    len: u8,
}

impl SackBlocks {
    /// As many as 40 octets of options hold.
    pub const MAX: usize = 4;

    /// Append `block`; false if it is full.
    pub fn push(&mut self, block: SackBlock) -> bool {
        let Some(slot) = self.blocks.get_mut(usize::from(self.len)) else { return false };
        *slot = block;
        self.len += 1;
        true
    }

    /// The blocks in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[SackBlock] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Does it hold no block?
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
    /// Blocks past the fourth are left out.
    fn from_iter<I: IntoIterator<Item = SackBlock>>(iter: I) -> Self {
        let mut blocks = Self::default();
        iter.into_iter().take(Self::MAX).for_each(|block| {
            blocks.push(block);
        });
        blocks
    }
}

impl Options {
    /// As many octets of options as the data offset leaves room for.
    pub const ROOM: u64 = 40;

    /// Octets on the wire, padded to a multiple of four: as stacks lay them out, or without padding in between where they fit in no
    /// other way.
    #[must_use]
    #[inline]
    pub fn wire_len(&self) -> u64 {
        if self.has_nothing_but_timestamps() {
            return if self.timestamps.is_some() { 12 } else { 0 };
        }
        self.wire_len_of_many()
    }

    /// As in most segments.
    #[inline]
    const fn has_nothing_but_timestamps(&self) -> bool {
        self.sack.is_empty()
            && self.accurate_ecn.is_none()
            && self.ack_ratio.is_none()
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

    /// As stacks lay them out: each of timestamps and SACK behind two NOPs, SACK-permitted sharing the two of the timestamps on a SYN,
    /// an ACK Ratio those of the SACK, AccECN behind what it needs.
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
        timestamps + sack + mss + scale + permitted + congestion_control + ratio + accurate_ecn
    }

    /// One after the other, with padding at the end.
    fn dense_len(&self) -> u64 {
        let timestamps = if self.timestamps.is_some() { 10 } else { 0 };
        let sack = if self.sack.is_empty() { 0 } else { 2 + 8 * self.sack.as_slice().len() as u64 };
        let mss = if self.mss.is_some() { 4 } else { 0 };
        let scale = if self.window_scale.is_some() { 3 } else { 0 };
        let permitted = if self.sack_permitted { 2 } else { 0 };
        let congestion_control = if self.ack_congestion_control { 4 } else { 0 };
        let ratio = if self.ack_ratio.is_some() { 5 } else { 0 };
        let accurate_ecn = self.accurate_ecn.map_or(0, |option| option.len());
        let all = timestamps + sack + mss + scale + permitted + congestion_control + ratio + accurate_ecn;
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
    /// Only what is there.
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
