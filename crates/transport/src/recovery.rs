//! Loss recovery: detects losses and retransmits lost data.
//!
//! | module | contents |
//! |---|---|
//! | [`scoreboard`] | outstanding segments, and whether each is selectively acknowledged, lost or retransmitted (RFC 6675) |
//! | [`packets`] | the same for packet numbers (RFC 9002) |
//! | [`manager`] | recovery of a connection over packet numbers, with its round-trip times and its congestion control |
//! | [`rack`] | loss by time, and tail loss probes (RFC 8985) |
//! | [`reordering`] | the displacement of packets on the path, in segments |
//! | [`retransmitted`] | the retransmissions that D-SACK may still report (RFC 3708) |
//! | [`undo`] | detection of spurious reductions (RFC 3522, RFC 3708) |
//! | [`prr`] | the bytes to send on each ACK of a recovery (RFC 9937) |
//! | [`rtt`] | the smoothed round-trip time (RFC 6298, §2) |
//! | [`rto`] | the retransmission timer (RFC 6298, §5) |
//! | [`alarm`] | a timer that may be unset |
//! | [`delivery_rate`] | the delivery rate (draft-ietf-ccwg-bbr, §4.1) |
//! | [`transmission`] | the outcome of each transmission |

pub mod alarm;
pub mod delivery_rate;
pub mod manager;
pub mod packets;
pub mod prr;
pub mod rack;
pub mod reordering;
pub mod retransmitted;
pub mod rto;
pub mod rtt;
pub mod scoreboard;
pub mod transmission;
pub mod undo;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The algorithm that sets the window during a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Proportional rate reduction (RFC 9937).
    Prr,
    /// The window is set to the threshold immediately (RFC 6675; RFC 6582 without SACK).
    Classic,
    /// Like `Classic`, but the first ACK of new data ends the recovery even if more data were lost
    /// (RFC 2581, §3.2; ns-2's `Agent/TCP/Reno`).
    Reno,
    /// No fast recovery: the window falls to one segment, and slow start retransmits all
    /// outstanding data, as after a timeout (Fall & Floyd, "Simulation-based Comparisons of Tahoe,
    /// Reno and SACK TCP", 1996, §2; ns-2's `Agent/TCP`).
    Tahoe,
}

impl Algorithm {
    /// Returns the name of the algorithm in scenarios.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prr => "prr",
            Self::Classic => "classic",
            Self::Reno => "reno",
            Self::Tahoe => "tahoe",
        }
    }
}

/// The condition under which a segment is considered lost before the retransmission timer expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// Three segments selectively acknowledged above it, or three duplicate ACKs (RFC 6675, §4; RFC
    /// 5681, §3.2).
    DupThresh,
    /// Time: a later transmission has been delivered, and the segment has been outstanding for too
    /// long (RFC 8985, §6). Without SACK: `DupThresh`.
    Rack,
}

/// `DupThresh` of RFC 6675, §2: the number of acknowledged later segments after which a segment is
/// considered lost.
pub const DUP_THRESH: u32 = 3;

/// The state of congestion control. The names are those of Linux and ns-3, except `Reduced`, which
/// is `TCP_CA_CWR` there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionState {
    /// The normal state.
    Open,
    /// Duplicate ACKs or SACKs have arrived, and no segment is considered lost yet.
    Disorder,
    /// The congestion window was reduced (CWR) without anything to retransmit. The cause was an
    /// echoed congestion mark (RFC 3168) or a probe that repaired a loss (RFC 8985, §7.4).
    Reduced,
    /// Fast recovery.
    Recovery,
    /// Recovery after a retransmission timeout.
    Loss,
}

impl CongestionState {
    /// Returns `true` if the window has been reduced because of congestion.
    #[must_use]
    pub const fn reduces(self) -> bool {
        matches!(self, Self::Reduced | Self::Recovery | Self::Loss)
    }
}
