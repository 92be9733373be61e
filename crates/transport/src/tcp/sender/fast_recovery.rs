//! Fast recovery (RFC 6675, §5; RFC 6582 without SACK; RFC 9937).

use super::super::rules::{ExitGrowth, ForcedRetransmission, LateHole, OldAck, PartialAck, PrrDelivery, RemainingLoss};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::Signal;
use crate::recovery::rto::Restart;
use crate::recovery::{self, CongestionState};
use acklab_base::{Event, Instant};

impl Sender {
    #[inline(never)]
    pub(super) fn enter_recovery(&mut self, now: Instant, summary: &AckSummary) {
        if self.config.recovery == recovery::Algorithm::Tahoe {
            return self.fall_back_to_slow_start(now, summary);
        }
        if self.board.lost() == 0 {
            self.board.mark_head_lost();
        }
        if !self.connection.has_sack && !self.config.limited_transmit {
            // RFC 5681, §3.2, step 3: the window grows by the duplicate ACKs that limited transmit
            // did not use.
            self.board.duplicate_without_sack(u64::from(self.loss.duplicates) * self.congestion.control.window.mss);
        }
        self.remember_window();
        // A reduction that has begun is continued and not repeated (Linux's tcp_enter_recovery).
        if self.congestion.state != CongestionState::Reduced {
            self.begin_reduction(now, summary, Signal::Loss);
        }
        if self.congestion.state != CongestionState::Loss {
            self.congestion.recovery_began = now;
        }
        self.loss.probe.timeout.set(None);
        self.congestion.enter(now, CongestionState::Recovery);
        self.congestion.recover = self.board.nxt();
        self.loss.repaired_until = Some(self.board.nxt());
        self.congestion.seen_partial_ack = false;
        self.reduce(summary);
        // RFC 6675, §5, (4.3): the first retransmission is sent immediately. All lost data may
        // already have been retransmitted in a recovery that has just ended, if they lay beyond its
        // recovery point.
        let sends_head = self.rules.forced_retransmission == ForcedRetransmission::AtLeastHead;
        self.transmission.forced = self.board.has_lost_unsent() || sends_head;
        self.transmission.only_new = false;
        self.events.push_back(Event::RecoveryEntered { until: self.board.nxt() });
    }

    #[inline(never)]
    pub(super) fn continue_recovery(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        let is_partial = summary.advance.bytes > 0;
        let undo = &self.congestion.undo;
        if self.config.undo && is_partial && undo.is_refuted_by_echo(summary.echo) {
            // The segment that filled the hole was late, not lost (Linux's tcp_try_undo_partial).
            self.measure_displacement(self.board.una() - summary.advance.bytes);
            if !self.board.has_retransmissions() {
                self.board.unmark_lost();
                return self.abandon_recovery(now, summary);
            }
            if self.rules.late_hole == LateHole::HoldsBack {
                self.transmission.only_new = true;
                self.reduce(summary);
                self.timing.restart(now);
                return 0;
            }
        }
        let undo = &self.congestion.undo;
        if self.config.undo && undo.is_refuted_by_dsack() {
            self.loss.rack.on_undone_by_dsack();
            return self.abandon_recovery(now, summary);
        }
        self.detect_losses(now, summary);
        if is_partial && !self.connection.has_sack {
            self.board.mark_head_lost();
        }
        if summary.is_duplicate || is_partial || summary.delivered > 0 {
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

    /// Ends a spurious recovery and restores the previous window. If other data are lost
    /// nevertheless, a new recovery begins.
    fn abandon_recovery(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        self.undo_reduction(now);
        self.end_recovery(now);
        self.resume(now, summary)
    }

    #[inline(never)]
    pub(super) fn exit_recovery(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        self.congestion.deflate();
        self.board.clear_duplicate_credit();
        if self.config.undo && self.congestion.is_refuted(summary.echo) {
            self.undo_reduction(now);
        } else {
            self.loss.rack.on_recovered();
        }
        if self.rules.remaining_loss == RemainingLoss::NextAck {
            self.detect_losses(now, summary);
            self.end_recovery(now);
            self.timing.restart(now);
            return if self.rules.exit_growth == ExitGrowth::Deflates { 0 } else { summary.advance.bytes };
        }
        self.end_recovery(now);
        self.resume(now, summary)
    }

    /// Processes the ACK that ended or undid a recovery as in the state Open (Linux's
    /// `tcp_fastretrans_alert`).
    pub(super) fn resume(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        self.detect_losses(now, summary);
        if summary.advance.bytes > 0 {
            self.timing.restart(now);
        }
        if self.shows_loss() {
            self.enter_recovery(now, summary);
            return 0;
        }
        self.settle_order(now, summary);
        if self.rules.exit_growth == ExitGrowth::Deflates { 0 } else { summary.advance.bytes }
    }

    /// Ends a recovery, fast or after a timeout.
    pub(super) fn end_recovery(&mut self, now: Instant) {
        self.loss.duplicates = 0;
        self.transmission.forced = false;
        self.congestion.enter(now, CongestionState::Open);
        self.counters.recoveries += 1;
        self.counters.recovery_time += now.since(self.congestion.recovery_began);
        self.events.push_back(Event::RecoveryExited);
    }

    /// Stores the window and the threshold before a reduction, which may later be undone as
    /// spurious.
    pub(super) fn remember_window(&mut self) {
        let before = self.congestion.before_reduction(self.board.una());
        let retransmissions = self.board.retransmitted().div_ceil(self.congestion.control.window.mss);
        self.congestion.undo.begin(before, retransmissions);
    }

    /// Lowers the threshold. Each [`reduce`](Self::reduce) then lowers the window.
    pub(super) fn begin_reduction(&mut self, now: Instant, summary: &AckSummary, signal: Signal) {
        self.congestion.begin_reduction(now, &self.config, &self.board, summary, signal);
        self.marks.on_reduction(self.board.nxt());
    }

    /// Sets the window on an ACK of a reduction.
    pub(super) fn reduce(&mut self, summary: &AckSummary) {
        if summary.is_old && self.rules.old_ack == OldAck::Spared {
            return;
        }
        let counts_twice = summary.advances_with_sack() && self.rules.prr_delivery == PrrDelivery::Twice;
        self.congestion.reduce(self.config.recovery, self.board.pipe(), summary, 1 + u32::from(counts_twice));
    }

    /// Undoes a spurious reduction: restores the window and the threshold.
    pub(super) fn undo_reduction(&mut self, now: Instant) {
        if self.congestion.undo_reduction(now) {
            self.counters.undone += 1;
            self.events.push_back(Event::Undone);
        }
    }

    /// Undoes a reduction outside of a recovery, because D-SACK has reported every retransmission
    /// (Linux's `tcp_try_undo_dsack`).
    #[inline(never)]
    pub(super) fn undo_by_dsack(&mut self, now: Instant) {
        self.loss.rack.on_undone_by_dsack();
        self.undo_reduction(now);
    }
}
