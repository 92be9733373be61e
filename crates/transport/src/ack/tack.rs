//! Applies TACK's ACK frequency formula to standard TCP.
//!
//! Li et al., *TACK: Improving Wireless Transport Performance by Taming Acknowledgments*, SIGCOMM
//! 2020, §4.1. The formula is in [`law`]; TACK's [transport](crate::tack) also uses it.
//!
//! * Fewer than L·MSS bytes are acknowledged L·MSS/bw after their arrival, the interval of the
//!   formula. bw is the recent maximum of the delivery rate. The maximum delay, also without a
//!   measurement of bw, is 500 ms (RFC 5681, §4.2).
//! * A loss elicits one immediate ACK, when the gap opens (§4.4 and §5.1 of the paper); TCP would
//!   acknowledge every segment beyond the gap. A segment that fills a gap elicits no immediate ACK.
//!   A segment without new data is acknowledged immediately, as TCP requires (RFC 9293, §3.10.7.4).
//! * This end measures RTTmin; in TACK, the sender measures it and reports it to the receiver. TACK
//!   also numbers packets, which reveals lost retransmissions, lists gaps, and reports timing. The
//!   header of standard TCP has no fields for these.

pub mod law;

pub use law::Law;

use super::growth::Growth;
use super::{AckPolicy, Arrival, Decision, Held, Ledger, Reason, Settings, Timer};
use acklab_base::{Duration, Instant};
use law::Path;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// With fewer than two ACKs per round trip, the sender stops and waits (Li et al., SIGCOMM 2020,
/// appendix B.1).
const MIN_BETA: u32 = 2;

/// The settings of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tack {
    /// L: the number of full-sized segments per ACK while the rate of bytes determines the ACK
    /// frequency.
    #[schemars(range(min = 1))]
    pub segments: u32,
    /// β: the number of ACKs per minimum round-trip time while time determines the ACK frequency.
    #[schemars(range(min = 2))]
    pub beta: u32,
    /// θ: the number of round trips whose maximum delivery rate is the bandwidth, 5 to 10 in the
    /// paper.
    #[schemars(range(min = 1))]
    pub bandwidth_window: u32,
    /// τ: the period over which the round-trip time is minimized, at most 10 s in the paper.
    pub rtt_window: Duration,
    /// If `true`, every segment is acknowledged until the sender's window no longer doubles (Li et
    /// al., ToN 2021, §VI-D).
    pub per_packet_startup: bool,
}

impl Default for Tack {
    /// L and β are the defaults of §4.1 of the paper. θ and τ are the maxima of §5.4.
    fn default() -> Self {
        Self {
            segments: 2,
            beta: 4,
            bandwidth_window: 10,
            rtt_window: Duration::from_secs(10),
            per_packet_startup: false,
        }
    }
}

impl Tack {
    /// Returns the formula with the constants L and β.
    #[must_use]
    pub const fn law(&self) -> Law {
        Law { packets: self.segments, beta: self.beta }
    }
}

impl Settings for Tack {
    type Policy = TameAcks;

    fn policy(self) -> TameAcks {
        let startup = self.per_packet_startup.then(Growth::default);
        TameAcks { settings: self, startup, last: None }
    }

    fn timers(&self) -> Vec<Timer> {
        vec![Timer::new("rtt_window", self.rtt_window)]
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(law::LONGEST_DELAY)
    }
}

/// The policy, with its state.
#[derive(Clone, Copy, Debug)]
pub struct TameAcks {
    settings: Tack,
    /// The detector of the sender's slow start, if it is used: every segment is acknowledged until
    /// the sender's window no longer doubles (Li et al., IEEE/ACM ToN 2021, §VI-D).
    startup: Option<Growth>,
    last: Option<Instant>,
}

impl AckPolicy for TameAcks {
    fn ledger(&self) -> Ledger {
        let Tack { beta, bandwidth_window, rtt_window, .. } = self.settings;
        Ledger::default().with_round_trip(rtt_window).with_delivery(beta, bandwidth_window)
    }

