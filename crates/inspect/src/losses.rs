//! Retransmissions, those that were not needed, and reordering.
//!
//! A segment out of sequence is one of three (Jaiswal et al., *Measurement and Classification of Out-of-Sequence Packets in a Tier-1 IP
//! Backbone*, INFOCOM 2003): a retransmission of what has passed the point, so that it was lost behind it or not at all; a retransmission of what
//! has not passed, lost before it; or reordered before the point. A timestamp tells the last two apart: a retransmission has a newer one than
//! the segment that revealed the gap. Without timestamps, what comes sooner than a round trip is reordered.
//!
//! A retransmission was spurious if a D-SACK says so (RFC 2883, §4), if an ACK for it echoes a timestamp older than its own (Eifel, RFC 3522, §3.2), or
//! if the data were acknowledged before it.

use acklab_wire::tcp::Timestamps;

/// Gaps that are remembered.
const MOST_GAPS: usize = 256;
/// Without timestamps and a round-trip time: what fills a gap sooner is reordered. Retransmissions need a round trip, and few paths are shorter.
const SHORT: u64 = 3_000_000;

/// Octets that have not passed the point, although later ones have.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: u64,
    end: u64,
    /// When a later segment passed, and its timestamp.
    at: u64,
    value: Option<u32>,
}

/// Counts of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Retransmitted segments of what had passed the point.
    pub(crate) repeated: u64,
    /// Segments that were retransmitted because they were lost before the point.
    pub(crate) lost_before: u64,
    /// Segments that were reordered before the point.
    pub(crate) reordered: u64,
    /// Of `repeated`: segments of which the receiver said that it had them twice.
    pub(crate) duplicate: u64,
    /// Of `repeated`: segments of which the original was acknowledged.
    pub(crate) needless: u64,
}

/// The losses of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) counts: Counts,
    gaps: Vec<Gap>,
}

impl Losses {
    /// Octets from `start` to `end` were skipped by a segment at `at`.
    #[cold]
    pub(crate) fn skip(&mut self, start: u64, end: u64, at: u64, clocks: Option<Timestamps>) {
        if self.gaps.len() == MOST_GAPS {
            self.gaps.remove(0);
        }
        self.gaps.push(Gap { start, end, at, value: clocks.map(|clocks| clocks.value) });
    }

    /// Forgets gaps below `acknowledged`: the receiver has them.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64) {
        if !self.gaps.is_empty() {
            self.gaps.retain(|gap| gap.end > acknowledged);
        }
    }

    /// Counts `segments` from `start` to `end` if they fill a gap, and tells whether they do. `round_trip` is the shortest so far.
    pub(crate) fn fills(
        &mut self,
        start: u64,
        end: u64,
        at: u64,
        clocks: Option<Timestamps>,
        round_trip: Option<u64>,
        segments: u64,
    ) -> bool {
        let Some(place) = self.gaps.iter().position(|gap| gap.start < end && start < gap.end) else { return false };
        let gap = self.gaps[place];
        let is_reordered = match (gap.value, clocks) {
            (Some(later), Some(Timestamps { value, .. })) => later.wrapping_sub(value).cast_signed() >= 0,
            _ => at.saturating_sub(gap.at) < round_trip.unwrap_or(SHORT),
        };
        if is_reordered {
            self.counts.reordered += segments;
        } else {
            self.counts.lost_before += segments;
        }
        self.gaps.remove(place);
        if gap.start < start {
            self.gaps.push(Gap { end: start, ..gap });
        }
        if end < gap.end {
            self.gaps.push(Gap { start: end, ..gap });
        }
        true
    }
}

impl Counts {
    /// Retransmitted segments: not those that were lost before the point and passed it once.
    pub(crate) const fn retransmitted(&self) -> u64 {
        self.repeated + self.lost_before
    }

    /// Retransmissions that were not needed.
    pub(crate) fn spurious(&self) -> u64 {
        self.duplicate.max(self.needless).min(self.repeated)
    }

    /// Segments that the path has lost.
    pub(crate) fn lost(&self) -> u64 {
        self.retransmitted() - self.spurious()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(value: u32) -> Option<Timestamps> {
        Some(Timestamps { value, echo: 0 })
    }

    #[test]
    fn a_newer_timestamp_is_a_retransmission() {
        let mut losses = Losses::default();
        losses.skip(100, 200, 0, clocks(7));
        assert!(losses.fills(100, 200, 50_000_000, clocks(9), None, 1));
        losses.skip(300, 400, 0, clocks(7));
        assert!(losses.fills(300, 400, 50_000_000, clocks(7), None, 1));
        assert_eq!((losses.counts.lost_before, losses.counts.reordered), (1, 1));
        assert!(!losses.fills(300, 400, 0, clocks(7), None, 1));
    }

    #[test]
    fn without_timestamps_the_delay_decides() {
        let mut losses = Losses::default();
        losses.skip(100, 200, 0, None);
        losses.skip(300, 400, 0, None);
        assert!(losses.fills(100, 200, 1_000_000, None, Some(20_000_000), 1));
        assert!(losses.fills(300, 400, 30_000_000, None, Some(20_000_000), 1));
        assert_eq!((losses.counts.lost_before, losses.counts.reordered), (1, 1));
    }

    #[test]
    fn a_gap_may_be_filled_in_parts() {
        let mut losses = Losses::default();
        losses.skip(100, 400, 0, clocks(1));
        assert!(losses.fills(200, 300, 5, clocks(1), None, 1));
        assert!(losses.fills(100, 200, 5, clocks(1), None, 1) && losses.fills(300, 400, 5, clocks(1), None, 1));
        assert_eq!(losses.counts.reordered, 3);
    }
}
