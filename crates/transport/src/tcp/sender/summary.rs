//! The effect of one ACK, for the parts of the sender.

use super::ecn::Echoed;
use super::inform::AckReport;
use crate::recovery::scoreboard::Advance;
use acklab_base::Instant;

/// The effect of one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSummary {
    pub(super) advance: Advance,
    /// The newly acknowledged bytes, cumulatively or selectively, plus bytes delivered twice.
    pub(super) delivered: u64,
    /// The departure times of the first and the last newly SACKed segment. Retransmitted segments
    /// are ignored.
    pub(super) newly_sacked_sent: Option<(Instant, Instant)>,
    /// `true` if the ACK restarts the retransmission timer even without advancing snd.una.
    pub(super) restarts_timer: bool,
    /// Bytes that D-SACK reports as received twice, if they are counted as delivered.
    pub(super) delivered_twice: u64,
    /// Newly SACKed bytes.
    pub(super) newly_sacked: u64,
    /// Bytes newly marked lost.
    pub(super) lost: u64,
    /// `true` if a retransmission was newly marked lost.
    pub(super) retransmissions_lost: bool,
    /// `true` if the ACK has new SACK information (RFC 6675, §2) or, without SACK, is a duplicate
    /// ACK (RFC 5681, §2).
    pub(super) is_duplicate: bool,
    /// `true` if the ACK is below snd.una, so that only its SACK blocks are processed.
    pub(super) is_old: bool,
    /// `true` if a D-SACK reports that the tail loss probe and the original segment have both
    /// arrived.
    pub(super) reports_probe: bool,
    /// The timestamp that the ACK echoes.
    pub(super) echo: Option<u32>,
    /// Bytes in flight before the ACK.
    pub(super) prior_flight: u64,
    /// The marks that the ACK echoes.
    pub(super) echoed: Echoed,
}

impl AckSummary {
    /// Returns the report to the controller, without a sample of the round-trip time.
    pub(super) const fn report(&self, growth: u64) -> AckReport {
        let Self { delivered, prior_flight, echoed, .. } = *self;
        AckReport { delivered, marked: echoed.marked, prior_flight, rtt: None, growth }
    }

    /// Returns `true` if the ACK advances snd.una and has new SACK information. Without SACK,
    /// always returns `false`.
    pub(super) const fn advances_with_sack(&self) -> bool {
        self.is_duplicate && self.advance.bytes > 0
    }
}
