//! The long-term bound, which limits probes and stores their result (§5.3.3.9, §5.5.10.2).

use super::probe_bw::AckPhase;
use super::undo::UndoState;
use super::{Bbr3, INFINITY, State};
use crate::cc::model::gain::Gain;
use crate::cc::{Ack, Lost, Window};
use crate::recovery::delivery_rate::Sample;

/// The number of rounds after which the growth of the bound stops accelerating (§5.3.3.9:
/// `RaiseInflightLongtermSlope`).
const SLOPE_ROUNDS: u32 = 30;

#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    /// BBR.inflight_longterm.
    pub(super) inflight: u64,
    /// BBR.is_bw_probe_sample: `true` if the current ACKs and losses belong to a probe.
    pub(super) is_probe_sample: bool,
    /// BBR.prev_probe_too_high.
    pub(super) was_too_high: bool,
    /// BBR.prev_probe_precautionary.
    pub(super) was_precautionary: bool,
    /// BBR.bw_probe_up_acked.
    acked: u64,
    /// BBR.probe_up_acked_per_inc.
    acked_per_segment: u64,
    /// BBR.bw_probe_up_rounds.
    rounds: u32,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self {
            inflight: INFINITY,
            is_probe_sample: false,
            was_too_high: false,
            was_precautionary: false,
            acked: 0,
            acked_per_segment: INFINITY,
            rounds: 0,
        }
    }
}

impl LongTerm {
    pub(super) const fn stop_raising(&mut self) {
        self.acked_per_segment = INFINITY;
    }

    pub(super) const fn prepare_probe(&mut self) {
        (self.rounds, self.acked, self.was_precautionary) = (0, 0, false);
    }

    #[cfg(test)]
    pub(super) const fn rounds(&self) -> u32 {
        self.rounds
    }

    /// Follows `RaiseInflightLongtermSlope`: the bound grows by 1, 2, 4, 8… segments per round.
    pub(super) fn raise_slope(&mut self, cwnd: u64, mss: u64) {
        let segments = 1 << self.rounds;
        self.rounds = (self.rounds + 1).min(SLOPE_ROUNDS);
        self.acked_per_segment = (cwnd / segments).max(mss);
    }
}

/// `IsInflightTooHigh` (§5.5.10.2).
pub(super) fn is_too_high(threshold: Gain, sample: Option<&Sample>, has_sack: bool) -> bool {
    sample.is_some_and(|sample| is_loss_too_high(threshold, sample.lost, sample.tx_in_flight, has_sack))
}

fn is_loss_too_high(threshold: Gain, lost: u64, in_flight: u64, has_sack: bool) -> bool {
    lost > threshold.of(in_flight) || (lost > 0 && !has_sack)
}

impl Bbr3 {
    /// `AdaptLongTermModel`. Returns `true` if it changed the state.
    pub(super) fn adapt_long_term(&mut self, window: &Window, ack: &Ack) -> bool {
        if self.cycle.ack_phase == AckPhase::Starting && self.rounds.starts() {
            self.cycle.ack_phase = AckPhase::Feedback;
        }
        if self.cycle.ack_phase == AckPhase::Stopping && self.rounds.starts() {
            self.long_term.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if ack.rate.is_some_and(|sample| !sample.is_app_limited) {
                    self.advance_bandwidth();
                }
                // The probe stopped early as a precaution, because the previous probe was too high.
                // This probe did not lose too much. Probe again in full.
                if self.long_term.was_precautionary && !self.long_term.was_too_high {
                    self.enter_refill();
                    return true;
                }
            }
        }
        if let Some(sample) = &ack.rate
            && !is_too_high(self.constants.loss_threshold, Some(sample), self.has_sack)
            && self.long_term.inflight != INFINITY
        {
            self.long_term.inflight = self.long_term.inflight.max(sample.tx_in_flight);
            if self.state == State::Up {
                self.raise_bound(window, ack);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_bound(&mut self, window: &Window, ack: &Ack) {
        if !self.is_window_limited || window.cwnd < self.long_term.inflight {
            return;
        }
        let model = &mut self.long_term;
        model.acked += ack.delivered;
        let segments = model.acked / model.acked_per_segment;
        model.acked -= segments * model.acked_per_segment;
        model.inflight += segments * self.mss;
        if self.rounds.starts() {
            model.raise_slope(window.cwnd, self.mss);
        }
    }

    /// Follows the part of `HandleLostPacket` that concerns a probe: a loss rate above the
    /// threshold sets a bound on the data in flight.
    pub(super) fn check_lost_probe(&mut self, window: &Window, lost: &Lost) {
        if !self.long_term.is_probe_sample {
            return;
        }
        let (octets, in_flight) = (lost.bytes, lost.stamp.in_flight);
        let (since, threshold) = (lost.total_lost - lost.stamp.lost, self.constants.loss_threshold);
        if is_loss_too_high(threshold, since, in_flight, self.has_sack) {
            self.handle_too_high(window, lost, inflight_at_loss(threshold, octets, in_flight, since));
        }
    }

    /// `HandleInflightTooHigh`.
    fn handle_too_high(&mut self, window: &Window, lost: &Lost, in_flight: u64) {
        self.long_term.was_too_high = true;
        self.long_term.is_probe_sample = false;
        if !lost.stamp.is_app_limited {
            self.long_term.inflight = in_flight.max(self.constants.beta.of(self.target_inflight(window)));
        }
        if self.state == State::Up {
            self.undo.state = UndoState::Up;
            self.enter_down(lost.now);
        }
    }
}

/// Follows `InflightAtLoss`: returns the data in flight when the losses crossed the threshold. If
/// earlier losses had already crossed the threshold, no part of this transmission is included.
fn inflight_at_loss(threshold: Gain, octets: u64, in_flight: u64, lost: u64) -> u64 {
    let before = in_flight.saturating_sub(octets);
    let lost_before = lost.saturating_sub(octets);
    before + threshold.rest().whole_of(threshold.of(before).saturating_sub(lost_before))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_PERCENT: Gain = Gain::percent(2);

    #[test]
    fn losses_cross_the_threshold_within_a_transmission() {
        assert_eq!(inflight_at_loss(TWO_PERCENT, 10_000, 110_000, 10_000), 102_040, "2040 of 102 040 are 2 %");
        assert_eq!(inflight_at_loss(TWO_PERCENT, 1000, 101_000, 4000), 100_000, "those before it were enough");
    }

    #[test]
    fn two_percent_may_be_lost_but_nothing_without_sack() {
        assert!(!is_loss_too_high(TWO_PERCENT, 2000, 100_000, true));
        assert!(is_loss_too_high(TWO_PERCENT, 2001, 100_000, true));
        assert!(is_loss_too_high(TWO_PERCENT, 1, 100_000, false));
        assert!(!is_loss_too_high(TWO_PERCENT, 0, 100_000, false));
    }

    #[test]
    fn the_bound_grows_twice_as_fast_each_round() {
        let mut model = LongTerm::default();
        let slopes: Vec<u64> = (0..5)
            .map(|_| {
                model.raise_slope(40_000, 1000);
                model.acked_per_segment
            })
            .collect();
        assert_eq!(slopes, [40_000, 20_000, 10_000, 5000, 2500]);
    }
}
