//! Tracks the packet numbers that have arrived in a packet number space, and builds the ACK frames
//! that report them (RFC 9000, §13.2).

use super::receive_times::ReceiveTimes;
use crate::ack::{Arrival, Ranges};
use acklab_base::{Duration, Ecn, Instant};
use acklab_wire::quic::{Ack, AckRanges, EcnCounts, OlderRanges};
use std::ops::Range;

/// The maximum number of stored ranges below the newest range, which bounds memory. An ACK frame
/// lists fewer ranges. Packets with older numbers are refused as duplicates (§13.2.3).
const MAX_REMEMBERED: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Arrived {
    numbers: Ranges,
    /// The number below which arrivals are no longer reported (§13.2.4).
    floor: u64,
    /// Arrival time of the largest number.
    largest_at: Instant,
    ecn: EcnCounts,
    /// Unreported arrival times, if the peer requests timestamps.
    pub(super) times: ReceiveTimes,
    /// Packets that arrived more than once.
    pub(super) duplicates: u64,
    /// The ranges below the newest range, as listed in frames with at most this number of ranges.
    /// The list is cached until these ranges change.
    older: Option<(usize, Option<OlderRanges>)>,
}

impl Arrived {
    /// Returns the largest packet number that has arrived.
    #[inline]
    pub(super) fn largest(&self) -> Option<u64> {
        self.numbers.end().checked_sub(1)
    }

    /// Returns `true` if no packet with this number has arrived before.
    #[inline]
    pub(super) fn is_new(&self, number: u64) -> bool {
        self.numbers.first_duplicate(number..number + 1).is_none()
    }

    /// Returns all packet numbers that have arrived.
    pub(super) const fn numbers(&self) -> &Ranges {
        &self.numbers
    }

