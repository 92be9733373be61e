//! Fast recovery (RFC 6675, §5; RFC 6582 without SACK; RFC 9937).

use super::super::rules::{ExitGrowth, ForcedRetransmission, PartialAck, PrrDelivery};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::Signal;
use crate::recovery::rto::Restart;
use crate::recovery::{self, CongestionState};
use acklab_base::{Event, Instant};

impl Sender {
    pub(super) fn enter_recovery(&mut self, now: Instant, summary: &AckSummary) {
        if self.board.lost() == 0 {
            self.board.mark_head_lost();
        }
        if !self.connection.has_sack && !self.config.limited_transmit {
            // RFC 5681, §3.2, step 3: the window grows by the duplicates that limited transmit did not use.
            self.board.duplicate_without_sack(u64::from(self.loss.duplicates) * self.congestion.window.mss);
        }
        self.remember_window();
        // A reduction that has begun continues and is not made twice (Linux's tcp_enter_recovery).
        if self.congestion.state != CongestionState::Reduced {
            self.begin_reduction(now, summary, Signal::Loss);
        }
        self.loss.probe.timeout.set(None);
        self.congestion.enter(now, CongestionState::Recovery);
        self.congestion.recover = self.board.nxt();
        self.congestion.recovery_began = now;
        self.congestion.seen_partial_ack = false;
        self.reduce(summary);
        // RFC 6675, §5, (4.3): the first retransmission leaves at once. Everything lost may have been retransmitted already, if it lay
        // beyond the recovery point of a recovery that has just ended.
        let sends_head = self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead;
        self.transmission.forced = self.board.has_lost_unsent() || sends_head;
        self.events.push_back(Event::RecoveryEntered { until: self.board.nxt() });
    }

    pub(super) fn continue_recovery(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        if self.config.undo && self.is_recovery_spurious(summary) {
            self.undo_reduction(now, true);
            self.note_recovered(now);
            self.timing.restart(now);
            return 0;
        }
        let is_partial = summary.advance.bytes > 0;
        if is_partial && !self.connection.has_sack {
            self.board.mark_head_lost();
        }
        if summary.is_duplicate || is_partial {
            self.reduce(summary);
        }
        if is_partial {
            if self.rules.partial_ack == PartialAck::SendsHead && !self.board.is_head_retransmitted() {
                self.transmission.forced = true;
            }
            if self.config.rto.restart != Restart::FirstPartialAck || !self.congestion.seen_partial_ack {
                self.timing.restart(now);
            }
            self.congestion.seen_partial_ack = true;
        }
        0
    }

    /// Returns `true` if the segment that filled the hole was only late and no retransmission is in flight (Linux's
    /// `tcp_try_undo_partial`), or if every retransmission was reported as a duplicate (`tcp_try_undo_dsack`).
    fn is_recovery_spurious(&self, summary: &AckSummary) -> bool {
        let undo = &self.congestion.undo;
        let only_late =
            summary.advance.bytes > 0 && !self.board.has_retransmissions() && undo.is_refuted_by_echo(summary.echo);
        only_late || undo.is_refuted_by_dsack()
    }

    pub(super) fn exit_recovery(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        self.congestion.deflate();
        if self.config.recovery == recovery::Algorithm::Reno {
            self.board.clear_duplicate_credit();
        }
        if self.config.undo && self.congestion.is_refuted(summary.echo) {
            self.undo_reduction(now, false);
        }
        self.note_recovered(now);
        self.timing.restart(now);
        if self.rules.exit_growth == ExitGrowth::Grows { summary.advance.bytes } else { 0 }
    }

    /// A recovery, fast or after a timeout, has ended.
    pub(super) fn note_recovered(&mut self, now: Instant) {
        self.loss.duplicates = 0;
        self.transmission.forced = false;
        self.congestion.enter(now, CongestionState::Open);
        self.loss.rack.on_recovered();
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.congestion.recovery_began);
        self.events.push_back(Event::RecoveryExited);
    }

    /// Keeps the window and the threshold before a reduction, which may turn out to be spurious.
    pub(super) fn remember_window(&mut self) {
        let before = self.congestion.before_reduction(self.board.una());
        self.congestion.undo.begin(before, self.board.has_retransmissions());
    }

    /// Lowers the threshold; the window follows with each [`reduce`](Self::reduce).
    pub(super) fn begin_reduction(&mut self, now: Instant, summary: &AckSummary, signal: Signal) {
        self.congestion.begin_reduction(now, &self.config, &self.board, summary, signal);
        self.marks.on_reduction(self.board.nxt());
    }

    /// Sets the window on an ACK of a reduction.
    pub(super) fn reduce(&mut self, summary: &AckSummary) {
        let counts_twice = summary.advances_with_sack() && self.rules.prr_delivery == PrrDelivery::Twice;
        self.congestion.reduce(self.config.recovery, self.board.pipe(), summary, 1 + u32::from(counts_twice));
    }

    /// The reduction was spurious: window and threshold return to what they were. With `unmark_lost`, every loss mark is taken back.
    pub(super) fn undo_reduction(&mut self, now: Instant, unmark_lost: bool) {
        if !self.congestion.undo_reduction(now) {
            return;
        }
        if unmark_lost {
            self.board.unmark_lost();
        }
        self.counters.undone += 1;
        self.events.push_back(Event::Undone);
    }
}
