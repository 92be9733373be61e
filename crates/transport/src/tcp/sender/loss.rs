//! The state of loss detection in addition to the scoreboard: duplicate ACKs, RACK and the tail
//! loss probe.

use crate::recovery::rack::{Rack, RoundTrip, TailLossProbe};
use crate::recovery::reordering::Reordering;
use crate::recovery::retransmitted::Retransmitted;
use crate::recovery::scoreboard::Delivery;
use acklab_base::Instant;

/// The state of loss detection.
#[derive(Clone, Debug, Default)]
pub(super) struct LossDetection {
    pub(super) rack: Rack,
    pub(super) probe: TailLossProbe,
    /// The number of consecutive duplicate ACKs (RFC 5681, §3.2).
    pub(super) duplicates: u32,
    /// `recover` of RFC 6582: the end of the data sent when the last recovery began.
    pub(super) repaired_until: Option<u64>,
    /// The displacement of packets. It remains `DupThresh` if the stack does not measure
    /// displacement.
    pub(super) reordering: Reordering,
    /// Retransmissions that D-SACK may still report.
    pub(super) retransmitted: Retransmitted,
    /// The number of segments that D-SACK has reported.
    pub(super) dsacked_segments: u64,
}

impl LossDetection {
    /// Processes a delivery (RFC 8985, §6.2, steps 2 and 3). Returns `false` if the delivery is no
    /// evidence for RACK.
    #[inline]
    pub(super) fn on_delivery(&mut self, now: Instant, delivery: &Delivery, round_trip: RoundTrip) -> bool {
        let Some((newest, at)) = delivery.plausible else { return false };
        let left_at = match round_trip {
            RoundTrip::Newest => at,
            RoundTrip::LastEntered => delivery.last_entered.unwrap_or(at),
        };
        self.rack.on_delivery(newest, now.since(left_at), delivery.reordered_from.is_some());
        true
    }

    /// Returns `true` if enough duplicate ACKs have arrived to indicate a loss.
    pub(super) const fn has_enough_duplicates(&self) -> bool {
        self.duplicates >= self.reordering.degree()
    }
}
