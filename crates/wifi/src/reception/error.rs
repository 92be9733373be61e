//! How often a frame fails at a signal-to-noise ratio, in white noise.
//!
//! | modulation | the expected number of errors in an octet |
//! |---|---|
//! | OFDM, HT, VHT, narrow HE | union bound of the convolutional code with soft decisions |
//! | DBPSK, DQPSK | closed forms of the bit error rate |
//! | LDPC codes of HE | their own simulation with one bit a symbol, by the mutual information of a bit |
//! | CCK | union bound over the code words |
//!
//! It is computed once for each modulation and coding over a grid of SNR; between its points, the logarithm is interpolated.

mod constellation;
mod convolutional;
mod dsss;
mod ldpc;

use crate::phy::{Format, Mode, Modulation, Standard, Width};
use convolutional::Spectrum;
use dsss::Uncoded;
use ldpc::Blocks;

pub use dsss::DSSS_NOISE_BANDWIDTH_HZ;

/// Distance of two points of a curve, in dB.
const STEP_DB: f64 = 0.1;
/// Below this SNR nothing is received: the most robust mode, 1 Mbps, needs about −3 dB.
const LOWEST_DB: f64 = -12.0;
/// Above this SNR every mode is received: the most demanding one needs about 31 dB.
const HIGHEST_DB: f64 = 50.0;
/// So many errors in an octet no longer count: 65535 octets would be lost once in ten million.
const NEGLIGIBLE: f64 = 1e-12;
/// With so many errors in an octet, the bound says no more than that every frame is lost.
const HOPELESS: f64 = 2.0;

/// The tail of the normal distribution.
fn gaussian_tail(x: f64) -> f64 {
    0.5 * libm::erfc(x / core::f64::consts::SQRT_2)
}

/// 10^(`db`/10).
pub(super) fn ratio(db: f64) -> f64 {
    libm::exp(db * (core::f64::consts::LN_10 / 10.0))
}

/// ln of the errors in an octet by SNR, for one modulation and coding.
#[derive(Clone, Debug)]
struct Curve {
    /// Of the first point, in steps.
    first: i32,
    points: Vec<f64>,
}

impl Curve {
    /// From where it stops being hopeless to where it becomes negligible.
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

    /// The errors in an octet: infinitely many below the curve, none above it.
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

/// What decides how often an octet fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Coding {
    modulation: Modulation,
    /// Of the coding rate, which it tells.
    numerator: u64,
    is_ldpc: bool,
}

impl Coding {
    const fn of(mode: Mode) -> Self {
        let (modulation, numerator, _) = mode.modulation();
        Self { modulation, numerator, is_ldpc: mode.is_ldpc() }
    }
}

/// Modulation and coding of what a cell may send, and a curve for each.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    curves: Vec<(Coding, Curve)>,
}

