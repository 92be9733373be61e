//! Linux's receiver (`net/ipv4/tcp_input.c`, 6.18; function names in parentheses).
//!
//! * The first 16 ACKs of a connection are quick: one per segment, so that ACKs do not slow the
//!   sender's slow start (`tcp_incr_quickack`, `TCP_MAX_QUICKACKS`). Quick ACKs resume after an
//!   idle period longer than the timeout, or after a duplicate.
//! * A segment that makes the receive window grow is acknowledged immediately (`tcp_grow_window`
//!   sets `icsk_ack.quick`). TCP's receiver reports such segments:
//!   [`tcp::receiver::ReceiveWindow`](crate::tcp::receiver::ReceiveWindow).
//! * Quick ACKs end if unread data leave less than half of the receive buffer free
//!   (`__tcp_select_window`).
//! * After the quick ACKs, an ACK is sent when more than one full-sized segment is unacknowledged
//!   (`__tcp_ack_snd_check`). If unread data would make its window smaller than the last window,
//!   the ACK is sent when the application reads (`__tcp_cleanup_rbuf`). An ACK is sent immediately
//!   when the last gap closes (`tcp_data_queue`). It is also sent immediately when the application
//!   reads a segment that has PSH or is not full-sized (`tcp_measure_rcv_mss`,
//!   `__tcp_cleanup_rbuf`; full-sized ones since 6.6).
//! * If both ends send, the receiver sends neither quick ACKs nor ACKs for a segment with PSH. Data
//!   that are sent within `ato` of the last arrival will carry the ACKs (`pingpong`,
//!   `tcp_event_data_sent`). The second segment with PSH is nevertheless acknowledged immediately
//!   (`ICSK_ACK_PUSHED2`). A duplicate or a congestion mark ends this mode and elicits quick ACKs
//!   (`tcp_enter_quickack_mode`). The mode also ends with a delayed ACK that no data have carried
//!   (`tcp_delack_timer_handler`).
//! * In all other cases, an ACK is sent after `ato`, which is at least 40 ms and adapts to the
//!   spacing of segments (`tcp_event_data_recv`, `tcp_send_delayed_ack`).
//! * If this end may still send, it acknowledges the peer's FIN after `ato`, because its next data
//!   would carry the ACK (`tcp_fin`).
//! * While a gap is open, three duplicate ACKs are sent immediately for each value of rcv.nxt. Then
//!   SACKs are compressed: one SACK reports all segments that arrive within 5 % of the round-trip
//!   time, at most 1 ms, or 44 segments. The round-trip time is the smaller of the receiver's
//!   estimate and the handshake's; without an estimate it is zero. The timer has a slack of 100 µs.
//!   The full slack is used unless another interrupt occurs first, which does not happen in acklab.
//!   A segment releases delayed SACKs if it begins a range, or extends a range other than the two
//!   that changed last. Each range is thus among the first two of some ACK
//!   (`tcp_sack_new_ofo_skb`). In Linux that ACK is sent before the segment is processed, and the
//!   segment's SACK is delayed. Here the ACK also reports the segment. The segment is counted as
//!   delayed but starts no timer.

use super::{AckPolicy, Arrival, Decision, FOR_EVER, Held, Ledger, Reason, Room, Settings, TcpEvents};
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `TCP_MAX_QUICKACKS`.
const MAX_QUICK_ACKS: u32 = 16;
/// `tcp_enter_quickack_mode(sk, 2)` in `tcp_data_ecn_check`.
const QUICK_ACKS_OF_A_MARK: u32 = 2;
/// `TCP_ATO_MIN` and `TCP_DELACK_MIN`: HZ/25.
const ATO_MIN: Duration = Duration::from_millis(40);
/// `TCP_DELACK_MAX`: HZ/5.
const DELAYED_ACK_MAX: Duration = Duration::from_millis(200);
/// `TCP_FASTRETRANS_THRESH`.
const IMMEDIATE_DUPLICATES: u32 = 3;
/// `tcp_comp_sack_delay_ns`.
const COMPRESSED_SACK_DELAY: Duration = Duration::from_millis(1);
/// 5 % of the round trip; 6.19 makes it `tcp_comp_sack_rtt_percent` with a default of 33.
const COMPRESSED_SACK_RTT_DIVISOR: u64 = 20;
/// `tcp_comp_sack_slack_ns`.
const COMPRESSED_SACK_SLACK: Duration = Duration::from_micros(100);
/// `tcp_comp_sack_nr`.
const MAX_COMPRESSED_SACKS: u32 = 44;
/// `TCP_SACK_BLOCKS_EXPECTED`.
const SACK_BLOCKS_EXPECTED: usize = 2;

