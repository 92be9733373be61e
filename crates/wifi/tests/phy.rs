//! Compares the physical layers with the tables of the standard and with durations computed by
//! hand.

#![expect(clippy::float_cmp, reason = "durations are multiples of 100 ns")]

use acklab_base::{Bytes, Duration, Rate};
use acklab_wifi::phy::{Band, ControlRates, Format, Guard, Mode, Standard, Timing, Width};
use proptest::prelude::*;

fn ht(mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format: Format::Ht, mcs, streams, width, guard }
}

fn vht(mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format: Format::Vht, ..ht(mcs, streams, width, guard) }
}

fn he(mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format: Format::He, ..ht(mcs, streams, width, guard) }
}

fn eht(mcs: u8, streams: u8, width: Width, guard: Guard) -> Mode {
    Mode { format: Format::Eht, ..ht(mcs, streams, width, guard) }
}

/// Returns all defined modes; for DSSS and OFDM each mode once.
fn defined() -> Vec<Mode> {
    let mut modes: Vec<Mode> = (0..4).flat_map(|index| [Mode::dsss(index, false), Mode::dsss(index, true)]).collect();
    modes.extend((0..8).map(Mode::ofdm));
    for format in Format::ALL.iter().copied().filter(|format| format.phy().has_mcs) {
        for (width, guard) in Width::ALL.iter().flat_map(|width| Guard::ALL.map(|guard| (*width, guard))) {
            for (streams, mcs) in (1..=4).flat_map(|streams| (0..14).map(move |mcs| (streams, mcs))) {
                modes.extend(Some(Mode { format, mcs, streams, width, guard }).filter(|mode| mode.is_defined()));
            }
        }
    }
    modes
}

fn micros(mode: Mode, octets: u64) -> f64 {
    mode.duration(Bytes(octets)).as_nanos() as f64 / 1e3
}

fn bits(modes: impl Iterator<Item = Mode>) -> Vec<u64> {
    modes.map(Mode::bits_per_symbol).collect()
}

/// Tables 17-4, 19-27 and 19-31 and those of 21.5 and 27.5 for one stream.
#[test]
fn a_symbol_holds_the_bits_of_the_tables() {
    let of = |format: fn(u8, u8, Width, Guard) -> Mode, width, mcs| {
        bits((0..mcs).map(|m| format(m, 1, width, Guard::Ns800)))
    };
    assert_eq!(bits((0..8).map(Mode::ofdm)), [24, 36, 48, 72, 96, 144, 192, 216]);
    assert_eq!(of(ht, Width::Mhz20, 8), [26, 52, 78, 104, 156, 208, 234, 260]);
    assert_eq!(of(ht, Width::Mhz40, 8), [54, 108, 162, 216, 324, 432, 486, 540]);
    assert_eq!(of(vht, Width::Mhz80, 10), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560]);
    assert_eq!(of(vht, Width::Mhz160, 10), [234, 468, 702, 936, 1404, 1872, 2106, 2340, 2808, 3120]);
    assert_eq!(of(he, Width::Mhz20, 12), [117, 234, 351, 468, 702, 936, 1053, 1170, 1404, 1560, 1755, 1950]);
    // If a symbol does not contain a whole number of bits, HE rounds down.
    assert_eq!(of(he, Width::Mhz80, 12)[9..], [6533, 7350, 8166]);
}

