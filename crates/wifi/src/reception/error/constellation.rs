//! The information that a bit of a Gray-labelled constellation provides to a soft decoder.

use crate::phy::Modulation;

/// Returns the signal-to-noise ratio of an equivalent bit of BPSK. For a Viterbi decoder, that bit
/// equals an average bit of `modulation` at `snr` (symbol energy over noise density).
///
/// This is −ln of the Bhattacharyya parameter of the bits, averaged over the positions in a symbol,
/// because interleaving spreads them: Guillén i Fàbregas, Martinez and Caire, "Error probability of
/// bit-interleaved coded modulation using the Gaussian approximation", CISS 2004. It is exact for
/// BPSK and QPSK, whose bits are BPSK with all or half the energy.
pub(super) fn bit_snr(modulation: Modulation, snr: f64) -> f64 {
    match modulation {
        Modulation::Bpsk => snr,
        Modulation::Qpsk => snr / 2.0,
        _ => -libm::log(average(bits_of_an_axis(modulation), snr, |[zero, one]| (zero * one).sqrt()).min(1.0)),
    }
}

/// Returns the mutual information between a bit of `modulation` and its soft value, in bits,
/// averaged over the positions in a symbol (Caire, Taricco and Biglieri, "Bit-interleaved coded
/// modulation", IEEE Trans. Inf. Theory 44(3), 1998, equation 15).
pub(super) fn information(modulation: Modulation, snr: f64) -> f64 {
    // A symbol of BPSK is equivalent to one axis of QPSK with twice its energy.
    let snr = if modulation == Modulation::Bpsk { 2.0 * snr } else { snr };
    let part = |this: f64, both: f64| if this > 0.0 { 0.5 * this * libm::log2(2.0 * this / both) } else { 0.0 };
    average(bits_of_an_axis(modulation), snr, |[zero, one]| part(zero, zero + one) + part(one, zero + one))
}

const fn bits_of_an_axis(modulation: Modulation) -> u32 {
    // The two axes of square QAM share its bits evenly.
    match modulation.bits_per_subcarrier() {
        bits @ 4.. => bits as u32 / 2,
        _ => 1,
    }
}

/// Bits of an axis of 4096-QAM.
const MAX_BITS: usize = 6;

/// With a noise deviation of this number of units, on an axis whose levels are two units apart, a
/// bit carries no useful information.
const DROWNED: f64 = 2.0;

/// Returns the integral of `of`, averaged over the bits that choose a level of ±1, ±3, … on one
/// axis of square QAM by Gray labels (17.3.5.8). `of` is a function of the densities of the
/// received value if a bit is zero and if it is one. It must grow with both densities in
/// proportion.
fn average(bits: u32, snr: f64, of: impl Fn([f64; 2]) -> f64) -> f64 {
    let levels = 1_usize << bits;
    // A symbol of two axes with levels one unit from zero has an energy of 2(M² − 1)/3; half the
    // noise lies on each axis.
    let deviation = ((levels * levels - 1) as f64 / (3.0 * snr)).sqrt();
    if deviation > DROWNED && bits > 1 {
        return of([1.0, 1.0]);
    }
    // Levels lie on the grid, with at least four points per deviation: the sum over it equals the
    // integral to all significant digits.
    let per_unit = (4.0 / deviation).ceil() as usize;
    let step = 1.0 / per_unit as f64;
    // Bits change half-way between two levels; the density eight deviations from there is
    // negligible.
    let reach = ((1.0 + 8.0 * deviation) / step).ceil() as usize;
    let density: Vec<f64> = (0..=reach)
        .map(|n| {
            let distance = n as f64 * step / deviation;
            libm::exp(-distance * distance / 2.0)
        })
        .collect();

    let spacing = 2 * per_unit;
    let mut sum = 0.0;
    // The lowest level is at `reach`. The axis is symmetric, so each point of its lower half counts
    // twice.
    let middle = reach + (levels - 1) * per_unit;
    for point in 0..=middle {
        let mut likelihoods = [[0.0; 2]; MAX_BITS];
        let first = point.saturating_sub(2 * reach).div_ceil(spacing);
        for level in (first..levels).take_while(|level| level * spacing <= point) {
            let likelihood = density[point.abs_diff(reach + level * spacing)];
            let label = level ^ (level >> 1);
            for (bit, of_bit) in likelihoods.iter_mut().enumerate().take(bits as usize) {
                of_bit[label >> bit & 1] += likelihood;
            }
        }
        let here: f64 = likelihoods[..bits as usize].iter().map(|densities| of(*densities)).sum();
        sum += if point == middle { here } else { 2.0 * here };
    }
    // Each likelihood is an average over half of the levels, of densities with this factor.
    let normal = 1.0 / (deviation * (2.0 * core::f64::consts::PI).sqrt());
    sum * step * normal * 2.0 / levels as f64 / f64::from(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With one bit per axis this is QPSK, which has a closed form.
    #[test]
    fn the_integral_gives_the_closed_form_of_qpsk() {
        for snr in [0.3, 1.0, 3.0, 10.0, 30.0] {
            let got = -libm::log(average(1, snr, |[zero, one]| (zero * one).sqrt()));
            assert!((got / (snr / 2.0) - 1.0).abs() < 1e-9, "{got} at {snr}");
        }
    }

    /// Far above the noise, only nearest neighbours matter. Between the levels −3, −1, 1, 3, one
    /// bit changes in the middle, and the other on either side. With half of the levels at each
    /// change, there are (½ + 1)/2 changes on average. A change is half a distance of √(1/10) away,
    /// so the parameter tends to ¾·exp(−snr/10).
    #[test]
    fn at_high_snr_nearest_neighbours_decide() {
        let snr = 200.0;
        let expected = snr / 10.0 - libm::log(0.75);
        let got = bit_snr(Modulation::Qam16, snr);
        assert!((got - expected).abs() < 0.02, "{got}, expected {expected}");
    }

    #[test]
    fn denser_constellations_need_more() {
        let order = [
            Modulation::Bpsk,
            Modulation::Qpsk,
            Modulation::Qam16,
            Modulation::Qam64,
            Modulation::Qam256,
            Modulation::Qam1024,
            Modulation::Qam4096,
        ];
        for pair in order.windows(2) {
            assert!(bit_snr(pair[0], 1_000.0) > 1.2 * bit_snr(pair[1], 1_000.0), "{pair:?}");
            assert!(bit_snr(pair[1], 1_000.0) < bit_snr(pair[1], 1_100.0), "{pair:?}");
        }
    }

    /// BPSK: half a bit at −2.82 dB and 5/6 of one at 1.59 dB, the limits of Shannon for codes of
    /// rates 1/2 and 5/6 (0.19 and 2.38 dB per information bit; ten Brink et al., "Design of
    /// low-density parity-check codes for modulation and detection", IEEE Trans. Comm. 52(4), 2004,
    /// for the former).
    #[test]
    fn information_is_that_of_the_known_limits() {
        for (db, expected) in [(-2.82, 0.5), (1.59, 5.0 / 6.0)] {
            let got = information(Modulation::Bpsk, libm::pow(10.0, db / 10.0));
            assert!((got - expected).abs() < 0.002, "{got} at {db} dB");
        }
        assert!((information(Modulation::Qam1024, 1e6) - 1.0).abs() < 1e-9);
        assert!((information(Modulation::Qam4096, 1e6) - 1.0).abs() < 1e-9);
        assert!(information(Modulation::Qam64, 0.1) < 0.1);
    }
}
