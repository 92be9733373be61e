//! The generations of 802.11.
//!
//! A generation is a file with its [`Generation`] and the [`Phy`] of each PPDU format that it adds,
//! and an entry in the list below. From the list, the macro generates [`Standard`], [`Format`] and
//! everything that enumerates them. Code that depends on differences between generations reads
//! these descriptions.

mod a;
mod ac;
mod ax;
mod b;
mod be;
mod g;
mod n;

use super::{Band, Guard, Modulation, Width};
use acklab_base::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A modulation, and a coding rate as numerator and denominator.
pub type Coding = (Modulation, u64, u64);

/// The properties that distinguish generations of 802.11.
#[derive(Debug)]
pub struct Generation {
    /// The bands in which the generation operates. The default is first.
    pub bands: &'static [Band],
    /// The default channel width, or the maximum of the band if that is narrower.
    pub width: Width,
    /// The default guard interval.
    pub guard: Guard,
    /// The format of data PPDUs.
    pub format: Format,
    /// The rates of control frames.
    pub control: Control,
    /// aSlotTime; at 2.4 GHz only if all stations support it (18.4.5).
    pub slot: Duration,
    /// aCCATime: the duration after which a PPDU is sensed.
    pub cca: Duration,
    /// The signal extension: the time without transmission after each PPDU at 2.4 GHz.
    pub signal_extension: Duration,
    /// aCWmin.
    pub cw_min: u16,
    /// The minimum power in dBm at which a node must sense a channel of 20 MHz busy. It is
    /// proportional to the width.
    pub carrier_sense_dbm: f64,
    /// The limits of aggregates. A generation without aggregates has no QoS either: no access
    /// categories and no Block ACKs.
    pub aggregation: Option<Limits>,
}

/// The rates of ACK, Block ACK, CTS, RTS and Block ACK request frames.
#[derive(Debug)]
pub struct Control {
    /// The format of these frames.
    pub format: Format,
    /// The default basic rates, as indices of the format's rates, lowest first.
    pub basic: &'static [u8],
    /// The mandatory rates.
    pub mandatory: &'static [u8],
}

/// Limits of aggregates and of their acknowledgment.
#[derive(Debug)]
pub struct Limits {
    /// The maximum size of an A-MPDU.
    pub octets: Bytes,
    /// The maximum size of an A-MSDU.
    pub a_msdu: Bytes,
    /// The maximum number of frames that a Block ACK acknowledges: the size of its largest bitmap
    /// in bits.
    pub window: u16,
}

/// The PHY of one PPDU format: its modulations, and the parameters that determine the duration of a
/// PPDU.
#[derive(Debug)]
pub struct Phy {
    /// The name of the format in messages.
    pub name: &'static str,
    /// `true` if a mode is identified by its MCS, streams, width and guard interval. `false` if the
    /// rate alone identifies it.
    pub has_mcs: bool,
    /// Modulation and coding by MCS, or by index of the rate, slowest first.
    pub codings: &'static [Coding],
    /// The rates of DSSS, which has no subcarriers, in units of 100 kbps.
    pub dsss_rates: &'static [u64],
    /// Subcarriers that carry data, by width.
    pub data_subcarriers: &'static [(Width, u64)],
    /// The maximum number of spatial streams.
    pub streams: u8,
    /// The duration of a symbol without its guard interval, in nanoseconds.
    pub symbol: u64,
    /// The time from the first preamble bit to the first bit of the PSDU, without the long training
    /// fields of the format, in nanoseconds.
    pub preamble: u64,
    /// The guard intervals, each with one long training field in nanoseconds.
    pub training: &'static [(Guard, u64)],
    /// The signal fields: their modulation and their number of bits. If they are coded, the coding
    /// rate is 1/2. If they are not received, the whole PPDU is lost.
    pub signal: (Modulation, u32),
    /// The maximum channel width and the number of MCS, from the lowest on, with which PPDUs are
    /// coded with BCC. Other PPDUs are coded with LDPC. BCC is assumed where both are possible.
    pub convolutional: (Width, u8),
    /// Data bits of a symbol per BCC encoder; `None` for a single encoder.
    pub bits_per_encoder: Option<u64>,
    /// Exceptions: combinations of width, streams and MCS, each with its number of encoders.
    pub other_encoders: &'static [(Width, u8, u8, u64)],
    /// `true` if the format excludes some combinations of MCS, streams and width: those with a
    /// fractional number of bits per symbol, or with bits that could not be distributed evenly to
    /// the encoders. `false` if fractions are rounded down.
    pub has_whole_bits: bool,
    /// `true` if even a single frame is sent within an A-MPDU.
    pub is_always_a_mpdu: bool,
    /// `true` if a packet extension may follow the PPDU.
    pub has_packet_extension: bool,
}

