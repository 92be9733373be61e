//! Gaps: bytes that have not passed the point, although later bytes have.
//!
//! If the receiver acknowledges a gap before it is filled, the gap is one of the capture: the
//! receiver has the bytes, but they were not captured.

use crate::packet::Packet;

/// The maximum number of gaps that are stored.
const MAX_GAPS: usize = 256;
/// The maximum time by which data may follow their ACK in the file if they were captured out of
/// order, as with a NIC of several queues. No sender retransmits data that were acknowledged within
/// 3 ms; *chosen*, as the delay without a round-trip time in `order`.
const SOON: u64 = 3_000_000;

/// The time at which a segment passed, and other evidence of the time at which it was sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) at: u64,
    /// The time in the file. It may decrease from packet to packet.
    pub(crate) captured: u64,
    /// The segment's timestamp (RFC 7323).
    pub(crate) value: Option<u32>,
    pub(crate) identification: Option<u16>,
}

impl Mark {
    pub(crate) fn of(packet: &Packet<'_>) -> Self {
        Self {
            at: packet.at,
            captured: packet.captured,
            value: packet.segment.options.timestamps.map(|clocks| clocks.value),
            identification: packet.identification,
        }
    }
}

/// How a gap was filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Filled {
    /// By a segment that was captured before the segment that revealed the gap, or together with
    /// its ACK.
    Misfiled,
    /// By a segment that was sent before the segment that revealed the gap.
    Reordered,
    /// By a retransmission: the first transmission was lost before the point.
    Retransmitted,
}

#[derive(Clone, Copy, Debug)]
struct Gap {
    start: u64,
    end: u64,
    /// The segment that revealed the gap.
    mark: Mark,
    /// When the receiver acknowledged the gap.
    acknowledged: Option<u64>,
    /// `true` if the capture may have begun after the gap's data.
    is_before: bool,
}

impl Gap {
    /// Returns the number of bytes that the capture lacks if the gap is never filled.
    const fn octets(&self) -> u64 {
        if self.is_before || self.acknowledged.is_none() { 0 } else { self.end - self.start }
    }

    const fn overlaps(&self, start: u64, end: u64) -> bool {
        self.start < end && start < self.end
    }
}

/// The gaps of a direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    open: Vec<Gap>,
    /// The number of gaps that are not acknowledged.
    pending: usize,
    /// The number of bytes of gaps that were never filled.
    uncaptured: u64,
}

impl Gaps {
    /// Returns `true` if there are gaps that are not acknowledged.
    #[inline]
    pub(super) const fn are_pending(&self) -> bool {
        self.pending > 0
    }

    /// Opens a gap from `start` to `end` that the segment of `mark` reveals. The receiver has
    /// acknowledged all bytes before `acknowledged`.
    pub(super) fn open(&mut self, start: u64, end: u64, mark: Mark, acknowledged: u64) {
        self.expire(mark.at);
        let gap = Gap { start, end, mark, acknowledged: None, is_before: false };
        let known = acknowledged.clamp(start, end);
        if known > start {
            self.push(Gap { end: known, acknowledged: Some(mark.at), ..gap });
        }
        if end > known {
            self.push(Gap { start: known, ..gap });
        }
    }

    /// Opens a gap before `end`, whose data were sent before the capture began, or are reordered at
    /// its start.
    pub(super) fn open_before(&mut self, end: u64, mark: Mark) {
        self.push(Gap { start: 0, end, mark, acknowledged: None, is_before: true });
    }

    fn push(&mut self, gap: Gap) {
        if self.open.len() == MAX_GAPS {
            let oldest = self.open.remove(0);
            self.uncaptured += oldest.octets();
        }
        self.open.push(gap);
        self.count();
    }

    fn count(&mut self) {
        self.pending = self.open.iter().filter(|gap| gap.acknowledged.is_none()).count();
    }

    /// Records that the receiver has all bytes before `acknowledged`.
    pub(super) fn acknowledge(&mut self, acknowledged: u64, at: u64) {
        let mut rest = Vec::new();
        for gap in self.open.iter_mut().filter(|gap| gap.acknowledged.is_none() && gap.start < acknowledged) {
            if gap.end > acknowledged {
                rest.push(Gap { start: acknowledged, ..*gap });
                gap.end = acknowledged;
            }
            gap.acknowledged = Some(at);
        }
        rest.into_iter().for_each(|gap| self.push(gap));
        self.expire(at);
    }

