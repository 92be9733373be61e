//! 802.11ac: very high throughput, VHT (clause 21).

use super::{Coding, Format, Generation, Limits, Phy, continued, n};
use crate::phy::{Band, Guard, Modulation, Width};
use acklab_base::Bytes;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz5],
    width: Width::Mhz80,
    format: Format::Vht,
    aggregation: Some(Limits {
        // 9.4.2.157.2.
        octets: Bytes(1_048_575),
        // The largest MPDU has 11454 octets (9.4.2.157.2), header and FCS included.
        a_msdu: Bytes(11_424),
        // As with HT.
        window: 64,
    }),
    ..n::GENERATION
};

/// By MCS of one stream (Table 21-29).
pub(super) const MCS: [Coding; 10] = continued(n::MCS, &[(Modulation::Qam256, 3, 4), (Modulation::Qam256, 5, 6)]);

pub(super) const VHT: Phy = Phy {
    name: "VHT",
    codings: &MCS,
    // Table 21-5.
    data_subcarriers: &[(Width::Mhz20, 52), (Width::Mhz40, 108), (Width::Mhz80, 234), (Width::Mhz160, 468)],
    // L-STF, L-LTF, L-SIG, VHT-SIG-A, VHT-STF, VHT-SIG-B (21.3.4).
    preamble: 36_000,
    // VHT-LTF (21.3.4).
    training: &[(Guard::Ns400, 4_000), (Guard::Ns800, 4_000)],
    // L-SIG, VHT-SIG-A, and VHT-SIG-B of 20 MHz (21.3.8.3.3, 21.3.8.3.6).
    signal: (Modulation::Bpsk, 24 + 48 + 26),
    convolutional: (Width::Mhz160, 10),
    // One encoder for each 600 Mbps of the rate with the short guard interval (21.5).
    bits_per_encoder: Some(2_160),
    // Six encoders, because the bits of a symbol cannot be distributed evenly to five (21.5).
    other_encoders: &[(Width::Mhz160, 4, 7, 6)],
    // 21.5.
    has_whole_bits: true,
    // 10.12.8.
    is_always_a_mpdu: true,
    ..n::HT
};
