//! Sets the window, during and outside recovery.

use super::inflight::INITIAL_SEGMENTS;
use super::{Bbr, Mode};
use crate::cc::{Ack, Window};
use crate::recovery::CongestionState;

/// The kernel counts the SYN as delivered, so one segment fewer remains.
const FIRST_SEGMENTS: u64 = INITIAL_SEGMENTS - 1;

impl Bbr {
    /// Follows `bbr_set_cwnd`: the window grows by the delivered bytes up to the target, and drops
    /// to the target immediately.
    pub(super) fn set_window(&mut self, window: &mut Window, ack: &Ack) {
        if ack.delivered > 0 {
            let cwnd = self.recover_or_restore(window.cwnd, ack);
            window.cwnd = if self.conserves { cwnd } else { self.towards_target(cwnd, ack) };
        }
        if self.mode == Mode::ProbeRtt {
            window.cwnd = window.cwnd.min(self.min_window());
        }
    }

    fn towards_target(&self, cwnd: u64, ack: &Ack) -> u64 {
        let target = self.with_budget(self.bdp(self.bandwidth(), self.window_gain) + self.aggregation());
        let cwnd = if self.was_full {
            (cwnd + ack.delivered).min(target)
        } else if cwnd < target || ack.total_delivered < FIRST_SEGMENTS * self.mss {
            cwnd + ack.delivered
        } else {
            cwnd
        };
        cwnd.max(self.min_window())
    }

    /// Follows `bbr_set_cwnd_to_recover_or_restore`. In the first round of a recovery the flow
    /// sends as much as is delivered, afterwards up to twice as much. At the end of the recovery,
    /// the window is restored.
    fn recover_or_restore(&mut self, mut cwnd: u64, ack: &Ack) -> u64 {
        let before = std::mem::replace(&mut self.state, ack.state);
        let in_recovery = |state| matches!(state, CongestionState::Recovery | CongestionState::Loss);
        if ack.lost > 0 {
            cwnd = cwnd.saturating_sub(ack.lost).max(self.mss);
        }
        if ack.state == CongestionState::Recovery && before != CongestionState::Recovery {
            self.conserves = true;
            self.rounds.begin(ack.total_delivered);
            // The kernel counts packets, and at least one was delivered.
            cwnd = (ack.in_flight + ack.delivered).max(self.mss);
        } else if in_recovery(before) && !in_recovery(ack.state) {
            cwnd = cwnd.max(self.prior_window);
            self.conserves = false;
        }
        if self.conserves { cwnd.max(ack.in_flight + ack.delivered) } else { cwnd }
    }
}
