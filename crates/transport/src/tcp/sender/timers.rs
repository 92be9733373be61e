//! What time does.

use super::{CongestionState, Phase, Sender};
use crate::cc::FlightMeasure;
use crate::event::Event;
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
        if let Some(backoff) = self.rto.expire(now) {
            match self.phase {
                Phase::SynSent => {
                    self.syn_due = true;
                    self.events.push(Event::SynTimeout);
                }
                _ => self.retransmission_timeout(backoff),
            }
        }
    }

    /// RFC 5681, §3.1 (the window), RFC 6675, §5.1 (the scoreboard).
    fn retransmission_timeout(&mut self, backoff: u32) {
        if self.board.is_empty() {
            return;
        }
        let flight = match self.config.halves {
            FlightMeasure::FlightSize => self.board.flight_size(),
            FlightMeasure::Pipe => self.board.pipe(),
            FlightMeasure::Window => self.window.cwnd,
        };
        // The threshold falls once for a segment, not once for each of its timeouts.
        if self.state != CongestionState::Loss || backoff == 1 {
            self.window.ssthresh = self.controller.ssthresh(&self.window, flight);
        }
        self.controller.on_reduction();
        self.board.mark_all_lost();
        self.recover = self.board.nxt();
        self.state = CongestionState::Loss;
        self.window.cwnd = self.window.mss;
        self.duplicates = 0;
        self.forced = 0;
        self.counters.timeouts += 1;
        self.events.push(Event::RetransmissionTimeout { backoff });
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        let start = (self.phase == Phase::Closed).then_some(self.start);
        let stop = self.stop.filter(|_| self.phase != Phase::Finished);
        let write = self.source.deadline().filter(|_| self.phase == Phase::Established);
        [start, stop, self.rto.deadline(), write].into_iter().flatten().min()
    }
}
