//! Counts retransmissions, spurious retransmissions, and reordering.
//!
//! An out-of-sequence segment has one of three causes (Jaiswal et al., *Measurement and
//! Classification of Out-of-Sequence Packets in a Tier-1 IP Backbone*, INFOCOM 2003). It may
//! retransmit data that passed the point, and that were lost after it or not at all. It may
//! retransmit data that were lost before the point. Or it was reordered before the point. [`gaps`]
//! distinguishes the last two causes.
//!
//! A retransmission was spurious in any of these cases: a D-SACK reports it (RFC 2883, §4); its ACK
//! echoes a timestamp older than its own (Eifel, RFC 3522, §3.2); the data were acknowledged before
//! it; or the first transmission passed at the receiver, after which no segment can be lost.

mod gaps;
mod order;

use gaps::Gaps;
pub(crate) use gaps::{Filled, Mark};
use order::Order;

/// Counts of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Retransmitted segments that had passed the point.
    pub(crate) repeated: u64,
    /// Segments that were retransmitted because they were lost before the point.
    pub(crate) lost_before: u64,
    /// Segments that were reordered before the point.
    pub(crate) reordered: u64,
    /// Segments that follow later segments in the file, although they were captured before these
    /// segments or before their ACK.
    pub(crate) misfiled: u64,
    /// The subset of `repeated` that the receiver reported as duplicates.
    pub(crate) duplicate: u64,
    /// The subset of `repeated` whose first transmission was acknowledged.
    pub(crate) needless: u64,
}

/// The losses of one direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    pub(crate) counts: Counts,
    gaps: Gaps,
    order: Order,
}

impl Losses {
    /// Records a segment that has passed after all others.
    #[inline]
    pub(crate) fn advance(&mut self, mark: Mark) {
        self.order.advance(mark);
    }

    /// Records that the segment of `mark` has skipped the bytes from `start` to `end`. The receiver
    /// has all bytes before `acknowledged`.
    #[cold]
    pub(crate) fn skip(&mut self, start: u64, end: u64, mark: Mark, acknowledged: u64) {
        self.gaps.open(start, end, mark, acknowledged);
    }

    /// Records that the capture begins within a connection, with the byte at `start`.
    #[cold]
    pub(crate) fn begin(&mut self, start: u64, mark: Mark) {
        self.gaps.open_before(start, mark);
    }

    /// Records that the receiver has all bytes before `acknowledged`.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64, at: u64) {
        if self.gaps.are_pending() {
            self.gaps.acknowledge(acknowledged, at);
        }
    }

    /// Counts `segments` from `start` to `end` if they fill a gap. Returns how they fill it.
    /// `sides` are the minimum times to the receiver and back, and to the sender and back.
    pub(crate) fn fills(
        &mut self,
        start: u64,
        end: u64,
        mark: Mark,
        sides: (Option<u64>, Option<u64>),
        segments: u64,
    ) -> Option<Filled> {
        let order = &self.order;
        let filled = self.gaps.fill(start, end, mark.at, |gap| order.compare(gap, mark, sides))?;
        *match filled {
            Filled::Misfiled => &mut self.counts.misfiled,
            Filled::Reordered => &mut self.counts.reordered,
            Filled::Retransmitted => &mut self.counts.lost_before,
        } += segments;
        Some(filled)
    }

    /// Returns the number of bytes below `acknowledged` that did not pass the point, although the
    /// receiver acknowledged them. The capture lacks these bytes.
    pub(crate) fn uncaptured(&self) -> u64 {
        self.gaps.uncaptured()
    }

    /// Handles sequence numbers that restart at another value.
    pub(crate) fn restart(&mut self) {
        self.gaps.clear();
        self.order = Order::default();
    }
}

impl Counts {
    /// Returns the number of retransmitted segments. Excludes segments that were lost before the
    /// point and passed it only once.
    pub(crate) const fn retransmitted(&self) -> u64 {
        self.repeated + self.lost_before
    }

    /// Returns the number of spurious retransmissions. At the receiver, a retransmission is
    /// spurious if its data had already passed.
    pub(crate) fn spurious(&self, is_at_receiver: bool) -> u64 {
        if is_at_receiver { self.repeated } else { self.duplicate.max(self.needless).min(self.repeated) }
    }

    /// Returns the number of segments that the path has lost.
    pub(crate) fn lost(&self, is_at_receiver: bool) -> u64 {
        self.retransmitted() - self.spurious(is_at_receiver)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(at: u64) -> Mark {
        Mark { at, captured: at, value: None, identification: None }
    }

    #[test]
    fn each_late_segment_is_counted_once() {
        let mut losses = Losses::default();
        losses.skip(100, 200, mark(0), 0);
        losses.skip(300, 400, mark(0), 0);
        // The round-trip time is 20 ms.
        let sides = (Some(0), Some(20_000_000));
        assert_eq!(losses.fills(100, 200, mark(1_000_000), sides, 1), Some(Filled::Reordered));
        assert_eq!(losses.fills(300, 400, mark(30_000_000), sides, 1), Some(Filled::Retransmitted));
        assert_eq!(losses.fills(300, 400, mark(31_000_000), sides, 1), None);
        assert_eq!((losses.counts.lost_before, losses.counts.reordered), (1, 1));
    }

    #[test]
    fn at_the_receiver_nothing_is_lost_behind_the_point() {
        let counts = Counts { repeated: 3, needless: 1, lost_before: 2, ..Counts::default() };
        assert_eq!((counts.spurious(false), counts.lost(false)), (1, 4));
        assert_eq!((counts.spurious(true), counts.lost(true)), (3, 2));
    }
}
