//! Loss detection on an ACK and by the reordering timer.

use super::Sender;
use super::summary::AckSummary;
use crate::recovery::{CongestionState, Detection};
use acklab_base::Instant;

impl Sender {
    /// Returns `true` if loss is detected by time (RFC 8985), which takes SACK.
    #[inline]
    pub(super) const fn detects_by_time(&self) -> bool {
        matches!(self.config.detection, Detection::Rack) && self.connection.has_sack
    }

    /// Marks what the scoreboard now shows to be lost, and returns its octets.
    #[inline]
    pub(super) fn detect_losses(&mut self, now: Instant, has_new_sack: bool) -> u64 {
        if self.detects_by_time() {
            self.loss.on_delivery(now, self.board.delivery(), self.config.rack_rtt);
            self.detect_by_time(now)
        } else if has_new_sack {
            self.board.detect_losses()
        } else {
            0
        }
    }

    #[inline]
    fn detect_by_time(&mut self, now: Instant) -> u64 {
        let rack = &mut self.loss.rack;
        let Some(newest) = rack.newest() else { return 0 };
        if !self.board.may_have_overtaken(newest) {
            rack.reordering_timer.set(None);
            return 0;
        }
        let in_recovery = matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss);
        let rtt = &self.timing.rtt;
        let window = rack.window(rtt.min(), rtt.srtt(), in_recovery, self.board.sacked_segments());
        let (lost, wait) = self.board.detect_by_time(now, newest, rack.rtt() + window);
        rack.wait(now, wait, self.config.timer_slack);
        if wait.is_some() {
            // Only one of the two timers runs at a time (RFC 8985, §7.2).
            self.loss.probe.timeout.set(None);
        }
        lost
    }

    /// The reordering timer expired.
    pub(super) fn reordering_timeout(&mut self, now: Instant) {
        let prior_flight = self.board.pipe();
        let lost = self.detect_by_time(now);
        if lost > 0 && !matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss) {
            self.enter_recovery(now, &AckSummary { lost, prior_flight, ..AckSummary::default() });
        }
        self.report_losses(now);
    }

    /// Returns `true` if there is reason to enter a fast recovery.
    pub(super) fn shows_loss(&self) -> bool {
        self.board.lost() > 0 || (!self.detects_by_time() && self.loss.has_enough_duplicates())
    }
}