    /// Marks gaps that were acknowledged some time ago as permanent.
    fn expire(&mut self, at: u64) {
        let uncaptured = &mut self.uncaptured;
        self.open.retain(|gap| {
            let stays = gap.acknowledged.is_none_or(|since| at.saturating_sub(since) <= SOON);
            *uncaptured += if stays { 0 } else { gap.octets() };
            stays
        });
        self.count();
    }

    /// Fills the gaps that data from `start` to `end` at `at` overlap. `compare` compares the data
    /// with the segment that revealed the first of these gaps.
    pub(super) fn fill(
        &mut self,
        start: u64,
        end: u64,
        at: u64,
        compare: impl FnOnce(Mark) -> Filled,
    ) -> Option<Filled> {
        self.expire(at);
        let first = *self.open.iter().filter(|gap| gap.overlaps(start, end)).min_by_key(|gap| gap.start)?;
        let (met, mut rest): (Vec<Gap>, Vec<Gap>) =
            std::mem::take(&mut self.open).into_iter().partition(|gap| gap.overlaps(start, end));
        for gap in met {
            rest.extend((gap.start < start).then_some(Gap { end: start, ..gap }));
            rest.extend((end < gap.end).then_some(Gap { start: end, ..gap }));
        }
        self.open = rest;
        self.count();
        Some(if first.acknowledged.is_some() { Filled::Misfiled } else { compare(first.mark) })
    }

    /// Returns the number of bytes that the receiver has acknowledged, but that did not pass the
    /// point.
    pub(super) fn uncaptured(&self) -> u64 {
        self.uncaptured + self.open.iter().map(Gap::octets).sum::<u64>()
    }

    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.pending = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn mark(at: u64) -> Mark {
        Mark { at, captured: at, value: None, identification: None }
    }

    fn fill(gaps: &mut Gaps, start: u64, end: u64, at: u64) -> Option<Filled> {
        gaps.fill(start, end, at, |_| Filled::Reordered)
    }

    #[test]
    fn a_gap_may_be_filled_in_parts() {
        let mut gaps = Gaps::default();
        gaps.open(100, 400, mark(0), 0);
        assert_eq!(fill(&mut gaps, 200, 300, MS), Some(Filled::Reordered));
        assert_eq!(fill(&mut gaps, 200, 300, MS), None);
        assert_eq!(fill(&mut gaps, 50, 450, MS), Some(Filled::Reordered));
        assert!(gaps.open.is_empty());
    }

    #[test]
    fn an_acknowledged_gap_is_one_of_the_capture() {
        let mut gaps = Gaps::default();
        gaps.open(100, 400, mark(0), 0);
        gaps.acknowledge(300, MS);
        assert_eq!((gaps.uncaptured(), gaps.are_pending()), (200, true));
        // Half a millisecond after its ACK, as if another queue had captured it.
        assert_eq!(fill(&mut gaps, 200, 300, MS + MS / 2), Some(Filled::Misfiled));
        // Long after its ACK, so it does not fill this gap.
        assert_eq!(fill(&mut gaps, 100, 200, 10 * MS), None);
        assert_eq!(gaps.uncaptured(), 100);
    }

    #[test]
    fn data_behind_their_ack_leave_no_gap_of_the_path() {
        let mut gaps = Gaps::default();
        gaps.open(100, 400, mark(0), 300);
        assert_eq!(gaps.uncaptured(), 200);
        assert_eq!(fill(&mut gaps, 100, 300, MS), Some(Filled::Misfiled));
        assert_eq!(gaps.uncaptured(), 0);
        assert_eq!(fill(&mut gaps, 300, 400, MS), Some(Filled::Reordered));
    }

    #[test]
    fn what_was_sent_before_the_capture_is_no_gap_of_it() {
        let mut gaps = Gaps::default();
        gaps.open_before(1000, mark(0));
        assert_eq!(fill(&mut gaps, 900, 950, MS), Some(Filled::Reordered));
        gaps.acknowledge(2000, MS);
        assert_eq!((gaps.uncaptured(), gaps.are_pending()), (0, false));
    }

    #[test]
    fn memory_is_bounded() {
        let mut gaps = Gaps::default();
        (1..1000).for_each(|n| gaps.open(10 * n, 10 * n + 5, mark(0), 0));
        assert_eq!(gaps.open.len(), MAX_GAPS);
        gaps.acknowledge(20_000, 0);
        assert_eq!(gaps.uncaptured(), 5 * MAX_GAPS as u64);
    }
}
