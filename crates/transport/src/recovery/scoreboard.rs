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
    /// All below are sacked or were sent again, or lie above the highest SACK.
    unjudged_from: u64,
    /// No segment that begins here or above was ever sent again.
    resent_until: u64,
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
    #[inline]
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

    /// Where the segment at `index` begins.
    fn start_of(&self, index: usize) -> u64 {
        if index == 0 { self.una } else { self.segments[index - 1].end }
    }

    /// The index of the segment that holds the octet at `offset`; of the first one below, of none beyond the last one above. Most segments
    /// are of one size, so it is looked for first where it would be if all were.
    fn index_at(&self, offset: u64) -> usize {
        if offset <= self.una || offset >= self.nxt {
            return if offset <= self.una { 0 } else { self.segments.len() };
        }
        let count = self.segments.len() as u64;
        let guess = ((offset - self.una).saturating_mul(count) / self.flight_size()) as usize;
        match self.segments.get(guess) {
            Some(segment) if offset < segment.end && self.start_of(guess) <= offset => guess,
            _ => self.segments.partition_point(|segment| segment.end <= offset),
        }
    }

    /// What the last transmission of a segment remembers.
    fn stamp_of(&self, index: usize) -> Stamp {
        self.stamps.get(index).copied().unwrap_or_default()
    }

    /// Everything below `ack` is acknowledged.
    #[inline]
    pub fn advance(&mut self, ack: u64) -> Advance {
        let is_plain = self.sacked | self.lost | self.dup_credit == 0 && self.una >= self.resent_until;
        if is_plain && !self.keeps_fates { self.advance_in_order(ack) } else { self.advance_through_holes(ack) }
    }

    /// The same, where everything outstanding left once, in order, and nothing is known of it.
    fn advance_in_order(&mut self, ack: u64) -> Advance {
        let bytes = ack - self.una;
        let mut advance = Advance { bytes, newly_delivered: bytes, ..Advance::default() };
        let mut newest = None;
        let mut segments = 0;
        while let Some(head) = self.segments.front()
            && head.end <= ack
        {
            if segments == 0 {
                advance.sent_at = Some(head.at);
            }
            segments += 1;
            newest = Some((head.number, head.at));
            self.segments.pop_front();
        }
        self.una = ack;
        if let Some((number, at)) = newest {
            let delivery = &mut self.delivery;
            delivery.segments += segments;
            delivery.newest = Some(Newest { at, number, is_retransmission: false });
            (delivery.plausible, delivery.last_entered) = (newest, Some(at));
            if self.keeps_stamps
                && let Some(stamp) = self.stamps.drain(..segments as usize).next_back()
            {
                delivery.stamp = stamp;
            }
        }
        advance
    }

    fn advance_through_holes(&mut self, ack: u64) -> Advance {
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
        let first = self.index_at(range.start);
        let mut start = self.start_of(first);
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
        let first = self.index_at(from);
        let index = (first..self.segments.len()).find(|index| {
            let segment = &self.segments[*index];
            segment.lost && !segment.in_flight_again
        })?;
        self.pending_from = self.start_of(index);
        Some(self.pending_from..self.segments[index].end)
    }

    /// The oldest segment that is neither acknowledged nor sent again, below the highest SACK (NextSeg, rule 3).
    #[must_use]
    pub fn next_unjudged(&mut self) -> Option<Range<u64>> {
        let from = self.unjudged_from.max(self.una);
        if from >= self.highest_sacked {
            return None;
        }
        let first = self.index_at(from);
        let index = self
            .segments
            .range(first..)
            .take_while(|segment| segment.end <= self.highest_sacked)
            .position(|segment| !segment.sacked && !segment.in_flight_again)
            .map(|offset| first + offset);
        self.unjudged_from = index.map_or(self.highest_sacked, |index| self.start_of(index));
        index.map(|index| self.unjudged_from..self.segments[index].end)
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
        let index = self.index_at(start);
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
        self.resent_until = self.resent_until.max(segment.end);
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
mod tests;
