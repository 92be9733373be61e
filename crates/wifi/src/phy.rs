//! The physical layers as data: rates, durations of PPDUs, and interframe spaces.
//!
//! Clauses are those of IEEE Std 802.11-2020: 15 DSSS, 16 HR/DSSS (b), 17 OFDM (a), 18 ERP (g), 19 HT (n), 21 VHT (ac); 27 HE (ax) is
//! of 802.11ax-2021.

mod control;
mod mode;
mod timing;

pub use control::ControlRates;
pub use mode::{Format, Guard, Mode, Modulation, Width};
pub use timing::Timing;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A generation of 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Standard {
    /// 802.11b: DSSS and CCK, 1 to 11 Mbps at 2.4 GHz.
    #[serde(rename = "802.11b")]
    B,
    /// 802.11g: OFDM, 6 to 54 Mbps at 2.4 GHz.
    #[serde(rename = "802.11g")]
    G,
    /// 802.11a: OFDM, 6 to 54 Mbps at 5 GHz.
    #[serde(rename = "802.11a")]
    A,
    /// 802.11n: high throughput, 20 or 40 MHz, up to four streams.
    #[serde(rename = "802.11n")]
    N,
    /// 802.11ac: very high throughput, 20 to 160 MHz at 5 GHz, up to four streams here.
    #[serde(rename = "802.11ac")]
    Ac,
    /// 802.11ax for a single user: high efficiency, 20 to 160 MHz, up to four streams here.
    #[serde(rename = "802.11ax")]
    Ax,
}

impl Standard {
    /// Does it send with QoS: access categories, aggregates and block ACKs?
    #[must_use]
    pub const fn has_qos(self) -> bool {
        matches!(self, Self::N | Self::Ac | Self::Ax)
    }

    /// The format of its data PPDUs.
    #[must_use]
    pub const fn data_format(self) -> Format {
        match self {
            Self::B => Format::Dsss,
            Self::G | Self::A => Format::Ofdm,
            Self::N => Format::Ht,
            Self::Ac => Format::Vht,
            Self::Ax => Format::He,
        }
    }
}

impl fmt::Display for Standard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::B => "802.11b",
            Self::G => "802.11g",
            Self::A => "802.11a",
            Self::N => "802.11n",
            Self::Ac => "802.11ac",
            Self::Ax => "802.11ax",
        })
    }
}

/// How long the packet extension of an HE PPDU is: the nominal packet padding that its receivers ask for (27.3.13). The padding within
/// the last symbol, which shortens it, is not modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PacketExtension {
    /// None.
    #[default]
    #[serde(rename = "0us")]
    None,
    /// 8 µs.
    #[serde(rename = "8us")]
    Us8,
    /// 16 µs.
    #[serde(rename = "16us")]
    Us16,
}

impl PacketExtension {
    /// As a duration.
    #[must_use]
    pub const fn duration(self) -> acklab_base::Duration {
        acklab_base::Duration::from_micros(match self {
            Self::None => 0,
            Self::Us8 => 8,
            Self::Us16 => 16,
        })
    }
}

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Band {
    /// 2.4 GHz: SIFS of 10 µs, and a signal extension of 6 µs behind each OFDM PPDU.
    #[serde(rename = "2.4GHz")]
    Ghz2,
    /// 5 GHz: SIFS of 16 µs.
    #[serde(rename = "5GHz")]
    Ghz5,
}
