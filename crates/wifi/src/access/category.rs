//! Access categories and their parameters.

use crate::phy::Standard;
use acklab_base::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An access category. Without QoS, all frames are best effort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// AC_BK.
    Background,
    /// AC_BE.
    #[default]
    BestEffort,
    /// AC_VI.
    Video,
    /// AC_VO.
    Voice,
}

impl Category {
    /// All, lowest priority first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Returns the category of packets with this differentiated services codepoint (RFC 8325,
    /// §4.3): EF and VOICE-ADMIT are voice; AF3x, AF4x, CS4 and CS5 are video;
    /// CS1 and LE (RFC 8622) are background; all others are best effort.
    #[must_use]
    #[inline]
    pub const fn of_dscp(dscp: u8) -> Self {
        match dscp {
            // Nearly all packets.
            0 => Self::BestEffort,
            44 | 46 => Self::Voice,
            26 | 28 | 30 | 32 | 34 | 36 | 38 | 40 => Self::Video,
            1 | 8 => Self::Background,
            _ => Self::BestEffort,
        }
    }

    /// Returns a codepoint that maps to this category: EF (RFC 3246), AF41 (RFC 2597), DF (RFC
    /// 2474) and CS1 (RFC 4594).
    #[must_use]
    pub const fn dscp(self) -> u8 {
        match self {
            Self::Background => 8,
            Self::BestEffort => 0,
            Self::Video => 34,
            Self::Voice => 46,
        }
    }

    /// Returns its name in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Background => "background",
            Self::BestEffort => "best-effort",
            Self::Video => "video",
            Self::Voice => "voice",
        }
    }

    /// Returns the traffic identifier that its frames carry (Table 10-1).
    #[must_use]
    pub const fn tid(self) -> u8 {
        match self {
            Self::Background => 1,
            Self::BestEffort => 0,
            Self::Video => 5,
            Self::Voice => 6,
        }
    }
}

/// The policy by which failures and successes change the contention window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    /// The window is doubled on failure, and reset to CWmin on success (10.3.3).
    #[default]
    Standard,
    /// The window is doubled on failure and halved on success, so that it follows the contention
    /// (Kim et al., VTC 2006, Figure 9).
    Mimd,
}

/// Overrides of the EDCA parameters of one category. Absent values have the default of the
/// standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Overrides {
    /// CWmin in slots: the initial contention window. A backoff is drawn from 0 to the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 15)]
    pub cw_min: Option<u16>,
    /// CWmax in slots: the maximum of the contention window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 1023)]
    pub cw_max: Option<u16>,
    /// The policy that adapts the window to failures and successes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cw_control: Option<Control>,
    /// The lower limit of the window under `mimd`, in slots. Default: `cw_min`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 1)]
    pub cw_floor: Option<u16>,
    /// Slots between SIFS and the first slot of the backoff.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = 3)]
    pub aifsn: Option<u8>,
    /// The limit of a transmission opportunity; zero for a single frame exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = "4ms")]
    pub txop_limit: Option<Duration>,
}

/// The channel access parameters of one EDCAF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// CWmin in slots: the initial contention window.
    pub cw_min: u16,
    /// CWmax in slots: the maximum of the contention window.
    pub cw_max: u16,
    /// The policy that adapts the window to failures and successes.
    pub cw_control: Control,
    /// The lower limit of the window under [`Control::Mimd`]; CWmin if absent.
    pub cw_floor: Option<u16>,
    /// Slots between SIFS and the first slot of the backoff.
    pub aifsn: u8,
    /// The limit of a transmission opportunity; zero for a single frame exchange.
    pub txop_limit: Duration,
}

impl Parameters {
    /// Returns the parameters of DCF: the PHY's aCWmin, aCWmax and DIFS.
    #[must_use]
    pub const fn dcf(standard: Standard) -> Self {
        Self {
            cw_min: standard.generation().cw_min,
            // aCWmax of 16.3.4 (HR/DSSS) and 17.4.4 (OFDM).
            cw_max: 1023,
            cw_control: Control::Standard,
            cw_floor: None,
            aifsn: 2,
            txop_limit: Duration::ZERO,
        }
    }

    /// Returns the lower limit of the window under [`Control::Mimd`].
    #[must_use]
    pub const fn floor(&self) -> u16 {
        match self.cw_floor {
            Some(floor) => floor,
            None => self.cw_min,
        }
    }

    /// Returns these parameters with overrides.
    #[must_use]
    pub fn with(self, own: &Overrides) -> Self {
        Self {
            cw_min: own.cw_min.unwrap_or(self.cw_min),
            cw_max: own.cw_max.unwrap_or_else(|| self.cw_max.max(own.cw_min.unwrap_or(0))),
            cw_control: own.cw_control.unwrap_or(self.cw_control),
            cw_floor: own.cw_floor.or(self.cw_floor),
            aifsn: own.aifsn.unwrap_or(self.aifsn),
            txop_limit: own.txop_limit.unwrap_or(self.txop_limit),
        }
    }
}
