//! What becomes of the window while nothing is sent.

use super::Sender;
use crate::cc::CongestionControl;
use acklab_base::Instant;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The window after a silence longer than the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AfterIdle {
    /// What it was (ns-3).
    Keep,
    /// The initial window at most (RFC 5681, §4.1).
    Restart,
    /// Half of it for each timeout that has passed, but not below the initial window; the threshold remembers three quarters (RFC
    /// 2861; Linux's `tcp_cwnd_restart`).
    Decay,
}

impl Sender {
    /// New data is about to leave, with nothing outstanding. A controller that governs its window knows of silence itself.
    pub(super) fn wake_from_idleness(&mut self, now: Instant) {
        if self.config.after_idle == AfterIdle::Keep || self.controller.governs_window() {
            return;
        }
        let Some(last_sent) = self.last_sent else { return };
        let (mut silence, timeout) = (now.since(last_sent), self.rto.base(&self.rtt));
        if silence <= timeout {
            return;
        }
        let cwnd = self.window.cwnd;
        let restart = cwnd.min(u64::from(self.config.initial_window.0) * self.window.mss);
        if self.config.after_idle == AfterIdle::Restart {
            self.window.cwnd = restart;
            return;
        }
        self.window.ssthresh = self.window.ssthresh.max(cwnd / 4 * 3);
        while silence > timeout && self.window.cwnd > restart {
            silence = silence - timeout;
            self.window.cwnd /= 2;
        }
        self.window.cwnd = self.window.cwnd.max(restart);
    }
}
