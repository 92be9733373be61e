//! Stores the set of arrived numbers, as ranges of an abstract number line: bytes of a stream (TCP)
//! or packet numbers (QUIC, TACK).

use super::{Arrival, Held};
use std::ops::Range;

/// The maximum number of ranges that a SACK option can report (RFC 2018, §3).
const REPORTED: usize = 4;

/// Ranges beyond gaps: disjoint, not touching, in order. Removed ranges at the front are skipped,
/// and deleted many at a time. Filling one of thousands of gaps then does not move all other
/// ranges.
#[derive(Clone, Debug, Default)]
struct Beyond {
    ranges: Vec<Range<u64>>,
    /// The number of removed ranges at the front.
    left: usize,
}

impl Beyond {
    #[inline]
    fn as_slice(&self) -> &[Range<u64>] {
        &self.ranges[self.left..]
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.left == self.ranges.len()
    }

    #[inline]
    fn last_mut(&mut self) -> Option<&mut Range<u64>> {
        self.ranges[self.left..].last_mut()
    }

    fn leave(&mut self, count: usize) {
        self.left += count;
        if 2 * self.left >= self.ranges.len() {
            self.ranges.drain(..self.left);
            self.left = 0;
        }
    }

    fn replace(&mut self, places: Range<usize>, by: Range<u64>) {
        let (before, behind) = (places.start, self.as_slice().len() - places.end);
        if places.len() > 1 && before < behind {
            // Fewer ranges are before the removed range than after it, so those before it are
            // moved.
            let removed = places.len() - 1;
            self.ranges[self.left + places.end - 1] = by;
            self.ranges[self.left..self.left + before + removed].rotate_right(removed);
            self.leave(removed);
            return;
        }
        self.ranges.splice(self.left + places.start..self.left + places.end, std::iter::once(by));
    }
}

/// The arrived numbers: everything below `next`, and ranges beyond it.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    next: u64,
    /// Ranges beyond gaps, all above `next`.
    beyond: Beyond,
    /// The ranges that changed last, newest first.
    recent: Vec<Range<u64>>,
    /// The number of ranges in `recent` that were newer than the range that the last arrival
    /// extended. It is the number of all ranges if the arrival began a range, and zero if it filled
    /// the first gap.
    newer: usize,
    /// The number of distinct numbers that have arrived.
    received: u64,
}

