//! Tracks the retransmissions that D-SACK may still report (RFC 3708, §3).
//!
//! A D-SACK of data that were sent only once reports a copy made by the network. It is evidence of
//! neither a spurious retransmission nor a reordering window that is too short.

use std::collections::BTreeMap;
use std::ops::Range;

/// Retransmitted segments, by the offset of their first byte.
#[derive(Clone, Debug, Default)]
pub struct Retransmitted {
    segments: BTreeMap<u64, Unreported>,
}

/// The retransmissions of one segment that D-SACK has not reported.
#[derive(Clone, Copy, Debug)]
struct Unreported {
    /// The offset after its last byte.
    end: u64,
    /// The number of its unreported retransmissions.
    transmissions: u64,
}

impl Retransmitted {
    /// Records that `segment` is retransmitted. Removes segments that end at `oldest` or below.
    pub fn on_retransmission(&mut self, segment: Range<u64>, oldest: u64) {
        while let Some(first) = self.segments.first_entry()
            && first.get().end <= oldest
        {
            first.remove();
        }
        let entry = self.segments.entry(segment.start).or_insert(Unreported { end: segment.end, transmissions: 0 });
        (entry.end, entry.transmissions) = (entry.end.max(segment.end), entry.transmissions + 1);
    }

    /// Processes a D-SACK of `duplicate`. Returns the number of retransmissions that it reports: at
    /// most one per segment.
    pub fn report(&mut self, duplicate: &Range<u64>) -> u64 {
        let mut reported = 0;
        for (_, segment) in
            self.segments.range_mut(..duplicate.end).rev().take_while(|(_, segment)| segment.end > duplicate.start)
        {
            let is_unreported = segment.transmissions > 0;
            segment.transmissions -= u64::from(is_unreported);
            reported += u64::from(is_unreported);
        }
        reported
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3708, §3: a segment has at most as many spurious retransmissions as retransmissions.
    #[test]
    fn a_report_is_for_a_retransmission_or_for_none() {
        let mut retransmitted = Retransmitted::default();
        retransmitted.on_retransmission(1000..2000, 0);
        retransmitted.on_retransmission(3000..4000, 0);
        retransmitted.on_retransmission(3000..4000, 0);
        assert_eq!(retransmitted.report(&(2000..3000)), 0, "this one left once");
        assert_eq!(retransmitted.report(&(1000..2000)), 1);
        assert_eq!(retransmitted.report(&(1000..2000)), 0, "both copies have been reported");
        assert_eq!(retransmitted.report(&(1000..5000)), 1, "a range of several segments");
        assert_eq!(retransmitted.report(&(3500..4000)), 1, "a part of a segment");
        assert_eq!(retransmitted.report(&(3000..4000)), 0);
    }

    #[test]
    fn old_segments_are_forgotten() {
        let mut retransmitted = Retransmitted::default();
        (0..100).for_each(|index| {
            retransmitted.on_retransmission(index * 10..(index + 1) * 10, (index * 10).saturating_sub(50))
        });
        assert_eq!(retransmitted.segments.len(), 6, "what ends above 940");
        assert_eq!(retransmitted.report(&(0..10)), 0);
    }
}