/// The settings of a scenario: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Linux {}

impl Settings for Linux {
    type Policy = QuickOrDelayed;

    fn policy(self) -> QuickOrDelayed {
        QuickOrDelayed::default()
    }

    fn longest_delay(&self) -> Option<Duration> {
        Some(DELAYED_ACK_MAX)
    }
}

/// The policy of Linux.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuickOrDelayed {
    quick: u32,
    /// The adaptive ACK timeout; zero until the first data arrive.
    ato: Duration,
    last_data: Instant,
    /// The number of duplicate ACKs sent immediately since rcv.nxt last advanced.
    duplicates: u32,
    /// Set while a segment that ends a write waits for its ACK (`ICSK_ACK_PUSHED`).
    pushed: Option<Pushed>,
    /// `true` if that segment is the second or a later one (`ICSK_ACK_PUSHED2`).
    is_pushed_again: bool,
    /// `true` if data of this end carry its ACKs (`inet_csk_in_pingpong_mode`, with a threshold of
    /// 1).
    converses: bool,
    /// The time at which an ACK that no data have carried is sent.
    delayed_until: Option<Instant>,
    /// The number of segments whose SACK is delayed.
    compressed: u32,
    compressed_until: Option<Instant>,
    /// `true` if delayed SACKs are sent before the segment that releases them. The SACK of that
    /// segment is then delayed.
    is_released: bool,
    /// `true` if the segment being processed makes the receive window grow.
    grows_window: bool,
    /// The space that unread data leave in the receive buffer for the segment or the ACK.
    room: Room,
}

/// The application's reaction to a segment that ends a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pushed {
    Read,
    Unread,
}

impl AckPolicy for QuickOrDelayed {
    fn ledger(&self) -> Ledger {
        Ledger::default().with_round_trip(FOR_EVER)
    }

    #[inline(never)]
    fn decide(&mut self, now: Instant, arrival: &Arrival, ledger: &Ledger, held: Held<'_>) -> Decision {
        self.adapt(now);
        if std::mem::take(&mut self.grows_window) {
            // tcp_grow_window
            self.quick |= 1;
        }
        let room = self.take_room();
        if matches!(arrival, Arrival::InOrder | Arrival::FillsGap { .. }) {
            self.duplicates = 0;
        }
        match arrival {
            Arrival::Duplicate => {
                self.enter_quick_mode(MAX_QUICK_ACKS);
                Decision::Now(Reason::Duplicate)
            }
            Arrival::FillsGap { closed: true } => Decision::Now(Reason::FillsGap),
            _ if self.quick > 0 && !self.converses => Decision::Now(Reason::QuickAck),
            _ if ledger.bytes > ledger.full_size && !room.shrinks => Decision::Now(Reason::SegmentCount),
            Arrival::OutOfOrder | Arrival::FillsGap { .. } => self.compress(now, ledger, held),
            Arrival::InOrder
                if self.pushed == Some(Pushed::Read) && self.answers_pushes() && held.beyond.is_empty() =>
            {
                Decision::Now(Reason::Push)
            }
            Arrival::InOrder => {
                let until = now + self.ato.min(DELAYED_ACK_MAX);
                self.delayed_until = Instant::earliest(self.delayed_until, Some(until));
                Decision::At(until, Reason::Timer)
            }
        }
    }

    fn on_ack_sent(&mut self, now: Instant) {
        self.take_room();
        if self.delayed_until.take().is_some_and(|until| until <= now) && self.converses {
            // tcp_delack_timer_handler
            self.converses = false;
            self.ato = ATO_MIN;
        }
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                // tcp_dec_quickack_mode
                self.ato = ATO_MIN;
            }
        }
        self.compressed = u32::from(std::mem::take(&mut self.is_released));
        (self.compressed_until, self.pushed, self.is_pushed_again) = (None, None, false);
    }

    fn tcp_events(&mut self) -> Option<&mut dyn TcpEvents> {
        Some(self)
    }
}