impl Ranges {
    /// Returns the lowest number that has not arrived: rcv.nxt of a stream.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of distinct numbers that have arrived.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Returns the end of the highest range: the largest number that has arrived plus one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.beyond().last().map_or(self.next, |last| last.end)
    }

    /// Returns the ranges beyond gaps that changed last, newest first, at most four.
    #[must_use]
    pub fn recent(&self) -> &[Range<u64>] {
        &self.recent
    }

    /// Returns the ranges beyond gaps, in order.
    #[must_use]
    #[inline]
    pub fn beyond(&self) -> &[Range<u64>] {
        self.beyond.as_slice()
    }

    /// Returns the view of this set for a policy. `reports_ranges` is `true` if ACKs report the
    /// ranges beyond gaps.
    #[must_use]
    #[inline]
    pub fn held(&self, reports_ranges: bool) -> Held<'_> {
        Held { next: self.next, beyond: self.beyond(), sack: reports_ranges, newer: self.newer }
    }

    /// Returns all arrived numbers, the highest range first, as an ACK frame lists them (RFC 9000,
    /// §19.3.1). [Abandoned](Self::abandon_below) numbers are included.
    pub fn acked(&self) -> impl Iterator<Item = Range<u64>> {
        let in_order = (self.next > 0).then_some(0..self.next);
        self.beyond().iter().rev().cloned().chain(in_order)
    }

    /// Returns the gaps below the largest arrived number, lowest first: TACK's list of unacked
    /// ranges (Li et al., SIGCOMM 2020, §5.1).
    pub fn gaps(&self) -> impl Iterator<Item = Range<u64>> {
        let starts = std::iter::once(self.next).chain(self.beyond().iter().map(|range| range.end));
        starts.zip(self.beyond()).map(|(start, range)| start..range.start)
    }

    /// Returns the parts of `range` that have not arrived, lowest first.
    pub fn missing_in(&self, range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let beyond = self.beyond();
        let place = beyond.partition_point(|held| held.end <= range.start);
        let first = place.checked_sub(1).map_or(self.next, |before| beyond[before].end);
        let starts = std::iter::once(first).chain(beyond[place..].iter().map(|held| held.end));
        let ends = beyond[place..].iter().map(|held| held.start).chain(std::iter::once(u64::MAX));
        starts
            .zip(ends)
            .take_while(move |(start, _)| *start < range.end)
            .map(move |(start, end)| start.max(range.start)..end.min(range.end))
            .filter(|missing| !missing.is_empty())
    }

    /// Treats the missing numbers below `number` as arrived. Packet numbers are never reused, so a
    /// receiver would otherwise store the gap of each lost packet for the whole connection. A
    /// receiver removes gaps once the peer has received a report of them (RFC 9000, §13.2.4).
    pub fn abandon_below(&mut self, number: u64) {
        if number <= self.next {
            return;
        }
        let below = self.beyond().partition_point(|range| range.end < number);
        self.beyond.leave(below);
        self.next = number;
        if let Some(first) = self.beyond().first().filter(|first| first.start <= number) {
            self.next = first.end;
            self.beyond.leave(1);
        }
        let next = self.next;
        self.recent.retain(|range| range.start > next);
    }

    /// Removes and returns the lowest range beyond the first missing number, as if its numbers had
    /// not arrived. [`received`](Self::received) still counts them.
    pub fn forget_first(&mut self) -> Option<Range<u64>> {
        let first = self.beyond().first().cloned()?;
        self.beyond.leave(1);
        self.recent.retain(|range| *range != first);
        Some(first)
    }

    /// Returns the first contiguous part of `range` that arrived before.
    #[must_use]
    pub fn first_duplicate(&self, range: Range<u64>) -> Option<Range<u64>> {
        if range.start < self.next {
            return Some(range.start..range.end.min(self.next));
        }
        let held = self.beyond();
        // Most arrivals have higher numbers than everything before.
        if held.last().is_none_or(|last| last.end <= range.start) {
            return None;
        }
        let first = held.partition_point(|held| held.end <= range.start);
        held.get(first)
            .filter(|held| held.start < range.end)
            .map(|held| held.start.max(range.start)..held.end.min(range.end))
    }

    /// Adds the numbers of an arrived segment or packet.
    #[inline]
    pub fn insert(&mut self, range: Range<u64>) -> Arrival {
        if range.start == self.next && range.end > range.start && self.beyond.is_empty() {
            self.received += range.end - range.start;
            self.next = range.end;
            return Arrival::InOrder;
        }
        self.insert_disordered(range)
    }

    fn insert_disordered(&mut self, range: Range<u64>) -> Arrival {
        let range = range.start.max(self.next)..range.end;
        if range.is_empty() {
            return Arrival::Duplicate;
        }
        if range.start > self.next {
            return self.insert_beyond(range);
        }
        self.received += range.end - range.start;
        self.next = range.end;
        if self.beyond.is_empty() {
            return Arrival::InOrder;
        }
        let joined = self.beyond().iter().take_while(|held| held.start <= range.end).count();
        let (mut joins, mut end) = (0, range.end);
        for held in &self.beyond()[..joined] {
            joins += held.end - held.start;
            end = end.max(held.end);
        }
        (self.next, self.newer) = (end, 0);
        self.beyond.leave(joined);
        // The joined part was counted before, whether the new range overlaps or touches it.
        self.received += self.next - range.end;
        self.received -= joins;
        let next = self.next;
        self.recent.retain(|range| range.start > next);
        Arrival::FillsGap { closed: self.beyond.is_empty() }
    }

    fn insert_beyond(&mut self, range: Range<u64>) -> Arrival {
        // Usually, an arrival beyond a gap continues the newest range.
        if let Some(last) = self.beyond.last_mut().filter(|last| last.end == range.start)
            && let Some(newest) = self.recent.first_mut().filter(|newest| newest.end == range.start)
        {
            (last.end, newest.end) = (range.end, range.end);
            self.newer = 0;
            self.received += range.end - range.start;
            return Arrival::OutOfOrder;
        }
        let held = self.beyond();
        let first = held.partition_point(|held| held.end < range.start);
        let last = first + held[first..].partition_point(|held| held.start <= range.end);
        let touched = &held[first..last];
        if touched.iter().any(|held| held.start <= range.start && range.end <= held.end) {
            return Arrival::Duplicate;
        }
        let start = touched.first().map_or(range.start, |held| held.start.min(range.start));
        let end = touched.last().map_or(range.end, |held| held.end.max(range.end));
        let merged: u64 = touched.iter().map(|held| held.end - held.start).sum();
        self.received += end - start - merged;
        self.beyond.replace(first..last, start..end);
        let is_apart = |held: &Range<u64>| held.end < start || held.start > end;
        self.newer = self.recent.iter().take_while(|held| is_apart(held)).count();
        self.recent.retain(is_apart);
        self.recent.insert(0, start..end);
        self.recent.truncate(REPORTED);
        Arrival::OutOfOrder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn order_gaps_and_duplicates_are_told_apart() {
        let mut stream = Ranges::default();
        assert_eq!(stream.insert(0..10), Arrival::InOrder);
        assert_eq!(stream.insert(20..30), Arrival::OutOfOrder);
        assert_eq!(stream.insert(40..50), Arrival::OutOfOrder);
        assert_eq!((stream.recent(), stream.held(true).newer), (&[40..50, 20..30][..], 1), "a new one");
        assert_eq!(stream.insert(20..30), Arrival::Duplicate);
        assert_eq!(stream.insert(30..35), Arrival::OutOfOrder);
        assert_eq!((stream.recent(), stream.held(true).newer), (&[20..35, 40..50][..], 1), "the second");
        assert_eq!(stream.insert(10..20), Arrival::FillsGap { closed: false });
        assert_eq!(stream.next(), 35);
        assert!(stream.recent().iter().eq([&(40..50)]));
        assert_eq!(stream.insert(35..40), Arrival::FillsGap { closed: true });
        assert_eq!(stream.next(), 50);
        assert_eq!(stream.insert(0..50), Arrival::Duplicate);
    }

    #[test]
    fn packet_numbers_are_listed_as_ack_frames_list_them() {
        let mut numbers = Ranges::default();
        for number in [0, 1, 4, 5, 8, 3] {
            let _ = numbers.insert(number..number + 1);
        }
        assert_eq!(numbers.acked().collect::<Vec<_>>(), [8..9, 3..6, 0..2]);
        assert_eq!(numbers.gaps().collect::<Vec<_>>(), [2..3, 6..8]);
        numbers.abandon_below(4);
        assert_eq!((numbers.next(), numbers.received(), numbers.end()), (6, 6, 9));
        assert_eq!(numbers.gaps().collect::<Vec<_>>(), std::slice::from_ref(&(6..8)));
        assert_eq!(numbers.insert(2..3), Arrival::Duplicate, "it is not awaited any more");
        numbers.abandon_below(20);
        assert_eq!((numbers.next(), numbers.received(), numbers.gaps().count()), (20, 6, 0));
        assert_eq!(numbers.insert(20..21), Arrival::InOrder);
    }

    #[test]
    fn what_is_forgotten_is_missing() {
        let mut numbers = Ranges::default();
        [0, 3, 4, 8].into_iter().for_each(|number| _ = numbers.insert(number..number + 1));
        assert_eq!(numbers.forget_first(), Some(3..5));
        assert_eq!(numbers.gaps().collect::<Vec<_>>(), std::slice::from_ref(&(1..8)));
        assert_eq!((numbers.first_duplicate(3..4), numbers.recent()), (None, &[8..9][..]));
        assert_eq!((numbers.forget_first(), numbers.forget_first(), numbers.end()), (Some(8..9), None, 1));
    }

    proptest! {
        #[test]
        fn abandoned_numbers_neither_count_nor_come_back(
            numbers in proptest::collection::vec((0u64..60, 0u64..8), 1..80),
        ) {
            let (mut ranges, mut held, mut below) = (Ranges::default(), [false; 70], 0);
            for (number, abandoned) in numbers {
                let is_new = number >= below && !held[number as usize];
                prop_assert_eq!(ranges.insert(number..number + 1) != Arrival::Duplicate, is_new);
                held[number as usize] |= is_new;
                if abandoned == 0 {
                    below = below.max(number);
                    ranges.abandon_below(number);
                }
                prop_assert_eq!(ranges.received(), held.iter().filter(|held| **held).count() as u64);
                let next = (below as usize..).find(|number| !held[*number]).unwrap_or(0) as u64;
                prop_assert_eq!(ranges.next(), next);
                let end = held.iter().rposition(|held| *held).map_or(next, |last| (last as u64 + 1).max(next));
                prop_assert_eq!(ranges.end(), end);
                for gap in ranges.gaps() {
                    prop_assert!(gap.start < gap.end && held[gap.start as usize..gap.end as usize].iter().all(|held| !held));
                }
                let acked: u64 = ranges.acked().map(|range| range.end - range.start).sum();
                let missing: u64 = ranges.gaps().map(|gap| gap.end - gap.start).sum();
                prop_assert_eq!(acked + missing, end);
            }
        }

        #[test]
        fn it_agrees_with_a_set_of_octets(segments in proptest::collection::vec((0u64..120, 1u64..12), 1..120)) {
            let (mut stream, mut held) = (Ranges::default(), [false; 140]);
            for (start, length) in segments {
                let range = start..start + length;
                let first_duplicate = stream.first_duplicate(range.clone());
                let mut run = range.clone().skip_while(|octet| !held[*octet as usize]).take_while(|octet| held[*octet as usize]);
                prop_assert_eq!(first_duplicate.clone().map(|range| range.start), run.next());
                prop_assert_eq!(first_duplicate.map(|range| range.end - range.start - 1).unwrap_or(0), run.count() as u64);
                let missing: Vec<u64> = stream.missing_in(range.clone()).flatten().collect();
                let new: Vec<u64> = range.clone().filter(|octet| !held[*octet as usize]).collect();
                prop_assert_eq!(missing, new);
                let any_new = held[start as usize..(start + length) as usize].iter().any(|octet| !octet);
                let arrival = stream.insert(range.clone());
                prop_assert_eq!(arrival != Arrival::Duplicate, any_new);
                held[range.start as usize..range.end as usize].fill(true);
                let next = held.iter().position(|octet| !octet).unwrap_or(held.len());
                prop_assert_eq!(stream.next(), next as u64);
                prop_assert_eq!(stream.received(), held.iter().filter(|octet| **octet).count() as u64);
                for block in stream.recent() {
                    prop_assert!(held[block.start as usize..block.end as usize].iter().all(|octet| *octet));
                    prop_assert!(!held[block.end as usize] && !held[block.start as usize - 1]);
                }
            }
        }
    }
}
