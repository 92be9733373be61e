//! The outstanding segments and the state of each (RFC 6675, §2 to §4).
//!
//! There is one entry per segment, in stream order. Sums are updated when a segment changes state,
//! so [`Scoreboard::pipe`] takes constant time. Each search starts where the previous one ended, so
//! the cost of thousands of holes is low.
//!
//! | file | contents |
//! |---|---|
//! | `segment` | the state of one segment |
//! | `cumulative` | acknowledgment numbers, which advance snd.una |
//! | `sack` | SACK blocks (RFC 2018) |
//! | `delivery` | the delivery of one ACK |
//! | `next_segment` | the next retransmission (RFC 6675, §4: NextSeg) |
//! | `loss` | loss detection by order (RFC 6675) and by timeout (RFC 6298) |
//! | `overtaken` | loss detection by time (RFC 8985) |

mod cumulative;
mod delivery;
mod loss;
mod next_segment;
mod overtaken;
mod sack;
mod segment;

pub use cumulative::Advance;
pub use delivery::{Delivery, Limits};
pub use loss::Loss;
pub use overtaken::Detected;

use super::delivery_rate::Stamp;
use super::transmission::{Outcome, Transmission};
use acklab_base::Instant;
use segment::Sent;
use std::collections::VecDeque;
use std::ops::Range;

/// The treatment of a retransmission that SACK acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SackedRetransmission {
    /// The retransmission has left the network (RFC 6675, §4, `SetPipe`: SACKed bytes are not
    /// counted).
    #[default]
    LeavesFlight,
    /// The retransmission is counted as in flight until its cumulative acknowledgment (ns-3's
    /// `TcpTxBuffer::Update` does not change `m_retrans`).
    StaysInFlight,
}

/// The sender's view of the network (RFC 6675, §2 and §3).
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    una: u64,
    nxt: u64,
    segments: VecDeque<Sent>,
    /// The stamp of each segment's last transmission, if stamps are recorded.
    stamps: VecDeque<Stamp>,
    keeps_stamps: bool,
    /// The number of transmissions so far.
    transmissions: u64,
    sacked: u64,
    sacked_segments: u32,
    lost: u64,
    /// The estimated number of bytes of retransmissions in flight.
    retransmitted: u64,
    /// The number of bytes marked lost, but not retransmitted since.
    lost_unsent: u64,
    highest_sacked: u64,
    /// All data below this offset are SACKed, lost or retransmitted, or have been examined for
    /// loss.
    examined: u64,
    /// Retransmissions in order: the number of the transmission and the offset of its first byte.
    /// Some entries are obsolete, because the segment has been acknowledged or retransmitted once
    /// more.
    retransmissions: VecDeque<(u64, u64)>,
    /// No segment below this offset is lost and waits for its retransmission.
    next_lost_from: u64,
    /// Every segment below this offset is SACKed or retransmitted, or is above the highest SACK.
    next_unsacked_from: u64,
    /// No segment that begins at or above this offset was ever retransmitted.
    retransmitted_below: u64,
    /// The SACK blocks of the previous ACK, most of which the next ACK repeats.
    known_blocks: [Range<u64>; 4],
    /// Without SACK: the number of bytes that have left the network according to duplicate ACKs.
    dup_credit: u64,
    sacked_retransmission: SackedRetransmission,
    /// The delivery of the ACK being processed.
    delivery: Delivery,
    /// Transmissions marked lost since the losses were last drained.
    losses: Vec<Loss>,
    /// Other outcomes of transmissions since they were last cleared, if they are recorded.
    outcomes: Vec<Transmission>,
    keeps_outcomes: bool,
}

impl Scoreboard {
    /// Creates a scoreboard with nothing outstanding.
    #[must_use]
    pub fn new(sacked_retransmission: SackedRetransmission) -> Self {
        Self { sacked_retransmission, ..Self::default() }
    }

    /// Records [`outcomes`](Self::outcomes) if `keeps_outcomes` is `true`.
    #[must_use]
    pub fn keeping_outcomes(self, keeps_outcomes: bool) -> Self {
        Self { keeps_outcomes, ..self }
    }

    /// Records the stamp of each transmission if `keeps_stamps` is `true`. Otherwise every returned
    /// stamp is the default.
    #[must_use]
    pub fn keeping_stamps(self, keeps_stamps: bool) -> Self {
        Self { keeps_stamps, ..self }
    }

