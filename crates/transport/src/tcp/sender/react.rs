//! The reaction of congestion control to an ACK: the transitions between [`CongestionState`]s.

use super::super::rules::{Disorder, DuplicateCount, DuplicatesAtExit, Reneging};
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::{self, CongestionState};
use acklab_base::{Duration, Instant};

/// The minimum time before Linux concludes that the receiver has reneged
/// (`tcp_check_sack_reneging`).
const MIN_RENEGING_DELAY: Duration = Duration::from_millis(10);

impl Sender {
    /// Detects losses and updates congestion control. Returns the acknowledged bytes by which the
    /// window may grow.
    pub(super) fn react(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        if self.suspects_reneging(now, summary) {
            return summary.advance.bytes;
        }
        let growth = match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder => self.react_in_order(now, summary),
            CongestionState::Recovery if self.holds_recovery(summary) => self.hold_recovery(now, summary),
            CongestionState::Recovery if self.ends_recovery(summary) => self.exit_recovery(now, summary),
            CongestionState::Recovery => self.continue_recovery(now, summary),
            CongestionState::Loss => {
                let passes_recover = self.passes_recover(summary) && !self.holds_recovery(summary);
                self.continue_loss(now, summary, passes_recover)
            }
            CongestionState::Reduced if self.ends_reduction(summary) => self.exit_reduced(now, summary),
            CongestionState::Reduced => self.continue_reduced(now, summary),
        };
        if summary.restarts_timer {
            self.timing.rearm(now);
        }
        let is_reducing = matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Reduced);
        if is_reducing { growth } else { growth.max(self.growth_out_of_order(summary)) }
    }

    /// Returns `true` if the acknowledged data were sent after the last recovery began.
    /// Retransmissions of that recovery have then not elicited the duplicate ACKs (RFC 6582, §3.2,
    /// step 2).
    pub(super) fn is_beyond_last_recovery(&self) -> bool {
        let una = self.board.una();
        self.rules.duplicates_at_exit == DuplicatesAtExit::Counted
            || self.loss.repaired_until.is_none_or(|until| una > until)
    }

    /// Returns `true` if the ACK advances to the recovery point.
    fn passes_recover(&self, summary: &AckSummary) -> bool {
        summary.advance.bytes > 0 && self.board.una() >= self.congestion.recover
    }

    fn ends_recovery(&self, summary: &AckSummary) -> bool {
        let ends_with_any_advance = self.config.recovery == recovery::Algorithm::Reno;
        self.passes_recover(summary) || (ends_with_any_advance && summary.advance.bytes > 0)
    }

    /// Processes an ACK in [`Open`](CongestionState::Open) or
    /// [`Disorder`](CongestionState::Disorder).
    #[inline]
    fn react_in_order(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        if self.config.undo && self.congestion.undo.is_refuted_by_dsack() {
            self.undo_by_dsack(now);
        }
        self.detect_losses(now, summary);
        let ends_count = !summary.is_duplicate || self.rules.duplicate_count == DuplicateCount::EndsWithAnyAdvance;
        if summary.advance.bytes > 0 && ends_count {
            self.loss.duplicates = 0;
        }
        if summary.is_duplicate {
            self.loss.duplicates += 1;
        }
        self.settle_order(now, summary);
        if self.shows_loss() {
            self.enter_recovery(now, summary);
            if summary.advance.bytes > 0 {
                self.congestion.seen_partial_ack = true;
                self.timing.restart(now);
            }
            return 0;
        }
        if summary.advance.bytes == 0 || (summary.is_duplicate && self.rules.disorder == Disorder::Holds) {
            return 0;
        }
        self.timing.restart(now);
        summary.advance.bytes
    }

    /// Enters the state Open or Disorder, depending on the ACK.
    #[inline]
    pub(super) fn settle_order(&mut self, now: Instant, summary: &AckSummary) {
        let state = match (summary.is_duplicate, summary.advance.bytes > 0) {
            (true, _) => CongestionState::Disorder,
            (false, true) => CongestionState::Open,
            (false, false) => self.congestion.state,
        };
        if state != self.congestion.state {
            self.congestion.enter(now, state);
        }
    }

    /// Returns `true` if the ACK advances to a SACKed segment (Linux's `tcp_check_sack_reneging`).
    /// If no other ACK arrives soon, the retransmission timer detects that the receiver has
    /// reneged.
    fn suspects_reneging(&mut self, now: Instant, summary: &AckSummary) -> bool {
        let suspects = self.rules.reneging == Reneging::Suspected
            && summary.advance.bytes > 0
            && self.board.sacked() > 0
            && self.board.is_head_sacked();
        if suspects {
            let delay = self.timing.rtt.srtt().unwrap_or_default() / 2;
            self.timing.rto.set(now, delay.max(MIN_RENEGING_DELAY));
        }
        suspects
    }
}
