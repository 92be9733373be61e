//! What is outstanding, and what has become of it.
//!
//! One entry a segment, in stream order. Sums are kept as segments change state, so that [`Scoreboard::pipe`] costs nothing,
//! and each search begins where the one before it ended, so that thousands of holes stay cheap.

mod judge;

use super::delivery_rate::{Newest, Stamp};
use super::fate::{Fate, Outcome};
use acklab_base::Instant;
use std::collections::VecDeque;
use std::ops::Range;

/// Whether a retransmission that SACK acknowledges is still in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SackedRetransmission {
    /// It has left the network (RFC 6675, §4, `SetPipe`: octets that were SACKed are not counted).
    #[default]
    LeavesFlight,
    /// It counts until it is acknowledged cumulatively (ns-3's `TcpTxBuffer::Update` leaves `m_retrans` alone).
    StaysInFlight,
}

/// A segment that was sent and is not yet cumulatively acknowledged.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The stream offset behind its last octet; it begins where the one before it ends.
    end: u64,
    /// When it was last sent.
    at: Instant,
    /// Which transmission of the connection that was.
    number: u64,
    sacked: bool,
    lost: bool,
    /// It was sent again since it was last marked lost.
    in_flight_again: bool,
    /// It was ever sent again, so it can give no round-trip time (Karn).
    ever_resent: bool,
    /// Its last transmission's fate was told to be a loss.
    reported_lost: bool,
}

/// A transmission that was marked lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it left.
    pub sent_at: Instant,
    /// The stream offset of its first octet.
    pub start: u64,
    /// The stream offset behind its last octet.
    pub end: u64,
    /// What it remembers of its departure.
    pub stamp: Stamp,
}

/// What a cumulative acknowledgment released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Advance {
    /// Octets by which snd.una moved.
    pub bytes: u64,
    /// Those that no SACK had acknowledged before.
    pub newly_delivered: u64,
    /// One of the segments had been sent again and was not yet selectively acknowledged.
    pub retransmission_acked: bool,
    /// When the oldest was sent, if it was never sent again. Its round trip includes what the receiver waited before it
    /// acknowledged, as the timestamp that it echoes does (RFC 7323, §4.1).
    pub sent_at: Option<Instant>,
}

/// The sender's picture of the network (RFC 6675, §2 and §3).
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    una: u64,
    nxt: u64,
    segments: VecDeque<Sent>,
    /// What the last transmission of each remembers, if it is kept.
    stamps: VecDeque<Stamp>,
    keeps_stamps: bool,
    /// Transmissions so far.
    transmissions: u64,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
    /// Octets that were sent again and are believed in flight.
    resent: u64,
    /// Octets marked lost and not yet sent again.
    pending: u64,
    highest_sacked: u64,
    /// All below are sacked, lost, were sent again, or have been looked at for loss.
    judged: u64,
    /// Segments sent again, by the number of the transmission, and where they begin. Some are acknowledged by now, or out once more.
    resent_in_order: VecDeque<(u64, u64)>,
    /// No segment below waits to be sent again.
    pending_from: u64,
    /// The SACK blocks of the ACK before, most of which the next one repeats.
    known_blocks: [Range<u64>; 4],
    /// Without SACK, duplicate ACKs stand for that many octets that have left the network.
    dup_credit: u64,
    sacked_retransmission: SackedRetransmission,
    /// What the ACK at hand delivers.
    delivery: Delivery,
    /// What was marked lost since this was last drained.
    losses: Vec<Loss>,
    /// What else became of transmissions since this was last cleared, if it is kept.
    fates: Vec<Fate>,
    keeps_fates: bool,
}

/// What one ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments.
    pub segments: u64,
    /// Of it, the transmission that left last.
    pub newest: Option<Newest>,
    /// What that one remembers, if stamps are kept.
    pub stamp: Stamp,
    /// The same without retransmissions whose ACK comes so soon that it must be for an earlier transmission: its number, and when it
    /// left.
    pub plausible: Option<(u64, Instant)>,
    /// When that left of the same which was entered last. What SACK acknowledges is entered before what is acknowledged cumulatively.
    pub last_entered: Option<Instant>,
    /// Something that was sent only once was delivered after what was sent after it.
    pub is_reordered: bool,
    /// A retransmission acknowledged sooner after it left than this is not plausible.
    plausible_before: Instant,
    /// The end of what had been acknowledged in any way before this ACK.
    prior_fack: u64,
}