    /// Returns snd.una: the offset of the oldest unacknowledged byte.
    #[must_use]
    pub const fn una(&self) -> u64 {
        self.una
    }

    /// Returns snd.nxt: the offset of the next byte that was never sent.
    #[must_use]
    pub const fn nxt(&self) -> u64 {
        self.nxt
    }

    /// Returns FlightSize: snd.nxt − snd.una.
    #[must_use]
    pub const fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the estimated number of bytes in the network (RFC 6675, §4).
    #[must_use]
    pub fn pipe(&self) -> u64 {
        (self.flight_size() + self.retransmitted).saturating_sub(self.sacked + self.lost + self.dup_credit)
    }

    /// Returns the number of outstanding segments.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Returns the number of selectively acknowledged bytes.
    #[must_use]
    pub const fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Returns the number of bytes that have arrived beyond a hole: the SACKed bytes or, without
    /// SACK, the bytes that duplicate ACKs indicate.
    #[must_use]
    pub const fn reported(&self) -> u64 {
        self.sacked + self.dup_credit
    }

    /// Returns the number of selectively acknowledged segments.
    #[must_use]
    pub const fn sacked_segments(&self) -> u32 {
        self.sacked_segments
    }

    /// Returns the number of bytes marked lost.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns `true` if lost bytes have not been retransmitted since.
    #[must_use]
    pub const fn has_lost_unsent(&self) -> bool {
        self.lost_unsent > 0
    }

    /// Returns the estimated number of bytes of retransmissions in flight.
    #[must_use]
    pub const fn retransmitted(&self) -> u64 {
        self.retransmitted
    }

    /// Returns `true` if a retransmission is estimated to be in flight.
    #[must_use]
    pub const fn has_retransmissions(&self) -> bool {
        self.retransmitted > 0
    }

    /// Returns `true` if nothing is outstanding.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Returns `true` if the oldest outstanding segment has been retransmitted since it was last
    /// marked lost.
    #[must_use]
    pub fn is_head_retransmitted(&self) -> bool {
        self.segments.front().is_some_and(|head| head.retransmitted)
    }

    /// Returns `true` if an acknowledgment may be for any of several transmissions of a segment.
    #[inline]
    #[must_use]
    pub const fn is_ambiguous(&self) -> bool {
        self.una < self.retransmitted_below
    }

    /// Returns the time at which the oldest outstanding segment was last sent.
    #[must_use]
    pub fn head_sent_at(&self) -> Option<Instant> {
        self.segments.front().map(|head| head.at)
    }

    /// Returns `true` if the oldest outstanding segment is SACKed, so that the receiver seems to
    /// have reneged (RFC 2018, §8).
    #[must_use]
    pub fn is_head_sacked(&self) -> bool {
        self.segments.front().is_some_and(|head| head.sacked)
    }

    /// Returns the oldest outstanding segment.
    #[must_use]
    pub fn head(&self) -> Option<Range<u64>> {
        self.segments.front().map(|head| self.una..head.end)
    }

    /// Returns the newest outstanding segment (RFC 8985, §7.3), unless SACK has acknowledged it.
    #[must_use]
    pub fn tail(&self) -> Option<Range<u64>> {
        let last = self.segments.back().filter(|last| !last.sacked)?;
        Some(self.start_of(self.segments.len() - 1)..last.end)
    }

    /// Returns `true` if the newest outstanding segment is estimated to be in the network.
    #[must_use]
    pub fn is_tail_in_flight(&self) -> bool {
        self.segments.back().is_some_and(|last| !last.sacked && (!last.lost || last.retransmitted))
    }

    /// Returns the outcomes of transmissions, except losses, since they were last cleared.
    #[must_use]
    pub fn outcomes(&self) -> &[Transmission] {
        &self.outcomes
    }

    /// Clears the outcomes after they were reported.
    pub fn clear_outcomes(&mut self) {
        self.outcomes.clear();
    }

    fn note_outcome(&mut self, sent_at: Instant, outcome: Outcome) {
        if self.keeps_outcomes {
            self.outcomes.push(Transmission { sent_at, outcome });
        }
    }

