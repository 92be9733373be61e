//! In which mode the next PPDU is sent.
//!
//! | module | holds |
//! |---|---|
//! | [`capabilities`] | what both ends can do, and all modes of that |
//! | [`fixed`] | the one mode that a configuration names |

mod capabilities;
mod fixed;
mod refusal;

pub use capabilities::Capabilities;
pub use refusal::Refusal;

use crate::phy::Mode;
use acklab_base::{Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A rate control.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "control", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Config {
    /// Always the same mode; if neither `rate` nor `mcs` names one, the fastest.
    Fixed {
        /// The rate of the payload, as the tables of the standard print it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(example = "54Mbps")]
        rate: Option<Rate>,
        /// The MCS of one stream: 0 to 7 in 802.11n, to 9 in 802.11ac, to 11 in 802.11ax.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mcs: Option<u8>,
        /// Spatial streams; without this, of an MCS as many as both ends have, and of a rate as few as have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        streams: Option<u8>,
    },
}

impl Default for Config {
    fn default() -> Self {
        Self::Fixed { rate: None, mcs: None, streams: None }
    }
}

/// The rate control of one transmitter for one receiver.
#[derive(Clone, Debug)]
pub enum RateControl {
    /// Always this mode.
    Fixed(Mode),
}

impl RateControl {
    /// The rate control of this configuration between two ends that are able to do this.
    ///
    /// # Errors
    /// If the configuration names a mode that there is not.
    pub fn new(config: Config, able: Capabilities) -> Result<Self, Refusal> {
        match config {
            Config::Fixed { rate, mcs, streams } => fixed::named(able, rate, mcs, streams).map(Self::Fixed),
        }
    }

    /// The fastest mode that it may choose.
    #[must_use]
    pub const fn fastest(&self) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
        }
    }

    /// The mode of the next PPDU. `attempt` counts from 0 the transmissions of its first frame that failed.
    pub fn choose(&mut self, _now: Instant, _attempt: u32) -> Mode {
        match self {
            Self::Fixed(mode) => *mode,
        }
    }

    /// How a PPDU fared: of `attempted` MPDUs `delivered` were acknowledged; none, if no answer came.
    pub fn report(&mut self, _now: Instant, _mode: Mode, _attempted: u32, _delivered: u32) {
        match self {
            Self::Fixed(_) => {}
        }
    }

    /// The signal-to-noise ratio in dB at which the peer's last frame or answer was received.
    pub fn heard(&mut self, _now: Instant, _snr_db: f64) {
        match self {
            Self::Fixed(_) => {}
        }
    }
}