/// Rates of EHT for one stream at 800 ns, as the tables of 36.5 and data sheets print them, in
/// units of 100 kbps. The closed form is subcarriers times bits times coding rate, rounded down to
/// whole bits, over 13.6 µs.
#[test]
fn rates_of_eht_are_those_of_the_tables() {
    let of = |width| {
        (0..14).map(|mcs| (eht(mcs, 1, width, Guard::Ns800).data_rate() + 50_000) / 100_000).collect::<Vec<_>>()
    };
    let narrow = [86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147, 1290, 1434, 1549, 1721];
    assert_eq!(of(Width::Mhz20), narrow);
    assert_eq!(of(Width::Mhz80), [360, 721, 1081, 1441, 2162, 2882, 3243, 3603, 4324, 4804, 5404, 6004, 6485, 7206]);
    assert_eq!(
        of(Width::Mhz320),
        [1441, 2882, 4324, 5765, 8647, 11529, 12971, 14412, 17294, 19215, 21618, 24019, 25941, 28824]
    );
    let last_two = |width| of(width)[12..].to_vec();
    assert_eq!((last_two(Width::Mhz40), last_two(Width::Mhz160)), (vec![3097, 3441], vec![12971, 14412]));
    // The maximum of two streams, and 2882.4 Mbps reduced by the longer guard intervals: 13.6/14.4
    // and 13.6/16.
    assert_eq!(eht(13, 2, Width::Mhz320, Guard::Ns800).data_rate(), 5_764_705_882);
    let longer = [Guard::Ns1600, Guard::Ns3200].map(|guard| eht(13, 1, Width::Mhz320, guard).data_rate());
    assert_eq!(longer, [2_722_222_222, 2_450_000_000]);
    assert_eq!(eht(13, 1, Width::Mhz320, Guard::Ns800).bits_per_symbol(), 3_920 * 12 * 5 / 6);
}

/// Rates as data sheets print them, in units of 100 kbps.
#[test]
fn rates_are_those_of_the_tables() {
    let mbps = |mode: Mode| (mode.data_rate() + 50_000) / 100_000;
    assert_eq!(mbps(vht(9, 2, Width::Mhz80, Guard::Ns400)), 8667);
    assert_eq!(vht(9, 2, Width::Mhz80, Guard::Ns400).data_rate(), 866_666_666);
    assert_eq!(mbps(ht(7, 1, Width::Mhz20, Guard::Ns400)), 722);
    assert_eq!(mbps(ht(7, 4, Width::Mhz40, Guard::Ns400)), 6000);
    assert_eq!(mbps(vht(9, 3, Width::Mhz80, Guard::Ns400)), 13000);
    assert_eq!(mbps(he(11, 1, Width::Mhz20, Guard::Ns800)), 1434);
    assert_eq!(mbps(he(11, 2, Width::Mhz80, Guard::Ns800)), 12010);
    assert_eq!(mbps(he(11, 2, Width::Mhz160, Guard::Ns800)), 24019);
    assert_eq!(mbps(he(0, 1, Width::Mhz20, Guard::Ns3200)), 73);
    assert_eq!([0, 1, 2, 3].map(|index| mbps(Mode::dsss(index, false))), [10, 20, 55, 110]);
}

/// Ack 14 octets, compressed Block Ack 32.
#[test]
fn control_frames_take_as_long_as_worked_out_by_hand() {
    let (ofdm6, ofdm12, ofdm24) = (Mode::ofdm(0), Mode::ofdm(2), Mode::ofdm(4));
    // 20 + 4·⌈(16 + 8·14 + 6)/N_DBPS⌉: 134 bits are 2 symbols of 96, 6 of 24.
    assert_eq!((micros(ofdm24, 14), micros(ofdm6, 14)), (28.0, 44.0));
    // 278 bits are 3 symbols of 96, 6 of 48, 12 of 24.
    assert_eq!([ofdm24, ofdm12, ofdm6].map(|mode| micros(mode, 32)), [32.0, 44.0, 68.0]);
    // 192 + 112 bits at 1 Mbps; at 2 Mbps 56; short preamble 96.
    assert_eq!(
        [Mode::dsss(0, false), Mode::dsss(1, false), Mode::dsss(1, true)].map(|mode| micros(mode, 14)),
        [304.0, 248.0, 152.0]
    );
    // The lowest rate has no short preamble.
    assert_eq!(micros(Mode::dsss(0, true), 14), 304.0);
    // 112 bits at 11 Mbps are 10.2 µs, which becomes 11.
    assert_eq!(micros(Mode::dsss(3, false), 14), 203.0);
}

