//! The receiver's half of ACK congestion control (RFC 5690).
//!
//! Sends an ACK per R segments. The delayed-ACK timer is at most 500 ms. R is two until the sender
//! sets it with an ACK Ratio option (§4.1 to §4.3). If R is two or less, out-of-order segments are
//! acknowledged immediately. With larger R, only the first three segments of a reordering event are
//! acknowledged immediately. The event lasts while any data are beyond a gap; its later segments
//! are counted as usual (§4.6). The segment that ends the event is acknowledged immediately (RFC
//! 5681, §4.2).

use super::delayed::Delayed;
use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, TcpEvents, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// §4.1: the initial ratio; §4.6: up to this ratio, ACKs of out-of-order segments are never
/// delayed.
const INITIAL_RATIO: u8 = 2;
/// §4.6: the immediate duplicate ACKs per reordering event.
const IMMEDIATE_DUPLICATES: u32 = 3;

/// §4.6: the delayed-ACK timer is at most 500 ms.
const LONGEST_TIMER: Duration = Duration::from_millis(500);

/// The settings of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckCongestionControl {
    /// The maximum delay of an ACK, at most 500 ms.
    pub timer: Duration,
}

impl Default for AckCongestionControl {
    /// The timer is 200 ms, as in `delayed`.
    fn default() -> Self {
        Self { timer: Delayed::default().timer }
    }
}

impl Settings for AckCongestionControl {
    type Policy = CongestionControl;

    fn policy(self) -> CongestionControl {
        CongestionControl { ratio: INITIAL_RATIO, timer: self.timer, duplicates: 0 }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer { most: Some(LONGEST_TIMER), ..Timer::new("timer", self.timer) }]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.timer)
    }
}

/// The policy: an ACK per R segments.
#[derive(Clone, Copy, Debug)]
pub struct CongestionControl {
    ratio: u8,
    timer: Duration,
    /// The number of immediate ACKs sent in this reordering event.
    duplicates: u32,
}

impl TcpEvents for CongestionControl {
    fn on_ack_ratio(&mut self, ratio: u8) {
        self.ratio = ratio.max(1);
    }
}

impl AckPolicy for CongestionControl {
    fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        Some(self)
    }

    #[inline(never)]
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
        match arrival {
            Arrival::Duplicate => return Decision::Now(Reason::Duplicate),
            Arrival::FillsGap { closed: true } => {
                self.duplicates = 0;
                return Decision::Now(Reason::FillsGap);
            }
            Arrival::InOrder => {}
            Arrival::OutOfOrder | Arrival::FillsGap { .. } => {
                if self.ratio <= INITIAL_RATIO || self.duplicates < IMMEDIATE_DUPLICATES {
                    self.duplicates += 1;
                    return Decision::Now(arrival.disorder().unwrap_or(Reason::OutOfOrder));
                }
            }
        }
        if ledger.arrived.segments >= u64::from(self.ratio) {
            return Decision::Now(Reason::SegmentCount);
        }
        Decision::At(ledger.newest + self.timer, Reason::Timer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };

    #[test]
    fn with_a_ratio_above_two_only_three_duplicates_are_immediate() {
        let mut policy = AckCongestionControl::default().policy();
        policy.on_ack_ratio(4);
        let mut ledger = Ledger::default();
        let reasons: Vec<Option<Reason>> = (1..=12u64)
            .map(|segment| {
                ledger.enter(Instant::ZERO, Packet::of_stream(segment * 1000..(segment + 1) * 1000, 0));
                match policy.decide(Instant::ZERO, &Arrival::OutOfOrder, &ledger, HELD) {
                    Decision::Now(reason) => {
                        ledger.settle();
                        Some(reason)
                    }
                    _ => None,
                }
            })
            .collect();
        let (first, then) = (Some(Reason::OutOfOrder), Some(Reason::SegmentCount));
        assert_eq!(reasons[..3], [first; 3]);
        assert_eq!(reasons[3..], [None, None, None, then, None, None, None, then, None]);
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::FillsGap { closed: true }, &ledger, HELD),
            Decision::Now(Reason::FillsGap)
        );
        assert_eq!(
            policy.decide(Instant::ZERO, &Arrival::OutOfOrder, &ledger, HELD),
            Decision::Now(Reason::OutOfOrder),
            "a new event"
        );
    }
}
