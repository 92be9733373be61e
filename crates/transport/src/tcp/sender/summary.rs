//! What one ACK brings, as the parts of the sender need to know it.

use super::ecn::Echoed;
use crate::recovery::scoreboard::Advance;
use acklab_base::Instant;

/// What one ACK brings.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSummary {
    pub(super) advance: Advance,
    /// Octets newly acknowledged, cumulatively or selectively.
    pub(super) delivered: u64,
    /// When the earliest segment left that SACK newly acknowledges and that was never retransmitted.
    pub(super) newly_sacked_at: Option<Instant>,
    /// Octets newly marked lost.
    pub(super) lost: u64,
    /// It brings new SACK information (RFC 6675, §2); without SACK, it is a duplicate ACK (RFC 5681, §2).
    pub(super) is_duplicate: bool,
    /// It carries a D-SACK (RFC 2883): something arrived twice.
    pub(super) has_dsack: bool,
    /// The timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// Octets in flight before it.
    pub(super) prior_flight: u64,
    /// What it echoes of marks.
    pub(super) echoed: Echoed,
}

impl AckSummary {
    /// Returns `true` if it advances snd.una and brings new SACK information. Without SACK it never does both.
    pub(super) const fn advances_with_sack(&self) -> bool {
        self.is_duplicate && self.advance.bytes > 0
    }
}
