//! The data that one ACK reports as delivered, cumulatively and by SACK.

use super::segment::Sent;
use super::{Outcome, Scoreboard};
use crate::recovery::delivery_rate::{Newest, Stamp};
use acklab_base::Instant;

/// The data that one ACK reports as delivered.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// The number of delivered segments.
    pub segments: u64,
    /// The delivered transmission that was sent last.
    pub newest: Option<Newest>,
    /// That transmission's stamp, if stamps are recorded.
    pub stamp: Stamp,
    /// The number and sending time of the delivered transmission that was sent last. A
    /// retransmission whose acknowledgment arrives too soon is excluded.
    pub plausible: Option<(u64, Instant)>,
    /// The sending time of the plausible transmission that was processed last. SACKed segments are
    /// processed before cumulatively acknowledged ones.
    pub last_entered: Option<Instant>,
    /// The start of the lowest segment that was sent once and delivered after a segment that was
    /// sent later.
    pub reordered_from: Option<u64>,
    /// `true` if a segment below the recovery point that was sent once was delivered (Linux's
    /// `FLAG_ORIG_SACK_ACKED`).
    pub original_acked: bool,
    /// The limits of the ACK.
    pub(super) limits: Limits,
    /// The highest acknowledged offset, cumulatively or selectively, before this ACK.
    pub(super) prior_fack: u64,
}

/// The latest retransmissions that an ACK can acknowledge, and the recovery point.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits {
    /// The latest sending time of an acknowledged retransmission. Later ones were sent less than
    /// the minimum round-trip time ago (RFC 8985, §6.2, step 2).
    pub latest: Instant,
    /// The latest sending time of the segment that elicited the ACK, from its echoed timestamp. It
    /// applies only to segments that the ACK acknowledges cumulatively: an ACK with SACK blocks
    /// echoes the timestamp of the last segment in order (RFC 7323, §4.3).
    pub before: Option<Instant>,
    /// The recovery point.
    pub recover: u64,
}

impl Limits {
    /// Returns the latest sending time of a retransmission that is acknowledged cumulatively.
    pub(super) fn latest_of_cumulative(&self) -> Instant {
        let echoed = self.before.map(|before| Instant::from_nanos(before.as_nanos().saturating_sub(1)));
        echoed.map_or(self.latest, |echoed| echoed.min(self.latest))
    }
}

impl Scoreboard {
    /// Begins the processing of an ACK.
    pub fn begin_ack(&mut self, limits: Limits) {
        let delivery = &mut self.delivery;
        (delivery.segments, delivery.reordered_from, delivery.original_acked) = (0, None, false);
        (delivery.newest, delivery.plausible, delivery.last_entered) = (None, None, None);
        delivery.limits = limits;
        delivery.prior_fack = self.highest_sacked.max(self.una);
    }

    /// Clears the deliveries of original transmissions, because the ACK does not show which
    /// transmission has arrived. Without SACK, an ACK that covers a retransmission is not evidence
    /// about the originals behind it (Linux's `tcp_clean_rtx_queue` clears `FLAG_ORIG_SACK_ACKED`).
    pub const fn forget_originals(&mut self) {
        self.delivery.original_acked = false;
    }

    /// Returns the delivery of the latest ACK.
    #[must_use]
    pub const fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// Records the delivery of the segment at `index`, which begins at `start`. If it was a
    /// retransmission, it was sent no later than `latest`.
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
