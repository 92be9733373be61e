//! How a PPDU is sent: format, modulation and coding, streams, width, guard interval; and how long it takes.

use acklab_base::{Bytes, Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The shape of a PPDU.
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

/// What carries the bits.
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

/// All that decides how long a PPDU takes per octet (the TXVECTOR of the standard, as far as it matters here).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// The shape of the PPDU.
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

/// Modulation, and coding rate as numerator and denominator, by MCS (Tables 19-27, 21-29 and 27-111).
const MCS: [(Modulation, u64, u64); 12] = [
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
const OFDM: [(Modulation, u64, u64); 8] = [
    (Modulation::Bpsk, 1, 2),
    (Modulation::Bpsk, 3, 4),
    (Modulation::Qpsk, 1, 2),
    (Modulation::Qpsk, 3, 4),
    (Modulation::Qam16, 1, 2),
    (Modulation::Qam16, 3, 4),
    (Modulation::Qam64, 2, 3),
    (Modulation::Qam64, 3, 4),
];

/// SERVICE bits ahead of the PSDU (17.3.5.2, 19.3.11.2).
const SERVICE_BITS: u64 = 16;
/// Tail bits of each encoder (17.3.5.3).
const TAIL_BITS: u64 = 6;

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

    /// Bits of a PPDU beside its PSDU.
    const fn extra_bits(self) -> u64 {
        SERVICE_BITS + if self.is_ldpc() { 0 } else { TAIL_BITS * self.encoders() }
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

    /// From the first preamble bit to the first of the PSDU: preambles, training fields and signal fields.
    #[must_use]
    pub const fn preamble(self) -> Duration {
        // Long training fields by streams: N_LTF (Tables 19-13, 21-13, 27-32).
        let training_fields = match self.streams {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        Duration::from_nanos(match self.format {
            // SYNC and SFD of 144 bits and the header of 48, at 1 Mbps (16.2.2.2).
            Format::Dsss => 192_000,
            // 72 bits at 1 Mbps, 48 at 2 Mbps (16.2.2.3).
            Format::ShortDsss => 96_000,
            // Short and long training, SIGNAL (17.3.2).
            Format::Ofdm => 20_000,
            // L-STF, L-LTF, L-SIG, HT-SIG, HT-STF, HT-LTFs (19.3.9).
            Format::Ht => 32_000 + 4_000 * training_fields,
            // L-STF, L-LTF, L-SIG, VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B (21.3.4).
            Format::Vht => 36_000 + 4_000 * training_fields,
            // L-STF, L-LTF, L-SIG, RL-SIG, HE-SIG-A, HE-STF, and 2x HE-LTFs, 4x with the longest guard interval (27.3.11).
            Format::He => {
                let training = if matches!(self.guard, Guard::Ns3200) { 12_800 } else { 6_400 };
                36_000 + (training + self.symbol().as_nanos() - 12_800) * training_fields
            }
        })
    }

    /// How long a PPDU with `psdu` octets takes, without a signal extension: TXTIME of 16.3.4, 17.4.3, 19.4.3, 21.4.3 and 27.4.3.
    /// An HE receiver is one that asks for no packet extension (27.3.13, nominal padding 0), and the symbol that LDPC may need
    /// beyond those that hold the bits (27.3.12.5) is not counted.
    #[must_use]
    pub const fn duration(self, psdu: Bytes) -> Duration {
        let bits = psdu.0 * 8;
        let payload = match self.format {
            Format::Dsss | Format::ShortDsss => {
                // Rounded up to a whole microsecond.
                (bits * 10).div_ceil(DSSS_RATES[self.mcs as usize]) * 1_000
            }
            _ => {
                let symbols = (self.extra_bits() + bits).div_ceil(self.bits_per_symbol());
                let nanos = symbols * self.symbol().as_nanos();
                // Legacy stations read the length in symbols of 4 µs (19.4.3, 21.4.3).
                if matches!(self.guard, Guard::Ns400) { nanos.next_multiple_of(4_000) } else { nanos }
            }
        };
        Duration::from_nanos(self.preamble().as_nanos() + payload)
    }

    /// The most octets that fit into a PPDU of this duration.
    #[must_use]
    pub const fn octets_within(self, airtime: Duration) -> Bytes {
        let payload = airtime.as_nanos().saturating_sub(self.preamble().as_nanos());
        match self.format {
            Format::Dsss | Format::ShortDsss => Bytes(payload / 1_000 * DSSS_RATES[self.mcs as usize] / 10 / 8),
            _ => {
                let payload = if matches!(self.guard, Guard::Ns400) { payload / 4_000 * 4_000 } else { payload };
                let symbols = payload / self.symbol().as_nanos();
                Bytes((symbols * self.bits_per_symbol()).saturating_sub(self.extra_bits()) / 8)
            }
        }
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
