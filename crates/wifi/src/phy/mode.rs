//! The mode of a PPDU: format, modulation and coding, streams, width, guard interval.

mod duration;
mod modulation;

pub use modulation::Modulation;

use acklab_base::{Duration, Rate};
use modulation::{MCS, OFDM};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// DSSS and HR/DSSS with the long preamble (15.2.2, 16.2.2.2).
    Dsss,
    /// HR/DSSS with the short preamble (16.2.2.3).
    ShortDsss,
    /// OFDM, or ERP-OFDM at 2.4 GHz (17.3.2).
    Ofdm,
    /// HT-mixed (19.3.2).
    Ht,
    /// VHT (21.3.2).
    Vht,
    /// HE for a single user (27.3.4).
    He,
}

/// Channel width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Width {
    /// 20 MHz; of DSSS, 22 MHz.
    #[serde(rename = "20MHz")]
    Mhz20,
    /// 40 MHz.
    #[serde(rename = "40MHz")]
    Mhz40,
    /// 80 MHz.
    #[serde(rename = "80MHz")]
    Mhz80,
    /// 160 MHz.
    #[serde(rename = "160MHz")]
    Mhz160,
}

/// Guard interval between symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Guard {
    /// 400 ns: the short one of HT and VHT.
    #[serde(rename = "400ns")]
    Ns400,
    /// 800 ns: the long one of HT and VHT, the shortest of HE.
    #[serde(rename = "800ns")]
    Ns800,
    /// 1600 ns, of HE.
    #[serde(rename = "1600ns")]
    Ns1600,
    /// 3200 ns, of HE.
    #[serde(rename = "3200ns")]
    Ns3200,
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mhz20 => "20MHz",
            Self::Mhz40 => "40MHz",
            Self::Mhz80 => "80MHz",
            Self::Mhz160 => "160MHz",
        })
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ns400 => "400ns",
            Self::Ns800 => "800ns",
            Self::Ns1600 => "1600ns",
            Self::Ns3200 => "3200ns",
        })
    }
}

/// The parameters of a PPDU that determine its duration (those of the TXVECTOR that this model uses).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// The format of the PPDU.
    pub format: Format,
    /// Of HT, VHT and HE the MCS of one stream; of DSSS and OFDM the index of the rate, lowest first.
    pub mcs: u8,
    /// Spatial streams.
    pub streams: u8,
    /// Channel width.
    pub width: Width,
    /// Guard interval.
    pub guard: Guard,
}

/// The rates of DSSS and CCK in units of 100 kbps (16.2.3.4).
const DSSS_RATES: [u64; 4] = [10, 20, 55, 110];

impl Mode {
    /// DSSS or CCK at the rate of this index: 1, 2, 5.5, 11 Mbps.
    #[must_use]
    pub const fn dsss(index: u8, is_short_preamble: bool) -> Self {
        // The lowest rate knows the long preamble only (16.2.2.3).
        let format = if is_short_preamble && index > 0 { Format::ShortDsss } else { Format::Dsss };
        Self { format, mcs: index, streams: 1, width: Width::Mhz20, guard: Guard::Ns800 }
    }

    /// OFDM at the rate of this index: 6, 9, 12, 18, 24, 36, 48, 54 Mbps.
    #[must_use]
    pub const fn ofdm(index: u8) -> Self {
        Self { format: Format::Ofdm, mcs: index, streams: 1, width: Width::Mhz20, guard: Guard::Ns800 }
    }

    /// Modulation, and coding rate as numerator and denominator.
    #[must_use]
    pub const fn modulation(self) -> (Modulation, u64, u64) {
        match self.format {
            Format::Dsss | Format::ShortDsss => {
                let modulation = match self.mcs {
                    0 => Modulation::Dbpsk,
                    1 => Modulation::Dqpsk,
                    2 => Modulation::Cck55,
                    _ => Modulation::Cck11,
                };
                (modulation, 1, 1)
            }
            Format::Ofdm => OFDM[self.mcs as usize],
            Format::Ht | Format::Vht | Format::He => MCS[self.mcs as usize],
        }
    }

    /// Subcarriers that carry data (Tables 17-5, 19-6, 21-5; 27-15 for one resource unit of the whole width).
    const fn data_subcarriers(self) -> u64 {
        match (self.format, self.width) {
            (Format::Dsss | Format::ShortDsss, _) => 0,
            (Format::Ofdm, _) => 48,
            (Format::Ht | Format::Vht, Width::Mhz20) => 52,
            (Format::Ht | Format::Vht, Width::Mhz40) => 108,
            (Format::Ht | Format::Vht, Width::Mhz80) => 234,
            (Format::Ht | Format::Vht, Width::Mhz160) => 468,
            (Format::He, Width::Mhz20) => 234,
            (Format::He, Width::Mhz40) => 468,
            (Format::He, Width::Mhz80) => 980,
            (Format::He, Width::Mhz160) => 1960,
        }
    }

    /// Data bits of one symbol, N_DBPS; of DSSS, none.
    #[must_use]
    pub const fn bits_per_symbol(self) -> u64 {
        let (modulation, numerator, denominator) = self.modulation();
        self.data_subcarriers() * modulation.bits_per_subcarrier() * self.streams as u64 * numerator / denominator
    }

