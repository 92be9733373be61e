//! Search for the bandwidth, then drain the queue that this left (§5.3.1, §5.3.2).

use super::long_term::is_too_high;
use super::undo::Return;
use super::{Bbr3, State};
use crate::cc::model::gain::Gain;
use crate::cc::{Ack, Lost, Position};
use crate::recovery::CongestionState;

/// The ranges that a round has lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    ranges: u32,
    last_end: Option<Position>,
}

impl Losses {
    /// Ranges that touch are one.
    pub(super) fn note(&mut self, lost: &Lost) {
        self.ranges += u32::from(self.last_end != Some(lost.start));
        self.last_end = Some(lost.end);
    }
}

impl Bbr3 {
    pub(super) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckStartupDone` (§5.3.1.1).
    pub(super) fn check_startup(&mut self, ack: &Ack) {
        self.check_high_loss(ack);
        if self.state == State::Startup && self.was_full {
            self.state = State::Drain;
            self.drain_began = self.rounds.count();
        }
    }

    /// `CheckStartupHighLoss` (§5.3.1.3).
    fn check_high_loss(&mut self, ack: &Ack) {
        let ends_round = self.short_term.round_starts;
        let is_high = ack.state == CongestionState::Recovery
            && if self.has_sack {
                ends_round
                    && self.losses.ranges >= self.constants.full_loss_count
                    && is_too_high(self.constants.loss_threshold, ack.rate.as_ref(), true)
            } else {
                ack.lost > 0
            };
        if self.state == State::Startup && !self.was_full && is_high {
            self.undo.returns_to = Return::Startup;
            (self.is_full, self.was_full) = (true, true);
            self.long_term.inflight = self.path(self.bandwidth, Gain::ONE).max(self.short_term.latest_inflight);
        }
        if ends_round {
            self.losses = Losses::default();
        }
    }

    /// `CheckDrainDone` (§5.3.2).
    pub(super) fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Drain
            && (ack.in_flight <= self.inflight(self.bandwidth, Gain::ONE)
                || self.rounds.count() > self.drain_began + u64::from(self.constants.drain_rounds))
        {
            self.enter_down(ack.now);
        }
    }
}
