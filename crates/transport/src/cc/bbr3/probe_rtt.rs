//! The shortest round-trip time, and the pause that renews it (§5.3.4).

use super::probe_bw::AckPhase;
use super::{Bbr3, State};
use crate::cc::model::probe_rtt::Pause;
use crate::cc::{Ack, Window};
use acklab_base::Instant;

impl Bbr3 {
    /// `UpdateMinRTT`. The window of a pause follows from the round-trip time that has been believed so far, not from
    /// the one that takes its place, which a queue may have inflated.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        self.has_min_rtt_expired = ack.now > self.min_rtt_at + self.constants.min_rtt_window;
        if self.has_min_rtt_expired && self.state != State::ProbeRtt {
            self.pause_window = self.path(self.bandwidth, self.constants.probe_rtt_cwnd_gain).max(self.min_window());
        }
        if let Some(rtt) = ack.newest_rtt
            && (self.min_rtt.is_none_or(|min_rtt| rtt < min_rtt) || self.has_min_rtt_expired)
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), ack.now);
        }
    }

    /// `CheckProbeRTT`, `HandleProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, window: &mut Window, ack: &Ack) {
        if self.state != State::ProbeRtt && self.has_min_rtt_expired && !self.restarts {
            self.state = State::ProbeRtt;
            self.save_window(window.cwnd);
            self.pause = Pause::default();
            self.cycle.ack_phase = AckPhase::Stopping;
            self.rounds.begin(ack.total_delivered);
        }
        self.limits_itself = self.state == State::ProbeRtt;
        if self.state == State::ProbeRtt
            && self.pause.on_ack(
                self.constants.probe_rtt_duration,
                ack.now,
                ack.in_flight,
                self.pause_window,
                &mut self.rounds,
                ack.total_delivered,
            )
        {
            self.end_pause(window, ack.now);
        }
        if ack.delivered > 0 {
            self.restarts = false;
        }
    }

    /// `CheckProbeRTTDone`, once it is; `ExitProbeRTT`.
    pub(super) fn end_pause(&mut self, window: &mut Window, now: Instant) {
        self.min_rtt_at = now;
        self.restore_window(window);
        self.short_term.reset_model();
        if self.was_full {
            self.enter_cruise_after_pause(now);
        } else {
            self.enter_startup();
        }
    }
}
