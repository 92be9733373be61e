//! Putting a stream in order.

use crate::ack::Arrival;
use std::ops::Range;

/// As many ranges as a SACK option can report.
const REPORTED: usize = 4;

/// What has arrived: everything below `next`, and ranges beyond it.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    next: u64,
    /// Disjoint, not touching, in order, all above `next`.
    beyond: Vec<Range<u64>>,
    /// Of those, the ones that changed last, newest first.
    recent: Vec<Range<u64>>,
    /// Octets in `beyond`.
    waiting: u64,
}

impl Reassembly {
    /// The next octet expected: rcv.nxt.
    pub(super) const fn next(&self) -> u64 {
        self.next
    }

    /// Octets that have arrived, each counted once.
    pub(super) const fn received(&self) -> u64 {
        self.next + self.waiting
    }

    /// The ranges that changed last, newest first.
    pub(super) fn recent(&self) -> &[Range<u64>] {
        &self.recent
    }

    /// What lies beyond gaps, in order.
    pub(super) fn beyond(&self) -> &[Range<u64>] {
        &self.beyond
    }

    /// The first run of octets in `range` that has arrived before.
    pub(super) fn first_duplicate(&self, range: Range<u64>) -> Option<Range<u64>> {
        if range.start < self.next {
            return Some(range.start..range.end.min(self.next));
        }
        if self.beyond.is_empty() {
            return None;
        }
        let held = &self.beyond[self.beyond.partition_point(|held| held.end <= range.start)..];
        held.first()
            .filter(|held| held.start < range.end)
            .map(|held| held.start.max(range.start)..held.end.min(range.end))
    }

    /// Octets of a segment have arrived.
    pub(super) fn insert(&mut self, range: Range<u64>) -> Arrival {
        let range = range.start.max(self.next)..range.end;
        if range.is_empty() {
            return Arrival::Duplicate;
        }
        if range.start > self.next {
            return self.insert_beyond(range);
        }
        self.next = range.end;
        if self.beyond.is_empty() {
            return Arrival::InOrder;
        }
        let joined = self.beyond.iter().take_while(|range| range.start <= self.next).count();
        if let Some(last) = self.beyond[..joined].last() {
            self.next = self.next.max(last.end);
        }
        self.waiting -= self.beyond.drain(..joined).map(|range| range.end - range.start).sum::<u64>();
        let next = self.next;
        self.recent.retain(|range| range.start > next);
        Arrival::FillsGap { closed: self.beyond.is_empty() }
    }

    fn insert_beyond(&mut self, range: Range<u64>) -> Arrival {
        let first = self.beyond.partition_point(|held| held.end < range.start);
        let last = self.beyond.partition_point(|held| held.start <= range.end);
        let touched = &self.beyond[first..last];
        if touched.iter().any(|held| held.start <= range.start && range.end <= held.end) {
            return Arrival::Duplicate;
        }
        let start = touched.first().map_or(range.start, |held| held.start.min(range.start));
        let end = touched.last().map_or(range.end, |held| held.end.max(range.end));
        let merged: u64 = touched.iter().map(|held| held.end - held.start).sum();
        self.waiting += end - start - merged;
        self.beyond.splice(first..last, std::iter::once(start..end));
        self.recent.retain(|held| held.end < start || held.start > end);
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
        let mut stream = Reassembly::default();
        assert_eq!(stream.insert(0..10), Arrival::InOrder);
        assert_eq!(stream.insert(20..30), Arrival::OutOfOrder);
        assert_eq!(stream.insert(40..50), Arrival::OutOfOrder);
        assert_eq!(stream.recent(), [40..50, 20..30]);
        assert_eq!(stream.insert(20..30), Arrival::Duplicate);
        assert_eq!(stream.insert(30..35), Arrival::OutOfOrder);
        assert_eq!(stream.recent(), [20..35, 40..50]);
        assert_eq!(stream.insert(10..20), Arrival::FillsGap { closed: false });
        assert_eq!(stream.next(), 35);
        assert!(stream.recent().iter().eq([&(40..50)]));
        assert_eq!(stream.insert(35..40), Arrival::FillsGap { closed: true });
        assert_eq!(stream.next(), 50);
        assert_eq!(stream.insert(0..50), Arrival::Duplicate);
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_set_of_octets(segments in proptest::collection::vec((0u64..120, 1u64..12), 1..120)) {
            let (mut stream, mut held) = (Reassembly::default(), [false; 140]);
            for (start, length) in segments {
                let range = start..start + length;
                let first_duplicate = stream.first_duplicate(range.clone());
                let mut run = range.clone().skip_while(|octet| !held[*octet as usize]).take_while(|octet| held[*octet as usize]);
                prop_assert_eq!(first_duplicate.clone().map(|range| range.start), run.next());
                prop_assert_eq!(first_duplicate.map(|range| range.end - range.start - 1).unwrap_or(0), run.count() as u64);
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
