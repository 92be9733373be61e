//! Capture: which frame survives if several overlap.

use super::error::ratio;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Capture: a receiver decodes a frame that is much stronger than all other frames together.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// The minimum power of the captured frame relative to noise and all other frames together, in
    /// dB: 10 in ns-2 (`CPThresh_`), 5 in ns-3 (`SimpleFrameCaptureModel`). A frame above this
    /// ratio may still be lost if its rate requires a higher ratio.
    #[schemars(range(min = 0.0))]
    pub threshold: f64,
    /// `true` if a receiver can switch to a stronger frame that begins later ("message in
    /// message"). Otherwise, only the frame that began first can survive, or the strongest of
    /// several frames that began at the same time.
    #[serde(default)]
    pub takes_later: bool,
}

impl Capture {
    /// Returns the ratio in dB of a frame to noise and the frames that overlap with it. Returns
    /// `None` if the frame does not survive.
    pub(super) fn survives(
        self,
        signal_dbm: f64,
        noise_dbm: f64,
        others: impl Iterator<Item = Overlap>,
    ) -> Option<f64> {
        let mut unwanted = ratio(noise_dbm);
        for other in others {
            if other.is_earlier && !self.takes_later {
                return None;
            }
            unwanted += ratio(other.power_dbm);
        }
        let sinr_db = signal_dbm - 10.0 * libm::log10(unwanted);
        (sinr_db >= self.threshold).then_some(sinr_db)
    }
}

/// An overlapping frame at the receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overlap {
    /// The power of the overlapping frame at the receiver, in dBm.
    pub(super) power_dbm: f64,
    /// `true` if the overlapping frame began before the examined frame.
    pub(super) is_earlier: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOISE: f64 = -94.0;

    fn sinr(takes_later: bool, signal: f64, others: &[(f64, bool)]) -> Option<f64> {
        let overlaps =
            others.iter().map(|(power_dbm, is_earlier)| Overlap { power_dbm: *power_dbm, is_earlier: *is_earlier });
        Capture { threshold: 10.0, takes_later }.survives(signal, NOISE, overlaps)
    }

    #[test]
    fn the_stronger_of_two_survives_by_the_threshold() {
        let ratio = sinr(false, -50.0, &[(-61.0, false)]).unwrap();
        assert!((ratio - 11.0).abs() < 0.01, "noise is 33 dB below the other frame: {ratio}");
        assert_eq!(sinr(false, -50.0, &[(-59.0, false)]), None);
        assert_eq!(sinr(false, -61.0, &[(-50.0, false)]), None);
    }

    #[test]
    fn the_others_add_up() {
        // Two of −62.5 dBm are −59.5 dBm.
        assert!(sinr(false, -50.0, &[(-62.5, false)]).is_some());
        assert_eq!(sinr(false, -50.0, &[(-62.5, false), (-62.5, false)]), None);
    }

    #[test]
    fn a_frame_that_comes_later_is_taken_only_by_a_receiver_that_can() {
        assert_eq!(sinr(false, -50.0, &[(-80.0, true)]), None);
        assert!(sinr(true, -50.0, &[(-80.0, true)]).is_some());
    }
}
