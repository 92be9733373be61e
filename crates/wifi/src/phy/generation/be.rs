//! 802.11be: extremely high throughput, EHT (clause 36 of IEEE Std 802.11be-2024), for a single
//! user on a single link.
//!
//! MCS 14 and 15, which repeat data on several subcarriers, and punctured channels are not
//! modelled.

use super::{Coding, Format, Generation, Limits, Phy, ax, continued};
use crate::phy::{Band, Modulation, Width};
use acklab_base::Bytes;

pub(super) const GENERATION: Generation = Generation {
    bands: &[Band::Ghz6, Band::Ghz5, Band::Ghz2],
    width: Width::Mhz320,
    format: Format::Eht,
    aggregation: Some(Limits {
        // The largest A-MPDU of an EHT PPDU (the table of maximum data unit sizes in 9.2.4.7.1;
        // Maximum A-MPDU Length Exponent Extension of the EHT Capabilities element).
        octets: Bytes(15_523_200),
        // As with VHT.
        a_msdu: Bytes(11_424),
        // A bitmap of 128 octets (Fragment Number of the compressed Block ACK, 9.3.1.8.2).
        window: 1_024,
    }),
    ..ax::GENERATION
};

/// By MCS of one stream (36.5).
const MCS: [Coding; 14] = continued(ax::MCS, &[(Modulation::Qam4096, 3, 4), (Modulation::Qam4096, 5, 6)]);

pub(super) const EHT: Phy = Phy {
    name: "EHT",
    codings: &MCS,
    // One resource unit of the whole width: 242, 484, 996, 2×996 and 4×996 tones (36.3.2).
    data_subcarriers: &[
        (Width::Mhz20, 234),
        (Width::Mhz40, 468),
        (Width::Mhz80, 980),
        (Width::Mhz160, 1_960),
        (Width::Mhz320, 3_920),
    ],
    // L-STF and L-LTF of 8 µs (36.3.12.3, 36.3.12.4), L-SIG and RL-SIG of 4 µs (36.3.12.5,
    // 36.3.12.6), U-SIG of 8 µs (36.3.12.7), EHT-SIG in two symbols of 4 µs at MCS 0, the EHT-STF
    // of 4 µs of an EHT MU PPDU (36.3.12.9).
    preamble: 44_000,
    // EHT-LTF: 2x, and 4x with the longest guard interval, as with HE (36.3.12.10).
    training: ax::HE.training,
    // L-SIG, U-SIG, and EHT-SIG: 20 common bits, a user field of 22, CRC and tail of 10 (36.3.12.7,
    // 36.3.12.8).
    signal: (Modulation::Bpsk, 24 + 52 + 52),
    // LDPC where the resource unit is wider than 242 tones, and from 1024-QAM on (36.3.13.3).
    convolutional: (Width::Mhz20, 10),
    ..ax::HE
};
