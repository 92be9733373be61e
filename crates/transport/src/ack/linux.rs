//! Linux's receiver (`net/ipv4/tcp_input.c`, 6.18; function names in brackets).
//!
//! * The first 16 ACKs of a connection are quick: one a segment, so that the sender's slow start is not held up
//!   [`tcp_incr_quickack`, `TCP_MAX_QUICKACKS`]. A silence longer than the timeout, and a duplicate, bring them back.
//! * Then an ACK as soon as more than one full-sized segment is unacknowledged [`__tcp_ack_snd_check`], at once when the last
//!   gap closes [`tcp_data_queue`].
//! * Otherwise after `ato`, 40 ms at least and adapted to the spacing of segments [`tcp_event_data_recv`,
//!   `tcp_send_delayed_ack`].
//! * While a gap is open, three duplicate ACKs at once and then one SACK a millisecond at most [`tcp_comp_sack_delay_ns`]. That it
//!   is 5 % of the round trip where that is shorter is left out: it would matter below 20 ms.

use super::{Arrival, Decision, Ledger, Reason};
use acklab_base::{Duration, Instant};

/// `TCP_MAX_QUICKACKS`.
const MAX_QUICK_ACKS: u32 = 16;
/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`: HZ/25.
const ATO_MIN: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`: HZ/5.
const DELAYED_ACK_MAX: Duration = Duration::from_millis(200);
/// `TCP_FASTRETRANS_THRESH`.
const IMMEDIATE_DUPLICATES: u32 = 3;
/// `tcp_comp_sack_delay_ns`.
const COMPRESSED_SACK_DELAY: Duration = Duration::from_millis(1);

/// The policy of Linux.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux {
    quick: u32,
    /// Zero until the first data has come.
    ato: Duration,
    last_data: Instant,
    duplicates: u32,
    compressed_until: Option<Instant>,
}

impl Linux {
    pub(super) fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger) -> Decision {
        self.adapt(now);
        if !matches!(arrival, Arrival::OutOfOrder) {
            (self.duplicates, self.compressed_until) = (0, None);
        }
        match arrival {
            Arrival::Duplicate => {
                self.quick = self.quick.max(MAX_QUICK_ACKS);
                Decision::Now(Reason::Duplicate)
            }
            Arrival::FillsGap { closed: true } => Decision::Now(Reason::FillsGap),
            _ if self.quick > 0 => Decision::Now(Reason::QuickAck),
            _ if ledger.bytes > ledger.full_size => Decision::Now(Reason::SegmentCount),
            Arrival::OutOfOrder | Arrival::FillsGap { .. } => self.compress(now),
            Arrival::InOrder => Decision::At(now + self.ato.min(DELAYED_ACK_MAX), Reason::Timer),
        }
    }

    /// While a gap is open: the first duplicates at once, then one a millisecond.
    fn compress(&mut self, now: Instant) -> Decision {
        if self.duplicates < IMMEDIATE_DUPLICATES {
            self.duplicates += 1;
            return Decision::Now(Reason::OutOfOrder);
        }
        let until = *self.compressed_until.get_or_insert(now + COMPRESSED_SACK_DELAY);
        Decision::At(until, Reason::CompressedSack)
    }

    /// The timer follows the spacing of segments; a long silence is a new start.
    fn adapt(&mut self, now: Instant) {
        let spacing = now.since(self.last_data);
        self.last_data = now;
        if self.ato.is_zero() {
            self.quick = MAX_QUICK_ACKS;
            self.ato = ATO_MIN;
        } else if spacing <= ATO_MIN / 2 {
            self.ato = self.ato / 2 + ATO_MIN / 2;
        } else if spacing < self.ato {
            self.ato = self.ato / 2 + spacing;
        } else if spacing > DELAYED_ACK_MAX {
            // The receiver's own timeout is at its minimum of 200 ms as long as it sends no data.
            self.quick = MAX_QUICK_ACKS;
        }
    }

    pub(super) fn on_ack_sent(&mut self) {
        self.quick = self.quick.saturating_sub(1);
        self.compressed_until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    #[test]
    fn sixteen_quick_acks_and_then_every_second_segment() {
        let (mut policy, mut ledger) = (Linux::default(), Ledger::default());
        let reasons: Vec<Option<Reason>> = (1..=22)
            .map(|k| {
                ledger.enter(at(k * 700), 1448, 1448);
                match policy.decide(at(k * 700), &Arrival::InOrder, &ledger) {
                    Decision::Now(reason) => {
                        ledger.settle();
                        policy.on_ack_sent();
                        Some(reason)
                    }
                    Decision::At(..) | Decision::Hold => None,
                }
            })
            .collect();
        assert!(reasons[..16].iter().all(|reason| *reason == Some(Reason::QuickAck)));
        assert_eq!(
            reasons[16..],
            [None, Some(Reason::SegmentCount), None, Some(Reason::SegmentCount), None, Some(Reason::SegmentCount)]
        );
    }

    #[test]
    fn the_timer_starts_at_forty_milliseconds() {
        let (mut policy, mut ledger) = (Linux::default(), Ledger::default());
        for k in 1..=17 {
            ledger.enter(at(k * 700), 1448, 1448);
            let decision = policy.decide(at(k * 700), &Arrival::InOrder, &ledger);
            if k == 17 {
                assert_eq!(decision, Decision::At(at(17 * 700) + ATO_MIN, Reason::Timer));
            }
            ledger.settle();
            policy.on_ack_sent();
        }
    }

    #[test]
    fn beyond_three_duplicates_sacks_are_compressed() {
        let mut policy = Linux { quick: 0, ato: ATO_MIN, ..Linux::default() };
        let ledger = Ledger { full_size: 1448, ..Ledger::default() };
        let decisions: Vec<Decision> =
            (1..=5).map(|k| policy.decide(at(k * 300), &Arrival::OutOfOrder, &ledger)).collect();
        assert!(decisions[..3].iter().all(|decision| *decision == Decision::Now(Reason::OutOfOrder)));
        assert_eq!(decisions[3], Decision::At(at(1200 + 1000), Reason::CompressedSack));
        assert_eq!(decisions[4], decisions[3], "one timer serves all that come while it runs");
    }
}
