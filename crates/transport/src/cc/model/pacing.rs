//! The pacing rate, which follows the estimated bandwidth.

use super::gain::Gain;
use acklab_base::{Duration, Rate, mul_div};

/// The round-trip time assumed before the first measurement (`bbr_init_pacing_rate_from_rtt`;
/// draft-ietf-ccwg-bbr, §5.6.2: InitPacingRate).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

#[derive(Clone, Copy, Debug)]
pub(in crate::cc) struct PacingRate {
    bits_per_second: u64,
    /// One minus the margin.
    kept: Gain,
}

impl PacingRate {
    /// Creates a pacing rate that is unset. Later it is `margin` below the estimate, so that the
    /// queue drains on average.
    pub(in crate::cc) const fn new(margin: Gain) -> Self {
        Self { bits_per_second: 0, kept: margin.rest() }
    }

    pub(in crate::cc) const fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }

    pub(in crate::cc) const fn rate(self) -> Option<Rate> {
        Rate::from_bits_per_second(self.bits_per_second)
    }

    /// Paces `window` bytes per round trip, times `gain`.
    pub(in crate::cc) fn start(&mut self, window: u64, rtt: Option<Duration>, gain: Gain) {
        let rtt = rtt.unwrap_or(NOMINAL_RTT).as_nanos().max(1);
        self.bits_per_second = gain.of(mul_div(window, 8_000_000_000, rtt));
    }

    /// Reduces the rate by the margin.
    pub(in crate::cc) fn keep_margin(&mut self) {
        self.bits_per_second = self.kept.of(self.bits_per_second);
    }

    /// Paces at the estimate times `gain`, less the margin. Until the pipe has been full once, the
    /// rate never decreases, because the first samples depend more on the application than on the
    /// path.
    pub(in crate::cc) fn follow(&mut self, bits_per_second: u64, gain: Gain, was_full: bool) {
        let rate = self.kept.of(gain.of(bits_per_second));
        if was_full || rate > self.bits_per_second {
            self.bits_per_second = rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_the_pipe_is_full_it_only_rises() {
        let mut pacing = PacingRate::new(Gain::percent(1));
        pacing.start(10_000, Some(Duration::from_millis(10)), Gain::ONE);
        assert_eq!(pacing.bits_per_second(), 8_000_000);
        pacing.follow(4_000_000, Gain::ONE, false);
        assert_eq!(pacing.bits_per_second(), 8_000_000);
        pacing.follow(4_000_000, Gain::ONE, true);
        assert_eq!(pacing.bits_per_second(), 3_960_000, "1 % below");
    }
}
