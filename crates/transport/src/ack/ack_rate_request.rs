//! The receiver's half of TARR, the TCP ACK Rate Request (draft-ietf-tcpm-ack-rate-request). The
//! sender requests the number of segments per ACK.
//!
//! The number is two before the first request (RFC 5681, §4.2), then the requested R. The
//! delayed-ACK timer limits the delay. R = 0 requests an ACK of the segment that carries it, and
//! does not change the number. Out-of-order segments are acknowledged immediately (RFC 5681, §4.2).
//! Segments of any size are counted, because the segment with the request is not full-sized.

use super::delayed::Delayed;
use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, TcpEvents, Timer};
use acklab_base::{Duration, Instant};
use acklab_wire::tcp::AckRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 5681, §4.2: at least every second full-sized segment is acknowledged, unless both ends agree
/// otherwise.
pub(crate) const INITIAL_RATE: u8 = 2;

/// RFC 5681, §4.2: an ACK is not delayed by more than 500 ms.
const LONGEST_TIMER: Duration = Duration::from_millis(500);

/// The settings of a scenario: the sender's requests and the receiver's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AckRateRequest {
    /// The number of full-sized segments per ACK that the sender requests. It requests fewer while
    /// its window is small.
    #[schemars(range(min = 1, max = 127))]
    pub segments: u8,
    /// The minimum number of ACKs per window that the sender requests.
    #[schemars(range(min = 1))]
    pub acks_per_window: u32,
    /// If `true`, the sender requests immediate ACKs of two kinds of segment. One is the last
    /// segment that it has to send. The other fills a window smaller than the requested number.
    pub immediate: bool,
    /// The maximum delay of an ACK, at most 500 ms.
    pub timer: Duration,
}

impl Default for AckRateRequest {
    /// Four ACKs per window are from draft-ietf-ccwg-bbr (section on the impact of changing ACK
    /// frequency). 16 segments are the longest runs of drivers that remove ACKs. 200 ms is the
    /// timer of `delayed`.
    fn default() -> Self {
        Self { segments: 16, acks_per_window: 4, immediate: true, timer: Delayed::default().timer }
    }
}

impl Settings for AckRateRequest {
    type Policy = RequestedRate;

    fn policy(self) -> RequestedRate {
        RequestedRate { rate: INITIAL_RATE, at_once: false, timer: self.timer }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer { most: Some(LONGEST_TIMER), ..Timer::new("timer", self.timer) }]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.timer)
    }
}

/// The policy: one ACK per requested number of segments.
#[derive(Clone, Copy, Debug)]
pub struct RequestedRate {
    rate: u8,
    /// `true` if the segment being processed requests an ACK.
    at_once: bool,
    timer: Duration,
}

impl TcpEvents for RequestedRate {
    fn on_ack_rate(&mut self, request: AckRate) {
        match request {
            AckRate::Supported => {}
            AckRate::Every(0) => self.at_once = true,
            AckRate::Every(segments) => self.rate = segments,
        }
    }
}

impl AckPolicy for RequestedRate {
    fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        Some(self)
    }

    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, _held: Held<'_>) -> Decision {
        let at_once = std::mem::take(&mut self.at_once);
        if let Some(reason) = arrival.disorder() {
            return Decision::Now(reason);
        }
        if at_once {
            return Decision::Now(Reason::Asked);
        }
        if ledger.segments >= u32::from(self.rate) {
            return Decision::Now(Reason::SegmentCount);
        }
        Decision::At(ledger.since.unwrap_or(ledger.newest) + self.timer, Reason::Timer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };
    const SIZE: u64 = 1000;

    /// Returns the reason of each ACK, and the segment that elicits it, for `segments` full-sized
    /// segments in order, starting with `first`.
    fn acks(policy: &mut RequestedRate, first: u64, segments: u64) -> Vec<(u64, Reason)> {
        let mut ledger = Ledger::default();
        (first..first + segments)
            .filter_map(|segment| {
                ledger.enter(Instant::ZERO, Packet::of_stream(segment * SIZE..(segment + 1) * SIZE, SIZE));
                match policy.decide(Instant::ZERO, &Arrival::InOrder, &ledger, HELD) {
                    Decision::Now(reason) => {
                        ledger.settle();
                        Some((segment, reason))
                    }
                    _ => None,
                }
            })
            .collect()
    }

    #[test]
    fn two_segments_until_the_sender_asks_and_then_as_many_as_it_asks_for() {
        let mut policy = AckRateRequest::default().policy();
        let counted = |segment| (segment, Reason::SegmentCount);
        assert_eq!(acks(&mut policy, 0, 4), [counted(1), counted(3)]);
        policy.on_ack_rate(AckRate::Every(4));
        assert_eq!(acks(&mut policy, 0, 9), [counted(3), counted(7)]);
        policy.on_ack_rate(AckRate::Every(1));
        assert_eq!(acks(&mut policy, 0, 2), [counted(0), counted(1)]);
    }

    #[test]
    fn zero_asks_for_one_ack_and_leaves_the_rate() {
        let mut policy = AckRateRequest::default().policy();
        policy.on_ack_rate(AckRate::Every(3));
        policy.on_ack_rate(AckRate::Every(0));
        assert_eq!(acks(&mut policy, 0, 4), [(0, Reason::Asked), (3, Reason::SegmentCount)]);
    }

    #[test]
    fn disorder_is_never_delayed_and_the_timer_runs_from_the_first() {
        let mut policy = AckRateRequest::default().policy();
        policy.on_ack_rate(AckRate::Every(100));
        let mut ledger = Ledger::default();
        let ms = |ms| Instant::ZERO + Duration::from_millis(ms);
        ledger.enter(ms(5), Packet::of_stream(0..SIZE, SIZE));
        ledger.enter(ms(90), Packet::of_stream(SIZE..2 * SIZE, SIZE));
        let decided = policy.decide(ms(90), &Arrival::InOrder, &ledger, HELD);
        assert_eq!(decided, Decision::At(ms(205), Reason::Timer));
        let decided = policy.decide(ms(91), &Arrival::OutOfOrder, &ledger, HELD);
        assert_eq!(decided, Decision::Now(Reason::OutOfOrder));
    }
}
