//! The effect of one ACK, in the form that the parts of the sender need.

use super::ecn::Echoed;
use super::inform::AckReport;
use crate::recovery::scoreboard::Advance;
use acklab_base::Instant;

/// The effect of one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckSummary {
    pub(super) advance: Advance,
    /// The newly acknowledged bytes, cumulatively or selectively, and those delivered twice.
    pub(super) delivered: u64,
    /// The send times of the first and the last newly SACKed segment. Retransmitted segments do not
    /// count.
    pub(super) newly_sacked_sent: Option<(Instant, Instant)>,
    /// `true` if it restarts the retransmission timer even without advancing snd.una.
    pub(super) restarts_timer: bool,
    /// Bytes that D-SACK reports as received twice, as far as they count as delivered.
    pub(super) delivered_twice: u64,
    /// Newly SACKed bytes.
    pub(super) newly_sacked: u64,
    /// Bytes newly marked lost.
    pub(super) lost: u64,
    /// `true` if a retransmission is among them.
    pub(super) retransmissions_lost: bool,
    /// `true` if it has new SACK information (RFC 6675, §2) or, without SACK, is a duplicate ACK
    /// (RFC 5681, §2).
    pub(super) is_duplicate: bool,
    /// `true` if it is below snd.una, so that only its SACK blocks count.
    pub(super) is_old: bool,
    /// `true` if a D-SACK reports that the tail loss probe and the segment that it repeats both
    /// arrived.
    pub(super) reports_probe: bool,
    /// The timestamp that it echoes.
    pub(super) echo: Option<u32>,
    /// Bytes in flight before it.
    pub(super) prior_flight: u64,
    /// The marks that it echoes.
    pub(super) echoed: Echoed,
}

impl AckSummary {
    /// Returns the report to the controller, without a sample of the round-trip time.
    pub(super) const fn report(&self, growth: u64) -> AckReport {
        let Self { delivered, prior_flight, echoed, .. } = *self;
        AckReport { delivered, marked: echoed.marked, prior_flight, rtt: None, growth }
    }

    /// Returns `true` if it advances snd.una and has new SACK information. Without SACK, it never
    /// does both.
    pub(super) const fn advances_with_sack(&self) -> bool {
        self.is_duplicate && self.advance.bytes > 0
    }
}