    /// Records that `octets` bytes of new data are sent.
    #[inline]
    pub fn send(&mut self, now: Instant, octets: u64, stamp: Stamp) {
        self.nxt += octets;
        self.transmissions += 1;
        self.segments.push_back(Sent::new(self.nxt, now, self.transmissions));
        if self.keeps_stamps {
            self.stamps.push_back(stamp);
        }
    }

    /// Records that the segment that begins at `start` is retransmitted.
    pub fn retransmit(&mut self, now: Instant, start: u64, stamp: Stamp) {
        let index = self.index_at(start);
        let Some(segment) = self.segments.get_mut(index) else { return };
        let octets = segment.end - start;
        let replaced = (!segment.loss_reported).then_some(segment.at);
        if !segment.retransmitted {
            if segment.lost {
                self.lost_unsent -= octets;
            }
            self.retransmitted += octets;
        }
        (segment.retransmitted, segment.ever_retransmitted) = (true, true);
        self.retransmitted_below = self.retransmitted_below.max(segment.end);
        self.transmissions += 1;
        (segment.at, segment.number) = (now, self.transmissions);
        segment.loss_reported = false;
        if let Some(kept) = self.stamps.get_mut(index) {
            *kept = stamp;
        }
        self.retransmissions.push_back((self.transmissions, start));
        if let Some(sent_at) = replaced {
            self.note_outcome(sent_at, Outcome::Unknown);
        }
    }

    /// Treats a duplicate ACK without SACK as the arrival of a segment of `mss` bytes (RFC 9937,
    /// §6; Linux's `tcp_add_reno_sack`). Returns the number of bytes treated as delivered: less
    /// than `mss` if duplicates had reached [the maximum](Self::limit_duplicate_credit).
    pub fn duplicate_without_sack(&mut self, mss: u64) -> u64 {
        let before = self.dup_credit;
        self.dup_credit += mss;
        self.limit_duplicate_credit(mss);
        self.dup_credit.saturating_sub(before)
    }

    /// Limits the bytes that duplicate ACKs represent to the bytes that are outstanding and not
    /// lost, without the missing first segment (Linux's `tcp_limit_reno_sacked`). Returns `true` if
    /// they exceeded the limit.
    pub fn limit_duplicate_credit(&mut self, mss: u64) -> bool {
        let most = self.flight_size().saturating_sub(self.lost.max(mss));
        let exceeds = self.dup_credit > most;
        self.dup_credit = self.dup_credit.min(most);
        exceeds
    }

    /// Clears the number of bytes that have left the network according to duplicate ACKs.
    pub const fn clear_duplicate_credit(&mut self) {
        self.dup_credit = 0;
    }

    /// Returns the offset of the first byte of the segment at `index`.
    fn start_of(&self, index: usize) -> u64 {
        if index == 0 { self.una } else { self.segments[index - 1].end }
    }

    /// Returns the index of the segment that contains `offset`, or the number of segments if
    /// `offset` was never sent. Full-sized segments are found by division, others by bisection.
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

    /// Returns the stamp of a segment's last transmission.
    fn stamp_of(&self, index: usize) -> Stamp {
        self.stamps.get(index).copied().unwrap_or_default()
    }

    /// Returns the highest acknowledged offset, cumulatively or selectively.
    #[must_use]
    pub fn fack(&self) -> u64 {
        self.highest_sacked.max(self.una)
    }

    /// Returns `true` if the outstanding segment that contains `offset` was ever retransmitted.
    #[must_use]
    pub fn was_retransmitted(&self, offset: u64) -> bool {
        offset >= self.una && self.segments.get(self.index_at(offset)).is_some_and(|segment| segment.ever_retransmitted)
    }

    /// Returns `true` if the segment that begins at `start` was retransmitted and is SACKed.
    #[must_use]
    pub fn is_retransmitted_and_sacked(&self, start: u64) -> bool {
        let index = self.index_at(start);
        start >= self.una
            && self.segments.get(index).is_some_and(|segment| segment.ever_retransmitted && segment.sacked)
    }

    /// Subtracts a segment, or its acknowledged `octets` bytes, from the sums.
    fn uncount(&mut self, segment: &Sent, octets: u64) {
        if segment.sacked {
            self.sacked -= octets;
        }
        if segment.lost {
            self.lost -= octets;
            if !segment.retransmitted {
                self.lost_unsent -= octets;
            }
        }
        if segment.retransmitted {
            self.retransmitted -= octets;
        }
    }
}

#[cfg(test)]
mod tests;