    /// Records the first arrival of the packet with this number. Returns whether the packet is out
    /// of order: it leaves a gap or is not the largest (§13.2.1). An older gap is irrelevant,
    /// because numbers are never reused.
    #[inline]
    pub(super) fn insert(&mut self, now: Instant, number: u64, ecn: Ecn) -> Arrival {
        let end = self.numbers.end();
        if number != end {
            // A range below the newest range has changed.
            self.older = None;
        }
        self.times.note(now, number);
        let arrival = self.numbers.insert(number..number + 1);
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.ecn.ect0 += 1,
            Ecn::Ect1 => self.ecn.ect1 += 1,
            Ecn::Ce => self.ecn.ce += 1,
        }
        if number < end {
            self.floor = self.floor.min(number);
            return arrival;
        }
        self.largest_at = now;
        if self.numbers.beyond().len() > MAX_REMEMBERED {
            let oldest = self.numbers.beyond()[0].start;
            self.floor = self.floor.max(oldest);
            self.numbers.abandon_below(oldest);
        }
        if number == end { Arrival::InOrder } else { Arrival::OutOfOrder }
    }

    /// Handles the acknowledgment of the packet with an ACK frame that reported numbers up to
    /// `largest`.
    pub(super) fn on_reported(&mut self, largest: u64) {
        if largest >= self.floor {
            (self.floor, self.older) = (largest + 1, None);
        }
    }

    /// Returns the ranges that are reported, highest first.
    fn reported(&self) -> impl Iterator<Item = Range<u64>> {
        let reported = |range: Range<u64>| range.start.max(self.floor)..range.end;
        self.numbers.acked().map(reported).take_while(|range| !range.is_empty())
    }

    /// Returns the ACK frame that is sent now, with the highest ranges, at most `most` of them.
    /// Returns `None` if no arrival must be reported.
    #[inline]
    pub(super) fn ack(&mut self, now: Instant, exponent: u32, most: usize) -> Option<Ack> {
        let newest = self.reported().next()?;
        let older = match &self.older {
            Some((of, older)) if *of == most => older.clone(),
            _ => self.list_older(most),
        };
        let waited: Duration = now.since(self.largest_at);
        let has_ecn = self.ecn != EcnCounts::default();
        let ack = Ack::new(AckRanges::new(newest, older), (waited.as_nanos() / 1000) >> exponent);
        Some(ack.with_ecn(has_ecn.then_some(self.ecn)))
    }

    /// Lists the ranges below the newest range, for frames with at most `most` ranges.
    #[inline(never)]
    fn list_older(&mut self, most: usize) -> Option<OlderRanges> {
        let mut ranges = Vec::with_capacity(most.min(self.numbers.beyond().len()));
        ranges.extend(self.reported().take(most).skip(1));
        let older = OlderRanges::new(ranges);
        self.older = Some((most, older.clone()));
        older
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    fn insert(arrived: &mut Arrived, number: u64) -> Arrival {
        arrived.insert(Instant::ZERO, number, Ecn::NotEct)
    }

    fn ranges(arrived: &mut Arrived, most: usize) -> Vec<Range<u64>> {
        arrived.ack(Instant::ZERO, 3, most).map(|ack| ack.ranges.iter().cloned().collect()).unwrap_or_default()
    }

    #[test]
    fn a_gap_makes_only_the_packet_behind_it_out_of_order() {
        let mut arrived = Arrived::default();
        let arrivals = [0, 2, 3, 1, 4].map(|number| insert(&mut arrived, number));
        let late = Arrival::FillsGap { closed: true };
        assert_eq!(arrivals, [Arrival::InOrder, Arrival::OutOfOrder, Arrival::InOrder, late, Arrival::InOrder]);
    }

    #[test]
    fn what_the_peer_knows_is_not_reported_again() {
        let mut arrived = Arrived::default();
        for number in [0, 1, 3, 4, 7] {
            insert(&mut arrived, number);
        }
        assert_eq!(ranges(&mut arrived, 32), [7..8, 3..5, 0..2]);
        assert_eq!(ranges(&mut arrived, 2), [7..8, 3..5]);
        arrived.on_reported(4);
        assert_eq!(ranges(&mut arrived, 32), [7..8]);
        insert(&mut arrived, 5);
        assert_eq!(ranges(&mut arrived, 32), [7..8, 5..6]);
        insert(&mut arrived, 2);
        assert_eq!(ranges(&mut arrived, 32), [7..8, 2..6], "one that is late is reported with its neighbours");
    }

    proptest! {
        /// The cached list equals the list computed for a single frame.
        #[test]
        fn frames_that_share_a_list_are_right(steps in vec((0u64..60, 0u8..8, 1usize..6), 1..120)) {
            let mut arrived = Arrived::default();
            for (number, kind, most) in steps {
                match kind {
                    0 => arrived.on_reported(number),
                    1..5 => {
                        let next = arrived.numbers.end();
                        insert(&mut arrived, next);
                    }
                    _ if arrived.is_new(number) => _ = insert(&mut arrived, number),
                    _ => {}
                }
                let alone: Vec<Range<u64>> = arrived.reported().take(most).collect();
                prop_assert_eq!(ranges(&mut arrived, most), alone);
            }
        }
    }

    #[test]
    fn numbers_below_too_many_gaps_are_refused_and_not_reported() {
        let mut arrived = Arrived::default();
        let end = 2 * MAX_REMEMBERED as u64 + 10;
        (1..end).step_by(2).for_each(|number| _ = insert(&mut arrived, number));
        assert!(!arrived.is_new(0) && arrived.is_new(end - 2));
        assert!(
            ranges(&mut arrived, usize::MAX).iter().all(|range| range.start % 2 == 1 && range.end == range.start + 1)
        );
    }

    #[test]
    fn the_delay_is_that_of_the_largest_number() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut arrived = Arrived::default();
        assert!(arrived.ack(at(0), 3, 32).is_none());
        arrived.insert(at(0), 5, Ecn::Ect0);
        arrived.insert(at(8), 4, Ecn::Ce);
        let ack = arrived.ack(at(16), 3, 32).unwrap();
        assert_eq!(
            (ack.delay, ack.ecn()),
            (2000, Some(&EcnCounts { ect0: 1, ect1: 0, ce: 1 })),
            "16 ms in units of 8 µs"
        );
    }
}
