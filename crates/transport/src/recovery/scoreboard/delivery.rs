//! What one ACK delivers, cumulatively and by SACK.

use super::segment::Sent;
use super::{Outcome, Scoreboard};
use crate::recovery::delivery_rate::{Newest, Stamp};
use acklab_base::Instant;

/// What one ACK delivers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments delivered.
    pub segments: u64,
    /// The transmission among them that left last.
    pub newest: Option<Newest>,
    /// That transmission's stamp, if stamps are kept.
    pub stamp: Stamp,
    /// The same without retransmissions that are acknowledged so soon that the ACK must be for an earlier transmission: the number of
    /// the transmission, and when it left.
    pub plausible: Option<(u64, Instant)>,
    /// When the plausible transmission left that was processed last. Segments that SACK acknowledges are processed before those that
    /// are acknowledged cumulatively.
    pub last_entered: Option<Instant>,
    /// A segment that was sent only once was delivered after one that was sent later.
    pub is_reordered: bool,
    /// A retransmission that left later than this cannot have been acknowledged yet.
    pub(super) plausible_before: Instant,
    /// The end of everything acknowledged, cumulatively or selectively, before this ACK.
    pub(super) prior_fack: u64,
}

impl Scoreboard {
    /// Begins to process an ACK. A retransmission that left after `plausible_before` cannot have been acknowledged yet.
    pub fn begin_ack(&mut self, plausible_before: Instant) {
        let delivery = &mut self.delivery;
        (delivery.segments, delivery.is_reordered) = (0, false);
        (delivery.newest, delivery.plausible, delivery.last_entered) = (None, None, None);
        delivery.plausible_before = plausible_before;
        delivery.prior_fack = self.highest_sacked.max(self.una);
    }

    /// What the ACK delivers that was begun last.
    #[must_use]
    pub const fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// The segment at `index` is delivered.
    pub(super) fn note_delivered(&mut self, index: usize, segment: &Sent) {
        let Sent { at, number, end, ever_retransmitted, .. } = *segment;
        let delivery = &mut self.delivery;
        delivery.segments += 1;
        delivery.is_reordered |= !ever_retransmitted && end <= delivery.prior_fack;
        if delivery.newest.is_none_or(|than| number > than.number) {
            delivery.newest = Some(Newest { at, number, is_retransmission: ever_retransmitted });
            if let Some(stamp) = self.stamps.get(index) {
                delivery.stamp = *stamp;
            }
        }
        if !ever_retransmitted || at <= delivery.plausible_before {
            delivery.last_entered = Some(at);
            if delivery.plausible.is_none_or(|(than, _)| number > than) {
                delivery.plausible = Some((number, at));
            }
        }
        self.note_fate(segment.at, Outcome::Delivered { was_lost: segment.loss_reported });
    }
}
