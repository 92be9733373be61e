//! 802.11a: OFDM (clause 17). Later generations send control frames with OFDM.

use super::{Coding, Control, Format, Generation, Phy};
use crate::phy::{Band, Guard, Modulation, Width};
use acklab_base::Duration;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz5],
    width: Width::Mhz20,
    guard: Guard::Ns800,
    format: Format::Ofdm,
    // 6, 12 and 24 Mbps (17.2.3.5).
    control: Control { format: Format::Ofdm, basic: &[0, 2, 4], mandatory: &[0, 2, 4] },
    // Table 17-21; at 2.4 GHz Table 18-5.
    slot: Duration::from_micros(9),
    cca: Duration::from_micros(4),
    // 18.3.2.4.
    signal_extension: Duration::from_micros(6),
    // 17.4.4.
    cw_min: 15,
    // 17.3.10.6; the same at 20 MHz in 19.3.19.5.4 and 21.3.18.5.3.
    carrier_sense_dbm: -82.0,
    aggregation: None,
};

/// 6, 9, 12, 18, 24, 36, 48 and 54 Mbps (Table 17-4).
const RATES: [Coding; 8] = [
    (Modulation::Bpsk, 1, 2),
    (Modulation::Bpsk, 3, 4),
    (Modulation::Qpsk, 1, 2),
    (Modulation::Qpsk, 3, 4),
    (Modulation::Qam16, 1, 2),
    (Modulation::Qam16, 3, 4),
    (Modulation::Qam64, 2, 3),
    (Modulation::Qam64, 3, 4),
];

pub(super) const OFDM: Phy = Phy {
    name: "OFDM",
    has_mcs: false,
    codings: &RATES,
    dsss_rates: &[],
    // Table 17-5.
    data_subcarriers: &[(Width::Mhz20, 48)],
    streams: 1,
    symbol: 3_200,
    // Short and long training, SIGNAL (17.3.2).
    preamble: 20_000,
    training: &[(Guard::Ns800, 0)],
    // SIGNAL (17.3.4).
    signal: (Modulation::Bpsk, 24),
    convolutional: (Width::Mhz20, 8),
    bits_per_encoder: None,
    other_encoders: &[],
    has_whole_bits: false,
    is_always_a_mpdu: false,
    has_packet_extension: false,
};
