//! Builds the SACK blocks of an ACK.

use super::{Agreed, Receiver};
use acklab_wire::tcp::{SackBlock, SackBlocks, SeqNumber};
use std::ops::Range;

impl Receiver {
    /// Records the first part of `range` that had already arrived. The next ACK reports that part
    /// once (RFC 2883, §4).
    pub(super) fn note_duplicate(&mut self, agreed: Agreed, range: Range<u64>) {
        if self.config.dsack
            && agreed.has_sack
            && let Some(duplicate) = self.stream.first_duplicate(range)
        {
            self.duplicate = Some(duplicate);
        }
    }

    /// Returns `true` if an ACK has SACK blocks to report.
    pub(super) fn has_blocks(&self) -> bool {
        self.duplicate.is_some() || !self.stream.recent().is_empty()
    }

    /// Returns at most `most` SACK blocks. The first blocks are the duplicate bytes and the block
    /// that contains them (RFC 2883, §4). Then follow the block of the newest arrival and the most
    /// recently reported blocks (RFC 2018, §4).
    pub(super) fn sack_blocks(&mut self, first: SeqNumber, most: usize) -> SackBlocks {
        let duplicate = self.duplicate.take();
        let around = duplicate.as_ref().and_then(|duplicate| {
            self.stream.beyond().iter().find(|held| held.start <= duplicate.start && duplicate.end <= held.end)
        });
        let recent = self.stream.recent().iter().filter(|range| Some(*range) != around);
        let ranges = duplicate.iter().chain(around).chain(recent);
        ranges
            .take(most)
            .map(|range| SackBlock { start: SeqNumber::at(first, range.start), end: SeqNumber::at(first, range.end) })
            .collect()
    }
}
