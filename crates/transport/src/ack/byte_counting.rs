//! Sends an ACK per L full-sized segments, counted in bytes.
//!
//! Li et al., SIGCOMM 2020, §4.1, define the byte-counting ACK: f = bw/(L·MSS), L = 2, 4, 8, 16.
//! The frequency f grows with the bandwidth without bound. The policy has no timer: fewer bytes
//! than L segments are acknowledged with later bytes, or never. RFC 1122, §4.2.3.2, requires a
//! timer of less than 500 ms. The paper does not specify ACKs for out-of-order segments. Here they
//! are immediate, as in RFC 5681, §4.2.

use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario, and the policy itself, which has no other state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByteCounting {
    /// L: acknowledge once the bytes of this number of full-sized segments are unacknowledged.
    #[schemars(range(min = 1))]
    pub segments: u32,
    /// The maximum delay of an ACK. Without it, fewer bytes than L segments wait for later bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timer: Option<Duration>,
}

impl Default for ByteCounting {
    /// L is the smallest of the paper. There is no timer, as in the paper.
    fn default() -> Self {
        Self { segments: 2, timer: None }
    }
}

impl Settings for ByteCounting {
    type Policy = Self;

    fn policy(self) -> Self {
        self
    }

    fn timers(&self) -> Vec<Timer> {
        self.timer.map(|timer| Timer::new("timer", timer)).into_iter().collect()
    }

    fn longest_delay(&self) -> Option<Duration> {
        self.timer
    }
}

impl AckPolicy for ByteCounting {
    #[inline(never)]
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
        if let Some(reason) = arrival.disorder() {
            return Decision::Now(reason);
        }
        if ledger.bytes >= u64::from(self.segments) * ledger.full_size {
            return Decision::Now(Reason::ByteCount);
        }
        match self.timer {
            Some(timer) => Decision::At(ledger.since.unwrap_or(ledger.newest) + timer, Reason::Timer),
            None => Decision::Hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };

    fn after(payloads: &[u64]) -> Ledger {
        let (mut ledger, mut offset) = (Ledger::default(), 0);
        for payload in payloads {
            ledger.enter(Instant::ZERO, Packet::of_stream(offset..offset + payload, *payload));
            offset += payload;
        }
        ledger
    }

    #[test]
    fn octets_count_and_not_segments() {
        let mut policy = ByteCounting { segments: 2, timer: None };
        assert_eq!(policy.decide(Instant::ZERO, &Arrival::InOrder, &after(&[1000]), HELD), Decision::Hold);
        assert_eq!(policy.decide(Instant::ZERO, &Arrival::InOrder, &after(&[1000, 400, 400]), HELD), Decision::Hold);
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::InOrder, &after(&[1000, 400, 600]), HELD),
            Decision::Now(Reason::ByteCount)
        );
    }

    #[test]
    fn the_timer_runs_from_the_first_and_disorder_does_not_wait() {
        let mut policy = ByteCounting { segments: 16, timer: Some(Duration::from_millis(100)) };
        let due = Instant::ZERO + Duration::from_millis(100);
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::InOrder, &after(&[1000; 15]), HELD),
            Decision::At(due, Reason::Timer)
        );
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::InOrder, &after(&[1000; 16]), HELD),
            Decision::Now(Reason::ByteCount)
        );
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::OutOfOrder, &after(&[1000]), HELD),
            Decision::Now(Reason::OutOfOrder)
        );
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::FillsGap { closed: false }, &after(&[1000]), HELD),
            Decision::Now(Reason::FillsGap)
        );
    }
}
