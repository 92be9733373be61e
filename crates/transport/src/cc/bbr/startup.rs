//! Startup searches for the bandwidth; Drain empties the queue that Startup built.

use super::{Bbr, Config, Mode};
use crate::cc::model::gain::Gain;
use crate::cc::{Ack, Window};

impl Bbr {
    /// `bbr_check_full_bw_reached`.
    pub(super) fn check_full_pipe(&mut self, ack: &Ack) {
        let is_app_limited = ack.rate.is_none_or(|sample| sample.is_app_limited);
        if !self.was_full && self.rounds.starts() && !is_app_limited {
            let Config { full_bandwidth_growth, full_bandwidth_rounds, .. } = self.constants;
            self.was_full = self.full_pipe.on_round(self.max_bandwidth(), full_bandwidth_growth, full_bandwidth_rounds);
        }
    }

    /// `bbr_check_drain`.
    pub(super) fn check_drain(&mut self, window: &mut Window, ack: &Ack) {
        if self.mode == Mode::Startup && self.was_full {
            self.mode = Mode::Drain;
            window.ssthresh = self.inflight(self.max_bandwidth(), Gain::ONE);
        }
        if self.mode == Mode::Drain
            && self.in_flight_at_departure(ack, ack.in_flight) <= self.inflight(self.max_bandwidth(), Gain::ONE)
        {
            self.enter_probe_bw();
        }
    }
}
