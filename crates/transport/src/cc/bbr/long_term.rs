//! Detects the rate of a policer.
//!
//! A token bucket passes bursts and then drops all traffic above its rate. BBR infers a policer
//! from two consecutive intervals of heavy loss with nearly the same delivery rate, and then sends
//! at that rate for a while (Flach et al., "An Internet-Wide Analysis of Traffic Policing", SIGCOMM
//! 2016).

use super::{Bbr, Mode};
use crate::cc::model::gain::Gain;
use acklab_base::Instant;

/// Two rates are considered equal if they differ by at most this fraction (`bbr_lt_bw_ratio`: 1/8).
const RATE_DIVISOR: u64 = 8;
/// Two rates are also considered equal if they differ by at most this many bits per second, less
/// the pacing margin (`bbr_lt_bw_diff`; `bbr_rate_bytes_per_sec` subtracts the margin).
const RATE_DIFFERENCE: u64 = 4000;
const MILLISECOND: u64 = 1_000_000;

/// The counters at the start of a sampling interval.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IntervalStart {
    delivered: u64,
    lost: u64,
    milliseconds: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    is_sampling: bool,
    is_policed: bool,
    /// The delivery rate of the last interval in bits per second, or zero if there is none.
    rate: u64,
    rounds: u32,
    start: IntervalStart,
}

impl LongTerm {
    /// The rate of the policer in bits per second, or `None` if no policer has been inferred.
    pub(super) fn policed(&self) -> Option<u64> {
        self.is_policed.then_some(self.rate)
    }

    /// `bbr_reset_lt_bw_sampling`.
    pub(super) const fn reset(&mut self, start: IntervalStart) {
        *self = Self { is_sampling: false, is_policed: false, rate: 0, rounds: 0, start };
    }

    /// `bbr_reset_lt_bw_sampling_interval`.
    const fn begin_interval(&mut self, start: IntervalStart) {
        (self.start, self.rounds) = (start, 0);
    }

    /// `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, rate: u64, now: IntervalStart, pacing_margin: Gain) {
        let difference = rate.abs_diff(self.rate);
        let is_small = pacing_margin.rest().of(difference) <= RATE_DIFFERENCE;
        if self.rate > 0 && (difference * RATE_DIVISOR <= self.rate || is_small) {
            (self.rate, self.is_policed, self.rounds) = ((rate + self.rate) / 2, true, 0);
            return;
        }
        self.rate = rate;
        self.begin_interval(now);
    }

    /// Returns the delivery rate of the interval if it was lossy, otherwise `None`
    /// (`bbr_lt_bw_sampling`, second half).
    fn lossy_rate(&self, now: IntervalStart, threshold: Gain) -> Option<u64> {
        let (lost, delivered) = (now.lost - self.start.lost, now.delivered - self.start.delivered);
        let milliseconds = now.milliseconds - self.start.milliseconds;
        (delivered > 0 && threshold.is_at_most(lost, delivered) && milliseconds > 0)
            .then(|| delivered * 8000 / milliseconds)
    }
}

impl Bbr {
    pub(super) const fn interval_start(&self) -> IntervalStart {
        IntervalStart {
            delivered: self.total_delivered,
            lost: self.total_lost,
            milliseconds: milliseconds(self.delivered_at),
        }
    }

    /// `bbr_lt_bw_sampling`.
    pub(super) fn sample_long_term(&mut self, has_loss: bool, is_app_limited: bool) {
        let now = self.interval_start();
        if self.long_term.is_policed {
            if self.mode == Mode::ProbeBw && self.rounds.starts() {
                self.long_term.rounds += 1;
                if self.long_term.rounds >= self.constants.policer_rounds {
                    self.long_term.reset(now);
                    self.enter_probe_bw();
                }
            }
            return;
        }
        // Wait for the first loss: before it, the token bucket may still contain tokens.
        if !self.long_term.is_sampling {
            if !has_loss {
                return;
            }
            self.long_term.begin_interval(now);
            self.long_term.is_sampling = true;
        }
        if is_app_limited {
            self.long_term.reset(now);
            return;
        }
        self.long_term.rounds += u32::from(self.rounds.starts());
        if self.long_term.rounds < self.constants.policer_min_rounds {
            return;
        }
        if self.long_term.rounds > 4 * self.constants.policer_min_rounds {
            self.long_term.reset(now);
            return;
        }
        // An interval ends with a loss, when the token bucket is empty.
        if has_loss && let Some(rate) = self.long_term.lossy_rate(now, self.constants.policer_loss_threshold) {
            self.long_term.end_interval(rate, now, self.constants.pacing_margin);
            if self.long_term.is_policed {
                self.pacing_gain = Gain::ONE;
            }
        }
    }
}

const fn milliseconds(at: Instant) -> u64 {
    at.as_nanos() / MILLISECOND
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `true` if two intervals with these rates, in bits per second, indicate a policer,
    /// with a pacing margin of 1 %.
    fn is_policer(first: u64, second: u64) -> bool {
        let mut model = LongTerm::default();
        model.end_interval(first, IntervalStart::default(), Gain::percent(1));
        model.end_interval(second, IntervalStart::default(), Gain::percent(1));
        model.policed().is_some()
    }

    #[test]
    fn rates_are_equal_within_an_eighth_or_four_kilobits_and_the_margin() {
        assert!(is_policer(80_000, 90_000));
        assert!(!is_policer(80_000, 90_001));
        assert!(is_policer(8000, 12_041), "99 % of 4041 is 4000");
        assert!(!is_policer(8000, 12_042));
    }
}
