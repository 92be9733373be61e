//! The law of TACK, on plain TCP.
//!
//! Li et al., *TACK: Improving Wireless Transport Performance by Taming Acknowledgments*, SIGCOMM 2020, §4.1:
//! f = min{bw/(L·MSS), β/RTTmin} ACKs a second. As a rule for one ACK after another: not before L·MSS octets have arrived, and not
//! before RTTmin/β has passed since the last one. It is byte counting while the path holds less than β·L·MSS, and periodic beyond.
//!
//! * What stays below L·MSS is acknowledged once L·MSS/bw has passed since it came, the interval that the law gives; bw is the
//!   largest delivery rate of late. Without a measurement, and at the most, after 500 ms (RFC 5681, §4.2).
//! * Loss calls for an instant ACK, one for each gap as it opens (§4.4, §5.1 there), where TCP would answer every segment beyond it.
//!   What fills a gap waits for its turn. What carries nothing new is acknowledged at once, for TCP must (RFC 9293, §3.10.7.4).
//! * RTTmin is what this end measures by itself. TACK's sender measures it and tells the receiver; its numbering of packets, by
//!   which a lost retransmission shows, its lists of gaps and its timing have no place in plain TCP's header.

use super::growth::Growth;
use super::{Arrival, Decision, Held, Ledger, Reason};
use acklab_base::{Duration, Instant};

/// RFC 5681, §4.2.
const LONGEST_DELAY: Duration = Duration::from_millis(500);

/// Tame ACKs.
#[derive(Clone, Copy, Debug)]
pub struct Tack {
    segments: u32,
    beta: u32,
    /// Every segment until the sender's window no longer doubles (Li et al., IEEE/ACM ToN 2021, §VI-D).
    startup: Option<Growth>,
    last: Option<Instant>,
}

impl Tack {
    pub(super) fn new(segments: u32, beta: u32, per_packet_startup: bool) -> Self {
        Self { segments, beta, startup: per_packet_startup.then(Growth::default), last: None }
    }

    pub(super) fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        let rtt = ledger.round_trip.as_ref();
        if let Some(growth) = &mut self.startup {
            growth.on_data(now, ledger.total.octets, rtt.and_then(|rtt| rtt.smoothed().or(rtt.handshake())));
            if growth.is_over() || matches!(arrival, Arrival::OutOfOrder) {
                self.startup = None;
            }
        }
        match arrival {
            Arrival::Duplicate => return Decision::Now(Reason::Duplicate),
            Arrival::OutOfOrder if held.beyond.last().is_some_and(|run| run.start == ledger.last.start) => {
                return Decision::Now(Reason::OutOfOrder);
            }
            _ if self.startup.is_some() => return Decision::Now(Reason::SlowStart),
            _ => {}
        }
        let period = rtt.and_then(|rtt| rtt.least()).map_or(Duration::ZERO, |rtt| rtt / u64::from(self.beta));
        let due = self.last.map_or(now, |last| last + period);
        let count = u64::from(self.segments) * ledger.full_size;
        if ledger.arrived.octets >= count {
            return if due <= now { Decision::Now(Reason::ByteCount) } else { Decision::At(due, Reason::Periodic) };
        }
        let interval = ledger.delivery.as_ref().and_then(|delivery| delivery.time_of(count));
        let late = now + interval.unwrap_or(LONGEST_DELAY).min(LONGEST_DELAY);
        if late <= due { Decision::At(due, Reason::Periodic) } else { Decision::At(late, Reason::Timer) }
    }

    pub(super) fn on_ack_sent(&mut self, now: Instant) {
        self.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Config;
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + MS * ms
    }

    fn ledger(rtt_ms: Option<u64>) -> Ledger {
        let rtt_window = Duration::from_secs(10);
        let config = Config::Tack { segments: 2, beta: 4, bandwidth_window: 10, rtt_window, per_packet_startup: false };
        let mut ledger = config.ledger();
        if let (Some(ms), Some(rtt)) = (rtt_ms, &mut ledger.round_trip) {
            rtt.on_handshake(at(0), MS * ms);
        }
        ledger
    }

    fn in_order(policy: &mut Tack, ledger: &mut Ledger, ms: u64) -> Decision {
        let start = ledger.highest.end;
        ledger.enter(at(ms), start..start + 1000, 1000);
        let held = Held { next: start + 1000, beyond: &[], sack: true };
        let decision = policy.decide(at(ms), &Arrival::InOrder, ledger, held);
        if let Decision::Now(_) = decision {
            ledger.settle();
            policy.on_ack_sent(at(ms));
        }
        decision
    }

    #[test]
    fn both_bounds_hold() {
        let (mut policy, mut ledger) = (Tack::new(2, 4, false), ledger(Some(40)));
        let decisions = [0, 1, 2, 3, 4].map(|ms| in_order(&mut policy, &mut ledger, ms));
        assert_eq!(decisions[1], Decision::Now(Reason::ByteCount), "none before it");
        assert_eq!(decisions[3..], [Decision::At(at(11), Reason::Periodic); 2]);
    }

    #[test]
    fn without_measurements_octets_count_and_half_a_second_is_the_most() {
        let (mut policy, mut ledger) = (Tack::new(2, 4, false), ledger(None));
        let decisions = [0, 1, 2, 3].map(|ms| in_order(&mut policy, &mut ledger, ms));
        let (count, late) = (Decision::Now(Reason::ByteCount), |ms: u64| Decision::At(at(ms + 500), Reason::Timer));
        assert_eq!(decisions, [late(0), count, late(2), count]);
    }
}
