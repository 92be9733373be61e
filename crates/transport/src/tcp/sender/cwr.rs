//! Congestion window reduced (CWR) without a loss to repair: after an echoed mark, or after a loss
//! that a tail loss probe has repaired.

use super::super::rules::ReductionEnd;
use super::Sender;
use super::summary::AckSummary;
use crate::cc::Signal;
use crate::recovery::CongestionState;
use acklab_base::{Event, Instant};

impl Sender {
    /// Starts to reduce the window, with the same steps as a fast recovery.
    #[inline(never)]
    pub(super) fn enter_reduced(&mut self, now: Instant, summary: &AckSummary, signal: Signal) {
        self.remember_window();
        self.begin_reduction(now, summary, signal);
        self.congestion.enter(now, CongestionState::Reduced);
        self.congestion.recover = self.board.nxt();
        // An ACK that is newer only by its timestamp delivers no data.
        if summary.delivered > 0 {
            self.reduce(summary);
        }
        self.events.push_back(Event::WindowReduced { until: self.board.nxt() });
    }

    /// Returns `true` if this ACK ends CWR.
    pub(super) fn ends_reduction(&self, summary: &AckSummary) -> bool {
        let (una, recover) = (self.board.una(), self.congestion.recover);
        match self.rules.reduction_end {
            ReductionEnd::Acknowledged => summary.advance.bytes > 0 && una >= recover,
            ReductionEnd::BeyondAcknowledged => una > recover,
        }
    }

    /// Ends CWR: sets the window to the threshold. Returns the acknowledged bytes by which the
    /// window may grow.
    #[inline(never)]
    pub(super) fn exit_reduced(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        if self.rules.reduction_end == ReductionEnd::BeyondAcknowledged {
            self.congestion.deflate();
            self.congestion.enter(now, CongestionState::Open);
            self.loss.duplicates = 0;
            return self.resume(now, summary);
        }
        self.note_losses(now, summary);
        if self.shows_loss() {
            self.enter_recovery(now, summary);
        } else {
            self.congestion.deflate();
            self.congestion.enter(now, CongestionState::Open);
        }
        self.timing.restart(now);
        0
    }

    #[inline(never)]
    pub(super) fn continue_reduced(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        self.note_losses(now, summary);
        if self.shows_loss() {
            self.enter_recovery(now, summary);
        } else if summary.delivered > 0 {
            self.reduce(summary);
        }
        if summary.advance.bytes > 0 {
            self.timing.restart(now);
        }
        0
    }

    /// Detects losses and counts duplicate ACKs.
    fn note_losses(&mut self, now: Instant, summary: &mut AckSummary) {
        self.detect_losses(now, summary);
        if summary.is_duplicate {
            self.loss.duplicates += 1;
        } else if summary.advance.bytes > 0 {
            self.loss.duplicates = 0;
        }
    }

    /// Reduces the window immediately after a tail loss probe has repaired a loss without other
    /// evidence (RFC 8985, §7.4).
    #[inline(never)]
    pub(super) fn reduce_for_repaired_loss(&mut self, now: Instant) {
        let congestion = &mut self.congestion;
        if congestion.state.reduces() {
            return;
        }
        let flight = congestion.flight_to_reduce(&self.config, &self.board, 0);
        congestion.lower_threshold(now, flight, Signal::Loss);
        congestion.enter(now, CongestionState::Reduced);
        congestion.deflate_above_threshold();
        congestion.enter(now, CongestionState::Open);
        self.events.push_back(Event::WindowReduced { until: self.board.nxt() });
    }
}
