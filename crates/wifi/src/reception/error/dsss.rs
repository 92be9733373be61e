//! Errors of DSSS and CCK, which have no code to correct them.

use super::gaussian_tail;
use crate::phy::Modulation;
use core::f64::consts::{PI, SQRT_2};

/// The bandwidth to which the SNR of a DSSS receiver refers: its channel, 22 MHz between the first
/// nulls of the spectrum (15.4.4.5).
pub const DSSS_NOISE_BANDWIDTH_HZ: f64 = 22e6;
/// Symbols per second of 1 and 2 Mbps (15.4.4).
const BARKER_SYMBOLS: f64 = 1e6;
/// Symbols per second of 5.5 and 11 Mbps: eight chips each (16.4.6.5).
const CCK_SYMBOLS: f64 = 1.375e6;

/// Modulations without a code, and the parameters of their error rates.
pub(super) enum Uncoded {
    Dbpsk,
    Dqpsk,
    Cck { octets_per_symbol: f64, neighbours: [u32; 17] },
}

impl Uncoded {
    pub(super) fn new(modulation: Modulation) -> Self {
        match modulation {
            Modulation::Dqpsk => Self::Dqpsk,
            Modulation::Cck55 => Self::Cck { octets_per_symbol: 0.5, neighbours: neighbours(&CCK55_PHASES) },
            Modulation::Cck11 => Self::Cck { octets_per_symbol: 1.0, neighbours: neighbours(&CCK11_PHASES) },
            _ => Self::Dbpsk,
        }
    }

    /// Returns the expected number of symbol or bit errors in one octet.
    pub(super) fn errors_per_octet(&self, snr: f64) -> f64 {
        let barker_snr = snr * DSSS_NOISE_BANDWIDTH_HZ / BARKER_SYMBOLS;
        match self {
            // Proakis, "Digital Communications", 4th edition, equation 5.2-69.
            Self::Dbpsk => 8.0 * 0.5 * libm::exp(-barker_snr),
            Self::Dqpsk => 8.0 * dqpsk_bit_error(barker_snr),
            Self::Cck { octets_per_symbol, neighbours } => {
                cck_symbol_error(neighbours, snr * DSSS_NOISE_BANDWIDTH_HZ / CCK_SYMBOLS) / octets_per_symbol
            }
        }
    }
}

/// Returns the bit error rate of Gray-coded DQPSK at this ratio of symbol energy to noise density:
/// F(5π/4) − F(π/4) with the F of Pawula, Rice and Roberts, "Distribution of the phase angle
/// between two vectors perturbed by Gaussian noise", IEEE Trans. Comm. 30(8), 1982. It is √2/8π · ∫
/// exp(−γ(1 − cos t/√2)) / (1 − cos t/√2) dt over a full circle.
fn dqpsk_bit_error(symbol_snr: f64) -> f64 {
    // A sum over a period of a smooth function converges faster than any power of the number of
    // points.
    const POINTS: u32 = 64;
    let sum: f64 = (0..POINTS)
        .map(|n| {
            let factor = 1.0 - libm::cos(2.0 * PI * f64::from(n) / f64::from(POINTS)) / SQRT_2;
            libm::exp(-symbol_snr * factor) / factor
        })
        .sum();
    SQRT_2 / 4.0 * sum / f64::from(POINTS)
}

