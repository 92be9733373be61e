//! The cycle of eight phases: send more, send less, cruise.

use super::{Bbr, Mode};
use crate::cc::Ack;
use crate::cc::model::gain::Gain;
use acklab_base::Instant;

/// Phases of a cycle (`CYCLE_LEN`).
pub(super) const PHASES: usize = 8;
/// `bbr_pacing_gain`.
const GAINS: [Gain; PHASES] = [
    Gain::over_256(256 * 5 / 4),
    Gain::over_256(256 * 3 / 4),
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
    Gain::ONE,
];
/// A cycle may begin in so many of its phases: not in the one that sends less (`bbr_cycle_rand`).
const FIRST_PHASES: u64 = 7;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    phase: usize,
    began: Instant,
}

impl Cycle {
    pub(super) const fn gain(&self) -> Gain {
        GAINS[self.phase]
    }

    /// Is this the phase that probes for more?
    pub(super) const fn probes(&self) -> bool {
        self.phase == 0
    }

    /// `bbr_advance_cycle_phase`.
    const fn advance(&mut self, now: Instant) {
        (self.phase, self.began) = ((self.phase + 1) % PHASES, now);
    }
}

impl Bbr {
    /// `bbr_reset_probe_bw_mode`.
    pub(super) fn enter_probe_bw(&mut self) {
        self.mode = Mode::ProbeBw;
        self.cycle.phase = PHASES - 1 - self.random.below(FIRST_PHASES) as usize;
        self.cycle.advance(self.delivered_at);
    }

    /// `bbr_update_cycle_phase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack) {
        if self.mode == Mode::ProbeBw && self.is_phase_over(ack) {
            self.cycle.advance(self.delivered_at);
        }
    }

    /// `bbr_is_next_cycle_phase`: a phase takes a shortest round trip. Probing also takes until as much is in flight as
    /// it asks for, or does not fit; draining only until the queue is gone.
    fn is_phase_over(&self, ack: &Ack) -> bool {
        let has_its_time = self.min_rtt.is_some_and(|min_rtt| self.delivered_at.since(self.cycle.began) > min_rtt);
        if self.pacing_gain.is_one() {
            return has_its_time;
        }
        let in_flight = self.in_flight_at_departure(ack, ack.prior_in_flight);
        if self.pacing_gain.is_above_one() {
            return has_its_time
                && (ack.lost > 0 || in_flight >= self.inflight(self.max_bandwidth(), self.pacing_gain));
        }
        has_its_time || in_flight <= self.inflight(self.max_bandwidth(), Gain::ONE)
    }
}
