//! What an ACK does to congestion control: from one [`CongestionState`] to the next.

use super::super::rules::{Disorder, DuplicateCount};
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::{self, CongestionState};
use acklab_base::Instant;

impl Sender {
    /// Moves congestion control on. Returns by how many acknowledged octets the window may grow.
    pub(super) fn react(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        let passes_recover = summary.advance.bytes > 0 && self.board.una() >= self.congestion.recover;
        let ends_recovery =
            passes_recover || (self.config.recovery == recovery::Algorithm::Reno && summary.advance.bytes > 0);
        match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder => self.react_in_order(now, summary),
            CongestionState::Recovery if ends_recovery => self.exit_recovery(now, summary),
            CongestionState::Recovery => self.continue_recovery(now, summary),
            CongestionState::Loss => self.continue_loss(now, summary, passes_recover),
            CongestionState::Reduced => self.continue_reduced(now, summary, passes_recover),
        }
    }

    /// An ACK in [`Open`](CongestionState::Open) or [`Disorder`](CongestionState::Disorder).
    #[inline]
    fn react_in_order(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        if self.config.undo && self.congestion.undo.is_refuted_by_dsack() {
            self.undo_reduction(now, false);
        }
        let ends_count = !summary.is_duplicate || self.rules.duplicate_count == DuplicateCount::EndsWithAnyAdvance;
        if summary.advance.bytes > 0 && ends_count {
            self.loss.duplicates = 0;
        }
        if summary.is_duplicate {
            self.loss.duplicates += 1;
        }
        let state = match (summary.is_duplicate, summary.advance.bytes > 0) {
            (true, _) => CongestionState::Disorder,
            (false, true) => CongestionState::Open,
            (false, false) => self.congestion.state,
        };
        if state != self.congestion.state {
            self.congestion.enter(now, state);
        }
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
}
