//! What time does.

use super::super::rules::TimeoutThreshold;
use super::{Phase, Sender};
use crate::cc::{FlightMeasure, Signal};
use crate::recovery::CongestionState;
use crate::recovery::alarm::Alarm;
use crate::recovery::rack::TailLossProbe;
use acklab_base::{Event, Instant};

impl Sender {
    pub(super) fn wake_timers(&mut self, now: Instant) {
        if self.loss.rack.patience.expire(now) {
            self.reordering_timeout(now);
        }
        if self.loss.probe.timeout.expire(now) {
            self.send_tail_probe();
        } else if let Some(backoff) = self.timing.rto.expire(now) {
            match self.connection.phase {
                Phase::SynSent | Phase::SynReceived => {
                    self.connection.syn_due = true;
                    self.events.push_back(Event::SynTimeout);
                }
                _ => self.retransmission_timeout(now, backoff),
            }
        }
    }

    /// RFC 5681, §3.1 (the window), RFC 6675, §5.1 (the scoreboard).
    fn retransmission_timeout(&mut self, now: Instant, backoff: u32) {
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
        // Does it begin a window of losses?
        let is_first = match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => true,
            CongestionState::Recovery => false,
            CongestionState::Loss => backoff == 1,
        };
        if is_first {
            self.remember_window();
        }
        if is_first || self.rules.timeout_threshold == TimeoutThreshold::Each {
            self.congestion.lower_threshold(now, flight, Signal::Timeout);
        }
        if !matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss) {
            self.congestion.recovery_began = now;
        }
        if self.board.forget_reneged() || !self.judges_by_time() {
            self.board.mark_all_lost();
        } else {
            self.board.mark_timed_out(now, self.loss.rack.rtt());
        }
        self.report_losses(now);
        self.congestion.recover = self.board.nxt();
        self.marks.on_reduction(self.board.nxt());
        // RFC 5681, §3.1: the loss window is one segment; what SACK and time have shown to be still on its way comes on top.
        self.congestion.window.cwnd = self.board.pipe() + self.congestion.window.mss;
        self.congestion.enter(now, CongestionState::Loss);
        self.loss.duplicates = 0;
        // RFC 6298, §5.4: the oldest segment goes out again, whatever a controller that governs its window leaves of it.
        self.transmission.forced = true;
        self.loss.probe = TailLossProbe::default();
        self.counters.timeouts += 1;
        self.events.push_back(Event::RetransmissionTimeout { backoff });
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let own = match self.connection.phase {
            Phase::Established => self.transmission.paced_until,
            Phase::Closed | Phase::Listen | Phase::SynSent | Phase::SynReceived => Alarm::NEVER,
            Phase::Finished => return None,
        };
        let recovery = self.loss.rack.patience.earlier(self.loss.probe.timeout);
        own.earlier(recovery).earlier(self.timing.rto.alarm()).at()
    }
}
