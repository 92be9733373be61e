//! QUIC's rules, for a receiver of TCP.
//!
//! RFC 9000, §13.2: an ACK after two ack-eliciting packets, within `max_ack_delay` (25 ms unless the peer says otherwise, §18.2), and
//! at once for a packet that leaves a gap or comes late. draft-ietf-quic-ack-frequency lets the sender choose all three: more than
//! `ack_eliciting_threshold` packets, the delay, and how far a gap must lie back before it is reported at once, where 1 is the rule
//! of RFC 9000 and 0 means never (§6.2 there). The settings here are what the sender would have asked for from the start.
//!
//! QUIC numbers packets; TCP numbers octets. A packet here is a segment with data, in order or not, and distances between packet
//! numbers are octets over the largest segment so far. A retransmission has its old number, so it looks like a packet that comes
//! late. What carries nothing new is acknowledged at once, for TCP must (RFC 9293, §3.10.7.4).

use super::{Arrival, Decision, Held, Ledger, Reason};
use acklab_base::Duration;

/// RFC 9000, §13.2, with the settings of an `ACK_FREQUENCY` frame.
#[derive(Clone, Copy, Debug)]
pub struct Quic {
    /// An ACK with more than so many.
    threshold: u32,
    max_ack_delay: Duration,
    reordering: u32,
}

impl Quic {
    pub(super) const fn new(threshold: u32, max_ack_delay: Duration, reordering: u32) -> Self {
        Self { threshold, max_ack_delay, reordering }
    }

    pub(super) fn decide(&self, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        if *arrival == Arrival::Duplicate {
            return Decision::Now(Reason::Duplicate);
        }
        if let Some(reason) = arrival.disorder().filter(|_| reports_reordering(self.reordering, ledger, held)) {
            return Decision::Now(reason);
        }
        if ledger.arrived.segments > u64::from(self.threshold) {
            return Decision::Now(Reason::SegmentCount);
        }
        Decision::At(ledger.newest + self.max_ack_delay, Reason::Timer)
    }
}

/// Is the newest arrival one that is reported at once, with this reordering threshold?
///
/// It is if it makes a gap that no ACK has reported lie `threshold` back, or if it came so late that the last ACK reported it
/// missing by as much (Google's `QuicReceivedPacketManager::MaybeUpdateAckTimeout`).
pub(super) fn reports_reordering(threshold: u32, ledger: &Ledger, held: Held<'_>) -> bool {
    let Some(slack) = threshold.checked_sub(1).map(|segments| u64::from(segments) * ledger.full_size) else {
        return false;
    };
    if ledger.last.end + slack <= ledger.reported.start {
        return true;
    }
    // Largest Reported: what lies below counts as reported missing.
    let reported = ledger.reported.end.saturating_sub(u64::from(threshold) * ledger.full_size);
    held.first_missing_from(reported) + slack < ledger.highest.start
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;
    use std::ops::Range;

    const AT_ONCE: Decision = Decision::Now(Reason::OutOfOrder);

    /// Packets of 1000 octets arrive by number; what the policy says to each, an ACK settling what is owed.
    fn play(policy: Quic, packets: &[u64]) -> Vec<Decision> {
        let (mut ledger, mut have) = (Ledger::default(), Vec::<u64>::new());
        packets
            .iter()
            .map(|packet| {
                let next = |have: &[u64]| (0..).find(|number| !have.contains(number)).unwrap_or(0);
                let before = next(&have);
                have.push(*packet);
                have.sort_unstable();
                let after = next(&have);
                let beyond =
                    have.iter().filter(|number| **number > after).fold(Vec::<Range<u64>>::new(), |mut held, number| {
                        let range = number * 1000..(number + 1) * 1000;
                        match held.last_mut().filter(|last| last.end == range.start) {
                            Some(last) => last.end = range.end,
                            None => held.push(range),
                        }
                        held
                    });
                let arrival = match (after > before, beyond.is_empty()) {
                    (true, true) if after == before + 1 => Arrival::InOrder,
                    (true, closed) => Arrival::FillsGap { closed },
                    (false, _) => Arrival::OutOfOrder,
                };
                ledger.enter(Instant::ZERO, packet * 1000..(packet + 1) * 1000, (after - before) * 1000);
                let decision =
                    policy.decide(&arrival, &ledger, Held { next: after * 1000, beyond: &beyond, sack: true });
                if matches!(decision, Decision::Now(_)) {
                    ledger.settle();
                }
                decision
            })
            .collect()
    }

    fn immediate(decisions: &[Decision]) -> Vec<bool> {
        decisions.iter().map(|decision| matches!(decision, Decision::Now(_))).collect()
    }

    #[test]
    fn a_gap_is_reported_once_and_then_packets_count() {
        let policy = Quic::new(1, Duration::from_millis(25), 1);
        let decisions = play(policy, &[0, 1, 3, 4, 5, 2, 6]);
        assert_eq!(immediate(&decisions), [false, true, true, false, true, true, false]);
        assert_eq!((decisions[2], decisions[4]), (AT_ONCE, Decision::Now(Reason::SegmentCount)));
        assert_eq!(decisions[5], Decision::Now(Reason::FillsGap));
    }

    #[test]
    fn a_gap_waits_until_it_lies_back_by_the_threshold() {
        let policy = Quic::new(100, Duration::from_millis(25), 3);
        // The draft's own row of packets: 2 is reported with 5, 6 with 9, 7 with 10.
        let decisions = play(policy, &[0, 1, 3, 4, 5, 8, 9, 10]);
        assert_eq!(immediate(&decisions), [false, false, false, false, true, false, true, true]);
    }

    #[test]
    fn what_was_reported_missing_is_reported_when_it_comes() {
        let policy = Quic::new(100, Duration::from_millis(25), 3);
        assert_eq!(immediate(&play(policy, &[0, 2, 3, 4, 1])), [false, false, false, true, true]);
        assert_eq!(immediate(&play(policy, &[0, 2, 3, 1])), [false; 4], "reordering below the threshold");
    }

    #[test]
    fn without_a_threshold_order_does_not_matter() {
        let policy = Quic::new(3, Duration::from_millis(25), 0);
        let decisions = play(policy, &[0, 2, 4, 6, 1]);
        assert_eq!(immediate(&decisions), [false, false, false, true, false]);
        assert_eq!(decisions[3], Decision::Now(Reason::SegmentCount));
    }
}