macro_rules! generations {
    ($(
        $(#[$doc:meta])*
        $name:literal => $Standard:ident($module:ident) { $($(#[$format_doc:meta])* $Format:ident($phy:ident),)* }
    )*) => {
        /// A generation of 802.11.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
        pub enum Standard {
            $(
                $(#[$doc])*
                #[serde(rename = $name)]
                $Standard,
            )*
        }

        impl Standard {
            /// All, in the order of the registry.
            pub const ALL: &'static [Self] = &[$(Self::$Standard),*];

            /// Returns its name in scenarios and messages.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Standard => $name,)*
                }
            }

            /// Returns the properties that distinguish the generation.
            #[must_use]
            pub const fn generation(self) -> &'static Generation {
                match self {
                    $(Self::$Standard => &$module::GENERATION,)*
                }
            }
        }

        /// The format of a PPDU.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Format {
            $($(
                $(#[$format_doc])*
                $Format,
            )*)*
        }

        impl Format {
            /// All, in the order of the registry.
            pub const ALL: &'static [Self] = &[$($(Self::$Format,)*)*];

            /// Returns its PHY.
            #[must_use]
            pub const fn phy(self) -> &'static Phy {
                match self {
                    $($(Self::$Format => &$module::$phy,)*)*
                }
            }
        }
    };
}

generations! {
    /// 802.11b: DSSS and CCK, 1 to 11 Mbps at 2.4 GHz.
    "802.11b" => B(b) {
        /// DSSS and HR/DSSS with the long preamble (15.2.2, 16.2.2.2).
        Dsss(LONG_PREAMBLE),
        /// HR/DSSS with the short preamble (16.2.2.3).
        ShortDsss(SHORT_PREAMBLE),
    }
    /// 802.11g: OFDM, 6 to 54 Mbps at 2.4 GHz.
    "802.11g" => G(g) {}
    /// 802.11a: OFDM, 6 to 54 Mbps at 5 GHz.
    "802.11a" => A(a) {
        /// OFDM, or ERP-OFDM at 2.4 GHz (17.3.2).
        Ofdm(OFDM),
    }
    /// 802.11n: high throughput, 20 or 40 MHz, up to four streams.
    "802.11n" => N(n) {
        /// HT-mixed (19.3.2).
        Ht(HT),
    }
    /// 802.11ac: very high throughput, 20 to 160 MHz at 5 GHz, up to four streams here.
    "802.11ac" => Ac(ac) {
        /// 802.11ac: very high throughput, 20 to 160 MHz at 5 GHz, up to four streams here.
        Vht(VHT),
    }
    /// 802.11ax for a single user: high efficiency, 20 to 160 MHz, up to four streams here.
    "802.11ax" => Ax(ax) {
        /// HE for a single user (27.3.4).
        He(HE),
    }
    /// 802.11be for a single user on a single link: extremely high throughput, 20 to 320 MHz, up to
    /// four streams here.
    "802.11be" => Be(be) {
        /// EHT MU for a single user (36.3.4).
        Eht(EHT),
    }
}

impl Standard {
    /// Returns `true` if the generation has QoS: access categories, aggregates and Block ACKs.
    #[must_use]
    pub const fn has_qos(self) -> bool {
        self.generation().aggregation.is_some()
    }

    /// Returns the format of data PPDUs.
    #[must_use]
    pub const fn data_format(self) -> Format {
        self.generation().format
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Format {
    /// Returns `true` for DSSS, without symbols and without a signal extension.
    #[must_use]
    pub const fn is_dsss(self) -> bool {
        !self.phy().dsss_rates.is_empty()
    }

    /// Returns the number of MCS of one stream, or of rates.
    #[must_use]
    pub const fn indices(self) -> u8 {
        self.phy().codings.len() as u8
    }
}

impl Phy {
    /// Returns the channel widths of the generation.
    pub fn widths(&self) -> impl Iterator<Item = Width> {
        self.data_subcarriers.iter().map(|(width, _)| *width)
    }
}

/// Returns a table of MCS that extends another: each generation with MCS adds entries to the table
/// of the previous generation.
const fn continued<const LOWER: usize, const ALL: usize>(lower: [Coding; LOWER], more: &[Coding]) -> [Coding; ALL] {
    let mut all = [lower[0]; ALL];
    let mut index = 0;
    while index < ALL {
        all[index] = if index < LOWER { lower[index] } else { more[index - LOWER] };
        index += 1;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_found_under_its_name() {
        for standard in Standard::ALL {
            let named: Standard = serde_json::from_value(serde_json::Value::from(standard.name())).unwrap();
            assert_eq!(named, *standard);
        }
    }

    #[test]
    fn the_defaults_of_a_generation_are_among_what_its_phy_has() {
        for standard in Standard::ALL {
            let generation = standard.generation();
            let phy = generation.format.phy();
            assert!(phy.widths().any(|width| width == generation.width), "{standard}");
            assert!(phy.training.iter().any(|(guard, _)| *guard == generation.guard), "{standard}");
            assert_eq!(phy.has_mcs, standard.has_qos(), "{standard}");
            let rates = generation.control.format.indices();
            assert!(generation.control.basic.iter().all(|basic| generation.control.mandatory.contains(basic)));
            assert!(generation.control.mandatory.iter().all(|index| *index < rates), "{standard}");
        }
    }
}