/// The phases that data may add to φ1…φ4, in quarter turns (16.4.6.5.2 and .3).
type Phases = [&'static [usize]; 4];
const CCK55_PHASES: Phases = [&[0, 1, 2, 3], &[0, 2], &[0], &[0, 2]];
const CCK11_PHASES: Phases = [&[0, 1, 2, 3], &[0, 1, 2, 3], &[0, 1, 2, 3], &[0, 1, 2, 3]];

/// The phases of φ1…φ4 that each chip adds up (16.4.6.5.1); the signs of two chips are constant in
/// all code words and therefore omitted.
const CHIPS: [[usize; 4]; 8] =
    [[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]];

/// Returns the code words as quarter turns of each chip, relative to the word with all phases zero.
fn words(phases: &Phases) -> Vec<[usize; 8]> {
    let [first, second, third, fourth] = phases;
    let tuples = first.iter().flat_map(|one| second.iter().map(move |two| [*one, *two]));
    let tuples = tuples.flat_map(|[one, two]| third.iter().map(move |three| [one, two, *three]));
    let tuples = tuples.flat_map(|[one, two, three]| fourth.iter().map(move |four| [one, two, three, *four]));
    let chip =
        |weights: &[usize; 4], added: &[usize; 4]| weights.iter().zip(added).map(|(w, p)| w * p).sum::<usize>() % 4;
    tuples.map(|added| CHIPS.map(|weights| chip(&weights, &added))).collect()
}

/// Returns the number of other words by their distance from one word. The distance is the sum over
/// all chips of 1 − cos of the phase difference. Phases add up, so all words have the same
/// neighbours.
fn neighbours(phases: &Phases) -> [u32; 17] {
    let mut by_distance = [0; 17];
    for word in words(phases) {
        by_distance[word.iter().map(|quarters| [0, 1, 2, 1][*quarters]).sum::<usize>()] += 1;
    }
    by_distance[0] = 0;
    by_distance
}

/// Returns the union bound over the code words, coherently received. The differential encoding of
/// φ1 does not matter, because a frame with one wrong symbol is lost.
fn cck_symbol_error(neighbours: &[u32; 17], symbol_snr: f64) -> f64 {
    // This distance is the squared Euclidean distance in units of a quarter of the symbol's energy.
    let tail = |distance: usize| gaussian_tail((distance as f64 / 8.0 * symbol_snr).sqrt());
    let present = neighbours.iter().enumerate().filter(|(_, words)| **words > 0);
    present.map(|(distance, words)| f64::from(*words) * tail(distance)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dqpsk_tosses_a_coin_without_signal_and_nears_its_asymptote_with_one() {
        assert!((dqpsk_bit_error(0.0) - 0.5).abs() < 1e-12);
        // Ferrari and Corazza, "Tight bounds and accurate approximations for DQPSK transmission bit
        // error rate", Electronics Letters 40(20), 2004, equation 8, at γ per bit: the first term
        // of a series in 1/γ.
        for bit_snr in [5.0, 8.0, 12.0_f64, 20.0] {
            let factor = (SQRT_2 + 1.0) / f64::sqrt(8.0 * PI * SQRT_2) / f64::sqrt(bit_snr);
            let near = factor * libm::exp(-(2.0 - SQRT_2) * bit_snr);
            let got = dqpsk_bit_error(2.0 * bit_snr);
            assert!((got / near - 1.0).abs() < 0.8 / bit_snr, "{got} and {near} at {bit_snr}");
        }
    }

    /// Symbols in noise, each decoded as the best matching code word. The count is slightly below
    /// the bound, because events in which several words match better are counted once.
    #[test]
    fn the_bound_of_cck_is_what_a_receiver_sees() {
        for (phases, symbol_snr) in [(&CCK55_PHASES, 10.0), (&CCK11_PHASES, 24.0)] {
            let words = words(phases);
            let mut noise = acklab_base::random::Seed(1).stream("noise");
            // With an energy of 1 per chip, the noise of an axis has this variance.
            let deviation = f64::sqrt(8.0 / symbol_snr / 2.0);
            let symbols = 20_000;
            let mut errors = 0;
            for _ in 0..symbols {
                let received: Vec<[f64; 2]> =
                    (0..8).map(|_| [1.0 + noise.normal(0.0, deviation), noise.normal(0.0, deviation)]).collect();
                let fit = |word: &[usize; 8]| -> f64 {
                    let part = |([x, y], quarters): (&[f64; 2], &usize)| [*x, *y, -x, -y][*quarters];
                    received.iter().zip(word).map(part).sum()
                };
                let sent = fit(&[0; 8]);
                errors += usize::from(words.iter().any(|word| fit(word) > sent));
            }
            let (counted, bound) =
                (errors as f64 / f64::from(symbols), cck_symbol_error(&neighbours(phases), symbol_snr));
            assert!(counted < 1.05 * bound && counted > 0.7 * bound, "{counted} counted, bound {bound}");
        }
    }

    /// The 16 words of 5.5 Mbps are four orthogonal vectors in four phases: twelve neighbours and
    /// two of φ1 at a squared distance of twice the energy, one opposite.
    #[test]
    fn cck_of_5_5_mbps_is_biorthogonal() {
        let symbol_snr = 9.0;
        let expected = 14.0 * gaussian_tail(3.0) + gaussian_tail(f64::sqrt(18.0));
        assert!((cck_symbol_error(&neighbours(&CCK55_PHASES), symbol_snr) / expected - 1.0).abs() < 1e-12);
    }

    /// The nearest of the 256 words differ by a quarter turn in four chips, or by more in fewer: a
    /// squared distance of the energy.
    #[test]
    fn cck_of_11_mbps_has_24_nearest_words() {
        let symbol_snr = 60.0;
        let ratio =
            cck_symbol_error(&neighbours(&CCK11_PHASES), symbol_snr) / gaussian_tail(f64::sqrt(symbol_snr / 2.0));
        assert!((ratio - 24.0).abs() < 0.1, "{ratio} words at the minimum distance");
    }
}
