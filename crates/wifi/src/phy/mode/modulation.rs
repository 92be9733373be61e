//! Modulation and coding.

/// Modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names are the terms of the standard")]
pub enum Modulation {
    Dbpsk,
    Dqpsk,
    Cck55,
    Cck11,
    Bpsk,
    Qpsk,
    Qam16,
    Qam64,
    Qam256,
    Qam1024,
}

/// Modulation, and coding rate as numerator and denominator, by MCS (Tables 19-27, 21-29 and 27-111).
pub(super) const MCS: [(Modulation, u64, u64); 12] = [
    (Modulation::Bpsk, 1, 2),
    (Modulation::Qpsk, 1, 2),
    (Modulation::Qpsk, 3, 4),
    (Modulation::Qam16, 1, 2),
    (Modulation::Qam16, 3, 4),
    (Modulation::Qam64, 2, 3),
    (Modulation::Qam64, 3, 4),
    (Modulation::Qam64, 5, 6),
    (Modulation::Qam256, 3, 4),
    (Modulation::Qam256, 5, 6),
    (Modulation::Qam1024, 3, 4),
    (Modulation::Qam1024, 5, 6),
];

/// The same of OFDM, 6 to 54 Mbps (Table 17-4).
pub(super) const OFDM: [(Modulation, u64, u64); 8] = [
    (Modulation::Bpsk, 1, 2),
    (Modulation::Bpsk, 3, 4),
    (Modulation::Qpsk, 1, 2),
    (Modulation::Qpsk, 3, 4),
    (Modulation::Qam16, 1, 2),
    (Modulation::Qam16, 3, 4),
    (Modulation::Qam64, 2, 3),
    (Modulation::Qam64, 3, 4),
];

impl Modulation {
    /// Coded bits of one subcarrier of one stream; of DSSS, none.
    #[must_use]
    pub const fn bits_per_subcarrier(self) -> u64 {
        match self {
            Self::Dbpsk | Self::Dqpsk | Self::Cck55 | Self::Cck11 => 0,
            Self::Bpsk => 1,
            Self::Qpsk => 2,
            Self::Qam16 => 4,
            Self::Qam64 => 6,
            Self::Qam256 => 8,
            Self::Qam1024 => 10,
        }
    }
}
