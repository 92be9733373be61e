//! The delivery of one ACK, cumulatively and by SACK.

use super::segment::Sent;
use super::{Outcome, Scoreboard};
use crate::recovery::delivery_rate::{Newest, Stamp};
use acklab_base::Instant;

/// The delivery of one ACK.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments delivered.
    pub segments: u64,
    /// The transmission among them that left last.
    pub newest: Option<Newest>,
    /// That transmission's stamp, if stamps are kept.
    pub stamp: Stamp,
    /// The same, without retransmissions whose acknowledgment comes so soon that it must be for an
    /// earlier transmission: the number of the transmission, and when it left.
    pub plausible: Option<(u64, Instant)>,
    /// When the plausible transmission left that was processed last. Segments that SACK
    /// acknowledges are processed before those that are acknowledged cumulatively.
    pub last_entered: Option<Instant>,
    /// Where the lowest segment begins that was sent only once and was delivered after one that was
    /// sent later.
    pub reordered_from: Option<u64>,
    /// A segment that was sent only once and lies below the recovery point was delivered (Linux's
    /// `FLAG_ORIG_SACK_ACKED`).
    pub original_acked: bool,
    /// The contents of the ACK besides its numbers.
    pub(super) limits: Limits,
    /// The end of everything acknowledged, cumulatively or selectively, before this ACK.
    pub(super) prior_fack: u64,
}

/// The retransmissions that an ACK can be for, and the recovery point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// A retransmission that left later than this cannot have been acknowledged yet: less than the
    /// minimum round trip has passed (RFC 8985, §6.2, step 2).
    pub latest: Instant,
    /// The instant before which the segment left that elicited the ACK, as its echoed timestamp
    /// shows. This holds only for segments that it acknowledges cumulatively. An ACK with SACK
    /// blocks echoes the timestamp of the last segment in order (RFC 7323, §4.3).
    pub before: Option<Instant>,
    /// The recovery point.
    pub recover: u64,
}

impl Limits {
    /// Returns the latest departure of a retransmission that is acknowledged cumulatively.
    pub(super) fn latest_of_cumulative(&self) -> Instant {
        let echoed = self.before.map(|before| Instant::from_nanos(before.as_nanos().saturating_sub(1)));
        echoed.map_or(self.latest, |echoed| echoed.min(self.latest))
    }
}

impl Scoreboard {
    /// Begins to process an ACK.
    pub fn begin_ack(&mut self, limits: Limits) {
        let delivery = &mut self.delivery;
        (delivery.segments, delivery.reordered_from, delivery.original_acked) = (0, None, false);
        (delivery.newest, delivery.plausible, delivery.last_entered) = (None, None, None);
        delivery.limits = limits;
        delivery.prior_fack = self.highest_sacked.max(self.una);
    }

    /// Forgets deliveries of originals: the ACK does not show which transmission of what it covers
    /// has arrived. Without SACK, one that covers a retransmission is no evidence about the
    /// originals behind it (Linux's `tcp_clean_rtx_queue` clears `FLAG_ORIG_SACK_ACKED`).
    pub const fn forget_originals(&mut self) {
        self.delivery.original_acked = false;
    }

    /// Returns the delivery of the latest ACK.
    #[must_use]
    pub const fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// Records the delivery of the segment at `index`, which begins at `start`. If it is a
    /// retransmission, it left by `latest` at the latest.
    pub(super) fn note_delivered(&mut self, index: usize, start: u64, segment: &Sent, latest: Instant) {
        let Sent { at, number, end, ever_retransmitted, .. } = *segment;
        let delivery = &mut self.delivery;
        delivery.segments += 1;
        if !ever_retransmitted && end <= delivery.prior_fack {
            delivery.reordered_from = Some(delivery.reordered_from.map_or(start, |from| from.min(start)));
        }
        delivery.original_acked |= !ever_retransmitted && end <= delivery.limits.recover;
        if delivery.newest.is_none_or(|than| number > than.number) {
            delivery.newest = Some(Newest { at, number, is_retransmission: ever_retransmitted });
            if let Some(stamp) = self.stamps.get(index) {
                delivery.stamp = *stamp;
            }
        }
        if !ever_retransmitted || at <= latest {
            delivery.last_entered = Some(at);
            if delivery.plausible.is_none_or(|(than, _)| number > than) {
                delivery.plausible = Some((number, at));
            }
        }
        self.note_outcome(segment.at, Outcome::Delivered { was_lost: segment.loss_reported });
    }
}
