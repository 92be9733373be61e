//! The physical layers as data: rates, durations of PPDUs, and interframe spaces.
//!
//! | module | holds |
//! |---|---|
//! | [`generation`] | the generations of 802.11, a file each |
//! | `mode` | the mode of a PPDU: its rate and its duration |
//! | `control` | the rates of control frames |
//! | `timing` | interframe spaces and timeouts |
//! | `band` | frequency bands and channel widths |
//! | `guard` | guard intervals |
//!
//! Clauses are those of IEEE Std 802.11-2020: 15 DSSS, 16 HR/DSSS (b), 17 OFDM (a), 18 ERP (g), 19
//! HT (n), 21 VHT (ac). Clause 27 HE (ax) is from 802.11ax-2021, and clause 36 EHT (be) is from
//! 802.11be-2024.

mod band;
mod control;
pub mod generation;
mod guard;
mod mode;
mod timing;

pub use band::{Band, Width};
pub use control::ControlRates;
pub use generation::{Format, Standard};
pub use guard::Guard;
pub use mode::{Mode, Modulation};
pub use timing::Timing;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The packet extension of an HE or EHT PPDU: the nominal packet padding that its receivers require
/// (27.3.13, 36.3.14). Padding within the last symbol, which shortens the extension, is not
/// modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PacketExtension {
    /// No extension.
    #[default]
    #[serde(rename = "0us")]
    None,
    /// An extension of 8 µs.
    #[serde(rename = "8us")]
    Us8,
    /// An extension of 16 µs.
    #[serde(rename = "16us")]
    Us16,
}

impl PacketExtension {
    /// Returns the duration of the extension.
    #[must_use]
    pub const fn duration(self) -> acklab_base::Duration {
        acklab_base::Duration::from_micros(match self {
            Self::None => 0,
            Self::Us8 => 8,
            Self::Us16 => 16,
        })
    }
}
