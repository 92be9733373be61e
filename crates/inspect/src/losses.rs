//! Retransmissions, those that were not needed, and reordering.
//!
//! A segment out of sequence is one of three (Jaiswal et al., *Measurement and Classification of
//! Out-of-Sequence Packets in a Tier-1 IP Backbone*, INFOCOM 2003): a retransmission of what has
//! passed the point, so that it was lost behind it or not at all; a retransmission of what has not
//! passed, lost before it; or reordered before the point. [`gaps`] tells the last two apart.
//!
//! A retransmission was spurious if a D-SACK says so (RFC 2883, §4), if an ACK for it echoes a
//! timestamp older than its own (Eifel, RFC 3522, §3.2), if the data were acknowledged before it,
//! or if the first transmission passed at the receiver, where nothing can be lost behind the point.

mod gaps;
mod order;

use gaps::Gaps;
pub(crate) use gaps::{Filled, Mark};
use order::Order;

/// Counts of segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Retransmitted segments of what had passed the point.
    pub(crate) repeated: u64,
    /// Segments that were retransmitted because they were lost before the point.
    pub(crate) lost_before: u64,
    /// Segments that were reordered before the point.
    pub(crate) reordered: u64,
    /// Segments that the file has behind later ones although they were captured before these, or
    /// before their ACK.
    pub(crate) misfiled: u64,
    /// Of `repeated`: segments of which the receiver said that it had them twice.
    pub(crate) duplicate: u64,
    /// Of `repeated`: segments of which the original was acknowledged.
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
    /// A segment has passed behind all others.
    #[inline]
    pub(crate) fn advance(&mut self, mark: Mark) {
        self.order.advance(mark);
    }

    /// The segment of `mark` has skipped the bytes from `start` to `end`. `acknowledged` is what
    /// the receiver has.
    #[cold]
    pub(crate) fn skip(&mut self, start: u64, end: u64, mark: Mark, acknowledged: u64) {
        self.gaps.open(start, end, mark, acknowledged);
    }

    /// The capture begins in mid-flow with the byte at `start`.
    #[cold]
    pub(crate) fn begin(&mut self, start: u64, mark: Mark) {
        self.gaps.open_before(start, mark);
    }

    /// The receiver has everything before `acknowledged`.
    #[inline]
    pub(crate) fn acknowledge(&mut self, acknowledged: u64, at: u64) {
        if self.gaps.are_pending() {
            self.gaps.acknowledge(acknowledged, at);
        }
    }

    /// Counts `segments` from `start` to `end` if they fill a gap, and returns how. `sides` are the
    /// least times to the receiver and back, and to the sender.
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

    /// Bytes below `acknowledged` that have not passed the point, although the receiver
    /// acknowledged them: gaps of the capture itself.
    pub(crate) fn uncaptured(&self) -> u64 {
        self.gaps.uncaptured()
    }

    /// The numbers begin anew.
    pub(crate) fn restart(&mut self) {
        self.gaps.clear();
        self.order = Order::default();
    }
}

impl Counts {
    /// Retransmitted segments: not those that were lost before the point and passed it once.
    pub(crate) const fn retransmitted(&self) -> u64 {
        self.repeated + self.lost_before
    }

    /// Retransmissions that were not needed. At the receiver, all of what had passed.
    pub(crate) fn spurious(&self, is_at_receiver: bool) -> u64 {
        if is_at_receiver { self.repeated } else { self.duplicate.max(self.needless).min(self.repeated) }
    }

    /// Segments that the path has lost.
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
        // A round trip of 20 ms.
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
