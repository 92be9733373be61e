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
