//! Applies QUIC's rules to a receiver of TCP.
//!
//! RFC 9000, §13.2, requires an ACK after two ack-eliciting packets, and within `max_ack_delay` (25
//! ms unless the peer sets another value, §18.2). A packet that leaves a gap or arrives late is
//! acknowledged immediately. draft-ietf-quic-ack-frequency allows the sender to set
//! `ack_eliciting_threshold`, the delay, and the reordering threshold. The reordering threshold is
//! the distance from a gap to the newest packet at which the gap is reported immediately: 1 is the
//! rule of RFC 9000, 0 means never (§6.2 of the draft). The settings here have the values that the
//! sender would have requested from the start.
//!
//! QUIC numbers packets; TCP numbers bytes. Here each segment with data is a packet, in order or
//! not. The distance of two packet numbers is the distance in bytes divided by the largest segment
//! so far. A retransmission has its old sequence number, so it looks like a late packet. A segment
//! without new data is acknowledged immediately, as TCP requires (RFC 9293, §3.10.7.4).

use super::{AckPolicy, Arrival, Decision, FOR_EVER, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RFC 9000, §18.2: the default of `max_ack_delay`.
pub const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// The minimum of a delay that is a fraction of a round-trip time: kGranularity (RFC 9002, §6.1.2).
const GRANULARITY: Duration = Duration::from_millis(1);

/// The settings of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Quic {
    /// The maximum number of unacknowledged segments.
    #[schemars(range(min = 1))]
    pub packets: u32,
    /// The maximum delay of an ACK.
    pub max_ack_delay: Duration,
    /// Report a gap immediately once an arrived segment is this number of segments above it; 0
    /// disables this.
    pub reordering_threshold: u32,
    /// The length of the start of the connection, in segments. During it, at least every second
    /// segment is acknowledged.
    pub after: u32,
    /// The divisor of the minimum round-trip time. The quotient, at least 1 ms, is the maximum
    /// delay of an ACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rtt_divisor: Option<u32>,
    /// If `true`, a segment that arrives a round-trip time or more after the last ACK is
    /// acknowledged immediately (draft-ietf-quic-ack-frequency, §6.1).
    pub after_round_trip: bool,
}

impl Default for Quic {
    /// RFC 9000, §13.2.2 and §18.2.
    fn default() -> Self {
        Self {
            packets: 2,
            max_ack_delay: MAX_ACK_DELAY,
            reordering_threshold: 1,
            after: 0,
            rtt_divisor: None,
            after_round_trip: false,
        }
    }
}

impl Settings for Quic {
    type Policy = Frequency;

    fn policy(self) -> Frequency {
        Frequency {
            threshold: self.packets.saturating_sub(1),
            max_ack_delay: self.max_ack_delay,
            reordering: self.reordering_threshold,
            after: self.after,
            rtt_divisor: self.rtt_divisor,
            after_round_trip: self.after_round_trip,
            last: None,
        }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("max_ack_delay", self.max_ack_delay)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.max_ack_delay)
    }
}

/// The rules of RFC 9000, §13.2, with the settings of an `ACK_FREQUENCY` frame.
#[derive(Clone, Copy, Debug)]
pub struct Frequency {
    /// An ACK is sent when more than this number of ack-eliciting packets are unacknowledged.
    pub(super) threshold: u32,
    pub(super) max_ack_delay: Duration,
    pub(super) reordering: u32,
    /// The length of the start of the connection, in packets. During it, at least every second
    /// packet is acknowledged.
    pub(super) after: u32,
    /// The divisor of the minimum round-trip time. The quotient limits the delay.
    pub(super) rtt_divisor: Option<u32>,
    /// `true` if a packet that arrives a round-trip time after the last ACK is acknowledged
    /// immediately.
    pub(super) after_round_trip: bool,
    /// The time of the last ACK.
    pub(super) last: Option<Instant>,
}

impl AckPolicy for Frequency {
    fn ledger(&self) -> Ledger {
        if self.after_round_trip || self.rtt_divisor.is_some() {
            Ledger::default().with_round_trip(FOR_EVER)
        } else {
            Ledger::default()
        }
    }

