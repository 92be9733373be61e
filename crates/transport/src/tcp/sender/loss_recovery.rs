//! Recovery after a retransmission timeout (RFC 5681, §3.1; RFC 6675, §5.1; RFC 6298, §5).

use super::super::rules::{ExitGrowth, TimeoutThreshold};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::{FlightMeasure, Signal};
use crate::recovery::CongestionState;
use crate::recovery::rack::TailLossProbe;
use acklab_base::{Event, Instant};

impl Sender {
    /// The retransmission timer expired for the `backoff`th time in a row.
    pub(super) fn retransmission_timeout(&mut self, now: Instant, backoff: u32) {
        if self.board.is_empty() {
            self.transmission.window_probe_due = self.is_shut_out();
            return;
        }
        let flight = match self.config.halves {
            // What SACK has acknowledged is no longer in flight, however long the timer took.
            FlightMeasure::FlightSize => self.board.flight_size() - self.board.sacked(),
            FlightMeasure::Pipe => self.board.pipe(),
            FlightMeasure::Window => self.congestion.window.cwnd,
        };
        let begins_loss_window = match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => true,
            CongestionState::Recovery => false,
            CongestionState::Loss => backoff == 1,
        };
        if begins_loss_window {
            self.remember_window();
        }
        if begins_loss_window || self.rules.timeout_threshold == TimeoutThreshold::Each {
            self.congestion.lower_threshold(now, flight, Signal::Timeout);
        }
        if !matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss) {
            self.congestion.recovery_began = now;
        }
        if self.board.clear_reneged_sacks() || !self.detects_by_time() {
            self.board.mark_all_lost();
        } else {
            self.board.mark_timed_out(now, self.loss.rack.rtt());
        }
        self.report_losses(now);
        self.congestion.recover = self.board.nxt();
        self.marks.on_reduction(self.board.nxt());
        // RFC 5681, §3.1: the loss window is one segment. What SACK and time have shown to be still in flight is added to it.
        self.congestion.window.cwnd = self.board.pipe() + self.congestion.window.mss;
        self.congestion.enter(now, CongestionState::Loss);
        self.loss.duplicates = 0;
        // RFC 6298, §5.4: the oldest segment is retransmitted, even if a controller that governs its window leaves no room for it.
        self.transmission.forced = true;
        self.loss.probe = TailLossProbe::default();
        self.counters.timeouts += 1;
        self.events.push_back(Event::RetransmissionTimeout { backoff });
    }

    pub(super) fn continue_loss(&mut self, now: Instant, summary: &AckSummary, passes_recover: bool) -> u64 {
        let mut bytes = summary.advance.bytes;
        if bytes == 0 {
            return 0;
        }
        self.transmission.forced = false;
        self.timing.restart(now);
        if self.config.undo && self.congestion.is_refuted(summary.echo) {
            self.undo_reduction(now, true);
            self.note_recovered(now);
            return 0;
        }
        if passes_recover {
            if self.rules.exit_growth == ExitGrowth::Grows {
                bytes = self.board.una() - self.congestion.recover;
            }
            self.note_recovered(now);
        }
        bytes
    }
}
