//! What counts as lost: by order (RFC 6675), by time (RFC 8985), by the retransmission timer.

use super::{Loss, Scoreboard, Sent};
use crate::recovery::DUP_THRESH;
use acklab_base::{Duration, Instant};

impl Scoreboard {
    /// Marks lost what has `DupThresh` selectively acknowledged segments above it (RFC 6675, §4: IsLost). Returns the octets
    /// newly marked.
    pub fn detect_losses(&mut self) -> u64 {
        if self.highest_sacked <= self.judged.max(self.una) {
            return 0;
        }
        let top = self.index_at(self.highest_sacked);
        let (mut above, mut boundary) = (0, top);
        while boundary > 0 && above < DUP_THRESH {
            boundary -= 1;
            above += u32::from(self.segments[boundary].sacked);
        }
        if above < DUP_THRESH {
            return 0;
        }
        let before = self.lost;
        let first = self.index_at(self.judged);
        for index in first..boundary {
            self.mark_lost(index);
        }
        if boundary > 0 {
            self.judged = self.judged.max(self.segments[boundary - 1].end);
        }
        self.lost - before
    }

    /// The oldest outstanding segment is lost, whatever else is known.
    pub fn mark_head_lost(&mut self) {
        if !self.segments.is_empty() {
            self.mark_lost(0);
        }
    }

    fn mark_lost(&mut self, index: usize) {
        let start = self.start_of(index);
        let segment = &mut self.segments[index];
        if segment.sacked || segment.lost {
            return;
        }
        segment.lost = true;
        let octets = segment.end - start;
        self.lost += octets;
        if !segment.in_flight_again {
            self.pending += octets;
            self.pending_from = self.pending_from.min(start);
            self.report_lost(index);
        }
    }

    /// The retransmission timer expired. If SACK has acknowledged the oldest segment, a receiver that held it would have acknowledged it
    /// cumulatively: it has let go of what it had reported, and no report counts any more (RFC 2018, §8; Linux's
    /// `tcp_timeout_mark_lost`). Tells whether that is so.
    pub fn forget_reneged(&mut self) -> bool {
        if !self.segments.front().is_some_and(|head| head.sacked) {
            return false;
        }
        self.segments.iter_mut().for_each(|segment| segment.sacked = false);
        (self.sacked, self.sacked_segments) = (0, 0);
        (self.highest_sacked, self.known_blocks) = (self.una, Default::default());
        self.unjudged_from = self.una;
        true
    }

    /// The retransmission timer expired: all that is not selectively acknowledged is lost and must be sent again (RFC 6675,
    /// §5.1).
    pub fn mark_all_lost(&mut self) {
        self.resent = 0;
        self.lost = 0;
        self.dup_credit = 0;
        let mut start = self.una;
        for index in 0..self.segments.len() {
            self.report_lost(index);
            let segment = &mut self.segments[index];
            segment.in_flight_again = false;
            segment.lost = !segment.sacked;
            if segment.lost {
                self.lost += segment.end - start;
            }
            start = segment.end;
        }
        self.pending = self.lost;
        (self.pending_from, self.unjudged_from) = (self.una, self.una);
        self.judged = self.nxt;
    }

    /// Is something outstanding that left before transmission number `newest`? May be true also if not.
    #[inline]
    #[must_use]
    pub fn may_be_overtaken(&self, newest: u64) -> bool {
        !self.resent_in_order.is_empty() || self.segments.front().is_some_and(|head| head.number < newest)
    }

    /// Marks lost, retransmissions too, what left before transmission number `newest`, which has been delivered, and has been out for
    /// `reach` by now (RFC 8985, §6.2, step 5). Tells the octets newly marked, and how long until all that left before `newest` will
    /// have been out so long.
    pub fn detect_by_time(&mut self, now: Instant, newest: u64, reach: Duration) -> (u64, Option<Duration>) {
        let before = self.pending;
        let last = self.judge_retransmissions(now, newest, reach).max(self.judge_originals(now, newest, reach));
        (self.pending - before, last.map(|at| (at + reach).since(now)))
    }

    /// Marks what is due among the retransmissions, and tells when the last left that left before `newest` and is not due.
    fn judge_retransmissions(&mut self, now: Instant, newest: u64, reach: Duration) -> Option<Instant> {
        let mut last = None;
        let mut entry = 0;
        while let Some((number, start)) = self.resent_in_order.get(entry).copied() {
            let index = self.index_at(start);
            let is_out = |segment: &&Sent| segment.number == number && segment.in_flight_again && !segment.sacked;
            match self.segments.get(index).filter(is_out).map(|segment| segment.at) {
                None if entry == 0 => {
                    self.resent_in_order.pop_front();
                }
                Some(_) if number >= newest => break,
                Some(at) if entry == 0 && at + reach <= now => {
                    self.resent_in_order.pop_front();
                    self.mark_lost_again(index);
                }
                Some(at) => {
                    last = Some(at);
                    entry += 1;
                }
                None => entry += 1,
            }
        }
        last
    }

    /// The same among what was sent only once.
    fn judge_originals(&mut self, now: Instant, newest: u64, reach: Duration) -> Option<Instant> {
        let mut last = None;
        let from = self.judged.max(self.una);
        for index in self.index_at(from)..self.segments.len() {
            let segment = self.segments[index];
            if !(segment.ever_resent || segment.sacked || segment.lost) {
                if segment.number >= newest {
                    break;
                }
                if last.is_some() || segment.at + reach > now {
                    last = Some(segment.at);
                    continue;
                }
                self.mark_lost(index);
            }
            if last.is_none() {
                self.judged = segment.end;
            }
        }
        last
    }

    /// A retransmission is lost, so the segment must go out once more.
    fn mark_lost_again(&mut self, index: usize) {
        let start = self.start_of(index);
        let segment = &mut self.segments[index];
        let octets = segment.end - start;
        if !segment.lost {
            self.lost += octets;
        }
        (segment.lost, segment.in_flight_again) = (true, false);
        self.resent -= octets;
        self.pending += octets;
        self.pending_from = self.pending_from.min(start);
        self.unjudged_from = self.unjudged_from.min(start);
        self.report_lost(index);
    }

    /// Each transmission is reported once.
    fn report_lost(&mut self, index: usize) {
        let (start, stamp) = (self.start_of(index), self.stamp_of(index));
        let segment = &mut self.segments[index];
        if !(segment.sacked || segment.reported_lost) {
            segment.reported_lost = true;
            self.losses.push(Loss { sent_at: segment.at, start, end: segment.end, stamp });
        }
    }

    /// The retransmission timer expired: lost is the oldest segment, and what has been out for `reach` (RFC 8985, §6.3).
    pub fn mark_timed_out(&mut self, now: Instant, reach: Duration) {
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if segment.sacked || (index > 0 && segment.at + reach > now) {
                continue;
            }
            if segment.in_flight_again {
                self.mark_lost_again(index);
            } else {
                self.mark_lost(index);
            }
        }
    }

    /// Nothing was lost after all: what waits to be sent again need not be (Linux's `tcp_undo_cwnd_reduction`).
    pub fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.lost = false);
        (self.lost, self.pending) = (0, 0);
        (self.pending_from, self.judged) = (self.una, self.una);
    }
}
