//! Frequency bands and channel widths.

use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A frequency band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Band {
    /// 2.4 GHz: SIFS of 10 µs, and a signal extension of 6 µs after each OFDM PPDU.
    #[serde(rename = "2.4GHz")]
    Ghz2,
    /// 5 GHz: SIFS of 16 µs.
    #[serde(rename = "5GHz")]
    Ghz5,
    /// 6 GHz: like 5 GHz, but without stations of generations before 802.11ax.
    #[serde(rename = "6GHz")]
    Ghz6,
}

impl Band {
    /// Returns its name in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ghz2 => "2.4GHz",
            Self::Ghz5 => "5GHz",
            Self::Ghz6 => "6GHz",
        }
    }

    /// Returns aSIFSTime: 10 µs at 2.4 GHz (Tables 16-4, 18-5), otherwise 16 µs (Table 17-21;
    /// 27.4.4, 36.4.4).
    #[must_use]
    pub const fn sifs(self) -> Duration {
        match self {
            Self::Ghz2 => Duration::from_micros(10),
            Self::Ghz5 | Self::Ghz6 => Duration::from_micros(16),
        }
    }

    /// Returns the maximum channel width of the band in any generation: 40 MHz at 2.4 GHz (27.1.1),
    /// 320 MHz only at 6 GHz (36.1.1).
    #[must_use]
    pub const fn widest(self) -> Width {
        match self {
            Self::Ghz2 => Width::Mhz40,
            Self::Ghz5 => Width::Mhz160,
            Self::Ghz6 => Width::Mhz320,
        }
    }

    /// Returns the centre frequency in GHz of a channel of 20 MHz: channel 6 in the middle of the
    /// 2.4 GHz band, channel 36 at the lower end of 5 GHz, and channel 1 at the lower end of 6 GHz
    /// (Annex E).
    #[must_use]
    pub const fn centre_ghz(self) -> f64 {
        match self {
            Self::Ghz2 => 2.437,
            Self::Ghz5 => 5.18,
            Self::Ghz6 => 5.955,
        }
    }
}

impl fmt::Display for Band {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Channel width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Width {
    /// 20 MHz; 22 MHz with DSSS.
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
    /// 320 MHz, at 6 GHz.
    #[serde(rename = "320MHz")]
    Mhz320,
}

impl Width {
    /// All, narrowest first.
    pub const ALL: [Self; 5] = [Self::Mhz20, Self::Mhz40, Self::Mhz80, Self::Mhz160, Self::Mhz320];

    /// Returns the width in megahertz.
    #[must_use]
    pub const fn megahertz(self) -> u16 {
        match self {
            Self::Mhz20 => 20,
            Self::Mhz40 => 40,
            Self::Mhz80 => 80,
            Self::Mhz160 => 160,
            Self::Mhz320 => 320,
        }
    }

    /// Returns the width in hertz.
    #[must_use]
    pub fn hertz(self) -> f64 {
        f64::from(self.megahertz()) * 1e6
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}MHz", self.megahertz())
    }
}
