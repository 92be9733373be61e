//! Processes SACK blocks (RFC 2018).

use super::{SackedRetransmission, Scoreboard};
use acklab_base::Instant;
use std::ops::Range;

impl Scoreboard {
    /// Processes the SACK `blocks` of an ACK. Returns the number of newly acknowledged bytes, and
    /// the sending times of the first and last of those segments that were never retransmitted.
    pub fn sack(&mut self, blocks: impl Iterator<Item = Range<u64>>) -> (u64, Option<(Instant, Instant)>) {
        let (before, mut sent) = (self.sacked, None);
        let mut seen: [Range<u64>; 4] = Default::default();
        for (slot, block) in blocks.enumerate().take(seen.len()) {
            let known = self.known_blocks.iter().find(|known| known.start <= block.start && known.end > block.start);
            let from = known.map_or(block.start, |known| known.end.min(block.end));
            if block.start < block.end && block.end <= self.nxt {
                self.sack_range(from.max(self.una)..block.end, &mut sent);
                seen[slot] = block;
            }
        }
        self.known_blocks = seen;
        (self.sacked - before, sent)
    }

    /// Marks the segments that are entirely within `range`, and extends `sent` to the sending times
    /// of those that were never retransmitted.
    fn sack_range(&mut self, range: Range<u64>, sent: &mut Option<(Instant, Instant)>) {
        let first = self.index_at(range.start);
        let mut start = self.start_of(first);
        for index in first..self.segments.len() {
            let segment = self.segments[index];
            if segment.end > range.end {
                break;
            }
            let octets = segment.end - start;
            if start >= range.start && !segment.sacked {
                self.uncount(&segment, octets);
                let stays = segment.retransmitted && self.sacked_retransmission == SackedRetransmission::StaysInFlight;
                let entry = &mut self.segments[index];
                (entry.sacked, entry.lost, entry.retransmitted) = (true, false, stays);
                self.sacked += octets;
                self.sacked_segments += 1;
                self.retransmitted += if stays { octets } else { 0 };
                self.highest_sacked = self.highest_sacked.max(segment.end);
                self.note_delivered(index, start, &segment, self.delivery.limits.latest);
                if !segment.ever_retransmitted {
                    let (first, last) = sent.unwrap_or((segment.at, segment.at));
                    *sent = Some((first.min(segment.at), last.max(segment.at)));
                }
            }
            start = segment.end;
        }
    }

    /// Checks for reneging after the retransmission timer expired. If the oldest segment is SACKed,
    /// the receiver has reneged: otherwise it would have acknowledged the segment cumulatively. All
    /// SACK information is then discarded (RFC 2018, §8; Linux's `tcp_timeout_mark_lost`). Returns
    /// `true` if the receiver has reneged.
    pub fn clear_reneged_sacks(&mut self) -> bool {
        if !self.segments.front().is_some_and(|head| head.sacked) {
            return false;
        }
        self.segments.iter_mut().for_each(|segment| segment.sacked = false);
        (self.sacked, self.sacked_segments) = (0, 0);
        (self.highest_sacked, self.known_blocks) = (self.una, Default::default());
        self.next_unsacked_from = self.una;
        true
    }
}