impl ErrorTable {
    /// For all modes of a standard and those in which its control frames are sent.
    #[must_use]
    pub fn new(standard: Standard) -> Self {
        let mut codings: Vec<Coding> = Vec::new();
        let mut add = |mode: Mode| {
            let coding = Coding::of(mode);
            if !codings.contains(&coding) {
                codings.push(coding);
            }
        };
        let most = match standard {
            Standard::N => 8,
            Standard::Ac => 10,
            _ => 12,
        };
        let modern = |mcs, width| Mode { format: standard.data_format(), mcs, width, ..Mode::ofdm(0) };
        match standard {
            Standard::B => (0..4).for_each(|index| add(Mode::dsss(index, false))),
            Standard::G | Standard::A => (0..8).for_each(|index| add(Mode::ofdm(index))),
            Standard::N | Standard::Ac | Standard::Ax => {
                (0..8).for_each(|index| add(Mode::ofdm(index)));
                for width in [Width::Mhz20, Width::Mhz40] {
                    (0..most).for_each(|mcs| add(modern(mcs, width)));
                }
            }
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

    /// The expected number of errors in an octet, each of which costs the frame; infinitely many of what the standard does not send.
    ///
    /// `snr_db` is that of each stream, over the width of the channel (of DSSS, [`DSSS_NOISE_BANDWIDTH_HZ`]).
    #[must_use]
    pub fn errors_per_octet(&self, mode: Mode, snr_db: f64) -> f64 {
        self.errors_of(Coding::of(mode), snr_db)
    }

    fn errors_of(&self, coding: Coding, snr_db: f64) -> f64 {
        self.curves.iter().find(|(of, _)| *of == coding).map_or(f64::INFINITY, |(_, curve)| curve.at(snr_db))
    }

    /// The probability that so many octets arrive without an error.
    #[must_use]
    pub fn success(&self, mode: Mode, snr_db: f64, octets: u64) -> f64 {
        libm::exp(-self.errors_per_octet(mode, snr_db) * octets as f64)
    }

    /// The probability that the signal fields are read, without which all else in the PPDU is lost. They are sent like the slowest
    /// rate of OFDM, or at 1 Mbps, or behind the short preamble at 2 Mbps.
    #[must_use]
    pub fn header_success(&self, mode: Mode, snr_db: f64) -> f64 {
        let (modulation, bits) = match mode.format {
            // 48 bits of PLCP header (16.2.2.2, 16.2.2.3).
            Format::Dsss => (Modulation::Dbpsk, 48),
            Format::ShortDsss => (Modulation::Dqpsk, 48),
            // SIGNAL (17.3.4).
            Format::Ofdm => (Modulation::Bpsk, 24),
            // And HT-SIG (19.3.9.4.3).
            Format::Ht => (Modulation::Bpsk, 24 + 48),
            // And VHT-SIG-A, VHT-SIG-B of 20 MHz (21.3.8.3.3, 21.3.8.3.6).
            Format::Vht => (Modulation::Bpsk, 24 + 48 + 26),
            // And HE-SIG-A (27.3.11.7).
            Format::He => (Modulation::Bpsk, 24 + 52),
        };
        let coding = Coding { modulation, numerator: 1, is_ldpc: false };
        libm::exp(-self.errors_of(coding, snr_db) * f64::from(bits) / 8.0)
    }
}

/// Errors in an octet behind the Viterbi decoder, where a bit is worth one of BPSK at this SNR.
fn coded_errors(spectrum: &Spectrum, bit_snr: f64) -> f64 {
    let events = spectrum.paths.iter().zip(spectrum.free_distance..);
    let tail = |distance: usize| gaussian_tail(f64::sqrt(2.0 * distance as f64 * bit_snr));
    let bound: f64 = events.map(|(paths, distance)| *paths as f64 * tail(distance)).sum();
    8.0 * bound / spectrum.period as f64
}

#[cfg(test)]
mod tests {
    #![expect(clippy::float_cmp, reason = "certainty is exact")]

    use super::*;
    use crate::phy::Guard;

    fn he(mcs: u8) -> Mode {
        Mode { format: Format::He, mcs, streams: 1, width: Width::Mhz20, guard: Guard::Ns800 }
    }

    /// The SNR at which one frame in ten of 1458 octets is lost.
    fn threshold(table: &ErrorTable, mode: Mode) -> f64 {
        let (mut low, mut high) = (-10.0, 40.0);
        while high - low > 1e-6 {
            let middle = (low + high) / 2.0;
            if table.success(mode, middle, 1458) < 0.9 { low = middle } else { high = middle }
        }
        high
    }

    /// What a closed form says: QPSK at rate 1/2 has a_10 = 11, so 11664 bits with 11·Q(√(10·snr)) each fail once in ten and
    /// farther events add a sixth; halved energy a bit makes it 3.01 dB more than BPSK.
    #[test]
    fn the_threshold_of_qpsk_is_the_one_of_its_first_terms_and_3_db_above_bpsk() {
        let table = ErrorTable::new(Standard::A);
        let (bpsk, qpsk) = (threshold(&table, Mode::ofdm(0)), threshold(&table, Mode::ofdm(2)));
        assert!((qpsk - bpsk - 3.0103).abs() < 2e-3, "{qpsk} and {bpsk}");
        let bound = |snr: f64| {
            11664.0 * (11.0 * gaussian_tail(f64::sqrt(10.0 * snr)) + 38.0 * gaussian_tail(f64::sqrt(12.0 * snr)))
        };
        let at_threshold = bound(ratio(qpsk));
        assert!((0.085..0.1054).contains(&at_threshold), "−ln 0.9 is 0.105: {at_threshold}");
    }

    /// Each rate of a standard costs more than the one below it.
    #[test]
    fn faster_rates_need_more() {
        let table = ErrorTable::new(Standard::Ax);
        let thresholds: Vec<f64> = (0..12).map(|mcs| threshold(&table, he(mcs))).collect();
        assert!(thresholds.windows(2).all(|pair| pair[1] > pair[0] + 1.0), "{thresholds:?}");
        let dsss = ErrorTable::new(Standard::B);
        let thresholds: Vec<f64> = (0..4).map(|index| threshold(&dsss, Mode::dsss(index, false))).collect();
        assert!(thresholds[0] + 3.0 < thresholds[1] && thresholds[2] + 2.5 < thresholds[3], "{thresholds:?}");
    }

    /// Between its points a curve is what the formula says.
    #[test]
    fn interpolation_is_close_to_the_formula() {
        let table = ErrorTable::new(Standard::Ac);
        let spectrum = Spectrum::of(5);
        for step in 0..200 {
            let snr_db = 17.0 + f64::from(step) * 0.0137;
            let exact = coded_errors(spectrum, constellation::bit_snr(Modulation::Qam64, ratio(snr_db)));
            let got = table.errors_per_octet(Mode { format: Format::Vht, ..he(7) }, snr_db);
            assert!((got / exact - 1.0).abs() < 0.005, "{got} and {exact} at {snr_db} dB");
        }
    }

    #[test]
    fn a_curve_ends_in_certainty_on_both_sides_and_never_rises() {
        let table = ErrorTable::new(Standard::Ax);
        let narrow = (0..12).map(he);
        for mode in narrow.clone().chain(narrow.map(|mode| Mode { width: Width::Mhz80, ..mode })) {
            let errors: Vec<f64> =
                (-200..600).map(|step| table.errors_per_octet(mode, f64::from(step) / 10.0)).collect();
            assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]), "{mode:?}");
            assert!(errors[0].is_infinite() && errors[600] == 0.0, "{mode:?}");
        }
        assert_eq!(table.success(Mode::ofdm(0), -50.0, 1), 0.0);
        assert_eq!(table.success(Mode::ofdm(0), 50.0, 65_535), 1.0);
    }

    /// Twice the octets, twice the chances to fail.
    #[test]
    fn errors_are_independent_of_each_other() {
        let table = ErrorTable::new(Standard::A);
        let (one, two) = (table.success(Mode::ofdm(4), 9.5, 700), table.success(Mode::ofdm(4), 9.5, 1400));
        assert!((one * one - two).abs() < 1e-12 && one < 1.0);
    }

    /// The codes of HE's wide channels gain from one to three decibels on the convolutional one, more where a symbol carries more bits.
    #[test]
    fn ldpc_needs_less() {
        let table = ErrorTable::new(Standard::Ax);
        for mcs in 0..10 {
            let gain = threshold(&table, he(mcs)) - threshold(&table, Mode { width: Width::Mhz80, ..he(mcs) });
            assert!((1.5..3.2).contains(&gain), "MCS {mcs}: {gain}");
        }
        let wide = Mode { width: Width::Mhz160, ..he(11) };
        assert!((threshold(&table, he(11)) - threshold(&table, wide)).abs() < 1e-9, "1024-QAM is always LDPC");
    }

    #[test]
    fn what_a_standard_does_not_send_does_not_arrive() {
        assert_eq!(ErrorTable::new(Standard::A).success(he(9), 60.0, 100), 0.0);
        assert_eq!(ErrorTable::new(Standard::B).success(Mode::ofdm(0), 60.0, 100), 0.0);
    }

    /// Where the slowest rate still brings large frames, its short header is no obstacle.
    #[test]
    fn a_header_is_more_robust_than_what_it_announces() {
        let table = ErrorTable::new(Standard::Ac);
        for mode in [Mode::ofdm(0), Mode { format: Format::Vht, ..he(0) }, Mode { format: Format::Ht, ..he(0) }] {
            let (header, frame) = (table.header_success(mode, 0.8), table.success(mode, 0.8, 1458));
            assert!(header > 0.995 && header < 1.0 && frame < 0.95, "{header} {frame}");
        }
        assert_eq!(table.header_success(Mode::ofdm(0), -20.0), 0.0);
        let dsss = ErrorTable::new(Standard::B);
        let [long, short] = [false, true].map(|is_short| dsss.header_success(Mode::dsss(3, is_short), -3.0));
        assert!(long > 0.99 && short < 0.8, "1 Mbps against 2: {long} {short}");
    }
}