#[test]
fn data_frames_take_as_long_as_worked_out_by_hand() {
    // 1536 octets at 54 Mbps: 12310 bits are 57 symbols of 216.
    assert_eq!(micros(Mode::ofdm(7), 1536), 20.0 + 57.0 * 4.0);
    // HT20 MCS 7 with two streams: 40 + 4·⌈(16 + 12288 + 6)/520⌉ = 40 + 4·24.
    assert_eq!(micros(ht(7, 2, Width::Mhz20, Guard::Ns800), 1536), 136.0);
    // The short guard interval: 24 · 3.6 = 86.4, rounded up to a multiple of 4 µs.
    assert_eq!(micros(ht(7, 2, Width::Mhz20, Guard::Ns400), 1536), 128.0);
    // Two encoders, of six tail bits each, above 300 Mbps: HT40 MCS 21 has 1296 bits in a symbol,
    // and so 159 octets at most.
    let two_encoders = ht(5, 3, Width::Mhz40, Guard::Ns800);
    assert_eq!((micros(two_encoders, 158), micros(two_encoders, 159)), (52.0, 56.0));
    // One encoder up to 300 Mbps: HT40 MCS 15 has 1080 bits in a symbol, and so 132 octets at most.
    let one_encoder = ht(7, 2, Width::Mhz40, Guard::Ns800);
    assert_eq!((micros(one_encoder, 132), micros(one_encoder, 133)), (44.0, 48.0));
    // VHT80 MCS 9, two streams, short interval: (16 + 8·10000 + 12)/3120 is 25.6, 26 · 3.6 = 93.6,
    // so 96 behind a preamble of 44.
    assert_eq!(micros(vht(9, 2, Width::Mhz80, Guard::Ns400), 10_000), 140.0);
    // HE80 MCS 11, two streams: LDPC has no tail, (16 + 80000)/16333 is 4.9, 5 · 13.6 = 68 behind
    // 36 + 2 · 7.2.
    assert_eq!(micros(he(11, 2, Width::Mhz80, Guard::Ns800), 10_000), 118.4);
    // HE20 MCS 0: (16 + 112 + 6)/117 are two symbols behind 36 + 7.2; 1024-QAM has no tail: 1755
    // bits are 217 octets.
    assert_eq!(micros(he(0, 1, Width::Mhz20, Guard::Ns800), 14), 70.4);
    let of_1024 = he(10, 1, Width::Mhz20, Guard::Ns800);
    assert_eq!((micros(of_1024, 217), micros(of_1024, 218)), (56.8, 70.4));
    // EHT320 MCS 13: (16 + 8·4898)/39200 is one symbol behind 44 + 7.2, and an octet more makes
    // two.
    let widest = eht(13, 1, Width::Mhz320, Guard::Ns800);
    assert_eq!((micros(widest, 4_898), micros(widest, 4_899)), (64.8, 78.4));
}

#[test]
fn preambles_grow_with_training_fields() {
    let of = |format: fn(u8, u8, Width, Guard) -> Mode, guard| {
        [1, 2, 3, 4].map(|streams| format(0, streams, Width::Mhz20, guard).preamble().as_nanos() / 100)
    };
    assert_eq!(of(ht, Guard::Ns800), [360, 400, 480, 480]);
    assert_eq!(of(vht, Guard::Ns800), [400, 440, 520, 520]);
    assert_eq!(of(he, Guard::Ns800), [432, 504, 648, 648]);
    assert_eq!(of(he, Guard::Ns1600), [440, 520, 680, 680]);
    assert_eq!(of(he, Guard::Ns3200), [520, 680, 1000, 1000]);
    // U-SIG and EHT-SIG take 8 µs each where HE-SIG-A takes 8.
    assert_eq!(of(eht, Guard::Ns800), [512, 584, 728, 728]);
    assert_eq!(of(eht, Guard::Ns3200), [600, 760, 1080, 1080]);
}

/// Tests the combinations that the tables of 21.5 omit, up to four streams.
#[test]
fn vht_lacks_the_combinations_that_its_tables_lack() {
    let mut missing = Vec::new();
    for width in [Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160] {
        for (streams, mcs) in (1..=4).flat_map(|streams| (0..10).map(move |mcs| (streams, mcs))) {
            if !vht(mcs, streams, width, Guard::Ns800).is_defined() {
                missing.push((width, streams, mcs));
            }
        }
    }
    assert_eq!(
        missing,
        [(Width::Mhz20, 1, 9), (Width::Mhz20, 2, 9), (Width::Mhz20, 4, 9), (Width::Mhz80, 3, 6), (Width::Mhz160, 3, 9)]
    );
}