impl TcpEvents for QuickOrDelayed {
    /// Allows two quick ACKs, because the sender's window may be very small (`tcp_data_ecn_check`).
    fn on_first_mark(&mut self) {
        self.enter_quick_mode(QUICK_ACKS_OF_A_MARK);
    }

    /// Acknowledges this segment immediately, because the sender's window may be very small
    /// (`tcp_ecn_accept_cwr`).
    fn on_window_reduced(&mut self) {
        self.quick = self.quick.max(1);
    }

    /// Records a segment that ends a write (`tcp_measure_rcv_mss`). An ACK is sent when the
    /// application reads it, if the read empties the receive queue and no gap is open
    /// (`__tcp_cleanup_rbuf`).
    fn on_push(&mut self, is_read: bool) {
        self.is_pushed_again = self.pushed.is_some();
        self.pushed = Some(if is_read { Pushed::Read } else { Pushed::Unread });
    }

    fn on_unread(&mut self, room: Room) {
        self.room = room;
    }

    /// Returns the reason for an ACK that the shrunken window had suppressed, if more than one
    /// full-sized segment is unacknowledged (`__tcp_cleanup_rbuf`).
    fn on_read(&mut self, ledger: &Ledger, _held: Held<'_>) -> Option<Reason> {
        (ledger.bytes > ledger.full_size).then_some(Reason::SegmentCount)
    }

    fn on_emptied(&mut self) -> Option<Reason> {
        (self.pushed == Some(Pushed::Unread) && self.answers_pushes()).then_some(Reason::Push)
    }

    fn on_window_growth(&mut self) {
        self.grows_window = true;
    }

    /// Records that data are sent. Data sent soon after an arrival are considered its response
    /// (`tcp_event_data_sent`).
    fn on_data_sent(&mut self, now: Instant) {
        self.converses |= now.since(self.last_data) < self.ato;
    }

    /// Enters pingpong mode (`tcp_fin`): quick ACKs end, and reads of the application elicit no
    /// ACK.
    fn on_fin(&mut self, now: Instant, ledger: &Ledger, _held: Held<'_>) -> Option<Decision> {
        self.converses = true;
        if ledger.full_size > 0 && ledger.bytes > ledger.full_size {
            return Some(Decision::Now(Reason::SegmentCount));
        }
        Some(Decision::At(now + self.ato.min(DELAYED_ACK_MAX), Reason::Fin))
    }
}

impl QuickOrDelayed {
    /// `tcp_enter_quickack_mode`.
    fn enter_quick_mode(&mut self, acks: u32) {
        self.quick = self.quick.max(acks);
        self.converses = false;
        if !self.ato.is_zero() {
            self.ato = ATO_MIN;
        }
    }

    /// Returns `true` if a segment that ends a write is acknowledged at once
    /// (`__tcp_cleanup_rbuf`).
    const fn answers_pushes(&self) -> bool {
        self.is_pushed_again || !self.converses
    }

    /// Returns and clears the space that unread data leave. If less than half of the buffer is
    /// free, quick ACKs end (`__tcp_select_window`).
    fn take_room(&mut self) -> Room {
        let room = std::mem::take(&mut self.room);
        if room.is_short {
            self.quick = 0;
        }
        room
    }

    /// Decides while a gap is open: the first duplicates are acknowledged immediately, later ones
    /// are compressed.
    fn compress(&mut self, now: Instant, ledger: &Ledger, held: Held<'_>) -> Decision {
        if !held.sack {
            return Decision::Now(Reason::OutOfOrder);
        }
        if self.compressed > 0 && held.newer >= SACK_BLOCKS_EXPECTED {
            self.is_released = true;
            return Decision::Now(Reason::CompressedSack);
        }
        if self.compressed >= MAX_COMPRESSED_SACKS {
            return Decision::Now(Reason::CompressedSack);
        }
        if self.duplicates < IMMEDIATE_DUPLICATES {
            self.duplicates += 1;
            return Decision::Now(Reason::OutOfOrder);
        }
        self.compressed += 1;
        let until = *self.compressed_until.get_or_insert_with(|| now + compressed_sack_delay(ledger));
        Decision::At(until, Reason::CompressedSack)
    }

    /// Adapts the timer to the spacing of segments. Quick ACKs resume after a long idle period.
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
            // The receiver's own retransmission timeout stays at its minimum of 200 ms while it
            // sends no data.
            self.quick = MAX_QUICK_ACKS;
        }
    }
}

