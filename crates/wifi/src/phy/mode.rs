//! The mode of a PPDU: format, modulation and coding, streams, width, guard interval.

mod duration;
mod modulation;

pub use modulation::Modulation;

use super::generation::{Coding, Phy};
use super::{Format, Guard, Width};
use acklab_base::{Duration, Rate};
use std::fmt;

/// The parameters of a PPDU that determine its duration (the part of the TXVECTOR that this model
/// uses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// The format of the PPDU.
    pub format: Format,
    /// From HT on, the MCS of one stream. For DSSS and OFDM, the index of the rate, lowest first.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Channel width.
    pub width: Width,
    /// Guard interval.
    pub guard: Guard,
}

impl Mode {
    /// Returns the mode of DSSS or CCK at the rate of this index: 1, 2, 5.5, 11 Mbps.
    #[must_use]
    pub const fn dsss(index: u8, is_short_preamble: bool) -> Self {
        // The lowest rate supports the long preamble only (16.2.2.3).
        let format = if is_short_preamble && index > 0 { Format::ShortDsss } else { Format::Dsss };
        Self { format, ..Self::ofdm(index) }
    }

    /// Returns the mode of OFDM at the rate of this index: 6, 9, 12, 18, 24, 36, 48, 54 Mbps.
    #[must_use]
    pub const fn ofdm(index: u8) -> Self {
        Self { format: Format::Ofdm, mcs: index, streams: 1, width: Width::Mhz20, guard: Guard::Ns800 }
    }

    /// Returns the mode of this index in a format without MCS.
    #[must_use]
    pub(crate) const fn by_rate(format: Format, index: u8, is_short_preamble: bool) -> Self {
        if format.is_dsss() { Self::dsss(index, is_short_preamble) } else { Self { format, ..Self::ofdm(index) } }
    }

    const fn phy(self) -> &'static Phy {
        self.format.phy()
    }

    /// Returns modulation, and coding rate as numerator and denominator.
    #[must_use]
    pub const fn modulation(self) -> Coding {
        self.phy().codings[self.mcs as usize]
    }

    /// Returns the number of subcarriers that carry data; zero for DSSS, and for a width that the
    /// format does not have.
    fn data_subcarriers(self) -> u64 {
        let of_width = self.phy().data_subcarriers.iter().find(|(width, _)| *width == self.width);
        of_width.map_or(0, |(_, subcarriers)| *subcarriers)
    }

    /// Returns the coded bits of one symbol, N_CBPS.
    fn coded_bits_per_symbol(self) -> u64 {
        let (modulation, ..) = self.modulation();
        self.data_subcarriers() * modulation.bits_per_subcarrier() * u64::from(self.streams)
    }

    /// Returns the data bits of one symbol, N_DBPS; zero for DSSS.
    #[must_use]
    pub fn bits_per_symbol(self) -> u64 {
        let (_, numerator, denominator) = self.modulation();
        self.coded_bits_per_symbol() * numerator / denominator
    }

    /// Returns `true` if the standard defines this combination (19.5, 21.5, 27.5, 36.5).
    #[must_use]
    pub fn is_defined(self) -> bool {
        let phy = self.phy();
        self.mcs < self.format.indices()
            && (1..=phy.streams).contains(&self.streams)
            && phy.widths().any(|width| width == self.width)
            && phy.training.iter().any(|(guard, _)| *guard == self.guard)
            && (!phy.has_whole_bits || self.divides_evenly())
    }

    /// Returns `true` if a symbol contains a whole number of bits that can be distributed evenly to
    /// the encoders.
    fn divides_evenly(self) -> bool {
        let (_, numerator, denominator) = self.modulation();
        let (coded, encoders) = (self.coded_bits_per_symbol(), self.encoders(self.bits_per_symbol()));
        (coded * numerator).is_multiple_of(denominator)
            && coded.is_multiple_of(encoders)
            && (coded * numerator / denominator).is_multiple_of(encoders)
            && (coded / encoders).is_multiple_of(denominator)
    }

    /// Returns the number of BCC encoders, N_ES, for a symbol of these data bits.
    fn encoders(self, bits_per_symbol: u64) -> u64 {
        let phy = self.phy();
        let this = (self.width, self.streams, self.mcs);
        match phy.other_encoders.iter().find(|(width, streams, mcs, _)| (*width, *streams, *mcs) == this) {
            Some((.., encoders)) => *encoders,
            None => phy.bits_per_encoder.map_or(1, |bits| bits_per_symbol.div_ceil(bits)),
        }
    }

    /// Returns `true` if PPDUs of this mode are coded with LDPC, which has no tail bits. BCC is
    /// assumed if both codes are possible.
    #[must_use]
    pub fn is_ldpc(self) -> bool {
        let (widest, mcs) = self.phy().convolutional;
        self.width > widest || self.mcs >= mcs
    }

    /// Returns the duration of one symbol with its guard interval.
    #[must_use]
    pub const fn symbol(self) -> Duration {
        Duration::from_nanos(self.phy().symbol + self.guard.nanoseconds() as u64)
    }

    /// Returns the rate of the payload in bits per second: 866 666 666 for 866.7 Mbps.
    #[must_use]
    pub fn data_rate(self) -> u64 {
        match self.dsss_rate() {
            Some(rate) => rate * 100_000,
            None => self.bits_per_symbol() * 1_000_000_000 / self.symbol().as_nanos(),
        }
    }

    /// Returns the rate in units of 100 kbps. Returns `None` if the format is not DSSS.
    fn dsss_rate(self) -> Option<u64> {
        self.phy().dsss_rates.get(usize::from(self.mcs)).copied()
    }

    /// Returns the rate as a quantity with a unit.
    #[must_use]
    pub fn rate(self) -> Option<Rate> {
        Rate::from_bits_per_second(self.data_rate())
    }

    /// Returns the rate of OFDM with the same modulation and coding, which 10.6.11 calls the non-HT
    /// reference rate. For DSSS, returns the rate of the mode.
    #[must_use]
    pub fn reference_rate(self) -> u64 {
        if !self.phy().has_mcs {
            return self.data_rate();
        }
        match self.modulation() {
            (Modulation::Bpsk, ..) => 6_000_000,
            (Modulation::Qpsk, 1, _) => 12_000_000,
            (Modulation::Qpsk, ..) => 18_000_000,
            (Modulation::Qam16, 1, _) => 24_000_000,
            (Modulation::Qam16, ..) => 36_000_000,
            (Modulation::Qam64, 2, _) => 48_000_000,
            _ => 54_000_000,
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, mbps) = (self.phy().name, self.data_rate() as f64 / 1e6);
        if self.phy().has_mcs {
            let (width, guard) = (self.width.megahertz(), self.guard.nanoseconds());
            return write!(f, "{name} MCS {}, {} ss, {width} MHz, {guard} ns", self.mcs, self.streams);
        }
        write!(f, "{name} {mbps} Mbps")?;
        if self.format == Format::ShortDsss { f.write_str(", short preamble") } else { Ok(()) }
    }
}
