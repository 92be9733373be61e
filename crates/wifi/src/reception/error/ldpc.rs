//! Block error rates of the LDPC codes, from a simulation of the codes.

use super::constellation::information;
use super::ratio;
use crate::phy::Modulation;

/// Bits of a block of the longest codes, which all but the shortest PPDUs use (19.3.11.7.5).
const BLOCK_BITS: f64 = 1944.0;
/// Distance of two points of the simulation, in dB.
const STEP_DB: f64 = 0.1;

/// The output of `validation/ldpc/simulate.cc` for one rate, with one bit per symbol, from the SNR
/// `first_db` on.
struct Simulated {
    /// The SNR of the first point, in dB.
    first_db: f64,
    /// For each SNR, the number of blocks that failed and of blocks sent.
    blocks: &'static [(u32, u32)],
}

const HALF: Simulated = Simulated {
    first_db: -2.4,
    blocks: &[
        (200, 267),
        (200, 315),
        (200, 385),
        (200, 564),
        (200, 817),
        (200, 1701),
        (200, 3096),
        (200, 5728),
        (200, 15308),
    ],
};
const TWO_THIRDS: Simulated = Simulated {
    first_db: -0.2,
    blocks: &[(200, 371), (200, 488), (200, 858), (200, 1437), (200, 3014), (200, 5479), (200, 14493)],
};
const THREE_QUARTERS: Simulated = Simulated {
    first_db: 0.9,
    blocks: &[(200, 399), (200, 534), (200, 871), (200, 1766), (200, 3913), (200, 7757), (200, 18011)],
};
const FIVE_SIXTHS: Simulated = Simulated {
    first_db: 2.1,
    blocks: &[(200, 438), (200, 687), (200, 1071), (200, 2147), (200, 4241), (200, 9116), (200, 20467)],
};

/// Errors per octet by the mutual information of a bit. Between and beyond the points of the
/// simulation, ln of the errors is linear in ln of the missing information, which decreases with
/// SNR about as fast as the errors of a code.
///
/// Codes of one length have equal error rates at equal mutual information: the mapping of link
/// simulations to other channels by RBIR (IEEE 802.11-14/0571, "11ax evaluation methodology",
/// Appendix 1).
pub(super) struct Blocks {
    /// −ln of the missing information of a bit, and ln of the errors per octet.
    points: Vec<(f64, f64)>,
}

impl Blocks {
    /// Returns the blocks of the code of rate 1/2, 2/3, 3/4 or 5/6, by numerator.
    pub(super) fn new(numerator: u64) -> Self {
        let (simulated, rate) = match numerator {
            1 => (&HALF, 1.0 / 2.0),
            2 => (&TWO_THIRDS, 2.0 / 3.0),
            3 => (&THREE_QUARTERS, 3.0 / 4.0),
            _ => (&FIVE_SIXTHS, 5.0 / 6.0),
        };
        let octets = BLOCK_BITS * rate / 8.0;
        let points = simulated.blocks.iter().enumerate().map(|(index, (failed, sent))| {
            let snr = ratio(simulated.first_db + index as f64 * STEP_DB);
            let errors = -libm::log1p(-f64::from(*failed) / f64::from(*sent)) / octets;
            (known(Modulation::Bpsk, snr), libm::log(errors))
        });
        Self { points: points.collect() }
    }

    /// Returns the expected number of errors in one octet.
    pub(super) fn errors_per_octet(&self, modulation: Modulation, snr: f64) -> f64 {
        let at = known(modulation, snr);
        let right = self.points.partition_point(|(point, _)| *point <= at).clamp(1, self.points.len() - 1);
        let ((left_at, left), (right_at, right)) = (self.points[right - 1], self.points[right]);
        libm::exp(left + (at - left_at) / (right_at - left_at) * (right - left))
    }
}

/// Returns −ln of the missing information of a bit.
fn known(modulation: Modulation, snr: f64) -> f64 {
    -libm::log((1.0 - information(modulation, snr)).max(f64::EPSILON))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a point of the simulation, BPSK blocks fail at the simulated rate.
    #[test]
    fn blocks_of_bpsk_fail_as_simulated() {
        let snr = ratio(THREE_QUARTERS.first_db + 3.0 * STEP_DB);
        let (failed, sent) = THREE_QUARTERS.blocks[3];
        let errors = Blocks::new(3).errors_per_octet(Modulation::Bpsk, snr);
        let failing = 1.0 - libm::exp(-errors * 1458.0 / 8.0);
        assert!((failing * f64::from(sent) - f64::from(failed)).abs() < 0.01, "{failing}");
    }

    /// A code cannot exceed Shannon's limit, and these fall short of it by about a decibel: the SNR
    /// at which one block in ten fails.
    #[test]
    fn the_codes_are_a_decibel_short_of_the_limit() {
        for (numerator, octets, limit_db) in [(1, 121.5, -2.82), (5, 202.5, 1.59)] {
            let blocks = Blocks::new(numerator);
            let fails = |db: f64| 1.0 - libm::exp(-blocks.errors_per_octet(Modulation::Bpsk, ratio(db)) * octets);
            assert!(fails(limit_db + 0.6) > 0.1 && fails(limit_db + 1.4) < 0.1, "rate of {numerator}");
        }
    }
}
