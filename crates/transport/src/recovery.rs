//! What a sender believes lost, and what it does about it.
//!
//! | module | rule |
//! |---|---|
//! | [`scoreboard`] | what is outstanding, selectively acknowledged, lost, sent again (RFC 6675) |
//! | [`prr`] | how much may be sent on each ACK of a recovery (RFC 9937) |
//! | [`rtt`] | the smoothed round-trip time (RFC 6298, §2) |
//! | [`rto`] | the retransmission timer (RFC 6298, §5) |

pub mod prr;
pub mod rto;
pub mod rtt;
pub mod scoreboard;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What governs the window during a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Proportional rate reduction (RFC 9937).
    Prr,
    /// The window falls to the threshold at once (RFC 6675; RFC 6582 without SACK).
    Classic,
}

impl Algorithm {
    /// Its name, as scenarios spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prr => "prr",
            Self::Classic => "classic",
        }
    }
}

/// `DupThresh` of RFC 6675, §2: so many segments must be acknowledged above one before it counts as lost.
pub const DUP_THRESH: u32 = 3;
