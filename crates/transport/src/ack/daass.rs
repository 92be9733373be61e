//! Delayed ACKs After Slow Start.
//!
//! M. Allman, *On the Generation and Use of TCP Acknowledgments*, CCR 28(5), 1998; RFC 2760,
//! §3.2.3. While the sender is in slow start, the receiver acknowledges every segment, so that the
//! sender's window doubles. Then it delays ACKs. In the paper's simulations, the receiver is
//! informed of slow start. How a real receiver detects it is an open question (RFC 2760, §3.2.3.3).
//! Here `Growth` infers it.
//!
//! Out-of-order segments are acknowledged immediately (RFC 5681, §4.2), and restart the inference.
//! After a loss the sender either repeats slow start (timeout) or continues with half its window
//! (fast recovery). The receiver can distinguish the two only by the growth of the rate. So it
//! acknowledges every segment until three round trips have passed without growth.

use super::delayed::Delayed;
use super::growth::Growth;
use super::{AckPolicy, Arrival, Decision, FOR_EVER, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Daass {
    /// The maximum number of unacknowledged segments after slow start.
    #[schemars(range(min = 1))]
    pub segments: u32,
    /// The maximum delay of an ACK after slow start.
    pub timer: Duration,
}

impl Default for Daass {
    /// The defaults of `delayed`.
    fn default() -> Self {
        let Delayed { segments, timer, .. } = Delayed::default();
        Self { segments, timer }
    }
}

impl Settings for Daass {
    type Policy = AfterSlowStart;

    fn policy(self) -> AfterSlowStart {
        let after = Delayed { segments: self.segments, timer: self.timer, quick: 0 };
        AfterSlowStart { after, growth: Growth::default() }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("timer", self.timer)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.timer)
    }
}

/// The policy: delayed ACKs after slow start.
#[derive(Clone, Copy, Debug)]
pub struct AfterSlowStart {
    after: Delayed,
    growth: Growth,
}

impl AckPolicy for AfterSlowStart {
    fn ledger(&self) -> Ledger {
        Ledger::default().with_round_trip(FOR_EVER)
    }

    #[inline(never)]
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        if matches!(arrival, Arrival::OutOfOrder | Arrival::FillsGap { .. }) {
            self.growth.restart();
        }
        let rtt = ledger.round_trip.as_ref().and_then(|rtt| rtt.smoothed().or(rtt.handshake()));
        self.growth.on_data(now, ledger.total.octets, rtt);
        match arrival {
            Arrival::InOrder if !self.growth.is_over() => Decision::Now(Reason::SlowStart),
            _ => self.after.decide(now, arrival, ledger, held),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };

    const RTT: Duration = Duration::from_millis(100);

    /// Feeds windows of these sizes in segments, each at the start of a round trip. Returns the
    /// number of immediate ACKs per window.
    fn immediate(windows: &[u64], loss_in: Option<usize>) -> Vec<usize> {
        let mut policy = Daass { segments: 2, timer: RTT }.policy();
        let mut ledger = policy.ledger();
        if let Some(rtt) = &mut ledger.round_trip {
            rtt.on_handshake(Instant::ZERO, RTT);
        }
        let mut offset = 0;
        windows
            .iter()
            .enumerate()
            .map(|(round, window)| {
                let now = Instant::ZERO + RTT * round as u64;
                let arrival =
                    if loss_in == Some(round) { Arrival::FillsGap { closed: true } } else { Arrival::InOrder };
                (0..*window)
                    .filter(|_| {
                        ledger.enter(now, Packet::of_stream(offset..offset + 1000, 1000));
                        offset += 1000;
                        let is_immediate = matches!(policy.decide(now, &arrival, &ledger, HELD), Decision::Now(_));
                        if is_immediate {
                            ledger.settle();
                        }
                        is_immediate
                    })
                    .count()
            })
            .collect()
    }

    #[test]
    fn every_segment_while_the_window_doubles_and_every_second_after() {
        assert_eq!(immediate(&[2, 4, 8, 8, 8, 8, 8, 8], None), [2, 4, 8, 8, 8, 8, 4, 4]);
    }

    #[test]
    fn a_repaired_loss_brings_every_segment_back() {
        assert_eq!(
            immediate(&[2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4], Some(6)),
            [2, 2, 2, 2, 1, 1, 4, 4, 4, 4, 4, 2],
            "the first round trip after the repair is one to compare with, and its growth to the second counts as any"
        );
    }
}
