//! Startup searches for the bandwidth; Drain empties the queue that Startup built (§5.3.1, §5.3.2).

use super::undo::UndoState;
use super::{Bbr3, Config, State};
use crate::cc::Ack;
use crate::cc::model::full_pipe::FullPipe;
use crate::cc::model::gain::Gain;

impl Bbr3 {
    pub(super) const fn enter_startup(&mut self) {
        self.state = State::Startup;
    }

    /// `CheckFullBWReached` (§5.3.1.2).
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        if self.is_full || !self.rounds.starts() {
            return;
        }
        if let Some(sample) = ack.rate.filter(|sample| !sample.is_app_limited) {
            let Config { full_bandwidth_growth, full_bandwidth_rounds, .. } = self.constants;
            self.is_full =
                self.full_pipe.on_round(sample.bits_per_second(), full_bandwidth_growth, full_bandwidth_rounds);
            self.was_full |= self.is_full;
        }
    }

    /// Follows `ResetFullBW`, and sets the rate that the next rounds must exceed.
    pub(super) const fn reset_full_pipe(&mut self, baseline: u64) {
        (self.full_pipe, self.is_full) = (FullPipe::from(baseline), false);
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
        let Config { loss_threshold, full_loss_count, .. } = self.constants;
        if self.state == State::Startup && !self.was_full && self.losses.is_high(ack, loss_threshold, full_loss_count) {
            self.undo.state = UndoState::Startup;
            (self.is_full, self.was_full) = (true, true);
            self.long_term.inflight = self.bdp(self.bandwidth, Gain::ONE).max(self.short_term.latest_inflight);
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
