//! Path loss and noise.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Metres per second.
const SPEED_OF_LIGHT: f64 = 299_792_458.0;
/// Boltzmann's constant in joules per kelvin (exact by the definition of the kelvin).
const BOLTZMANN: f64 = 1.380_649e-23;
/// The reference temperature of noise figures, in kelvin; with it, noise is −174 dBm/Hz (Friis,
/// "Noise figures of radio receivers", Proc. IRE 32(7), 1944).
const TEMPERATURE: f64 = 290.0;

/// The path loss of free space up to a reference distance. Beyond it, the loss is a power of the
/// distance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PathLoss {
    /// The exponent beyond the reference distance: 2 in free space, 3.5 indoors beyond the
    /// breakpoint of TGn's models (doc. 11-03/0940r4, Table 1). 3 is the default of ns-3.
    #[schemars(range(min = 0.0))]
    pub exponent: f64,
    /// The reference distance in metres; the breakpoint of TGn's models lies at 5 m (A to C), 10 m
    /// (D), 20 m (E), 30 m (F).
    #[schemars(range(min = 0.001))]
    pub reference_distance: f64,
    /// Loss at the reference distance in dB. Default: the loss of free space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_loss: Option<f64>,
}

impl Default for PathLoss {
    fn default() -> Self {
        Self { exponent: 3.0, reference_distance: 1.0, reference_loss: None }
    }
}

impl PathLoss {
    /// Returns the loss in dB over `distance` metres at this frequency. The loss is never negative.
    #[must_use]
    pub fn loss_db(&self, distance: f64, frequency_hz: f64) -> f64 {
        let at_reference = self.reference_loss.unwrap_or_else(|| free_space_db(self.reference_distance, frequency_hz));
        let exponent = if distance < self.reference_distance { 2.0 } else { self.exponent };
        let beyond = libm::log10((distance / self.reference_distance).max(f64::MIN_POSITIVE));
        (at_reference + 10.0 * exponent * beyond).max(0.0)
    }
}

/// Returns the loss of Friis, "A note on a simple transmission formula", Proc. IRE 34(5), 1946:
/// 20·log₁₀(4πd/λ).
fn free_space_db(distance: f64, frequency_hz: f64) -> f64 {
    20.0 * libm::log10(4.0 * core::f64::consts::PI * distance * frequency_hz / SPEED_OF_LIGHT)
}

/// Returns the thermal noise over a bandwidth at a receiver of this noise figure, in dBm.
#[must_use]
pub fn noise_dbm(bandwidth_hz: f64, noise_figure_db: f64) -> f64 {
    10.0 * libm::log10(BOLTZMANN * TEMPERATURE * bandwidth_hz * 1e3) + noise_figure_db
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phy::Width;

    fn close(got: f64, expected: f64) {
        assert!((got - expected).abs() < 1e-3, "{got}, expected {expected}");
    }

    /// The reference loss of ns-3's log-distance model, which documents it as Friis at 1 m and 5.15
    /// GHz (46.6777 dB). ns-3 uses 3·10⁸ m/s for the speed of light, a difference of 0.006 dB.
    #[test]
    fn a_metre_of_5_ghz_costs_46_7_db() {
        let loss = PathLoss::default();
        close(loss.loss_db(1.0, 5.15e9), 46.6837);
        close(loss.loss_db(10.0, 5.15e9), 76.6837);
    }

    /// TGn's model D: free space up to 10 m, an exponent of 3.5 beyond.
    #[test]
    fn beyond_a_breakpoint_the_exponent_changes_and_the_loss_does_not_jump() {
        let model_d = PathLoss { exponent: 3.5, reference_distance: 10.0, reference_loss: None };
        let at = |metres| model_d.loss_db(metres, 5.15e9);
        close(at(1.0), 46.6837);
        close(at(10.0), 66.6837);
        close(at(9.999_999), at(10.0));
        close(at(100.0), 101.6837);
    }

    #[test]
    fn a_reference_loss_may_be_given_and_no_place_is_a_gain() {
        let given = PathLoss { reference_loss: Some(40.0), ..PathLoss::default() };
        close(given.loss_db(10.0, 5.15e9), 70.0);
        close(given.loss_db(0.0, 5.15e9), 0.0);
    }

    /// −174 dBm/Hz + 73 dB·Hz + 7 dB, as in ns-3 (−93.97 dBm).
    #[test]
    fn noise_doubles_with_the_width() {
        close(noise_dbm(Width::Mhz20.hertz(), 7.0), -93.965);
        close(noise_dbm(Width::Mhz160.hertz(), 7.0) - noise_dbm(Width::Mhz20.hertz(), 7.0), 9.0309);
    }
}
