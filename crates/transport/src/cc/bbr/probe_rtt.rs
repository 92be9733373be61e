//! The minimum round-trip time, and the state `ProbeRTT` in which BBR measures it anew.

use super::{Bbr, Mode};
use crate::cc::model::probe_rtt::ProbeRttTimer;
use crate::cc::{Ack, Window};
use crate::recovery::CongestionState;
use acklab_base::Instant;

impl Bbr {
    /// `bbr_update_min_rtt`.
    pub(super) fn update_min_rtt(&mut self, window: &mut Window, ack: &Ack) {
        let has_expired = ack.now > self.min_rtt_at + self.constants.min_rtt_window;
        if let Some(rtt) = ack.newest_rtt
            && (self.min_rtt.is_none_or(|min_rtt| rtt <= min_rtt) || (has_expired && !self.may_be_delayed(ack)))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), ack.now);
        }
        if has_expired && !self.restarts && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_window(window.cwnd);
            self.probe_rtt = ProbeRttTimer::default();
        }
        self.limits_itself = self.mode == Mode::ProbeRtt;
        if self.mode == Mode::ProbeRtt {
            let (target, time) = (self.min_window(), self.constants.probe_rtt_duration);
            if self.probe_rtt.on_ack(time, ack.now, ack.in_flight, target, &mut self.rounds, ack.total_delivered) {
                self.exit_probe_rtt(window, ack.now);
            }
        }
        if ack.delivered > 0 {
            self.restarts = false;
        }
    }

    /// Returns `true` if the receiver may have delayed this ACK: it covers less than a segment, and
    /// no other data were delivered in its round trip (`tcp_clean_rtx_queue`,
    /// `FLAG_ACK_MAYBE_DELAYED`).
    fn may_be_delayed(&self, ack: &Ack) -> bool {
        ack.delivered < self.mss
            && ack.state == CongestionState::Open
            && ack.rate.is_some_and(|sample| sample.delivered == ack.delivered)
    }

    /// Ends `ProbeRTT` (`bbr_check_probe_rtt_done`).
    pub(super) fn exit_probe_rtt(&mut self, window: &mut Window, now: Instant) {
        self.min_rtt_at = now;
        window.cwnd = window.cwnd.max(self.prior_window);
        self.resume();
    }
}
