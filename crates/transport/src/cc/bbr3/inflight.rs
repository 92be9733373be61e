//! Computes the amount of data that should be in flight, and the window (§5.6.4).

use super::{Bbr3, INFINITY, State};
use crate::cc::model::gain::Gain;
use crate::cc::{Ack, Window};
use crate::recovery::CongestionState;

/// The number of send quanta per second. A quantum is a millisecond of the pacing rate, at most 64
/// KiB and at least two segments (§5.6.3: `SetSendQuantum`).
const QUANTA_A_SECOND: u64 = 1000;
const QUANTUM_OCTETS: u64 = 64 << 10;
const QUANTUM_SEGMENTS: u64 = 2;
/// The number of quanta in the offload budget: one waits to be sent, one is being segmented, and
/// the receiver reassembles one (§5.5.8.1: `UpdateOffloadBudget`).
const QUANTA: u64 = 3;

impl Bbr3 {
    /// BBR.MinPipeCwnd, in bytes.
    pub(super) fn min_window(&self) -> u64 {
        u64::from(self.constants.min_window) * self.mss
    }

    fn offload_budget(&self) -> u64 {
        let quantum = self.pacing.bits_per_second() / 8 / QUANTA_A_SECOND;
        QUANTA * quantum.min(QUANTUM_OCTETS).max(QUANTUM_SEGMENTS * self.mss)
    }

    /// `BDPMultiple` (§5.6.4.2).
    pub(super) fn bdp(&self, bits_per_second: u64, gain: Gain) -> u64 {
        self.min_rtt.map_or(self.initial_window, |min_rtt| gain.of_bdp(bits_per_second, min_rtt))
    }

    /// `QuantizationBudget` (§5.6.4.2).
    fn with_budget(&self, octets: u64) -> u64 {
        let probing = if self.state == State::Up { 2 * self.mss } else { 0 };
        octets.max(self.offload_budget()).max(self.min_window()) + probing
    }

    /// `Inflight` (§5.6.4.2).
    pub(super) fn inflight(&self, bits_per_second: u64, gain: Gain) -> u64 {
        self.with_budget(self.bdp(bits_per_second, gain))
    }

    /// Follows `TargetInflight` (§5.3.3.8.3): returns the bandwidth-delay product, or the window if
    /// congestion has made it smaller.
    pub(super) fn target_inflight(&self, window: &Window) -> u64 {
        self.bdp(self.bandwidth, Gain::ONE).min(window.cwnd)
    }

    /// `InflightWithHeadroom` (§5.3.3.9).
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let bound = self.long_term.inflight;
        if bound == INFINITY {
            return INFINITY;
        }
        bound.saturating_sub(self.constants.headroom.of(bound).max(self.mss)).max(self.min_window())
    }

    /// `SaveCwnd` (§5.6.4.4).
    pub(super) fn save_window(&mut self, cwnd: u64) {
        let is_cut = matches!(self.congestion, CongestionState::Recovery | CongestionState::Loss);
        self.prior_window = if is_cut || self.state == State::ProbeRtt { self.prior_window.max(cwnd) } else { cwnd };
    }

    /// `RestoreCwnd` (§5.6.4.4).
    pub(super) fn restore_window(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_window);
    }

    /// Follows `SetCwnd` (§5.6.4.6): the window grows by the delivered bytes up to the target,
    /// drops to the target immediately, and remains within the bounds.
    pub(super) fn set_window(&mut self, window: &mut Window, ack: &Ack) {
        let target = self.with_budget(
            self.bdp(self.bandwidth, self.state.window_gain(&self.constants)) + self.extra_acked.get().unwrap_or(0),
        );
        if self.was_full {
            window.cwnd = (window.cwnd + ack.delivered).min(target);
        } else if window.cwnd < target || ack.total_delivered < self.initial_window {
            window.cwnd += ack.delivered;
        }
        window.cwnd = window.cwnd.max(self.min_window());
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_cwnd);
        }
        window.cwnd = window.cwnd.min(self.bound());
    }

    /// `BoundCwndForModel` (§5.6.4.7).
    fn bound(&self) -> u64 {
        let long_term = match self.state {
            State::Down | State::Refill | State::Up => self.long_term.inflight,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => INFINITY,
        };
        long_term.min(self.short_term.inflight).max(self.min_window())
    }
}
