//! Counts deliveries by ACKs without SACK: each duplicate ACK represents a segment (RFC 9937, §6;
//! Linux's `tcp_add_reno_sack`).

use super::super::rules::{PlainDelivery, PlainExit, ReorderingDegree};
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::scoreboard::Advance;
use crate::recovery::{self, CongestionState};
use acklab_base::Instant;

/// RFC 3042, §2: the number of duplicate ACKs on which new data may be sent before a recovery.
const LIMITED_TRANSMIT: u32 = 2;

impl Sender {
    /// Counts a duplicate ACK as the delivery of a segment. Resets the count if an ACK advances
    /// snd.una outside a fast recovery (Linux's `tcp_reset_reno_sack`). Returns the bytes that the
    /// duplicate ACK delivers.
    #[inline(never)]
    pub(super) fn count_without_sack(&mut self, is_duplicate: bool, advance: &Advance) -> u64 {
        let mss = self.congestion.control.window.mss;
        if advance.bytes > 0 {
            if advance.retransmission_acked {
                self.board.forget_originals();
            }
            if self.congestion.state != CongestionState::Recovery {
                self.board.clear_duplicate_credit();
            } else if self.board.limit_duplicate_credit(mss) {
                self.note_excess_duplicates(advance.bytes.div_ceil(mss) as usize);
            }
            return 0;
        }
        if !is_duplicate || !self.counts_duplicates() {
            return 0;
        }
        let delivered = self.board.duplicate_without_sack(mss);
        if delivered < mss {
            self.note_excess_duplicates(0);
        }
        delivered
    }

    /// Returns the bytes of an ACK that congestion control counts as delivered. `delivered` is the
    /// number by acknowledgment numbers and duplicate ACKs.
    #[inline]
    pub(super) fn newly_delivered(&self, delivered: u64) -> u64 {
        if self.connection.has_sack || self.rules.plain_delivery == PlainDelivery::EachDuplicate {
            return delivered;
        }
        (self.board.una() + self.board.reported()).saturating_sub(self.counters.delivered)
    }

    /// Returns `true` if duplicate ACKs are counted as deliveries. After a timeout, retransmissions
    /// may have elicited them. The first two are counted only if data may be sent (RFC 3042), later
    /// ones only if they begin a recovery.
    fn counts_duplicates(&self) -> bool {
        match self.congestion.state {
            CongestionState::Loss => false,
            CongestionState::Recovery => true,
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => {
                let sends = self.loss.duplicates < LIMITED_TRANSMIT || self.is_beyond_last_recovery();
                self.config.limited_transmit && sends
            }
        }
    }

    /// Handles more duplicate ACKs than segments can have arrived. `acked` segments were just
    /// acknowledged. Linux treats the excess as reordering (`tcp_check_reno_reordering`).
    fn note_excess_duplicates(&mut self, acked: usize) {
        if self.rules.reordering_degree == ReorderingDegree::Measured {
            self.loss.reordering.on_excess_duplicates(self.board.segments() + acked);
            self.loss.rack.on_reordering();
        }
    }

    /// Returns `true` if enough duplicate ACKs have arrived to imply a loss, and retransmissions of
    /// the last recovery did not elicit them.
    pub(super) fn shows_loss_by_duplicates(&self) -> bool {
        self.loss.has_enough_duplicates()
            && (self.connection.has_sack || (self.duplicates_may_count() && self.is_beyond_last_recovery()))
    }

    /// Returns `true` if another duplicate ACK may be counted. Linux counts at most one less than
    /// the number of outstanding segments.
    fn duplicates_may_count(&self) -> bool {
        let degree = self.loss.reordering.degree() as usize;
        self.rules.reordering_degree == ReorderingDegree::Fixed || self.board.segments() > degree
    }

    /// Returns `true` if the ACK reaches the recovery point, but the recovery continues until an
    /// ACK of later data.
    pub(super) fn holds_recovery(&self, summary: &AckSummary) -> bool {
        self.rules.plain_exit == PlainExit::BeyondAcknowledged
            && !self.connection.has_sack
            && self.config.recovery != recovery::Algorithm::Reno
            && summary.advance.bytes > 0
            && self.board.una() == self.congestion.recover
    }

    /// Prolongs the recovery until an ACK of later data. Duplicate ACKs elicited by its
    /// retransmissions then start no new recovery (Linux's `tcp_is_non_sack_preventing_reopen`).
    #[inline(never)]
    pub(super) fn hold_recovery(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        self.board.clear_duplicate_credit();
        self.reduce(summary);
        self.timing.restart(now);
        0
    }
}
