//! The best mode at the last signal-to-noise ratio, which is known immediately and without error.

use super::{Capabilities, Refusal};
use crate::phy::Mode;
use acklab_base::{Bytes, Duration};

/// The frame exchange for which expected goodputs are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exchange {
    /// Octets of one MPDU.
    pub frame: Bytes,
    /// The maximum number of octets of one PPDU. Without aggregation, the size of one MPDU.
    pub maximum: Bytes,
    /// The maximum duration of a PPDU.
    pub longest: Duration,
    /// The duration of the exchange without the PPDU: mean backoff, interframe spaces, response
    /// frame.
    pub overhead: Duration,
}

impl Exchange {
    /// Returns the goodput in bits per second if an MPDU of this mode is received with this
    /// probability.
    fn goodput(self, mode: Mode, success: f64) -> f64 {
        let fitting = self.maximum.0.min(mode.octets_within(self.longest).0) / self.frame.0.max(1);
        let psdu = Bytes(self.frame.0 * fitting.max(1));
        psdu.0 as f64 * 8.0 * success / (mode.duration(psdu) + self.overhead).as_secs_f64()
    }
}

/// The best mode by signal-to-noise ratio.
#[derive(Clone, Debug)]
pub struct Ideal {
    /// The modes, each with the ratio in dB from which it is the best. The first ratio is minus
    /// infinity, and the ratios increase.
    steps: Vec<(f64, Mode)>,
    current: Mode,
}

/// All changes of the best mode lie between these ratios: DSSS requires more than the lower ratio,
/// and the highest MCS of four streams requires less than the higher ratio.
const RANGE_DB: (f64, f64) = (-20.0, 80.0);
/// The step at which the best mode is computed. A mode that is the best over a shorter interval may
/// be missed.
const GRID_DB: f64 = 0.25;
/// The precision to which a change between two steps is located.
const PRECISION_DB: f64 = 0.01;

impl Ideal {
    /// Returns the mode of the highest expected goodput: the envelope over all fixed modes, as in
    /// TCP/HACK's Figure 11. `success` is the probability that an MPDU is received, by mode,
    /// signal-to-noise ratio in dB, and octets.
    ///
    /// # Errors
    /// If the standard defines no mode here.
    pub fn by_goodput(
        capabilities: Capabilities,
        exchange: Exchange,
        success: impl Fn(Mode, f64, Bytes) -> f64,
    ) -> Result<Self, Refusal> {
        Self::new(capabilities, |modes, snr_db| {
            let goodput = |mode: Mode| exchange.goodput(mode, success(mode, snr_db, exchange.frame));
            let mut best = (modes[0], goodput(modes[0]));
            for mode in &modes[1..] {
                let found = goodput(*mode);
                if found > best.1 {
                    best = (*mode, found);
                }
            }
            best.0
        })
    }

    /// Returns the fastest mode whose bit error rate is below `target`, as ns-3's
    /// `IdealWifiManager` does (`BerThreshold`); if there is none, returns the slowest mode.
    ///
    /// # Errors
    /// If the standard defines no mode here, or if `target` is not a bit error rate.
    pub fn by_bit_errors(
        capabilities: Capabilities,
        target: f64,
        frame: Bytes,
        success: impl Fn(Mode, f64, Bytes) -> f64,
    ) -> Result<Self, Refusal> {
        if !(target > 0.0 && target < 0.5) {
            return Err(Refusal::BitErrorRate(target));
        }
        let bits = frame.0 as f64 * 8.0;
        // 1 − success^(1/bits): the rate of independent bit errors at which a frame succeeds with
        // this probability.
        let bit_errors = |mode, snr_db| -libm::expm1(libm::log(success(mode, snr_db, frame)) / bits);
        Self::new(capabilities, |modes, snr_db| {
            let good = modes.iter().rev().find(|mode| bit_errors(**mode, snr_db) < target);
            *good.unwrap_or(&modes[0])
        })
    }

    fn new(capabilities: Capabilities, best: impl Fn(&[Mode], f64) -> Mode) -> Result<Self, Refusal> {
        let modes = capabilities.modes();
        if modes.is_empty() {
            return Err(Refusal::NoMode(capabilities));
        }
        let best = |snr_db| best(&modes, snr_db);
        let (lowest, highest) = RANGE_DB;
        let first = best(lowest);
        let mut steps = vec![(f64::NEG_INFINITY, first)];
        let mut before = (lowest, first);
        for index in 1..=((highest - lowest) / GRID_DB) as u32 {
            let snr_db = lowest + f64::from(index) * GRID_DB;
            let mode = best(snr_db);
            if mode != before.1 {
                steps.push((change(before, snr_db, &best), mode));
            }
            before = (snr_db, mode);
        }
        Ok(Self { steps, current: first })
    }

