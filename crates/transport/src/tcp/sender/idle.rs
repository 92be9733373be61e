//! Adapts the congestion window after an idle period of the application.

use super::Sender;
use crate::cc::CongestionControl;
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The congestion window after an idle period longer than the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterIdle {
    /// Unchanged (ns-3).
    Keep,
    /// At most the initial window (RFC 5681, §4.1).
    Restart,
    /// Halved for each timeout in the idle period, but at least the initial window. The threshold
    /// is set to three quarters of the old window (RFC 2861; Linux's `tcp_cwnd_restart`).
    Decay,
}

impl Sender {
    /// Adapts the window before new data are sent while nothing is outstanding. A controller that
    /// sets its window itself handles idle periods.
    #[inline(never)]
    pub(super) fn wake_from_idleness(&mut self, now: Instant) {
        if self.config.after_idle == AfterIdle::Keep || self.congestion.control.controller.governs_window() {
            return;
        }
        let Some(last_sent) = self.transmission.last_sent else { return };
        let (mut silence, timeout) = (now.since(last_sent), self.timing.timeout());
        if silence <= timeout {
            return;
        }
        self.usage.restart(now);
        let window = &mut self.congestion.control.window;
        let cwnd = window.cwnd;
        let restart = cwnd.min(u64::from(self.config.initial_window.0) * window.mss);
        if self.config.after_idle == AfterIdle::Restart {
            window.cwnd = restart;
            return;
        }
        window.remember_three_quarters();
        while silence > timeout && window.cwnd > restart {
            silence = silence - timeout;
            window.cwnd /= 2;
        }
        window.cwnd = window.cwnd.max(restart);
    }
}
