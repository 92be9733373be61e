//! Delayed ACKs.
//!
//! RFC 5681, §4.2: an ACK for at least every second full-sized segment, within 500 ms of the first unacknowledged one; at once
//! for a segment out of order, and for one that fills all or part of a gap.

use super::{Arrival, Decision, Ledger, Reason};
use acklab_base::Duration;

/// The policy of RFC 1122 and RFC 5681.
#[derive(Clone, Copy, Debug)]
pub struct Delayed {
    segments: u32,
    timer: Duration,
}

impl Delayed {
    pub(super) const fn new(segments: u32, timer: Duration) -> Self {
        Self { segments, timer }
    }

    pub(super) fn decide(self, arrival: &Arrival, ledger: &Ledger) -> Decision {
        match arrival {
            Arrival::OutOfOrder => Decision::Now(Reason::OutOfOrder),
            Arrival::FillsGap { .. } => Decision::Now(Reason::FillsGap),
            Arrival::Duplicate => Decision::Now(Reason::Duplicate),
            Arrival::InOrder if ledger.segments >= self.segments => Decision::Now(Reason::SegmentCount),
            Arrival::InOrder => Decision::At(ledger.since.unwrap_or(ledger.newest) + self.timer, Reason::Timer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_second_segment_or_the_timer_of_the_first() {
        let policy = Delayed::new(2, Duration::from_millis(200));
        let mut ledger = Ledger::default();
        ledger.enter(at(10), 1448, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::At(at(210), Reason::Timer));
        ledger.enter(at(50), 1448, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::Now(Reason::SegmentCount));
        ledger.settle();
        ledger.enter(at(60), 1448, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::At(at(260), Reason::Timer));
    }

    #[test]
    fn disorder_is_never_delayed() {
        let policy = Delayed::new(2, Duration::from_millis(200));
        let ledger = Ledger::default();
        assert_eq!(policy.decide(&Arrival::OutOfOrder, &ledger), Decision::Now(Reason::OutOfOrder));
        assert_eq!(policy.decide(&Arrival::FillsGap { closed: false }, &ledger), Decision::Now(Reason::FillsGap));
        assert_eq!(policy.decide(&Arrival::Duplicate, &ledger), Decision::Now(Reason::Duplicate));
    }
}