#[test]
fn modes_that_a_standard_lacks_are_not_defined() {
    assert!(!ht(0, 1, Width::Mhz80, Guard::Ns800).is_defined());
    assert!(!ht(0, 1, Width::Mhz20, Guard::Ns1600).is_defined());
    assert!(!ht(8, 1, Width::Mhz20, Guard::Ns800).is_defined());
    assert!(!vht(10, 1, Width::Mhz80, Guard::Ns800).is_defined());
    assert!(!he(0, 1, Width::Mhz20, Guard::Ns400).is_defined());
    assert!(!he(0, 5, Width::Mhz20, Guard::Ns800).is_defined());
    assert!(!he(0, 0, Width::Mhz20, Guard::Ns800).is_defined());
    assert!(!he(0, 1, Width::Mhz320, Guard::Ns800).is_defined());
    assert!(!he(12, 1, Width::Mhz80, Guard::Ns800).is_defined());
    assert!(!eht(14, 1, Width::Mhz80, Guard::Ns800).is_defined());
    assert!(!eht(0, 1, Width::Mhz20, Guard::Ns400).is_defined());
    let (ht, vht, he, eht) = (2 * 2 * 4 * 8, 2 * (4 * 4 * 10 - 5), 3 * 4 * 4 * 12, 3 * 5 * 4 * 14);
    assert_eq!(defined().len(), 8 + 8 + ht + vht + he + eht);
}

/// Six encoders, because five cannot share 11232 coded bits: 16 + 36 bits besides the PSDU, so 9360
/// bits hold 1163 octets.
#[test]
fn vht_of_160_mhz_with_four_streams_has_a_sixth_encoder_at_mcs_7() {
    let mode = vht(7, 4, Width::Mhz160, Guard::Ns800);
    assert_eq!(mode.bits_per_symbol(), 9360);
    assert_eq!((micros(mode, 1163), micros(mode, 1164)), (56.0, 60.0));
}

/// 10.6.6.5.2, with the mandatory rates as the basic ones.
#[test]
fn a_response_is_as_fast_as_the_frame_allows() {
    let rates = ControlRates::new(Standard::N, false, None).unwrap();
    let answers = |standard: &ControlRates, modes: &[Mode]| -> Vec<u64> {
        modes.iter().map(|mode| standard.response_to(*mode).data_rate() / 100_000).collect()
    };
    let one_stream: Vec<Mode> = (0..8).map(|mcs| ht(mcs, 1, Width::Mhz20, Guard::Ns800)).collect();
    assert_eq!(answers(&rates, &one_stream), [60, 120, 120, 240, 240, 240, 240, 240]);
    assert_eq!(answers(&rates, &[vht(0, 4, Width::Mhz160, Guard::Ns400)]), [60], "by modulation, whatever the rate");
    let legacy: Vec<Mode> = (0..8).map(Mode::ofdm).collect();
    assert_eq!(answers(&rates, &legacy), [60, 60, 120, 120, 240, 240, 240, 240]);

    let dsss = ControlRates::new(Standard::B, false, None).unwrap();
    assert_eq!(answers(&dsss, &[0, 1, 2, 3].map(|index| Mode::dsss(index, false))), [10, 20, 20, 20]);
    let all = Rate::from_bits_per_second(5_500_000).zip(Rate::from_bits_per_second(11_000_000)).unwrap();
    let dsss = ControlRates::new(Standard::B, false, Some(&[Rate::from_mbps(1), all.0, all.1])).unwrap();
    assert_eq!(answers(&dsss, &[0, 1, 2, 3].map(|index| Mode::dsss(index, false))), [10, 10, 55, 110]);

    // If all basic rates exceed the frame's rate, the response uses the highest mandatory rate that
    // does not exceed it.
    let only_24 = ControlRates::new(Standard::A, false, Some(&[Rate::from_mbps(24)])).unwrap();
    assert_eq!(answers(&only_24, &legacy), [60, 60, 120, 120, 240, 240, 240, 240]);
    assert_eq!((only_24.lowest(), only_24.lowest_mandatory()), (Mode::ofdm(4), Mode::ofdm(0)));
    let only_11 = ControlRates::new(Standard::B, false, Some(&[all.1])).unwrap();
    assert_eq!(answers(&only_11, &[0, 1, 2, 3].map(|index| Mode::dsss(index, false))), [10, 20, 55, 110]);
    assert_eq!(ControlRates::new(Standard::A, false, Some(&[Rate::from_mbps(11)])), None);
    assert_eq!(ControlRates::new(Standard::A, false, Some(&[])), None);
}