    /// Returns the ratio in dB from which each mode is chosen.
    #[must_use]
    pub fn steps(&self) -> &[(f64, Mode)] {
        &self.steps
    }

    /// Returns the mode for the last ratio; before the first ratio, the most robust mode.
    pub(super) const fn choose(&self) -> Mode {
        self.current
    }

    pub(super) fn update_snr(&mut self, snr_db: f64) {
        let above = self.steps.partition_point(|(minimum, _)| *minimum <= snr_db);
        self.current = self.steps[above.saturating_sub(1)].1;
    }
}

/// Returns the ratio above `before` from which the best mode differs from the best mode at
/// `before`.
fn change(before: (f64, Mode), after: f64, best: &impl Fn(f64) -> Mode) -> f64 {
    let (mut low, mut high) = (before.0, after);
    while high - low > PRECISION_DB {
        let middle = f64::midpoint(low, high);
        if best(middle) == before.1 { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::super::channel::synthetic;
    use super::*;
    use crate::phy::{Guard, Standard, Width};
    use proptest::prelude::*;

    const HT: Capabilities = Capabilities {
        standard: Standard::N,
        width: Width::Mhz40,
        guard: Guard::Ns400,
        streams: 1,
        is_short_preamble: false,
    };

    fn exchange() -> Exchange {
        Exchange {
            frame: Bytes(1_536),
            maximum: Bytes(65_535),
            longest: Duration::from_millis(4),
            overhead: Duration::from_micros(200),
        }
    }

    #[test]
    fn it_starts_robust_and_follows_each_ratio() {
        let mut ideal = Ideal::by_goodput(HT, exchange(), synthetic).unwrap();
        assert_eq!(ideal.choose().mcs, 0);
        ideal.update_snr(60.0);
        assert_eq!(ideal.choose().mcs, 7);
        ideal.update_snr(-5.0);
        assert_eq!(ideal.choose().mcs, 0);
    }

    #[test]
    fn each_mcs_has_its_ratios_in_order() {
        let ideal = Ideal::by_goodput(HT, exchange(), synthetic).unwrap();
        assert_eq!(ideal.steps().iter().map(|(_, mode)| mode.mcs).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert!(ideal.steps().windows(2).all(|pair| pair[0].0 < pair[1].0));
    }

    #[test]
    fn a_step_by_bit_errors_is_where_the_target_is_met() {
        let errors = |mode: Mode, snr_db: f64| 0.5 * libm::exp(-(snr_db - 3.0 * f64::from(mode.mcs)).max(0.0));
        let success = |mode, snr_db, octets: Bytes| libm::pow(1.0 - errors(mode, snr_db), octets.0 as f64 * 8.0);
        let ideal = Ideal::by_bit_errors(HT, 1e-6, Bytes(1_536), success).unwrap();
        for (minimum, mode) in &ideal.steps()[1..] {
            // ln(0.5 / 1e-6) dB above the offset of the MCS.
            assert!((minimum - 3.0 * f64::from(mode.mcs) - libm::log(0.5e6)).abs() < 0.011, "{minimum} {mode:?}");
        }
        assert!(Ideal::by_bit_errors(HT, 0.0, Bytes(1_536), success).is_err());
    }

    #[test]
    fn short_exchanges_make_overhead_count() {
        // If an exchange is mostly overhead, the loss of half of the frames costs more than twice
        // the rate gains.
        let single = Exchange { maximum: Bytes(200), frame: Bytes(200), ..exchange() };
        let first = |exchange| Ideal::by_goodput(HT, exchange, synthetic).unwrap().steps()[1].0;
        assert!(first(single) > first(exchange()) + 0.5);
    }

    proptest! {
        #[test]
        fn no_fixed_mode_promises_more(snr_db in -5.0..60.0f64) {
            let mut ideal = Ideal::by_goodput(HT, exchange(), synthetic).unwrap();
            ideal.update_snr(snr_db);
            let promise = |mode| exchange().goodput(mode, synthetic(mode, snr_db, exchange().frame));
            let maximum = HT.modes().into_iter().map(promise).fold(0.0, f64::max);
            // Within the precision of a step.
            prop_assert!(promise(ideal.choose()) >= 0.97 * maximum);
        }
    }
}
