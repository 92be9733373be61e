//! The gain cycle of `ProbeBW`: probe for bandwidth, drain the queue of the probe, cruise.

use super::{Bbr, Config, Mode};
use crate::cc::Ack;
use crate::cc::model::gain::Gain;
use acklab_base::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    phase: u32,
    began: Instant,
}

impl Cycle {
    /// `bbr_pacing_gain`.
    pub(super) const fn gain(&self, constants: &Config) -> Gain {
        match self.phase {
            0 => constants.probe_gain,
            1 => constants.yield_gain,
            _ => Gain::ONE,
        }
    }

    /// Returns `true` if this is the phase that probes for bandwidth.
    pub(super) const fn probes(&self) -> bool {
        self.phase == 0
    }

    /// `bbr_advance_cycle_phase`.
    const fn advance(&mut self, now: Instant, phases: u32) {
        (self.phase, self.began) = ((self.phase + 1) % phases, now);
    }
}

impl Bbr {
    /// Enters `ProbeBW` (`bbr_reset_probe_bw_mode`): a cycle begins with a random phase other than
    /// the draining one (`bbr_cycle_rand`).
    pub(super) fn enter_probe_bw(&mut self) {
        let phases = self.constants.cycle_phases;
        self.mode = Mode::ProbeBw;
        self.cycle.phase = phases - 1 - self.random.below(u64::from(phases - 1)) as u32;
        self.cycle.advance(self.delivered_at, phases);
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(ack) {
            self.cycle.advance(self.delivered_at, self.constants.cycle_phases);
        }
    }

    /// Returns `true` if the next phase begins (`bbr_is_next_cycle_phase`). A phase lasts for the
    /// minimum round-trip time. The probing phase lasts longer, until its target is in flight or a
    /// loss shows that the target exceeds the path's capacity. The draining phase ends earlier if
    /// the queue is empty.
    fn is_phase_over(&self, ack: &Ack) -> bool {
        let has_lasted_rtt = self.min_rtt.is_some_and(|min_rtt| self.delivered_at.since(self.cycle.began) > min_rtt);
        if self.pacing_gain.is_one() {
            return has_lasted_rtt;
        }
        let in_flight = self.in_flight_at_departure(ack, ack.prior_in_flight);
        if self.pacing_gain.is_above_one() {
            return has_lasted_rtt
                && (ack.lost > 0 || in_flight >= self.inflight(self.max_bandwidth(), self.pacing_gain));
        }
        has_lasted_rtt || in_flight <= self.inflight(self.max_bandwidth(), Gain::ONE)
    }
}
