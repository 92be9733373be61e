//! Loss detection by order (RFC 6675) and by timeout (RFC 6298). `overtaken` detects losses by time
//! (RFC 8985).

use super::Scoreboard;
use crate::recovery::DUP_THRESH;
use crate::recovery::delivery_rate::Stamp;
use acklab_base::{Duration, Instant};

/// A transmission that was marked lost.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// The time at which it was sent.
    pub sent_at: Instant,
    /// The stream offset of its first byte.
    pub start: u64,
    /// The stream offset after its last byte.
    pub end: u64,
    /// Its stamp, if stamps are recorded.
    pub stamp: Stamp,
}

impl Scoreboard {
    /// Returns `true` if bytes were marked lost since the losses were last drained.
    #[must_use]
    pub fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Drains the transmissions marked lost.
    pub fn drain_losses(&mut self) -> impl Iterator<Item = Loss> + '_ {
        self.losses.drain(..)
    }

    /// Marks as lost every segment that has `DupThresh` SACKed segments above it (RFC 6675, §4:
    /// IsLost). Returns the number of newly marked bytes.
    pub fn detect_losses(&mut self) -> u64 {
        if self.highest_sacked <= self.examined.max(self.una) {
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
        let first = self.index_at(self.examined);
        for index in first..boundary {
            self.mark_lost(index);
        }
        if boundary > 0 {
            self.examined = self.examined.max(self.segments[boundary - 1].end);
        }
        self.lost - before
    }

    /// Marks the oldest outstanding segment lost unconditionally.
    pub fn mark_head_lost(&mut self) {
        if !self.segments.is_empty() {
            self.mark_lost(0);
        }
    }

    /// Marks the segment at `index` lost, unless it is SACKed or already marked.
    pub(super) fn mark_lost(&mut self, index: usize) {
        let start = self.start_of(index);
        let segment = &mut self.segments[index];
        if segment.sacked || segment.lost {
            return;
        }
        segment.lost = true;
        let octets = segment.end - start;
        self.lost += octets;
        if !segment.retransmitted {
            self.lost_unsent += octets;
            self.next_lost_from = self.next_lost_from.min(start);
            self.report_lost(index);
        }
    }

    /// Marks the retransmission of the segment at `index` lost, so that the segment is
    /// retransmitted once more.
    pub(super) fn mark_retransmission_lost(&mut self, index: usize) {
        let start = self.start_of(index);
        let segment = &mut self.segments[index];
        let octets = segment.end - start;
        if !segment.lost {
            self.lost += octets;
        }
        (segment.lost, segment.retransmitted) = (true, false);
        self.retransmitted -= octets;
        self.lost_unsent += octets;
        self.next_lost_from = self.next_lost_from.min(start);
        self.next_unsacked_from = self.next_unsacked_from.min(start);
        self.report_lost(index);
    }

    /// Reports the last transmission of the segment at `index` as a loss, once.
    fn report_lost(&mut self, index: usize) {
        let (start, stamp) = (self.start_of(index), self.stamp_of(index));
        let segment = &mut self.segments[index];
        if !(segment.sacked || segment.loss_reported) {
            segment.loss_reported = true;
            self.losses.push(Loss { sent_at: segment.at, start, end: segment.end, stamp });
        }
    }

    /// Marks as lost all data that are not SACKed, after the retransmission timer expired (RFC
    /// 6675, §5.1). The data must be retransmitted.
    pub fn mark_all_lost(&mut self) {
        self.retransmitted = 0;
        self.lost = 0;
        self.dup_credit = 0;
        let mut start = self.una;
        for index in 0..self.segments.len() {
            self.report_lost(index);
            let segment = &mut self.segments[index];
            segment.retransmitted = false;
            segment.lost = !segment.sacked;
            if segment.lost {
                self.lost += segment.end - start;
            }
            start = segment.end;
        }
        self.lost_unsent = self.lost;
        (self.next_lost_from, self.next_unsacked_from) = (self.una, self.una);
        self.examined = self.nxt;
    }

    /// Marks as lost, after the retransmission timer expired, the oldest segment and every segment
    /// that was sent at least `reach` ago (RFC 8985, §6.3).
    pub fn mark_timed_out(&mut self, now: Instant, reach: Duration) {
        for index in 0..self.segments.len() {
            let segment = &self.segments[index];
            if segment.sacked || (index > 0 && segment.at + reach > now) {
                continue;
            }
            if segment.retransmitted {
                self.mark_retransmission_lost(index);
            } else {
                self.mark_lost(index);
            }
        }
    }

    /// Removes every loss mark: lost segments are counted as in flight and are not retransmitted
    /// (Linux's `tcp_undo_cwnd_reduction`).
    pub fn unmark_lost(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.lost = false);
        (self.lost, self.lost_unsent) = (0, 0);
        (self.next_lost_from, self.examined) = (self.una, self.una);
    }
}