#[test]
fn the_reference_rate_of_256_qam_and_above_is_54_mbps() {
    assert_eq!(vht(8, 1, Width::Mhz80, Guard::Ns800).reference_rate(), 54_000_000);
    assert_eq!(he(11, 1, Width::Mhz80, Guard::Ns800).reference_rate(), 54_000_000);
    assert_eq!(eht(13, 1, Width::Mhz320, Guard::Ns800).reference_rate(), 54_000_000);
    assert_eq!(ht(5, 1, Width::Mhz20, Guard::Ns800).reference_rate(), 48_000_000);
}

#[test]
fn interframe_spaces_are_those_of_the_clauses() {
    let micros = |span: Duration| span.as_nanos() / 1_000;
    let difs = |standard, band, short| micros(Timing::new(standard, band, short).aifs(2));
    assert_eq!(difs(Standard::B, Band::Ghz2, true), 50);
    assert_eq!(difs(Standard::G, Band::Ghz2, true), 28);
    assert_eq!(difs(Standard::G, Band::Ghz2, false), 50);
    assert_eq!(difs(Standard::A, Band::Ghz5, false), 34);
    // aCCATime: Table 16-4 and Table 17-21.
    assert_eq!(micros(Timing::new(Standard::B, Band::Ghz2, true).cca), 15);
    assert_eq!(micros(Timing::new(Standard::G, Band::Ghz2, true).cca), 4);
    let ac = Timing::new(Standard::Ac, Band::Ghz5, false);
    assert_eq!(micros(ac.aifs(3)), 43);
    assert_eq!(difs(Standard::Be, Band::Ghz6, false), 34);
    assert_eq!(difs(Standard::Be, Band::Ghz2, true), 28);
    // SIFS and an ACK at 6 Mbps of 44 µs.
    assert_eq!(micros(ac.eifs_extra(Mode::ofdm(0), Bytes(14))), 60);
    assert_eq!(micros(ac.response_timeout(Mode::ofdm(4))), 16 + 9 + 20);
    // At 2.4 GHz, an OFDM PPDU is followed by 6 µs of silence, and a DSSS PPDU is not.
    let g = Timing::new(Standard::G, Band::Ghz2, true);
    assert_eq!(micros(g.duration(Mode::ofdm(4), Bytes(14))), 34);
    assert_eq!(micros(g.duration(Mode::dsss(0, false), Bytes(14))), 304);
}

proptest! {
    /// The result is the maximum number of octets of a PPDU that does not exceed the duration.
    #[test]
    fn octets_within_a_duration_are_the_inverse_of_the_duration(
        mode in proptest::sample::select(defined()),
        nanos in 0_u64..6_000_000,
    ) {
        let airtime = Duration::from_nanos(nanos);
        let maximum = mode.octets_within(airtime);
        prop_assert!(mode.duration(Bytes(maximum.0 + 1)) > airtime);
        prop_assert!(maximum == Bytes::ZERO || mode.duration(maximum) <= airtime);
    }

    /// An additional octet never shortens a frame, and each symbol of the frame is used.
    #[test]
    fn more_octets_never_take_less(mode in proptest::sample::select(defined()), octets in 0_u64..70_000) {
        prop_assert!(mode.duration(Bytes(octets)) <= mode.duration(Bytes(octets + 1)));
        prop_assert!(mode.octets_within(mode.duration(Bytes(octets))) >= Bytes(octets));
    }
}
