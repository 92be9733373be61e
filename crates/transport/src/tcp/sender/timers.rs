//! What time does.

use super::super::rules::TimeoutThreshold;
use super::{Phase, Sender};
use crate::cc::{CongestionControl, FlightMeasure, Signal};
use crate::event::Event;
use crate::recovery::CongestionState;
use crate::recovery::rack::TailLossProbe;
use acklab_base::Instant;

impl Sender {
    pub(super) fn wake_timers(&mut self, now: Instant) {
        if self.phase == Phase::Closed && now >= self.start {
            self.phase = Phase::SynSent;
            self.syn_due = true;
        }
        if self.stop.is_some_and(|stop| now >= stop) {
            self.stop = None;
            let sent = self.board.nxt();
            if self.source.end().is_none_or(|end| sent < end) {
                self.source.close(sent);
            }
        }
        if self.phase == Phase::Established {
            self.source.advance(now, self.board.una());
        }
        if self.rack.patience.expire(now) {
            self.reordering_timeout(now);
        }
        if self.probe.timeout.expire(now) {
            self.send_tail_probe();
        } else if let Some(backoff) = self.rto.expire(now) {
            match self.phase {
                Phase::SynSent => {
                    self.syn_due = true;
                    self.events.push(Event::SynTimeout);
                }
                _ => self.retransmission_timeout(now, backoff),
            }
        }
    }

    /// RFC 5681, §3.1 (the window), RFC 6675, §5.1 (the scoreboard).
    fn retransmission_timeout(&mut self, now: Instant, backoff: u32) {
        if self.board.is_empty() {
            self.window_probe_due = self.is_shut_out();
            return;
        }
        let flight = match self.config.halves {
            // What SACK has acknowledged is no longer in flight, however long the timer took.
            FlightMeasure::FlightSize => self.board.flight_size() - self.board.sacked(),
            FlightMeasure::Pipe => self.board.pipe(),
            FlightMeasure::Window => self.window.cwnd,
        };
        // Does it begin a window of losses?
        let is_first = match self.state {
            CongestionState::Open | CongestionState::Disorder | CongestionState::Reduced => true,
            CongestionState::Recovery => false,
            CongestionState::Loss => backoff == 1,
        };
        if is_first {
            self.undo.begin(self.before_reduction(), self.board.has_resent());
        }
        if is_first || self.rules.timeout_threshold == TimeoutThreshold::Each {
            self.window.ssthresh = self.controller.ssthresh(now, &self.window, flight, Signal::Timeout);
        }
        if !matches!(self.state, CongestionState::Recovery | CongestionState::Loss) {
            self.recovery_began = now;
        }
        if self.board.forget_reneged() || !self.judges_by_time() {
            self.board.mark_all_lost();
        } else {
            self.board.mark_timed_out(now, self.rack.rtt());
        }
        self.report_losses(now);
        self.recover = self.board.nxt();
        self.marks.on_reduction(self.recover);
        // RFC 5681, §3.1: the loss window is one segment; what SACK and time have shown to be still on its way comes on top.
        self.window.cwnd = self.board.pipe() + self.window.mss;
        self.enter(now, CongestionState::Loss);
        self.duplicates = 0;
        // RFC 6298, §5.4: the oldest segment goes out again, whatever a controller that governs its window leaves of it.
        self.forced = 1;
        self.probe = TailLossProbe::default();
        self.counters.timeouts += 1;
        self.events.push(Event::RetransmissionTimeout { backoff });
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let own = match self.phase {
            Phase::Closed => Some(self.start),
            Phase::SynSent => None,
            Phase::Established => Instant::earliest(self.source.deadline(), self.paced_until),
            Phase::Finished => return None,
        };
        let recovery = Instant::earliest(self.rack.patience.at(), self.probe.timeout.at());
        Instant::earliest(Instant::earliest(own, self.stop), Instant::earliest(recovery, self.rto.deadline()))
    }
}