    #[inline(never)]
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        if *arrival == Arrival::Duplicate {
            return Decision::Now(Reason::Duplicate);
        }
        if reports_reordering(self.reordering, ledger, held) {
            return Decision::Now(arrival.disorder().unwrap_or(Reason::OutOfOrder));
        }
        let is_at_start = ledger.total.segments <= u64::from(self.after);
        let threshold = if is_at_start { self.threshold.min(1) } else { self.threshold };
        if ledger.arrived.segments > u64::from(threshold) {
            return Decision::Now(Reason::SegmentCount);
        }
        let round_trip = ledger.round_trip.as_ref().and_then(|measured| measured.least());
        if self.after_round_trip
            && let (Some(last), Some(round_trip)) = (self.last, round_trip)
            && last + round_trip <= now
        {
            return Decision::Now(Reason::QuickAck);
        }
        let share = self.rtt_divisor.zip(round_trip).map(|(divisor, rtt)| (rtt / u64::from(divisor)).max(GRANULARITY));
        let delay = share.map_or(self.max_ack_delay, |share| share.min(self.max_ack_delay));
        Decision::At(ledger.newest + delay, Reason::Timer)
    }

    fn on_ack_sent(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

/// Returns `true` if the newest arrival must be reported immediately, with this reordering
/// threshold.
///
/// The result is `true` if an unreported gap is now `threshold` packets below the newest packet. It
/// is also `true` if the last ACK reported the arrived packet as missing at that distance (Google's
/// `QuicReceivedPacketManager::MaybeUpdateAckTimeout`).
pub(super) fn reports_reordering(threshold: u32, ledger: &Ledger, held: Held<'_>) -> bool {
    let Some(slack) = threshold.checked_sub(1).map(|segments| u64::from(segments) * ledger.unit) else {
        return false;
    };
    if ledger.last.span.end + slack <= ledger.reported.start {
        return true;
    }
    // Largest Reported of the draft: lower numbers were reported missing.
    let reported = ledger.reported.end.saturating_sub(u64::from(threshold) * ledger.unit);
    held.first_missing_from(reported) + slack < ledger.highest.start
}

#[cfg(test)]
mod tests {
    use super::super::ack_frequency::AckFrequency;
    use super::super::testing::{Endpoint, Line};
    use super::super::{Acknowledger, Packet, Policy, PolicyConfig, Ranges};
    use super::*;

    const AT_ONCE: Option<Reason> = Some(Reason::OutOfOrder);
    const COUNT: Option<Reason> = Some(Reason::SegmentCount);
    const LATE: Option<Reason> = Some(Reason::FillsGap);

    /// Feeds packets by number. Returns the reason of each packet's immediate ACK, if any.
    fn play_on(line: Line, config: PolicyConfig, packets: &[u64]) -> Vec<Option<Reason>> {
        let mut endpoint = Endpoint::new(line, config);
        packets.iter().map(|number| endpoint.arrives(Instant::ZERO, *number)).collect()
    }

    /// Feeds the same packets on both number lines.
    fn play(config: PolicyConfig, packets: &[u64]) -> Vec<Option<Reason>> {
        let on_packets = play_on(Line::Packets, config, packets);
        assert_eq!(on_packets, play_on(Line::Stream, config, packets));
        on_packets
    }

    fn frequency(ack_eliciting_threshold: u32, reordering_threshold: u32) -> PolicyConfig {
        let frame = AckFrequency { ack_eliciting_threshold, reordering_threshold, ..AckFrequency::default() };
        PolicyConfig::AckFrequency(frame)
    }

    fn immediate(reasons: &[Option<Reason>]) -> Vec<bool> {
        reasons.iter().map(Option::is_some).collect()
    }

    #[test]
    fn a_gap_is_reported_once_and_then_packets_count() {
        for config in [frequency(1, 1), PolicyConfig::Quic(Quic::default())] {
            let reasons = play(config, &[0, 1, 3, 4, 5, 2, 6]);
            assert_eq!(reasons, [None, COUNT, AT_ONCE, None, COUNT, LATE, None]);
        }
    }

    #[test]
    fn a_gap_waits_until_it_lies_back_by_the_threshold() {
        // The example of the draft: 2 is reported with 5, 6 with 9, 7 with 10.
        let reasons = play(frequency(100, 3), &[0, 1, 3, 4, 5, 8, 9, 10]);
        assert_eq!(immediate(&reasons), [false, false, false, false, true, false, true, true]);
    }

    #[test]
    fn what_was_reported_missing_is_reported_when_it_comes() {
        assert_eq!(immediate(&play(frequency(100, 3), &[0, 2, 3, 4, 1])), [false, false, false, true, true]);
        assert_eq!(immediate(&play(frequency(100, 3), &[0, 2, 3, 1])), [false; 4], "reordering below the threshold");
    }

    #[test]
    fn without_a_threshold_order_does_not_matter() {
        let reasons = play(frequency(3, 0), &[0, 2, 4, 6, 1]);
        assert_eq!(immediate(&reasons), [false, false, false, true, false]);
        assert_eq!(reasons[3], COUNT);
    }

    #[test]
    fn on_packet_numbers_a_distance_does_not_depend_on_the_size_of_packets() {
        // A small packet after large ones is also one packet number away. In bytes, its distance
        // would be a fraction of a packet.
        let mut acknowledger = Acknowledger::new(Policy::new(frequency(100, 3)).unwrap());
        let mut ranges = Ranges::default();
        let due: Vec<bool> = [(0, 1200), (2, 1200), (3, 30), (4, 30)]
            .map(|(number, octets)| {
                let arrival = ranges.insert(number..number + 1);
                acknowledger.enter(Instant::ZERO, Packet::numbered(number, octets));
                acknowledger.decide(Instant::ZERO, arrival, ranges.held(true));
                acknowledger.due().is_some()
            })
            .to_vec();
        assert_eq!(due, [false, false, false, true]);
        assert_eq!((acknowledger.ledger().unit, acknowledger.ledger().full_size), (1, 1200));
    }

    #[test]
    fn what_waits_leaves_within_the_delay_of_the_first() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        for line in [Line::Packets, Line::Stream] {
            let mut endpoint = Endpoint::new(line, frequency(100, 1));
            assert_eq!((endpoint.arrives(at(0), 0), endpoint.arrives(at(10), 1)), (None, None));
            // RFC 9000, §13.2.1: within max_ack_delay.
            assert_eq!(endpoint.acknowledger.deadline(), Some(at(25)));
            assert_eq!(endpoint.wake(at(25)), Some(Reason::Timer));
            assert_eq!((endpoint.acknowledger.deadline(), endpoint.acknowledger.newest_reported()), (None, at(10)));
        }
    }
}
