//! The minimum round-trip time, and the state `ProbeRTT` that remeasures it (§5.3.4).

use super::probe_bw::AckPhase;
use super::{Bbr3, State};
use crate::cc::model::probe_rtt::ProbeRttTimer;
use crate::cc::{Ack, Window};
use acklab_base::Instant;

impl Bbr3 {
    /// Follows `UpdateMinRTT`. The window of `ProbeRTT` is computed from the old minimum of the
    /// round-trip time. A queue may have inflated the sample that replaces it.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        self.has_min_rtt_expired = ack.now > self.min_rtt_at + self.constants.min_rtt_window;
        if self.has_min_rtt_expired && self.state != State::ProbeRtt {
            self.probe_rtt_cwnd = self.bdp(self.bandwidth, self.constants.probe_rtt_cwnd_gain).max(self.min_window());
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
            self.probe_rtt = ProbeRttTimer::default();
            self.cycle.ack_phase = AckPhase::Stopping;
            self.rounds.begin(ack.total_delivered);
        }
        self.limits_itself = self.state == State::ProbeRtt;
        if self.state == State::ProbeRtt
            && self.probe_rtt.on_ack(
                self.constants.probe_rtt_duration,
                ack.now,
                ack.in_flight,
                self.probe_rtt_cwnd,
                &mut self.rounds,
                ack.total_delivered,
            )
        {
            self.exit_probe_rtt(window, ack.now);
        }
        if ack.delivered > 0 {
            self.restarts = false;
        }
    }

    /// Ends `ProbeRTT` (`CheckProbeRTTDone`, `ExitProbeRTT`).
    pub(super) fn exit_probe_rtt(&mut self, window: &mut Window, now: Instant) {
        self.min_rtt_at = now;
        self.restore_window(window);
        self.short_term.reset_model();
        if self.was_full {
            self.enter_cruise_after_probe_rtt(now);
        } else {
            self.enter_startup();
        }
    }
}
