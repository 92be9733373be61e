//! 802.11n: high throughput, HT (clause 19).

use super::{Coding, Format, Generation, Limits, Phy, a};
use crate::phy::{Band, Guard, Modulation, Width};
use acklab_base::Bytes;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz5, Band::Ghz2],
    width: Width::Mhz40,
    guard: Guard::Ns400,
    format: Format::Ht,
    aggregation: Some(Limits {
        // 9.4.2.55.3.
        octets: Bytes(65_535),
        // The larger of the two lengths of 9.4.2.55.2 (Maximum A-MSDU Length).
        a_msdu: Bytes(7935),
        // A compressed Block ACK has a bitmap of 8 octets (9.3.1.8.2); fully used as in mac80211
        // (`IEEE80211_MAX_AMPDU_BUF_HT`).
        window: 64,
    }),
    ..a::GENERATION
};

/// By MCS of one stream (Table 19-27).
pub(super) const MCS: [Coding; 8] = [
    (Modulation::Bpsk, 1, 2),
    (Modulation::Qpsk, 1, 2),
    (Modulation::Qpsk, 3, 4),
    (Modulation::Qam16, 1, 2),
    (Modulation::Qam16, 3, 4),
    (Modulation::Qam64, 2, 3),
    (Modulation::Qam64, 3, 4),
    (Modulation::Qam64, 5, 6),
];

pub(super) const HT: Phy = Phy {
    name: "HT",
    has_mcs: true,
    codings: &MCS,
    // Table 19-6.
    data_subcarriers: &[(Width::Mhz20, 52), (Width::Mhz40, 108)],
    streams: 4,
    // L-STF, L-LTF, L-SIG, HT-SIG, HT-STF (19.3.9).
    preamble: 32_000,
    // HT-LTF (19.3.9).
    training: &[(Guard::Ns400, 4_000), (Guard::Ns800, 4_000)],
    // L-SIG, and HT-SIG (19.3.9.4.3).
    signal: (Modulation::Bpsk, 24 + 48),
    convolutional: (Width::Mhz40, 8),
    // A second encoder is used above 300 Mbps (19.5).
    bits_per_encoder: Some(1_200),
    ..a::OFDM
};
