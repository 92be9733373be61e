//! Frame error rates against closed forms, and their order.

#![expect(clippy::float_cmp, reason = "certainty is exact")]

use super::*;
use crate::phy::{Format, Guard, Width};

fn he(mcs: u8) -> Mode {
    Mode { format: Format::He, mcs, streams: 1, width: Width::Mhz20, guard: Guard::Ns800 }
}

/// Returns the SNR at which one frame in ten of 1458 octets is lost.
fn threshold(table: &ErrorTable, mode: Mode) -> f64 {
    let (mut low, mut high) = (-10.0, 40.0);
    while high - low > 1e-6 {
        let middle = (low + high) / 2.0;
        if table.success(mode, middle, 1458) < 0.9 { low = middle } else { high = middle }
    }
    high
}

/// A closed form: QPSK at rate 1/2 has a_10 = 11. So one in ten frames of 11664 bits fails at
/// 11·Q(√(10·snr)) per bit, and farther events add a sixth. With half the energy per bit, QPSK
/// needs 3.01 dB more than BPSK.
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

/// EHT adds 4096-QAM, and equals HE below.
#[test]
fn a_constellation_of_4096_points_needs_more_by_what_its_bits_cost() {
    let table = ErrorTable::new(Standard::Be);
    let eht = |mcs, width| Mode { format: Format::Eht, width, ..he(mcs) };
    let ax = ErrorTable::new(Standard::Ax);
    for mcs in 0..12 {
        for width in [Width::Mhz20, Width::Mhz160] {
            let (own, other) = (threshold(&table, eht(mcs, width)), threshold(&ax, Mode { width, ..he(mcs) }));
            assert!((own - other).abs() < 1e-9, "MCS {mcs}");
        }
    }
    // Two more coded bits require at least the increase of Shannon's limit for their information,
    // 3.01 dB per bit. They require at most four times the power, at which four times as many
    // points have the same distances.
    for (mcs, below, rate) in [(12, 10, 3.0 / 4.0), (13, 11, 5.0 / 6.0)] {
        let more = threshold(&table, eht(mcs, Width::Mhz320)) - threshold(&table, eht(below, Width::Mhz320));
        assert!((3.01 * 2.0 * rate..6.03).contains(&more), "MCS {mcs}: {more} dB more than MCS {below}");
    }
    let maximum = threshold(&table, eht(13, Width::Mhz320));
    // Ten bits of information per symbol: Shannon's limit is 2¹⁰ − 1, 30.1 dB.
    assert!((30.1..36.0).contains(&maximum), "{maximum}");
}

/// Between its points, a curve follows the formula.
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
        let errors: Vec<f64> = (-200..600).map(|step| table.errors_per_octet(mode, f64::from(step) / 10.0)).collect();
        assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]), "{mode:?}");
        assert!(errors[0].is_infinite() && errors[600] == 0.0, "{mode:?}");
    }
    assert_eq!(table.success(Mode::ofdm(0), -50.0, 1), 0.0);
    assert_eq!(table.success(Mode::ofdm(0), 50.0, 65_535), 1.0);
}

/// Twice the octets have twice the probability of failure.
#[test]
fn errors_are_independent_of_each_other() {
    let table = ErrorTable::new(Standard::A);
    let (one, two) = (table.success(Mode::ofdm(4), 9.5, 700), table.success(Mode::ofdm(4), 9.5, 1400));
    assert!((one * one - two).abs() < 1e-12 && one < 1.0);
}

/// The codes of HE's wide channels gain one to three decibels over the convolutional one, more if a
/// symbol carries more bits.
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
fn modes_of_another_standard_do_not_arrive() {
    assert_eq!(ErrorTable::new(Standard::A).success(he(9), 60.0, 100), 0.0);
    assert_eq!(ErrorTable::new(Standard::B).success(Mode::ofdm(0), 60.0, 100), 0.0);
}

/// At an SNR at which the slowest rate still delivers large frames, its short header is decoded,
/// too.
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