    #[inline(never)]
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        let rtt = ledger.round_trip.as_ref();
        if let Some(growth) = &mut self.startup {
            growth.on_data(now, ledger.total.octets, rtt.and_then(|rtt| rtt.smoothed().or(rtt.least())));
            if growth.is_over() || matches!(arrival, Arrival::OutOfOrder) {
                self.startup = None;
            }
        }
        match arrival {
            Arrival::Duplicate => return Decision::Now(Reason::Duplicate),
            Arrival::OutOfOrder if held.beyond.last().is_some_and(|run| run.start == ledger.last.span.start) => {
                return Decision::Now(Reason::OutOfOrder);
            }
            _ if self.startup.is_some() => return Decision::Now(Reason::SlowStart),
            _ => {}
        }
        let path = Path {
            mss: ledger.full_size,
            bandwidth: ledger.delivery.as_ref().and_then(|delivery| delivery.rate()),
            rtt_min: rtt.and_then(|rtt| rtt.least()),
        };
        self.settings.law().decide(now, self.last, ledger.arrived.octets, &path)
    }

    /// Each packet is acknowledged while the sender's window doubles.
    fn goes_by_time(&self) -> bool {
        self.startup.is_none()
    }

    fn on_frequency(&mut self, law: Law) {
        (self.settings.segments, self.settings.beta) = (law.packets.max(1), law.beta.max(MIN_BETA));
    }

    fn on_ack_sent(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    fn ledger(rtt_ms: Option<u64>) -> Ledger {
        let mut ledger = Tack::default().policy().ledger();
        if let (Some(ms), Some(rtt)) = (rtt_ms, &mut ledger.round_trip) {
            rtt.on_handshake(at(0), MS * ms);
        }
        ledger
    }

    fn in_order(policy: &mut TameAcks, ledger: &mut Ledger, ms: u64) -> Decision {
        let start = ledger.highest.end;
        ledger.enter(at(ms), Packet::of_stream(start..start + 1000, 1000));
        let held = Held { next: start + 1000, beyond: &[], sack: true, newer: 0 };
        let decision = policy.decide(at(ms), &Arrival::InOrder, ledger, held);
        if let Decision::Now(_) = decision {
            ledger.settle();
            policy.on_ack_sent(at(ms));
        }
        decision
    }

    #[test]
    fn both_bounds_hold() {
        let (mut policy, mut ledger) = (Tack::default().policy(), ledger(Some(40)));
        let decisions = [0, 1, 2, 3, 4].map(|ms| in_order(&mut policy, &mut ledger, ms));
        assert_eq!(decisions[1], Decision::Now(Reason::ByteCount), "none before it");
        assert_eq!(decisions[3..], [Decision::At(at(11), Reason::Periodic); 2]);
    }

    /// The Accept of TACK's receiver was sent twice. So the receiver has no sample of the
    /// handshake, and the sender reports RTTmin.
    #[test]
    fn start_up_ends_by_the_round_trip_that_the_sender_tells() {
        let settings = Tack { per_packet_startup: true, ..Tack::default() };
        let (mut policy, mut ledger) = (settings.policy(), ledger(None));
        ledger.round_trip.as_mut().unwrap().on_told(MS * 10);
        let last = (0..100).map(|ms| in_order(&mut policy, &mut ledger, ms)).last();
        assert_ne!(last, Some(Decision::Now(Reason::SlowStart)), "ten round trips of the same rate");
    }

    #[test]
    fn without_measurements_octets_count_and_half_a_second_is_the_most() {
        let (mut policy, mut ledger) = (Tack::default().policy(), ledger(None));
        let decisions = [0, 1, 2, 3].map(|ms| in_order(&mut policy, &mut ledger, ms));
        let (count, late) = (Decision::Now(Reason::ByteCount), |ms: u64| Decision::At(at(ms + 500), Reason::Timer));
        assert_eq!(decisions, [late(0), count, late(2), count]);
    }
}
