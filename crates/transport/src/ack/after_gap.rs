//! Acknowledges every packet for a fraction of a round-trip time after a gap.
//!
//! The drafts of QUIC allowed a receiver to continue immediate ACKs after a packet that arrived out
//! of order. They required the ordinary rule again within 1/8 of a round-trip time, unless more
//! packets arrived out of order (draft-ietf-quic-recovery-17 to -21, "Generating Acknowledgements";
//! draft-iyengar-quic-delayed-ack-00, "Expediting Loss and Congestion Signals"). Pull request 2025
//! of quicwg/base-drafts ("Only send immediate acks for 1/8 RTT") added the rule. Pull request 3361
//! ("Only send one immediate ACK", January 2020) removed it, so it is not in RFC 9000. Custura,
//! Jones and Fairhurst list it as QUIC's default (IETF 106, PANRG).
//!
//! At other times the rule is that of [`quic`](super::quic): an ACK after a number of packets, or
//! after a delay. The round-trip time is the minimum that this end has measured. Before the first
//! measurement, only the out-of-order packet itself is acknowledged immediately.

use super::quic::{Frequency, MAX_ACK_DELAY, Quic};
use super::{AckPolicy, Arrival, Decision, FOR_EVER, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The settings of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AfterGap {
    /// The maximum number of unacknowledged packets.
    #[schemars(range(min = 1))]
    pub packets: u32,
    /// The maximum delay of an ACK.
    pub max_ack_delay: Duration,
    /// The divisor of the round-trip time. The quotient is the period after a gap in which every
    /// packet is acknowledged.
    #[schemars(range(min = 1))]
    pub rtt_divisor: u32,
}

impl Default for AfterGap {
    fn default() -> Self {
        Self { packets: 2, max_ack_delay: MAX_ACK_DELAY, rtt_divisor: 8 }
    }
}

impl Settings for AfterGap {
    type Policy = Watching;

    fn policy(self) -> Watching {
        let rule = Quic { packets: self.packets, max_ack_delay: self.max_ack_delay, ..Quic::default() }.policy();
        Watching { rule, divisor: self.rtt_divisor.max(1).into(), until: None }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("max_ack_delay", self.max_ack_delay)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(self.max_ack_delay)
    }
}

/// The policy, with its state.
#[derive(Clone, Copy, Debug)]
pub struct Watching {
    rule: Frequency,
    divisor: u64,
    /// The end of the period in which every packet is acknowledged.
    until: Option<Instant>,
}

impl AckPolicy for Watching {
    fn ledger(&self) -> Ledger {
        Ledger::default().with_round_trip(FOR_EVER)
    }

    #[inline(never)]
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        let decision = self.rule.decide(now, arrival, ledger, held);
        if let Decision::Now(Reason::OutOfOrder | Reason::FillsGap) = decision {
            let share = ledger.round_trip.as_ref().and_then(|rtt| rtt.least()).map(|rtt| rtt / self.divisor);
            self.until = share.map(|share| now + share);
            return decision;
        }
        match self.until {
            Some(until) if now < until => Decision::Now(Reason::QuickAck),
            _ => decision,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PolicyConfig;
    use super::super::testing::{Endpoint, Line};
    use super::*;

    /// The round trip is 40 ms, so an eighth is 5 ms.
    #[test]
    fn every_packet_is_acknowledged_for_an_eighth_of_a_round_trip_after_a_gap() {
        let mut endpoint = Endpoint::new(Line::Packets, PolicyConfig::AfterGap(AfterGap::default()));
        let mut reason = |ms: u64, number| endpoint.arrives(Instant::ZERO + Duration::from_millis(ms), number);
        assert_eq!(
            [reason(0, 0), reason(0, 1), reason(0, 3)],
            [None, Some(Reason::SegmentCount), Some(Reason::OutOfOrder)]
        );
        assert_eq!([reason(2, 4), reason(4, 5)], [Some(Reason::QuickAck); 2]);
        assert_eq!([reason(5, 6), reason(6, 7)], [None, Some(Reason::SegmentCount)]);
        assert_eq!([reason(7, 2), reason(11, 8)], [Some(Reason::FillsGap), Some(Reason::QuickAck)], "one that is late");
    }
}
