//! The next retransmission (RFC 6675, §4: NextSeg).

use super::Scoreboard;
use std::ops::Range;

impl Scoreboard {
    /// Returns the oldest lost segment that has not been retransmitted since (NextSeg, rule 1).
    #[inline]
    pub fn next_lost(&mut self) -> Option<Range<u64>> {
        if self.lost_unsent == 0 { None } else { self.find_next_lost() }
    }

    fn find_next_lost(&mut self) -> Option<Range<u64>> {
        let from = self.next_lost_from.max(self.una);
        let first = self.index_at(from);
        let index = (first..self.segments.len()).find(|index| {
            let segment = &self.segments[*index];
            segment.lost && !segment.retransmitted
        })?;
        self.next_lost_from = self.start_of(index);
        Some(self.next_lost_from..self.segments[index].end)
    }

    /// Returns the oldest segment below the highest SACK that is neither SACKed nor retransmitted
    /// (NextSeg, rule 3).
    #[must_use]
    pub fn next_unsacked(&mut self) -> Option<Range<u64>> {
        let from = self.next_unsacked_from.max(self.una);
        if from >= self.highest_sacked {
            return None;
        }
        let first = self.index_at(from);
        let index = self
            .segments
            .range(first..)
            .take_while(|segment| segment.end <= self.highest_sacked)
            .position(|segment| !segment.sacked && !segment.retransmitted)
            .map(|offset| first + offset);
        self.next_unsacked_from = index.map_or(self.highest_sacked, |index| self.start_of(index));
        index.map(|index| self.next_unsacked_from..self.segments[index].end)
    }
}
