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
    Qam4096,
}

impl Modulation {
    /// Returns the coded bits of one subcarrier of one stream; zero for DSSS.
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
            Self::Qam4096 => 12,
        }
    }
}