impl Scoreboard {
    /// Nothing outstanding.
    #[must_use]
    pub fn new(sacked_retransmission: SackedRetransmission) -> Self {
        Self { sacked_retransmission, ..Self::default() }
    }

    /// The same, keeping [`fates`](Self::fates) if asked.
    #[must_use]
    pub fn keeping_fates(self, keeps_fates: bool) -> Self {
        Self { keeps_fates, ..self }
    }

    /// The same, keeping the stamp of each transmission if asked; without, all that it tells of them is the default.
    #[must_use]
    pub fn keeping_stamps(self, keeps_stamps: bool) -> Self {
        Self { keeps_stamps, ..self }
    }

    /// The oldest octet that is not acknowledged: snd.una.
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// The next octet never sent: snd.nxt.
    #[must_use]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// snd.nxt − snd.una: FlightSize.
    #[must_use]
    pub const fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// Octets believed in the network (RFC 6675, §4).
    #[must_use]
    pub fn pipe(&self) -> u64 {
        (self.flight_size() + self.resent).saturating_sub(self.sacked + self.lost + self.dup_credit)
    }

    /// Octets selectively acknowledged.
    #[must_use]
    pub const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Octets marked lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Is something lost that has not been sent again?
    #[must_use]
    pub const fn has_pending(&self) -> bool {
        self.pending > 0
    }

    /// Is nothing outstanding?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Was the oldest outstanding segment sent again since it was marked lost?
    #[must_use]
    pub fn head_resent(&self) -> bool {
        self.segments.front().is_some_and(|head| head.in_flight_again)
    }

    /// An ACK is about to be entered. What left again at `plausible_before` or later cannot have been acknowledged yet.
    pub fn begin_ack(&mut self, plausible_before: Instant) {
        let delivery = &mut self.delivery;
        (delivery.segments, delivery.is_reordered) = (0, false);
        (delivery.newest, delivery.plausible, delivery.last_entered) = (None, None, None);
        delivery.plausible_before = plausible_before;
        delivery.prior_fack = self.highest_sacked.max(self.una);
    }

    /// What the ACK delivers that was begun last.
    #[must_use]
    pub const fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// Segments selectively acknowledged.
    #[must_use]
    pub const fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Is a retransmission believed in flight?
    #[must_use]
    pub const fn has_resent(&self) -> bool {
        self.resent > 0
    }

