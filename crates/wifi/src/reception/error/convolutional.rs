//! The error events of the convolutional code of 802.11: generators 133 and 171 in octal,
//! constraint length 7 (17.3.5.6).

/// Terms of the union bound, from the free distance on. Further terms are negligible at any SNR at
/// which frames are received.
const DISTANCES: usize = 10;

/// The number of paths that leave the correct path and return to it, by distance.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Spectrum {
    /// The minimum distance between two paths.
    pub(super) free_distance: usize,
    /// The number of paths at each distance, from the free distance on, summed over the phases of
    /// the puncturing period at which they begin.
    pub(super) paths: [u64; DISTANCES],
    /// Information bits in a period of puncturing.
    pub(super) period: u64,
}

/// Rate 1/2: Conan, "The weight spectra of some short low-rate convolutional codes", IEEE Trans.
/// Comm. 32(9), 1984.
const HALF: Spectrum = Spectrum { free_distance: 10, paths: [11, 0, 38, 0, 193, 0, 1331, 0, 7275, 0], period: 1 };

/// Rate 2/3, and the rates below: Haccoun and Bégin, "High-rate punctured convolutional codes for
/// Viterbi and sequential decoding", IEEE Trans. Comm. 37(11), 1989.
const TWO_THIRDS: Spectrum =
    Spectrum { free_distance: 6, paths: [1, 16, 48, 158, 642, 2435, 9174, 34701, 131_533, 499_312], period: 2 };

/// Rate 3/4.
const THREE_QUARTERS: Spectrum = Spectrum {
    free_distance: 5,
    paths: [8, 31, 160, 892, 4512, 23297, 120_976, 624_304, 3_229_885, 16_721_329],
    period: 3,
};

/// Rate 5/6.
const FIVE_SIXTHS: Spectrum = Spectrum {
    free_distance: 4,
    paths: [14, 69, 654, 4996, 39677, 314_973, 2_503_576, 19_875_546, 157_824_160, 1_253_169_928],
    period: 5,
};

impl Spectrum {
    /// Returns the spectrum of rate 1/2, 2/3, 3/4 or 5/6, by numerator.
    pub(super) const fn of(numerator: u64) -> &'static Self {
        match numerator {
            1 => &HALF,
            2 => &TWO_THIRDS,
            3 => &THREE_QUARTERS,
            _ => &FIVE_SIXTHS,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Newest bit first.
    const GENERATORS: [u32; 2] = [0o133, 0o171];
    /// Bits of memory.
    const MEMORY: u32 = 6;
    const STATES: usize = 1 << MEMORY;

    /// Returns which of the two coded bits of each input bit are sent, over a period (17.3.5.6,
    /// Figures 17-9 and following; 19.3.11.6 for 5/6).
    fn puncturing(numerator: u64) -> &'static [[bool; 2]] {
        match numerator {
            1 => &[[true, true]],
            2 => &[[true, true], [true, false]],
            3 => &[[true, true], [true, false], [false, true]],
            _ => &[[true, true], [true, false], [false, true], [true, false], [false, true]],
        }
    }

    /// Counts the paths that leave the all-zero path at this phase of puncturing, by weight. It
    /// stops when no further path can contribute.
    fn count_paths<const WEIGHTS: usize>(pattern: &[[bool; 2]], phase: usize, by_weight: &mut [u64; WEIGHTS]) {
        let mut alive = vec![[0_u64; WEIGHTS]; STATES];
        let (state, weight) = branch(0, 1, pattern[phase]);
        alive[state][weight] = 1;
        let mut phase = phase;
        while alive.iter().flatten().any(|paths| *paths > 0) {
            phase = (phase + 1) % pattern.len();
            let mut next = vec![[0_u64; WEIGHTS]; STATES];
            for (from, weights) in alive.iter().enumerate() {
                for input in [0, 1] {
                    let (to, added) = branch(from, input, pattern[phase]);
                    for weight in added..WEIGHTS {
                        next[to][weight] += weights[weight - added];
                    }
                }
            }
            for (sum, back) in by_weight.iter_mut().zip(&next[0]) {
                *sum += back;
            }
            next[0] = [0; WEIGHTS];
            alive = next;
        }
    }

    /// Returns the next state after an input bit, and the weight of the transmitted bits.
    fn branch(state: usize, input: u32, sent: [bool; 2]) -> (usize, usize) {
        let register = (input << MEMORY) | state as u32;
        let weight =
            GENERATORS.iter().zip(sent).filter(|(taps, sent)| *sent && (register & **taps).count_ones() % 2 == 1);
        ((register >> 1) as usize, weight.count())
    }

    /// The constants match the encoder and its puncturing.
    #[test]
    fn spectra_are_those_of_the_code() {
        for numerator in [1, 2, 3, 5] {
            let pattern = puncturing(numerator);
            // No rate has a free distance above 10.
            let mut by_weight = [0; 10 + DISTANCES];
            for phase in 0..pattern.len() {
                count_paths(pattern, phase, &mut by_weight);
            }
            let free_distance = by_weight.iter().position(|paths| *paths > 0).unwrap();
            let spectrum = Spectrum::of(numerator);
            assert_eq!((free_distance, pattern.len() as u64), (spectrum.free_distance, spectrum.period));
            assert_eq!(by_weight[free_distance..free_distance + DISTANCES], spectrum.paths);
        }
    }
}
