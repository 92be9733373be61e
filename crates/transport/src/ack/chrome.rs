//! Chrome's QUIC: ACK decimation.
//!
//! Google's quiche, `quic_received_packet_manager.cc` (`MaybeEnableAckDecimation`,
//! `GetMaxAckDelay`, `HasNewMissingPackets`) and `quic_constants.h`. The receiver acknowledges
//! every second packet up to number 100, within 25 ms. Then it acknowledges every tenth packet. The
//! delay is a quarter of the minimum round-trip time, at least 1 ms and at most 25 ms. The first
//! four packets after a gap are acknowledged immediately: three for fast retransmit, and one more
//! in case an ACK is lost.
//!
//! The definition of a packet, and the differences that TCP requires, are those of `quic`. quiche
//! counts packets as sent, by their number. This policy counts arrived segments.

use super::quic::{MAX_ACK_DELAY, reports_reordering};
use super::{AckPolicy, Arrival, Decision, FOR_EVER, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `kDefaultRetransmittablePacketsBeforeAck`.
const PACKETS_AT_FIRST: u64 = 2;
/// `kMaxPacketsAfterNewMissing`.
const PACKETS_AFTER_GAP: u64 = 4;
/// `kAlarmGranularity`.
const GRANULARITY: Duration = Duration::from_millis(1);

/// The settings of a scenario, and the policy itself, which has no other state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Chrome {
    /// The maximum number of unacknowledged segments after the start of the connection.
    #[schemars(range(min = 1))]
    pub packets: u32,
    /// The length of the start of the connection, in segments. During it, every second segment is
    /// acknowledged.
    pub after: u32,
    /// The divisor of the minimum round-trip time. The quotient is the maximum delay after the
    /// start of the connection.
    #[schemars(range(min = 1))]
    pub rtt_divisor: u32,
    /// The maximum delay of an ACK.
    pub max_ack_delay: Duration,
}

impl Default for Chrome {
    /// The defaults of `kMaxRetransmittablePacketsBeforeAck`, `kMinReceivedBeforeAckDecimation`,
    /// and `quic_ack_decimation_delay` (a quarter).
    fn default() -> Self {
        Self { packets: 10, after: 100, rtt_divisor: 4, max_ack_delay: MAX_ACK_DELAY }
    }
}

impl Settings for Chrome {
    type Policy = Self;

    fn policy(self) -> Self {
        self
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("max_ack_delay", self.max_ack_delay)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.max_ack_delay)
    }
}

impl AckPolicy for Chrome {
    fn ledger(&self) -> Ledger {
        Ledger::default().with_round_trip(FOR_EVER)
    }

    #[inline(never)]
    fn decide(&mut self, _now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        match arrival {
            Arrival::Duplicate => return Decision::Now(Reason::Duplicate),
            Arrival::FillsGap { .. } if reports_reordering(1, ledger, held) => return Decision::Now(Reason::FillsGap),
            _ => {}
        }
        let decimates = ledger.total.segments > u64::from(self.after);
        let packets = if decimates { u64::from(self.packets) } else { PACKETS_AT_FIRST };
        if ledger.arrived.segments >= packets {
            return Decision::Now(Reason::SegmentCount);
        }
        if held.beyond.last().is_some_and(|run| run.end - run.start <= PACKETS_AFTER_GAP * ledger.unit) {
            return Decision::Now(Reason::OutOfOrder);
        }
        Decision::At(ledger.newest + self.delay(decimates, ledger), Reason::Timer)
    }
}

impl Chrome {
    fn delay(&self, decimates: bool, ledger: &Ledger) -> Duration {
        match ledger.round_trip.as_ref().and_then(|rtt| rtt.least()) {
            _ if !decimates => self.max_ack_delay,
            // Without a measurement, quiche's minimum round trip is zero.
            None => GRANULARITY,
            Some(rtt) => (rtt / u64::from(self.rtt_divisor)).min(self.max_ack_delay).max(GRANULARITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true, newer: 0 };

    /// Returns the ACK delay of a packet that does not complete the required number, after `before`
    /// packets and with this round-trip time.
    fn delay(before: u64, rtt_ms: u64) -> Duration {
        let mut policy = Chrome::default();
        let mut ledger = policy.ledger();
        ledger.total.segments = before;
        if let Some(rtt) = &mut ledger.round_trip {
            rtt.on_handshake(Instant::ZERO, Duration::from_millis(rtt_ms));
        }
        ledger.enter(Instant::ZERO, Packet::of_stream(0..1000, 1000));
        match policy.decide(Instant::ZERO, &Arrival::InOrder, &ledger, HELD) {
            Decision::At(at, Reason::Timer) => at.since(Instant::ZERO),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_quarter_of_the_round_trip_between_one_and_twenty_five_milliseconds() {
        let ms = Duration::from_millis;
        assert_eq!([delay(99, 40), delay(100, 40), delay(100, 400), delay(100, 2)], [ms(25), ms(10), ms(25), ms(1)]);
    }
}