    /// Was something marked lost since the losses were last drained?
    #[must_use]
    pub fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// What was marked lost since this was last called.
    pub fn drain_losses(&mut self) -> impl Iterator<Item = Loss> + '_ {
        self.losses.drain(..)
    }

    /// What became of transmissions, but for losses, since this was last cleared.
    #[must_use]
    pub fn fates(&self) -> &[Fate] {
        &self.fates
    }

    /// The fates are known now.
    pub fn clear_fates(&mut self) {
        self.fates.clear();
    }

    fn note_fate(&mut self, sent_at: Instant, outcome: Outcome) {
        if self.keeps_fates {
            self.fates.push(Fate { sent_at, outcome });
        }
    }

    /// New data goes out.
    pub fn send(&mut self, now: Instant, octets: u64, stamp: Stamp) {
        self.nxt += octets;
        self.transmissions += 1;
        self.segments.push_back(Sent {
            end: self.nxt,
            at: now,
            number: self.transmissions,
            sacked: false,
            lost: false,
            in_flight_again: false,
            ever_resent: false,
            reported_lost: false,
        });
        if self.keeps_stamps {
            self.stamps.push_back(stamp);
        }
    }

    /// What the last transmission of a segment remembers.
    fn stamp_of(&self, index: usize) -> Stamp {
        self.stamps.get(index).copied().unwrap_or_default()
    }

    /// Everything below `ack` is acknowledged.
    pub fn advance(&mut self, ack: u64) -> Advance {
        let mut advance = Advance { bytes: ack - self.una, ..Advance::default() };
        let mut resent = 0;
        if let Some(head) = self.segments.front()
            && head.end <= ack
            && !head.ever_resent
        {
            advance.sent_at = Some(head.at);
        }
        while self.una < ack
            && let Some(head) = self.segments.front().copied()
        {
            let covered = head.end.min(ack) - self.una;
            self.uncount(&head, covered);
            self.una += covered;
            if !head.sacked {
                advance.newly_delivered += covered;
            }
            if head.end > ack {
                break;
            }
            if head.sacked {
                self.sacked_segments -= 1;
            } else {
                self.note_delivered(0, &head);
            }
            advance.retransmission_acked |= head.in_flight_again && !head.sacked;
            if head.in_flight_again {
                resent += covered;
            }
            self.segments.pop_front();
            if self.keeps_stamps {
                self.stamps.pop_front();
            }
        }
        while self.resent_in_order.front().is_some_and(|(_, start)| *start < self.una) {
            self.resent_in_order.pop_front();
        }
        // No duplicate ACK stood for what was sent again (RFC 6582, §3.2, step 3: the segment that is added back).
        self.dup_credit = self.dup_credit.saturating_sub(advance.bytes - resent).min(self.flight_size());
        advance
    }

    fn note_delivered(&mut self, index: usize, segment: &Sent) {
        let Sent { at, number, end, ever_resent, .. } = *segment;
        let delivery = &mut self.delivery;
        delivery.segments += 1;
        delivery.is_reordered |= !ever_resent && end <= delivery.prior_fack;
        if delivery.newest.is_none_or(|than| number > than.number) {
            delivery.newest = Some(Newest { at, number, is_retransmission: ever_resent });
            if let Some(stamp) = self.stamps.get(index) {
                delivery.stamp = *stamp;
            }
        }
        if !ever_resent || at <= delivery.plausible_before {
            delivery.last_entered = Some(at);
            if delivery.plausible.is_none_or(|(than, _)| number > than) {
                delivery.plausible = Some((number, at));
            }
        }
        self.note_fate(segment.at, Outcome::Delivered { was_lost: segment.reported_lost });
    }

    fn uncount(&mut self, segment: &Sent, octets: u64) {
        if segment.sacked {
            self.sacked -= octets;
        }
        if segment.lost {
            self.lost -= octets;
            if !segment.in_flight_again {
                self.pending -= octets;
            }
        }
        if segment.in_flight_again {
            self.resent -= octets;
        }
    }

    /// SACK blocks have come. Returns the octets that they newly acknowledge, and when the first of those segments was sent that was
    /// never sent again.
    pub fn sack(&mut self, blocks: impl Iterator<Item = Range<u64>>) -> (u64, Option<Instant>) {
        let (before, mut sent_at) = (self.sacked, None);
        let mut seen: [Range<u64>; 4] = Default::default();
        for (slot, block) in blocks.enumerate().take(seen.len()) {
            let known = self.known_blocks.iter().find(|known| known.start <= block.start && known.end > block.start);
            let from = known.map_or(block.start, |known| known.end.min(block.end));
            if block.start < block.end && block.end <= self.nxt {
                let first = self.sack_range(from.max(self.una)..block.end);
                sent_at = Instant::earliest(sent_at, first);
                seen[slot] = block;
            }
        }
        self.known_blocks = seen;
        (self.sacked - before, sent_at)
    }

    /// Marks the segments that lie whole in `range`, and tells when the first of them was sent that was never sent again.
    fn sack_range(&mut self, range: Range<u64>) -> Option<Instant> {
        let mut sent_at = None;
        let first = self.segments.partition_point(|segment| segment.end <= range.start);
        let mut start = if first == 0 { self.una } else { self.segments[first - 1].end };
        for index in first..self.segments.len() {
            let segment = self.segments[index];
            if segment.end > range.end {
                break;
            }
            let octets = segment.end - start;
            if start >= range.start && !segment.sacked {
                self.uncount(&segment, octets);
                let stays =
                    segment.in_flight_again && self.sacked_retransmission == SackedRetransmission::StaysInFlight;
                let entry = &mut self.segments[index];
                (entry.sacked, entry.lost, entry.in_flight_again) = (true, false, stays);
                self.sacked += octets;
                self.sacked_segments += 1;
                self.resent += if stays { octets } else { 0 };
                self.highest_sacked = self.highest_sacked.max(segment.end);
                self.note_delivered(index, &segment);
                if !segment.ever_resent {
                    sent_at = Instant::earliest(sent_at, Some(segment.at));
                }
            }
            start = segment.end;
        }
        sent_at
    }

    /// Without SACK, a duplicate ACK says that a segment of `mss` has left the network (RFC 6582).
    pub fn duplicate_without_sack(&mut self, mss: u64) {
        let outstanding = self.flight_size().saturating_sub(mss);
        self.dup_credit = (self.dup_credit + mss).min(outstanding);
    }

    /// The oldest segment that is lost and was not sent again (RFC 6675, §4: NextSeg, rule 1).
    #[inline]
    pub fn next_pending(&mut self) -> Option<Range<u64>> {
        if self.pending == 0 { None } else { self.find_pending() }
    }

    fn find_pending(&mut self) -> Option<Range<u64>> {
        let from = self.pending_from.max(self.una);
        let first = self.segments.partition_point(|segment| segment.end <= from);
        let index = (first..self.segments.len()).find(|index| {
            let segment = &self.segments[*index];
            segment.lost && !segment.in_flight_again
        })?;
        self.pending_from = self.start_of(index);
        Some(self.pending_from..self.segments[index].end)
    }

    /// The oldest segment that is neither acknowledged nor sent again, below the highest SACK (NextSeg, rule 3).
    #[must_use]
    pub fn next_unjudged(&self) -> Option<Range<u64>> {
        let index = self
            .segments
            .iter()
            .take_while(|segment| segment.end <= self.highest_sacked)
            .position(|segment| !segment.sacked && !segment.in_flight_again)?;
        Some(self.start_of(index)..self.segments[index].end)
    }

    /// What duplicate ACKs stood for no longer counts.
    pub const fn forget_duplicates(&mut self) {
        self.dup_credit = 0;
    }

    /// The newest outstanding segment (RFC 8985, §7.3), if SACK has not acknowledged it.
    #[must_use]
    pub fn tail(&self) -> Option<Range<u64>> {
        let last = self.segments.back().filter(|last| !last.sacked)?;
        Some(self.start_of(self.segments.len() - 1)..last.end)
    }

    /// The oldest outstanding segment.
    #[must_use]
    pub fn head(&self) -> Option<Range<u64>> {
        self.segments.front().map(|head| self.una..head.end)
    }

    /// The segment that begins at `start` goes out again.
    pub fn resend(&mut self, now: Instant, start: u64, stamp: Stamp) {
        let index = self.segments.partition_point(|segment| segment.end <= start);
        let Some(segment) = self.segments.get_mut(index) else { return };
        let octets = segment.end - start;
        let replaced = (!segment.reported_lost).then_some(segment.at);
        if !segment.in_flight_again {
            if segment.lost {
                self.pending -= octets;
            }
            self.resent += octets;
        }
        (segment.in_flight_again, segment.ever_resent) = (true, true);
        self.transmissions += 1;
        (segment.at, segment.number) = (now, self.transmissions);
        segment.reported_lost = false;
        if let Some(kept) = self.stamps.get_mut(index) {
            *kept = stamp;
        }
        self.resent_in_order.push_back((self.transmissions, start));
        if let Some(sent_at) = replaced {
            self.note_fate(sent_at, Outcome::Replaced);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::DUP_THRESH;
    use acklab_base::Duration;
    use proptest::prelude::*;

    fn board(segments: u64) -> Scoreboard {
        let mut board = Scoreboard::default();
        (0..segments).for_each(|k| board.send(Instant::from_nanos(k), 100, Stamp::default()));
        board
    }

    fn range(first: u64, last: u64) -> Range<u64> {
        first * 100..(last + 1) * 100
    }

    #[test]
    fn three_sacked_above_mean_lost() {
        let mut board = board(10);
        assert_eq!(board.sack([range(1, 2)].into_iter()), (200, Some(Instant::from_nanos(1))));
        assert_eq!(board.detect_losses(), 0);
        assert_eq!(board.sack([range(1, 3)].into_iter()).0, 100);
        assert_eq!(board.detect_losses(), 100);
        assert_eq!(board.next_pending(), Some(0..100));
        assert_eq!(board.pipe(), 1000 - 300 - 100);
        board.resend(Instant::from_nanos(20), 0, Stamp::default());
        assert_eq!(board.pipe(), 700);
        assert_eq!(board.next_pending(), None);
    }

    #[test]
    fn an_acknowledged_retransmission_gives_no_round_trip_time() {
        let mut board = board(5);
        board.sack([range(1, 3)].into_iter());
        board.detect_losses();
        board.resend(Instant::from_nanos(9), 0, Stamp::default());
        let advance = board.advance(400);
        assert_eq!((advance.bytes, advance.newly_delivered, advance.sent_at), (400, 100, None));
        assert!(advance.retransmission_acked);
        assert_eq!(board.advance(500).sent_at, Some(Instant::from_nanos(4)));
        assert!(board.is_empty());
    }

    #[test]
    fn after_a_timeout_all_but_the_sacked_is_sent_again() {
        let mut board = board(4);
        board.sack([range(2, 2)].into_iter());
        board.mark_all_lost();
        assert_eq!(board.pipe(), 0);
        let mut again = Vec::new();
        while let Some(segment) = board.next_pending() {
            board.resend(Instant::from_nanos(50), segment.start, Stamp::default());
            again.push(segment.start / 100);
        }
        assert_eq!(again, [0, 1, 3]);
        assert_eq!(board.pipe(), 300);
    }

    #[test]
    fn reports_of_a_receiver_that_let_go_of_the_oldest_are_void() {
        let mut board = board(4);
        board.sack([range(1, 2)].into_iter());
        assert!(!board.forget_reneged(), "the oldest is not reported");
        board.advance(100);
        assert!(board.forget_reneged());
        board.mark_all_lost();
        assert_eq!((board.sacked(), board.lost(), board.next_pending()), (0, 300, Some(100..200)));
        assert_eq!(board.sack([range(2, 2)].into_iter()).0, 100, "what is reported anew counts");
    }

    #[test]
    fn by_time_what_was_out_too_long_is_lost() {
        let us = |us| Instant::ZERO + Duration::from_micros(us);
        let mut board = Scoreboard::default();
        (0..4).for_each(|k| board.send(us(100 * k), 100, Stamp::default()));
        board.begin_ack(us(0));
        board.sack([range(2, 2)].into_iter());
        let newest = board.delivery().newest.unwrap().number;
        let reach = Duration::from_micros(1050);
        assert_eq!(
            board.detect_by_time(us(1000), newest, reach),
            (0, Some(Duration::from_micros(150))),
            "until both are due"
        );
        assert_eq!(board.detect_by_time(us(1060), newest, reach), (100, Some(Duration::from_micros(90))));
        board.resend(us(1060), 0, Stamp::default());
        assert_eq!(board.detect_by_time(us(1150), newest, reach), (100, None), "the one that left last is not judged");
        board.resend(us(1150), 100, Stamp::default());
        // The second retransmission is delivered: now the first is late, and so is what never was judged.
        board.begin_ack(us(2150));
        board.sack([range(1, 1)].into_iter());
        let newest = board.delivery().plausible.unwrap().0;
        assert_eq!(board.detect_by_time(us(2200), newest, reach), (200, None));
        assert_eq!(board.next_pending(), Some(0..100));
    }

    #[test]
    fn after_a_timeout_what_left_lately_stays_in_flight() {
        let us = |us| Instant::ZERO + Duration::from_micros(us);
        let mut board = Scoreboard::default();
        (0..4).for_each(|k| board.send(us(1000 * k), 100, Stamp::default()));
        board.mark_timed_out(us(4000), Duration::from_micros(2500));
        assert_eq!((board.lost(), board.pipe()), (200, 200));
        board.unmark_lost();
        assert_eq!((board.lost(), board.pipe(), board.next_pending()), (0, 400, None));
    }

    #[test]
    fn what_arrives_after_its_successor_was_reordered_unless_it_was_sent_again() {
        let mut board = board(6);
        board.begin_ack(Instant::ZERO);
        board.sack([range(2, 3)].into_iter());
        assert!(!board.delivery().is_reordered);
        board.resend(Instant::from_nanos(50), 0, Stamp::default());
        board.begin_ack(Instant::ZERO);
        board.advance(100);
        assert!(!board.delivery().is_reordered);
        assert!(board.delivery().plausible.is_none(), "its ACK came too soon to be that of the retransmission");
        board.begin_ack(Instant::ZERO);
        board.advance(200);
        assert!(board.delivery().is_reordered);
    }

    #[test]
    fn a_partly_acknowledged_segment_keeps_its_rest() {
        let mut board = board(2);
        assert_eq!(board.advance(150).bytes, 150);
        assert_eq!(board.head(), Some(150..200));
        assert_eq!(board.pipe(), 50);
    }

    /// The plain definition, without any of the shortcuts.
    #[derive(Clone, Default)]
    struct Plain {
        una: u64,
        segments: Vec<(u64, bool, bool, bool)>,
    }

    impl Plain {
        fn sums(&self) -> (u64, u64, u64) {
            let live = self.segments.iter().filter(|(k, ..)| *k >= self.una);
            live.fold((0, 0, 0), |(pipe, sacked, lost), (_, is_sacked, is_lost, again)| {
                let in_network = !is_sacked && (!is_lost || *again);
                (pipe + u64::from(in_network), sacked + u64::from(*is_sacked), lost + u64::from(*is_lost))
            })
        }

        fn detect(&mut self) {
            for index in 0..self.segments.len() {
                let above = self.segments[index + 1..].iter().filter(|(_, sacked, ..)| *sacked).count();
                let (k, sacked, lost, _) = &mut self.segments[index];
                if *k >= self.una && !*sacked && above >= DUP_THRESH as usize {
                    *lost = true;
                }
            }
        }
    }

    proptest! {
        #[test]
        fn sums_agree_with_the_plain_definition(steps in proptest::collection::vec((0u8..5, 0u64..40, 0u64..6), 1..200)) {
            let (mut board, mut plain) = (Scoreboard::default(), Plain::default());
            for (kind, place, length) in steps {
                let sent = plain.segments.len() as u64;
                match kind {
                    0 | 1 => {
                        board.send(Instant::ZERO, 100, Stamp::default());
                        plain.segments.push((sent, false, false, false));
                    }
                    2 if sent > plain.una => {
                        let first = plain.una + 1 + place % (sent - plain.una);
                        let last = (first + length).min(sent.saturating_sub(1));
                        if first <= last {
                            board.sack([range(first, last)].into_iter());
                            for (_, sacked, lost, again) in &mut plain.segments[first as usize..=last as usize] {
                                (*sacked, *lost, *again) = (true, false, *again && *sacked);
                            }
                            board.detect_losses();
                            plain.detect();
                        }
                    }
                    3 => {
                        if let Some(segment) = board.next_pending() {
                            let index = (segment.start / 100) as usize;
                            let expected = plain.segments.iter().position(|(k, sacked, lost, again)| *k >= plain.una && !*sacked && *lost && !*again);
                            prop_assert_eq!(Some(index), expected);
                            board.resend(Instant::ZERO, segment.start, Stamp::default());
                            plain.segments[index].3 = true;
                        }
                    }
                    4 => {
                        let ack = (plain.una + length).min(sent);
                        board.advance(ack * 100);
                        plain.una = ack;
                    }
                    _ => {}
                }
                let (pipe, sacked, lost) = plain.sums();
                prop_assert_eq!((board.pipe(), board.sacked(), board.lost()), (pipe * 100, sacked * 100, lost * 100));
            }
        }
    }
}
