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
    quick: u32,
}

impl Delayed {
    pub(super) const fn new(segments: u32, timer: Duration, quick: u32) -> Self {
        Self { segments, timer, quick }
    }

    pub(super) fn decide(&self, arrival: &Arrival, ledger: &Ledger) -> Decision {
        if let Some(reason) = arrival.disorder() {
            return Decision::Now(reason);
        }
        if self.quick > 0 {
            return Decision::Now(Reason::QuickAck);
        }
        if ledger.segments >= self.segments {
            return Decision::Now(Reason::SegmentCount);
        }
        Decision::At(ledger.since.unwrap_or(ledger.newest) + self.timer, Reason::Timer)
    }

    pub(super) fn on_ack_sent(&mut self) {
        self.quick = self.quick.saturating_sub(1);
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
        let policy = Delayed::new(2, Duration::from_millis(200), 0);
        let mut ledger = Ledger::default();
        ledger.enter(at(10), 0..1448, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::At(at(210), Reason::Timer));
        ledger.enter(at(50), 1448..2896, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::Now(Reason::SegmentCount));
        ledger.settle();
        ledger.enter(at(60), 2896..4344, 1448);
        assert_eq!(policy.decide(&Arrival::InOrder, &ledger), Decision::At(at(260), Reason::Timer));
    }

    #[test]
    fn disorder_is_never_delayed() {
        let policy = Delayed::new(2, Duration::from_millis(200), 0);
        let ledger = Ledger::default();
        assert_eq!(policy.decide(&Arrival::OutOfOrder, &ledger), Decision::Now(Reason::OutOfOrder));
        assert_eq!(policy.decide(&Arrival::FillsGap { closed: false }, &ledger), Decision::Now(Reason::FillsGap));
        assert_eq!(policy.decide(&Arrival::Duplicate, &ledger), Decision::Now(Reason::Duplicate));
    }
}
