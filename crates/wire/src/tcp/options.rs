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
    /// Octets on the wire, padded to a multiple of four as stacks lay them out: each of timestamps and SACK behind two NOPs,
    /// SACK-permitted sharing the two of the timestamps on a SYN, and an ACK Ratio those of the SACK.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
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
        timestamps + sack + mss + scale + permitted + congestion_control + ratio
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
        list.finish()
    }
}
