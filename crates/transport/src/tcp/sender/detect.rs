//! Detects losses on an ACK and by the reordering timer.

use super::super::rules::RackScan;
use super::Sender;
use super::summary::AckSummary;
use crate::recovery::scoreboard::Detected;
use crate::recovery::{CongestionState, Detection};
use acklab_base::Instant;

impl Sender {
    /// Returns `true` if losses are detected by time (RFC 8985), which requires SACK.
    #[inline]
    pub(super) const fn detects_by_time(&self) -> bool {
        matches!(self.config.detection, Detection::Rack) && self.connection.has_sack
    }

    /// Marks the losses that follow from the scoreboard.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Instant, summary: &mut AckSummary) {
        if self.detects_by_time() {
            if self.note_delivery(now) {
                self.detect_by_time(now, summary);
            }
        } else if summary.newly_sacked > 0 {
            summary.lost += self.board.detect_losses();
        }
    }

    /// Updates RACK with the delivery of the ACK (RFC 8985, §6.2). Returns `true` if RACK must
    /// search for losses.
    #[inline]
    pub(super) fn note_delivery(&mut self, now: Instant) -> bool {
        let has_advanced = self.loss.on_delivery(now, self.board.delivery(), self.config.rack_rtt);
        has_advanced || self.rules.rack_scan == RackScan::EveryAck
    }

    #[inline]
    pub(super) fn detect_by_time(&mut self, now: Instant, summary: &mut AckSummary) {
        if let Some(newest) = self.overtaken_by() {
            self.examine_overtaken(now, newest, summary);
        }
    }

    /// Returns the number of the last delivered transmission, if an outstanding transmission may be
    /// older. Otherwise, the reordering timer is not necessary.
    #[inline]
    pub(super) fn overtaken_by(&mut self) -> Option<u64> {
        let rack = &mut self.loss.rack;
        let newest = rack.newest()?;
        if !self.board.may_have_overtaken(newest) {
            rack.reordering_timer.set(None);
            return None;
        }
        Some(newest)
    }

    /// Returns `true` if detection by time may find a loss, now or after more in-order deliveries.
    #[inline]
    pub(super) fn may_be_overtaken(&self) -> bool {
        self.detects_by_time() && self.loss.rack.newest().is_some_and(|newest| self.board.may_have_overtaken(newest))
    }

    /// Marks as lost all transmissions before number `newest` that have been outstanding for too
    /// long.
    #[inline(never)]
    fn examine_overtaken(&mut self, now: Instant, newest: u64, summary: &mut AckSummary) {
        let rack = &mut self.loss.rack;
        let in_recovery = matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss);
        let rtt = &self.timing.rtt;
        let window = rack.window(rtt.min(), rtt.srtt(), in_recovery, self.board.sacked_segments());
        let Detected { lost, retransmissions_lost, wait } = self.board.detect_by_time(now, newest, rack.rtt() + window);
        rack.wait(now, wait, self.config.timer_slack);
        if wait.is_some() {
            // Only one of the two timers runs at a time (RFC 8985, §7.2).
            self.loss.probe.timeout.set(None);
        }
        summary.lost += lost;
        summary.retransmissions_lost |= retransmissions_lost;
    }

    /// Processes an expiry of the reordering timer.
    pub(super) fn reordering_timeout(&mut self, now: Instant) {
        let mut summary = AckSummary { prior_flight: self.board.pipe(), ..AckSummary::default() };
        self.detect_by_time(now, &mut summary);
        let begins_recovery = match self.congestion.state {
            CongestionState::Recovery => false,
            CongestionState::Loss => summary.retransmissions_lost,
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => summary.lost > 0,
        };
        if begins_recovery {
            self.enter_recovery(now, &summary);
        }
        self.report_losses(now);
    }

    /// Returns `true` if a fast recovery is due.
    pub(super) fn shows_loss(&self) -> bool {
        self.board.lost() > 0 || (!self.detects_by_time() && self.shows_loss_by_duplicates())
    }
}
