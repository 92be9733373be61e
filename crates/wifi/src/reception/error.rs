//! Frame error rates by signal-to-noise ratio, in white noise.
//!
//! | modulation | the expected number of errors per octet |
//! |---|---|
//! | OFDM, HT, VHT, narrow HE and EHT | union bound of the convolutional code with soft decisions |
//! | DBPSK, DQPSK | closed forms of the bit error rate |
//! | LDPC codes of HE and EHT | a separate simulation with one bit per symbol, by the mutual information of a bit |
//! | CCK | union bound over the code words |
//!
//! The rates are computed once for each modulation and coding over a grid of SNR. Between the
//! points of the grid, the logarithm is interpolated.

mod constellation;
mod convolutional;
mod dsss;
mod ldpc;

use crate::phy::{Mode, Modulation, Standard};
use convolutional::Spectrum;
use dsss::Uncoded;
use ldpc::Blocks;

pub use dsss::DSSS_NOISE_BANDWIDTH_HZ;

/// Distance of two points of a curve, in dB.
const STEP_DB: f64 = 0.1;
/// Below this SNR, nothing is received: the most robust mode, 1 Mbps, needs about −3 dB.
const LOWEST_DB: f64 = -12.0;
/// Above this SNR, every mode is received: the most demanding mode needs about 34 dB.
const HIGHEST_DB: f64 = 50.0;
/// Fewer errors per octet are neglected: about one in ten million frames of 65535 octets would be
/// lost.
const NEGLIGIBLE: f64 = 1e-12;
/// With more errors per octet, every frame is lost.
const HOPELESS: f64 = 2.0;

/// Returns the tail of the normal distribution.
fn gaussian_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / core::f64::consts::SQRT_2)
}

/// Returns 10^(`db`/10).
pub(super) fn ratio(db: f64) -> f64 {
    libm::exp(db * (core::f64::consts::LN_10 / 10.0))
}

/// The natural logarithm of the expected errors per octet as a function of the SNR, for one
/// modulation and coding.
#[derive(Clone, Debug)]
struct Curve {
    /// The SNR of the first point, in steps.
    first: i32,
    points: Vec<f64>,
}

impl Curve {
    /// Creates the curve from the first SNR that is not hopeless to the last one at which errors
    /// are not negligible.
    fn new(errors_per_octet: impl Fn(f64) -> f64) -> Self {
        let steps = |db: f64| libm::round(db / STEP_DB) as i32;
        let mut curve = Self { first: steps(HIGHEST_DB), points: Vec::new() };
        for step in steps(LOWEST_DB)..steps(HIGHEST_DB) {
            let errors = errors_per_octet(ratio(f64::from(step) * STEP_DB));
            if errors < NEGLIGIBLE {
                break;
            }
            if errors < HOPELESS {
                curve.first = curve.first.min(step);
                curve.points.push(libm::log(errors));
            }
        }
        curve
    }

    /// Returns the errors per octet: infinite below the curve, zero above it.
    fn at(&self, snr_db: f64) -> f64 {
        let place = snr_db / STEP_DB - f64::from(self.first);
        if place < 0.0 {
            return f64::INFINITY;
        }
        let index = place as usize;
        let fraction = place - index as f64;
        match self.points.get(index..) {
            Some([left, right, ..]) => libm::exp(left + fraction * (right - left)),
            _ => 0.0,
        }
    }
}

/// The parameters of the error rate of an octet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coding {
    modulation: Modulation,
    /// The numerator of the coding rate, which identifies the rate.
    numerator: u64,
    is_ldpc: bool,
}

impl Coding {
    fn of(mode: Mode) -> Self {
        let (modulation, numerator, _) = mode.modulation();
        Self { modulation, numerator, is_ldpc: mode.is_ldpc() }
    }
}

/// A curve for each modulation and coding that a cell may use.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    curves: Vec<(Coding, Curve)>,
}

impl ErrorTable {
    /// Creates the table of all modes of a standard and of its control frames.
    #[must_use]
    pub fn new(standard: Standard) -> Self {
        let mut codings: Vec<Coding> = Vec::new();
        let mut add = |mode: Mode| {
            let coding = Coding::of(mode);
            if !codings.contains(&coding) {
                codings.push(coding);
            }
        };
        let generation = standard.generation();
        (0..generation.control.format.indices())
            .for_each(|index| add(Mode::by_rate(generation.control.format, index, false)));
        for width in generation.format.phy().widths() {
            let of_width = |mcs| Mode { format: generation.format, mcs, width, ..Mode::ofdm(0) };
            (0..generation.format.indices()).for_each(|mcs| add(of_width(mcs)));
        }
        let curve = |Coding { modulation, numerator, is_ldpc }: Coding| {
            if is_ldpc {
                let blocks = Blocks::new(numerator);
                return Curve::new(|snr| blocks.errors_per_octet(modulation, snr));
            }
            if modulation.bits_per_subcarrier() == 0 {
                let uncoded = Uncoded::new(modulation);
                return Curve::new(|snr| uncoded.errors_per_octet(snr));
            }
            let spectrum = Spectrum::of(numerator);
            Curve::new(|snr| coded_errors(spectrum, constellation::bit_snr(modulation, snr)))
        };
        Self { curves: codings.into_iter().map(|coding| (coding, curve(coding))).collect() }
    }

    /// Returns the expected number of errors per octet. One error suffices to lose the frame.
    /// Returns infinity for a mode that the standard does not use.
    ///
    /// `snr_db` is the ratio of each stream, over the width of the channel (for DSSS, over
    /// [`DSSS_NOISE_BANDWIDTH_HZ`]).
    #[must_use]
    pub fn errors_per_octet(&self, mode: Mode, snr_db: f64) -> f64 {
        self.errors_of(Coding::of(mode), snr_db)
    }

    fn errors_of(&self, coding: Coding, snr_db: f64) -> f64 {
        self.curves.iter().find(|(of, _)| *of == coding).map_or(f64::INFINITY, |(_, curve)| curve.at(snr_db))
    }

    /// Returns the probability that `octets` are received without an error.
    #[must_use]
    pub fn success(&self, mode: Mode, snr_db: f64, octets: u64) -> f64 {
        libm::exp(-self.errors_per_octet(mode, snr_db) * octets as f64)
    }

    /// Returns the probability that the signal fields are decoded. Otherwise, the whole PPDU is
    /// lost. With OFDM and later formats, the signal fields are sent at the lowest rate of OFDM.
    /// With DSSS, they are sent at 1 Mbps, or at 2 Mbps after the short preamble.
    #[must_use]
    pub fn header_success(&self, mode: Mode, snr_db: f64) -> f64 {
        let (modulation, bits) = mode.format.phy().signal;
        let coding = Coding { modulation, numerator: 1, is_ldpc: false };
        libm::exp(-self.errors_of(coding, snr_db) * f64::from(bits) / 8.0)
    }
}

/// Returns the errors per octet after the Viterbi decoder, if each bit is equivalent to a BPSK bit
/// at this SNR.
fn coded_errors(spectrum: &Spectrum, bit_snr: f64) -> f64 {
    let events = spectrum.paths.iter().zip(spectrum.free_distance..);
    let tail = |distance: usize| gaussian_tail(f64::sqrt(2.0 * distance as f64 * bit_snr));
    let bound: f64 = events.map(|(paths, distance)| *paths as f64 * tail(distance)).sum();
    8.0 * bound / spectrum.period as f64
}

#[cfg(test)]
mod tests;
