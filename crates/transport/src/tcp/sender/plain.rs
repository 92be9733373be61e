//! Counts deliveries by ACKs without SACK: each duplicate represents a segment (RFC 9937, §6;
//! Linux's `tcp_add_reno_sack`).

use super::super::rules::{PlainDelivery, PlainExit, ReorderingDegree};
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::scoreboard::Advance;
use crate::recovery::{self, CongestionState};
use acklab_base::Instant;

/// RFC 3042, §2: the number of duplicate ACKs that may send new data before a recovery.
const LIMITED_TRANSMIT: u32 = 2;

impl Sender {
    /// Counts a duplicate ACK as the delivery of a segment. Ends the count if an ACK advances
    /// snd.una outside a fast recovery (Linux's `tcp_reset_reno_sack`). Returns the bytes that the
    /// duplicate delivers.
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

    /// Returns the bytes of an ACK that count as delivered for congestion control. By its numbers
    /// and duplicates, it delivers `delivered` bytes.
    #[inline]
    pub(super) fn newly_delivered(&self, delivered: u64) -> u64 {
        if self.connection.has_sack || self.rules.plain_delivery == PlainDelivery::EachDuplicate {
            return delivered;
        }
        (self.board.una() + self.board.reported()).saturating_sub(self.counters.delivered)
    }

    /// Returns `true` if duplicates count as deliveries. After a timeout, its own retransmissions
    /// may have elicited them. The first two count only if they may send data (RFC 3042), later
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

    /// Processes more duplicates than segments can have arrived, with `acked` segments just
    /// acknowledged. Linux treats this as reordering (`tcp_check_reno_reordering`).
    fn note_excess_duplicates(&mut self, acked: usize) {
        if self.rules.reordering_degree == ReorderingDegree::Measured {
            self.loss.reordering.on_excess_duplicates(self.board.segments() + acked);
            self.loss.rack.on_reordering();
        }
    }

    /// Returns `true` if enough duplicate ACKs have arrived to indicate a loss, and the last
    /// recovery's retransmissions did not elicit them.
    pub(super) fn shows_loss_by_duplicates(&self) -> bool {
        self.loss.has_enough_duplicates()
            && (self.connection.has_sack || (self.duplicates_may_count() && self.is_beyond_last_recovery()))
    }

    /// Returns `true` if another duplicate may count. Linux counts at most one less than the
    /// outstanding segments.
    fn duplicates_may_count(&self) -> bool {
        let degree = self.loss.reordering.degree() as usize;
        self.rules.reordering_degree == ReorderingDegree::Fixed || self.board.segments() > degree
    }

    /// Returns `true` if the ACK reaches the recovery point and the recovery waits for an ACK of
    /// later data.
    pub(super) fn holds_recovery(&self, summary: &AckSummary) -> bool {
        self.rules.plain_exit == PlainExit::BeyondAcknowledged
            && !self.connection.has_sack
            && self.config.recovery != recovery::Algorithm::Reno
            && summary.advance.bytes > 0
            && self.board.una() == self.congestion.recover
    }

    /// Prolongs the recovery until an ACK of later data, so that duplicates elicited by its
    /// retransmissions begin no new one (Linux's `tcp_is_non_sack_preventing_reopen`).
    #[inline(never)]
    pub(super) fn hold_recovery(&mut self, now: Instant, summary: &AckSummary) -> u64 {
        self.board.clear_duplicate_credit();
        self.reduce(summary);
        self.timing.restart(now);
        0
    }
}
