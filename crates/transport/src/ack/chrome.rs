//! Chrome's QUIC: ACK decimation.
//!
//! Google's quiche, `quic_received_packet_manager.cc` (`MaybeEnableAckDecimation`, `GetMaxAckDelay`, `HasNewMissingPackets`) and
//! `quic_constants.h`. Every second packet up to number 100, within 25 ms; then every tenth, within a quarter of the shortest round
//! trip, 1 ms at least and 25 ms at most. While the newest run of packets behind a gap is not longer than four, each is
//! acknowledged at once: as many as fast retransmit needs, and one more should an ACK be lost.
//!
//! Packets and what TCP must do differently are as in `quic`. Packet numbers count what was sent, here what has arrived.

use super::quic::reports_reordering;
use super::{Arrival, Decision, Held, Ledger, Reason};
use acklab_base::Duration;

/// `kDefaultRetransmittablePacketsBeforeAck`.
const PACKETS_AT_FIRST: u64 = 2;
/// `kMaxPacketsAfterNewMissing`.
const PACKETS_AFTER_GAP: u64 = 4;
/// `kAlarmGranularity`.
const GRANULARITY: Duration = Duration::from_millis(1);

/// ACK decimation.
#[derive(Clone, Copy, Debug)]
pub struct Chrome {
    packets: u32,
    after: u32,
    rtt_divisor: u32,
    max_delay: Duration,
}

impl Chrome {
    pub(super) const fn new(packets: u32, after: u32, rtt_divisor: u32, max_delay: Duration) -> Self {
        Self { packets, after, rtt_divisor, max_delay }
    }

    pub(super) fn decide(&self, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
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
        if held.beyond.last().is_some_and(|run| run.end - run.start <= PACKETS_AFTER_GAP * ledger.full_size) {
            return Decision::Now(Reason::OutOfOrder);
        }
        Decision::At(ledger.newest + self.delay(decimates, ledger), Reason::Timer)
    }

    fn delay(&self, decimates: bool, ledger: &Ledger) -> Duration {
        match ledger.round_trip.as_ref().and_then(|rtt| rtt.least()) {
            _ if !decimates => self.max_delay,
            // Without a measurement the shortest round trip is zero there.
            None => GRANULARITY,
            Some(rtt) => (rtt / u64::from(self.rtt_divisor)).min(self.max_delay).max(GRANULARITY),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;
    use acklab_base::Instant;

    const HELD: Held<'_> = Held { next: 0, beyond: &[], sack: true };

    /// The delay of one packet that is not the second or tenth, after so many and with this round trip.
    fn delay(before: u64, rtt_ms: u64) -> Duration {
        let config =
            Config::Chrome { packets: 10, after: 100, rtt_divisor: 4, max_ack_delay: Duration::from_millis(25) };
        let (policy, mut ledger) = (Chrome::new(10, 100, 4, Duration::from_millis(25)), config.ledger());
        ledger.total.segments = before;
        if let Some(rtt) = &mut ledger.round_trip {
            rtt.on_handshake(Instant::ZERO, Duration::from_millis(rtt_ms));
        }
        ledger.enter(Instant::ZERO, 0..1000, 1000);
        match policy.decide(&Arrival::InOrder, &ledger, HELD) {
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
