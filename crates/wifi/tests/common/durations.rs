//! Durations on the air, from the printed tables of the standard, independent of the crate.

#![allow(unreachable_pub, reason = "others pass it on")]

/// Times in nanoseconds.
pub const US: u64 = 1_000;

/// Data bits of a symbol of one stream at 20 MHz, by MCS (Tables 19-27 and 21-30).
const N_DBPS_20: [u64; 8] = [26, 52, 78, 104, 156, 208, 234, 260];
/// Data bits of a symbol of one stream at 40 MHz, by MCS. The last two are those of VHT (Tables
/// 19-31 and 21-38).
const N_DBPS_40: [u64; 10] = [54, 108, 162, 216, 324, 432, 486, 540, 648, 720];
/// Data bits of a symbol of one stream at 80 MHz (Table 21-46), and of HE at 20 MHz (Table 27-60),
/// by MCS.
const N_DBPS_80: [u64; 12] = [117, 234, 351, 468, 702, 936, 1_053, 1_170, 1_404, 1_560, 1_755, 1_950];
/// Data bits of a symbol of OFDM, 6 to 54 Mbps (Table 17-4).
const N_DBPS_OFDM: [u64; 8] = [24, 36, 48, 72, 96, 144, 192, 216];

/// HR/DSSS with the long preamble of 144 bits and the header of 48, or the short one of 72 bits and
/// 48 at twice the rate.
pub fn dsss(tenths_of_mbps: u64, is_short: bool, octets: u64) -> u64 {
    let preamble = if is_short { 72 + 24 } else { 144 + 48 };
    (preamble + (octets * 80).div_ceil(tenths_of_mbps)) * US
}

/// OFDM: 16 µs of training, 4 of SIGNAL, symbols of 4.
pub fn ofdm(rate: usize, octets: u64) -> u64 {
    (20 + 4 * (16 + 6 + 8 * octets).div_ceil(N_DBPS_OFDM[rate])) * US
}

/// HT-mixed: 32 µs and 4 for each training field; symbols of 4 µs, or of 3.6 up to a whole multiple
/// of 4.
pub fn ht(mcs: usize, streams: u64, megahertz: u64, has_short_guard: bool, octets: u64) -> u64 {
    let bits = streams * if megahertz == 20 { N_DBPS_20[mcs] } else { N_DBPS_40[mcs] };
    // A second encoder is used above 300 Mbps: 1200 bits in 4 µs.
    let encoders = if bits > 1_200 { 2 } else { 1 };
    let symbols = (16 + 8 * octets + 6 * encoders).div_ceil(bits);
    (32 + 4 * training(streams)) * US + symbols_of_four(symbols, has_short_guard)
}

/// VHT: 36 µs and 4 for each training field.
pub fn vht(mcs: usize, streams: u64, megahertz: u64, has_short_guard: bool, octets: u64) -> u64 {
    let bits = match (megahertz, mcs) {
        // At MCS 9 and 20 MHz, three streams together have 1040 bits.
        (20, 9) => streams * 1_040 / 3,
        (20, 8) => streams * 312,
        (20, _) => streams * N_DBPS_20[mcs],
        (40, _) => streams * N_DBPS_40[mcs],
        (80, _) => streams * N_DBPS_80[mcs],
        _ => streams * N_DBPS_80[mcs] * 2,
    };
    // One encoder for each 600 Mbps at 3.6 µs a symbol.
    let encoders = (bits * 10).div_ceil(36 * 600);
    let symbols = (16 + 8 * octets + 6 * encoders).div_ceil(bits);
    (36 + 4 * training(streams)) * US + symbols_of_four(symbols, has_short_guard)
}

/// Returns `false` for combinations of MCS, streams and width that Tables 21-30 to 21-61 omit.
pub fn is_in_vht(mcs: usize, streams: u64, megahertz: u64) -> bool {
    match (megahertz, mcs) {
        (20, 9) => streams == 3,
        (80, 6) => streams != 3,
        (160, 9) => streams != 3,
        _ => true,
    }
}

/// HE for a single user: legacy and signal fields 32 µs, HE-STF 4, then HE-LTFs of 6.4 µs, or of
/// 12.8 with the guard interval of 3.2, and symbols of 12.8, each with a guard interval. BCC with
/// its tail at 20 MHz, LDPC above.
pub fn he(mcs: usize, streams: u64, megahertz: u64, guard: u64, octets: u64) -> u64 {
    let (bits, tail) = match megahertz {
        20 => (streams * N_DBPS_80[mcs], 6),
        40 => (2 * streams * N_DBPS_80[mcs], 0),
        // 980 subcarriers where VHT has 234.
        80 => (streams * N_DBPS_80[mcs] * 980 / 234, 0),
        _ => (streams * N_DBPS_80[mcs] * 1_960 / 234, 0),
    };
    let field = if guard == 3_200 { 12_800 } else { 6_400 } + guard;
    let symbols = (16 + 8 * octets + tail).div_ceil(bits);
    36 * US + training(streams) * field + symbols * (12_800 + guard)
}

/// EHT for a single user: legacy and signal fields 40 µs, EHT-STF 4, then EHT-LTFs and symbols as
/// those of HE. Each width has twice the subcarriers of the previous width, except that 80 MHz has
/// 980. BCC with its tail at 20 MHz up to MCS 9, else LDPC.
pub fn eht(mcs: usize, streams: u64, megahertz: u64, guard: u64, octets: u64) -> u64 {
    let subcarriers = match megahertz {
        20 => 234,
        40 => 468,
        _ => 980 * megahertz / 80,
    };
    // Bits of a subcarrier and numerator and denominator of the coding rate, by MCS.
    let (bits, numerator, denominator) = [
        (1, 1, 2),
        (2, 1, 2),
        (2, 3, 4),
        (4, 1, 2),
        (4, 3, 4),
        (6, 2, 3),
        (6, 3, 4),
        (6, 5, 6),
        (8, 3, 4),
        (8, 5, 6),
        (10, 3, 4),
        (10, 5, 6),
        (12, 3, 4),
        (12, 5, 6),
    ][mcs];
    let tail = if megahertz == 20 && mcs < 10 { 6 } else { 0 };
    let symbols = (16 + 8 * octets + tail).div_ceil(subcarriers * bits * streams * numerator / denominator);
    let field = if guard == 3_200 { 12_800 } else { 6_400 } + guard;
    44 * US + training(streams) * field + symbols * (12_800 + guard)
}

/// Returns the number of long training fields, a power of two.
fn training(streams: u64) -> u64 {
    streams.next_power_of_two()
}

fn symbols_of_four(symbols: u64, has_short_guard: bool) -> u64 {
    let nanos = symbols * if has_short_guard { 3_600 } else { 4_000 };
    nanos.div_ceil(4 * US) * 4 * US
}

/// Returns the response frame to HT, VHT and HE at this MCS, when 6, 12 and 24 Mbps are basic: as
/// an index of OFDM.
pub fn answer_rate(mcs: usize) -> usize {
    match mcs {
        0 => 0,
        1 | 2 => 2,
        _ => 4,
    }
}

/// Octets around a packet: QoS header, LLC and FCS.
pub const QOS_MPDU: u64 = 26 + 8 + 4;
/// Octets around a packet without QoS: header, LLC and FCS.
pub const MPDU: u64 = 24 + 8 + 4;

/// Returns an A-MPDU of this number of MPDUs: delimiters, and padding after all except the last.
pub fn a_mpdu(mpdu: u64, count: u64) -> u64 {
    (mpdu + 4).div_ceil(4) * 4 * (count - 1) + mpdu + 4
}
