//! 802.11b: DSSS (clause 15) and HR/DSSS (clause 16).

use super::{Coding, Control, Format, Generation, Phy};
use crate::phy::{Band, Guard, Modulation, Width};
use acklab_base::Duration;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz2],
    width: Width::Mhz20,
    guard: Guard::Ns800,
    format: Format::Dsss,
    control: Control {
        format: Format::Dsss,
        // The mandatory rates of DSSS, 1 and 2 Mbps (15.2.5).
        basic: &[0, 1],
        // HR/DSSS also has 5.5 and 11 Mbps (16.2.3.4).
        mandatory: &[0, 1, 2, 3],
    },
    // Table 16-4.
    slot: Duration::from_micros(20),
    cca: Duration::from_micros(15),
    signal_extension: Duration::ZERO,
    // 16.3.4.
    cw_min: 31,
    // 16.3.8.5, the most sensitive of its cases.
    carrier_sense_dbm: -76.0,
    aggregation: None,
};

/// 1, 2, 5.5 and 11 Mbps, without a code.
const RATES: [Coding; 4] =
    [(Modulation::Dbpsk, 1, 1), (Modulation::Dqpsk, 1, 1), (Modulation::Cck55, 1, 1), (Modulation::Cck11, 1, 1)];

pub(super) const LONG_PREAMBLE: Phy = Phy {
    name: "DSSS",
    has_mcs: false,
    codings: &RATES,
    // 16.2.3.4.
    dsss_rates: &[10, 20, 55, 110],
    data_subcarriers: &[(Width::Mhz20, 0)],
    streams: 1,
    symbol: 0,
    // SYNC and SFD of 144 bits and the header of 48, at 1 Mbps (16.2.2.2).
    preamble: 192_000,
    training: &[(Guard::Ns800, 0)],
    // The header.
    signal: (Modulation::Dbpsk, 48),
    convolutional: (Width::Mhz20, 4),
    bits_per_encoder: None,
    other_encoders: &[],
    has_whole_bits: false,
    is_always_a_mpdu: false,
    has_packet_extension: false,
};

pub(super) const SHORT_PREAMBLE: Phy = Phy {
    // 72 bits at 1 Mbps, 48 at 2 Mbps (16.2.2.3).
    preamble: 96_000,
    signal: (Modulation::Dqpsk, 48),
    ..LONG_PREAMBLE
};
