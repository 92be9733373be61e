//! A controller's records of transmissions, until their outcomes are known.

use crate::recovery::transmission::{Outcome, Transmission};
use acklab_base::Instant;
use std::collections::VecDeque;

/// Records of the transmissions with unknown outcome, in the order in which they were sent.
#[derive(Clone, Debug)]
pub(super) struct Departures<T> {
    /// The records. A removed record leaves a gap until it is the oldest.
    records: VecDeque<(Instant, Option<T>)>,
    /// The sending times of the transmissions that the current ACK delivers.
    delivered: Vec<Instant>,
}

impl<T> Default for Departures<T> {
    fn default() -> Self {
        Self { records: VecDeque::new(), delivered: Vec::new() }
    }
}

impl<T> Departures<T> {
    /// Adds the record of a transmission that is sent.
    pub(super) fn push(&mut self, now: Instant, record: T) {
        self.records.push_back((now, Some(record)));
    }

    /// Removes and returns the record of a transmission that was sent at `sent_at`. If several were
    /// sent at that instant, it is the oldest.
    pub(super) fn take(&mut self, sent_at: Instant) -> Option<T> {
        let first = self.records.partition_point(|(at, _)| *at < sent_at);
        let record =
            self.records.range_mut(first..).take_while(|(at, _)| *at == sent_at).find_map(|(_, record)| record.take());
        while self.records.front().is_some_and(|(_, record)| record.is_none()) {
            self.records.pop_front();
        }
        record
    }

    /// Returns the record of a transmission that was sent at `sent_at`. If several were sent at
    /// that instant, it is the oldest.
    pub(super) fn get(&self, sent_at: Instant) -> Option<&T> {
        let first = self.records.partition_point(|(at, _)| *at < sent_at);
        self.records.range(first..).take_while(|(at, _)| *at == sent_at).find_map(|(_, record)| record.as_ref())
    }

    /// Processes outcomes. Stores the delivered transmissions until
    /// [`take_delivered`](Self::take_delivered), because the ACK that reports them is processed
    /// later. Passes to `unknown` the records of transmissions whose outcome remains unknown.
    pub(super) fn note(&mut self, outcomes: &[Transmission], unknown: impl FnMut(T)) {
        let mut unknown = unknown;
        for transmission in outcomes {
            match transmission.outcome {
                Outcome::Delivered { .. } => self.delivered.push(transmission.sent_at),
                Outcome::Unknown => self.take(transmission.sent_at).into_iter().for_each(&mut unknown),
            }
        }
    }

    /// Returns the sending times of the delivered transmissions. [Return the memory](Self::reuse)
    /// after reading it.
    pub(super) fn take_delivered(&mut self) -> Vec<Instant> {
        std::mem::take(&mut self.delivered)
    }

    /// Reuses this memory.
    pub(super) fn reuse(&mut self, mut delivered: Vec<Instant>) {
        delivered.clear();
        self.delivered = delivered;
    }

    /// Removes all records of transmissions that were sent before `sent_at`, and passes them to
    /// `take`.
    pub(super) fn take_before(&mut self, sent_at: Instant, mut take: impl FnMut(T)) {
        while let Some((_, record)) = self.records.pop_front_if(|(at, _)| *at < sent_at) {
            record.into_iter().for_each(&mut take);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_by_the_time_of_departure() {
        let at = Instant::from_nanos;
        let mut departures = Departures::default();
        for (now, record) in [(1, 'a'), (2, 'b'), (2, 'c'), (3, 'd'), (4, 'e')] {
            departures.push(at(now), record);
        }
        assert_eq!(departures.get(at(2)), Some(&'b'));
        assert_eq!(departures.take(at(2)), Some('b'));
        assert_eq!(departures.take(at(2)), Some('c'));
        assert_eq!(departures.take(at(2)), None);
        assert_eq!(departures.take(at(9)), None);
        let mut taken = Vec::new();
        departures.take_before(at(4), |record| taken.push(record));
        assert_eq!(taken, ['a', 'd']);
        assert_eq!(departures.take(at(4)), Some('e'));
        assert!(departures.records.is_empty());
    }
}
