//! The rate of sending that follows from an estimate.

use super::gain::Gain;
use acklab_base::{Duration, Rate};

/// A little below the estimate, so that on the whole the queue drains (`bbr_pacing_margin_percent`;
/// draft-ietf-ccwg-bbr, §5.6.2: BBR.PacingMarginPercent).
const MARGIN: Gain = Gain::percent(99);
/// A round-trip time for want of a measured one (`bbr_init_pacing_rate_from_rtt`; draft-ietf-ccwg-bbr, §5.6.2:
/// InitPacingRate).
const NOMINAL_RTT: Duration = Duration::from_millis(1);

/// In bits per second.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct PacingRate(u64);

impl PacingRate {
    pub(in crate::cc) const fn bits_per_second(self) -> u64 {
        self.0
    }

    pub(in crate::cc) const fn rate(self) -> Option<Rate> {
        Rate::from_bits_per_second(self.0)
    }

    /// A window of so many octets in a round trip, multiplied.
    pub(in crate::cc) fn start(&mut self, window: u64, rtt: Option<Duration>, gain: Gain) {
        let rtt = rtt.unwrap_or(NOMINAL_RTT).as_nanos().max(1);
        self.0 = gain.of((u128::from(window) * 8_000_000_000 / u128::from(rtt)) as u64);
    }

    /// Takes the margin off.
    pub(in crate::cc) fn keep_margin(&mut self) {
        self.0 = MARGIN.of(self.0);
    }

    /// The estimate, multiplied. Until the pipe was once full, it only rises: first rates tell more of the application
    /// than of the path.
    pub(in crate::cc) fn follow(&mut self, bits_per_second: u64, gain: Gain, was_full: bool) {
        let rate = MARGIN.of(gain.of(bits_per_second));
        if was_full || rate > self.0 {
            self.0 = rate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_the_pipe_is_full_it_only_rises() {
        let mut pacing = PacingRate::default();
        pacing.start(10_000, Some(Duration::from_millis(10)), Gain::ONE);
        assert_eq!(pacing.bits_per_second(), 8_000_000);
        pacing.follow(4_000_000, Gain::ONE, false);
        assert_eq!(pacing.bits_per_second(), 8_000_000);
        pacing.follow(4_000_000, Gain::ONE, true);
        assert_eq!(pacing.bits_per_second(), 3_960_000, "1 % below");
    }
}
