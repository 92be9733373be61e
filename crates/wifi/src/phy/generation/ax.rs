//! 802.11ax: high efficiency, HE (clause 27 of 802.11ax-2021), for a single user.

use super::{Coding, Format, Generation, Limits, Phy, ac, continued};
use crate::phy::{Band, Guard, Modulation, Width};
use acklab_base::Bytes;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz5, Band::Ghz2, Band::Ghz6],
    guard: Guard::Ns800,
    format: Format::He,
    aggregation: Some(Limits {
        // 9.4.2.248.
        octets: Bytes(6_500_631),
        // As with VHT.
        a_msdu: Bytes(11_424),
        // A bitmap of 32 octets (Table 9-30a); fully used as in mac80211
        // (`IEEE80211_MAX_AMPDU_BUF_HE`).
        window: 256,
    }),
    ..ac::GENERATION
};

/// By MCS of one stream (Table 27-111).
pub(super) const MCS: [Coding; 12] = continued(ac::MCS, &[(Modulation::Qam1024, 3, 4), (Modulation::Qam1024, 5, 6)]);

pub(super) const HE: Phy = Phy {
    name: "HE",
    codings: &MCS,
    // One resource unit of the whole width (Table 27-15).
    data_subcarriers: &[(Width::Mhz20, 234), (Width::Mhz40, 468), (Width::Mhz80, 980), (Width::Mhz160, 1_960)],
    symbol: 12_800,
    // L-STF, L-LTF, L-SIG, RL-SIG, HE-SIG-A, HE-STF (27.3.11).
    preamble: 36_000,
    // 2x HE-LTF, 4x with the longest guard interval (27.3.11.10).
    training: &[(Guard::Ns800, 6_400 + 800), (Guard::Ns1600, 6_400 + 1_600), (Guard::Ns3200, 12_800 + 3_200)],
    // L-SIG, and HE-SIG-A (27.3.11.7).
    signal: (Modulation::Bpsk, 24 + 52),
    // LDPC where the resource unit is wider than 242 tones, and with 1024-QAM (27.3.12.5).
    convolutional: (Width::Mhz20, 10),
    bits_per_encoder: None,
    other_encoders: &[],
    has_whole_bits: false,
    // 27.3.13.
    has_packet_extension: true,
    ..ac::VHT
};