    /// Does the standard define this combination (19.5, 21.5, 27.5)? It does not where a symbol would hold a fraction of a bit, or where
    /// bits could not be dealt evenly to several encoders.
    #[must_use]
    pub const fn is_defined(self) -> bool {
        if self.streams == 0 || self.streams > 4 {
            return false;
        }
        match self.format {
            Format::Dsss | Format::ShortDsss => self.mcs < 4 && self.streams == 1,
            Format::Ofdm => self.mcs < 8 && self.streams == 1,
            Format::Ht => {
                self.mcs < 8
                    && matches!(self.width, Width::Mhz20 | Width::Mhz40)
                    && matches!(self.guard, Guard::Ns400 | Guard::Ns800)
            }
            Format::Vht => {
                let (modulation, numerator, denominator) = self.modulation_of_vht();
                let coded = self.data_subcarriers() * modulation.bits_per_subcarrier() * self.streams as u64;
                let encoders = self.encoders();
                self.mcs < 10
                    && matches!(self.guard, Guard::Ns400 | Guard::Ns800)
                    && (coded * numerator).is_multiple_of(denominator)
                    && coded.is_multiple_of(encoders)
                    && (coded * numerator / denominator).is_multiple_of(encoders)
                    && (coded / encoders).is_multiple_of(denominator)
            }
            Format::He => self.mcs < 12 && !matches!(self.guard, Guard::Ns400),
        }
    }

    const fn modulation_of_vht(self) -> (Modulation, u64, u64) {
        MCS[if self.mcs < 10 { self.mcs as usize } else { 9 }]
    }

    /// BCC encoders, N_ES: HT has a second one above 300 Mbps (19.5); VHT one for each 600 Mbps that its rate has with the short guard
    /// interval, and a sixth where five could not share the bits of a symbol evenly (21.5, 160 MHz with four streams).
    const fn encoders(self) -> u64 {
        match self.format {
            Format::Ht if self.bits_per_symbol() > 1200 => 2,
            Format::Vht if matches!((self.width, self.streams, self.mcs), (Width::Mhz160, 4, 7)) => 6,
            Format::Vht => self.bits_per_symbol().div_ceil(2160),
            _ => 1,
        }
    }

    /// Is it coded with LDPC, which has no tail bits? HE is wherever the resource unit is wider than 242 tones, and with 1024-QAM
    /// (27.3.12.5). What may be coded either way is taken to be convolutional.
    #[must_use]
    pub const fn is_ldpc(self) -> bool {
        matches!(self.format, Format::He) && (!matches!(self.width, Width::Mhz20) || self.mcs >= 10)
    }

    /// One symbol with its guard interval.
    #[must_use]
    pub const fn symbol(self) -> Duration {
        let useful = if matches!(self.format, Format::He) { 12_800 } else { 3_200 };
        let guard = match self.guard {
            Guard::Ns400 => 400,
            Guard::Ns800 => 800,
            Guard::Ns1600 => 1_600,
            Guard::Ns3200 => 3_200,
        };
        Duration::from_nanos(useful + guard)
    }

    /// The rate of its payload: 866.7 Mbps is 866 666 666 bits per second.
    #[must_use]
    pub const fn data_rate(self) -> u64 {
        match self.format {
            Format::Dsss | Format::ShortDsss => DSSS_RATES[self.mcs as usize] * 100_000,
            _ => self.bits_per_symbol() * 1_000_000_000 / self.symbol().as_nanos(),
        }
    }

    /// The rate as a quantity with a unit.
    #[must_use]
    pub fn rate(self) -> Option<Rate> {
        Rate::from_bits_per_second(self.data_rate())
    }

    /// The rate of OFDM with the same modulation and coding, in 10.6.11 the non-HT reference rate; of DSSS its own.
    #[must_use]
    pub const fn reference_rate(self) -> u64 {
        match self.format {
            Format::Dsss | Format::ShortDsss | Format::Ofdm => self.data_rate(),
            _ => match self.modulation() {
                (Modulation::Bpsk, ..) => 6_000_000,
                (Modulation::Qpsk, 1, _) => 12_000_000,
                (Modulation::Qpsk, ..) => 18_000_000,
                (Modulation::Qam16, 1, _) => 24_000_000,
                (Modulation::Qam16, ..) => 36_000_000,
                (Modulation::Qam64, 2, _) => 48_000_000,
                _ => 54_000_000,
            },
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mbps = self.data_rate() as f64 / 1e6;
        let width = match self.width {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
            Width::Mhz160 => 160,
        };
        match self.format {
            Format::Dsss => write!(f, "DSSS {mbps} Mbps"),
            Format::ShortDsss => write!(f, "DSSS {mbps} Mbps, short preamble"),
            Format::Ofdm => write!(f, "OFDM {mbps} Mbps"),
            Format::Ht | Format::Vht | Format::He => {
                let (name, guard) = (format!("{:?}", self.format).to_uppercase(), self.symbol().as_nanos());
                let guard = if self.format == Format::He { guard - 12_800 } else { guard - 3_200 };
                write!(f, "{name} MCS {}, {} ss, {width} MHz, {guard} ns", self.mcs, self.streams)
            }
        }
    }
}
