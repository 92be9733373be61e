//! Delays ACKs.
//!
//! RFC 5681, §4.2: an ACK for at least every second full-sized segment, within 500 ms of the first
//! unacknowledged one. Immediate ACKs are sent for an out-of-order segment and for a segment that
//! fills all or part of a gap.

use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario, and the policy itself, which decrements `quick` with each quick ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Delayed {
    /// The maximum number of unacknowledged segments.
    #[schemars(range(min = 1))]
    pub segments: u32,
    /// The maximum delay of an ACK, at most 500 ms in RFC 5681.
    pub timer: Duration,
    /// The number of segments at the start of the connection that are acknowledged one by one.
    pub quick: u32,
}

impl Default for Delayed {
    /// The number of segments is from RFC 5681, §4.2; the time is ns-3's `DelAckTimeout`.
    fn default() -> Self {
        Self { segments: 2, timer: Duration::from_millis(200), quick: 0 }
    }
}

impl Settings for Delayed {
    type Policy = Self;

    fn policy(self) -> Self {
        self
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("timer", self.timer)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.timer)
    }
}

impl AckPolicy for Delayed {
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
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

    fn on_ack_sent(&mut self, _now: Instant) {
        self.quick = self.quick.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn every_second_segment_or_the_timer_of_the_first() {
        let mut policy = Delayed::default();
        let mut ledger = Ledger::default();
        ledger.enter(at(10), Packet::of_stream(0..1448, 1448));
        assert_eq!(
            policy.decide(ledger.newest, &Arrival::InOrder, &ledger, HELD),
            Decision::At(at(210), Reason::Timer)
        );
        ledger.enter(at(50), Packet::of_stream(1448..2896, 1448));
        assert_eq!(policy.decide(ledger.newest, &Arrival::InOrder, &ledger, HELD), Decision::Now(Reason::SegmentCount));
        ledger.settle();
        ledger.enter(at(60), Packet::of_stream(2896..4344, 1448));
        assert_eq!(
            policy.decide(ledger.newest, &Arrival::InOrder, &ledger, HELD),
            Decision::At(at(260), Reason::Timer)
        );
    }

    #[test]
    fn disorder_is_never_delayed() {
        let mut policy = Delayed::default();
        let ledger = Ledger::default();
        assert_eq!(
            policy.decide(ledger.newest, &Arrival::OutOfOrder, &ledger, HELD),
            Decision::Now(Reason::OutOfOrder)
        );
        assert_eq!(
            policy.decide(ledger.newest, &Arrival::FillsGap { closed: false }, &ledger, HELD),
            Decision::Now(Reason::FillsGap)
        );
        assert_eq!(policy.decide(ledger.newest, &Arrival::Duplicate, &ledger, HELD), Decision::Now(Reason::Duplicate));
    }
}