/// `__tcp_ack_snd_check`.
fn compressed_sack_delay(ledger: &Ledger) -> Duration {
    let rtt = ledger.round_trip.as_ref().and_then(|rtt| {
        let smoothed = rtt.smoothed()?;
        Some(rtt.handshake().map_or(smoothed, |handshake| handshake.min(smoothed)))
    });
    let share = rtt.map_or(Duration::ZERO, |rtt| rtt / COMPRESSED_SACK_RTT_DIVISOR);
    share.min(COMPRESSED_SACK_DELAY) + COMPRESSED_SACK_SLACK
}

#[cfg(test)]
mod tests {
    use super::super::{Echo, Packet, Ranges};
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::ZERO + Duration::from_micros(us)
    }

    fn in_order(ledger: &mut Ledger, k: u64) -> Held<'static> {
        ledger.enter(at(k * 700), Packet::of_stream((k - 1) * 1448..k * 1448, 1448));
        Held { next: k * 1448, beyond: &[], sack: true, newer: 0 }
    }

    #[test]
    fn sixteen_quick_acks_and_then_every_second_segment() {
        let (mut policy, mut ledger) = (QuickOrDelayed::default(), Ledger::default());
        let reasons: Vec<Option<Reason>> = (1..=22)
            .map(|k| {
                let held = in_order(&mut ledger, k);
                match policy.decide(at(k * 700), &Arrival::InOrder, &ledger, held) {
                    Decision::Now(reason) => {
                        ledger.settle();
                        policy.on_ack_sent(at(k * 700));
                        Some(reason)
                    }
                    _ => None,
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
        let (mut policy, mut ledger) = (QuickOrDelayed::default(), Ledger::default());
        for k in 1..=17 {
            let held = in_order(&mut ledger, k);
            let decision = policy.decide(at(k * 700), &Arrival::InOrder, &ledger, held);
            if k == 17 {
                assert_eq!(decision, Decision::At(at(17 * 700) + ATO_MIN, Reason::Timer));
            }
            ledger.settle();
            policy.on_ack_sent(at(k * 700));
        }
    }

    /// Returns a policy whose connection has just received its first segment.
    fn begun() -> (QuickOrDelayed, Ledger) {
        let (mut policy, mut ledger) = (QuickOrDelayed::default(), Ledger::default());
        let held = in_order(&mut ledger, 1);
        assert_eq!(policy.decide(at(700), &Arrival::InOrder, &ledger, held), Decision::Now(Reason::QuickAck));
        ledger.settle();
        policy.on_ack_sent(at(700));
        (policy, ledger)
    }

    #[test]
    fn data_that_leave_soon_after_data_have_come_end_quick_acks() {
        for (sent, expected) in
            [(None, Reason::QuickAck), (Some(at(60_000)), Reason::QuickAck), (Some(at(1000)), Reason::Timer)]
        {
            let (mut policy, mut ledger) = begun();
            sent.into_iter().for_each(|sent| policy.on_data_sent(sent));
            let held = in_order(&mut ledger, 100);
            let decision = policy.decide(at(70_000), &Arrival::InOrder, &ledger, held);
            assert!(
                matches!(decision, Decision::Now(reason) | Decision::At(_, reason) if reason == expected),
                "{decision:?}"
            );
        }
    }

    #[test]
    fn an_ack_that_no_data_have_carried_ends_a_conversation() {
        let (mut policy, mut ledger) = begun();
        policy.on_data_sent(at(1000));
        let held = in_order(&mut ledger, 2);
        let delayed = Decision::At(at(1400) + ATO_MIN, Reason::Timer);
        assert_eq!(policy.decide(at(1400), &Arrival::InOrder, &ledger, held), delayed);
        ledger.settle();
        policy.on_ack_sent(at(2000));
        let held = in_order(&mut ledger, 3);
        assert!(
            matches!(policy.decide(at(2100), &Arrival::InOrder, &ledger, held), Decision::At(..)),
            "data carried it"
        );
        policy.on_ack_sent(at(2100) + ATO_MIN);
        ledger.settle();
        let held = in_order(&mut ledger, 100);
        let decision = policy.decide(at(70_000), &Arrival::InOrder, &ledger, held);
        assert_eq!(decision, Decision::Now(Reason::QuickAck));
    }

    #[test]
    fn the_second_end_of_a_write_is_acknowledged_in_a_conversation_as_well() {
        let (mut policy, mut ledger) = begun();
        policy.on_data_sent(at(1000));
        policy.on_push(true);
        let held = in_order(&mut ledger, 2);
        assert!(matches!(policy.decide(at(1400), &Arrival::InOrder, &ledger, held), Decision::At(..)));
        policy.on_push(true);
        assert_eq!(policy.decide(at(1500), &Arrival::InOrder, &ledger, held), Decision::Now(Reason::Push));
    }

    /// Feeds segments beyond a gap, 300 µs apart. `rtt` is the receiver's estimate of the
    /// round-trip time.
    fn beyond_a_gap(rtt: Option<Duration>, segments: impl IntoIterator<Item = u64>, each: u64) -> Vec<Decision> {
        let mut policy = QuickOrDelayed { quick: 0, ato: ATO_MIN, ..QuickOrDelayed::default() };
        let mut ledger = policy.ledger();
        if let (Some(age), Some(estimate)) = (rtt, &mut ledger.round_trip) {
            estimate.on_data(at(0), 0, 1 << 20, Some(Echo { value: 1, age, has_unread: false }));
        }
        let mut stream = Ranges::default();
        segments
            .into_iter()
            .map(|k| {
                let range = k * 1448..k * 1448 + each;
                let arrival = stream.insert(range.clone());
                ledger.enter(at(k * 300), Packet::of_stream(range, 0));
                let decision = policy.decide(at(k * 300), &arrival, &ledger, stream.held(true));
                if let Decision::Now(_) = decision {
                    policy.on_ack_sent(at(k * 300));
                }
                decision
            })
            .collect()
    }

    #[test]
    fn beyond_three_duplicates_sacks_are_compressed() {
        let decisions = beyond_a_gap(Some(Duration::from_millis(100)), 1..6, 1448);
        assert!(decisions[..3].iter().all(|decision| *decision == Decision::Now(Reason::OutOfOrder)));
        assert_eq!(decisions[3], Decision::At(at(1200 + 1000 + 100), Reason::CompressedSack));
        assert_eq!(decisions[4], decisions[3], "one timer serves all that come while it runs");
    }

    #[test]
    fn compression_takes_a_twentieth_of_a_short_round_trip() {
        let decisions = beyond_a_gap(Some(Duration::from_millis(8)), 1..5, 1448);
        assert_eq!(decisions[3], Decision::At(at(1200 + 400 + 100), Reason::CompressedSack));
        let decisions = beyond_a_gap(None, 1..5, 1448);
        assert_eq!(decisions[3], Decision::At(at(1200 + 100), Reason::CompressedSack), "no estimate is no delay");
    }

    #[test]
    fn forty_four_sacks_are_the_most_that_wait() {
        let decisions = beyond_a_gap(Some(Duration::from_millis(100)), 1..50, 1448);
        assert!(decisions[3..47].iter().all(|decision| matches!(decision, Decision::At(..))));
        assert_eq!(decisions[47], Decision::Now(Reason::CompressedSack));
    }

    #[test]
    fn a_third_range_is_not_held_back() {
        let decisions = beyond_a_gap(Some(Duration::from_millis(100)), 1..6, 1000);
        assert!(matches!(decisions[3], Decision::At(..)), "nothing was held back yet");
        assert_eq!(decisions[4], Decision::Now(Reason::CompressedSack));
    }

    /// Retransmissions fill old holes. The ranges that they extend are listed first in the next
    /// ACK, and displace other ranges.
    #[test]
    fn what_extends_the_third_range_releases_each_time() {
        let decisions = beyond_a_gap(Some(Duration::from_millis(100)), [1, 4, 7, 8, 5, 2, 9, 10], 1448);
        assert!(matches!(decisions[3], Decision::At(..)), "the newest range grows");
        assert!(matches!(decisions[4], Decision::At(..)), "the second range");
        assert_eq!(decisions[5], Decision::Now(Reason::CompressedSack), "the third");
        assert_eq!(decisions[6], Decision::Now(Reason::CompressedSack), "the third by now");
        assert!(matches!(decisions[7], Decision::At(..)), "the newest");
        let decisions = beyond_a_gap(Some(Duration::from_millis(100)), [1, 4, 7, 8, 11, 14], 1448);
        assert_eq!(decisions[4..], [Decision::Now(Reason::CompressedSack); 2], "what releases is itself held back");
    }
}
