//! Recovery after a retransmission timeout (RFC 5681, §3.1; RFC 6675, §5.1; RFC 6298, §5).

use super::super::rules::{ExitGrowth, RemainingLoss, SpuriousTimeout, TimeoutThreshold};
use super::Sender;
use super::summary::AckSummary;
use crate::cc::{FlightMeasure, Signal};
use crate::recovery::rack::TailLossProbe;
use crate::recovery::{CongestionState, DUP_THRESH};
use acklab_base::{Event, Instant};

impl Sender {
    /// Processes an expiry of the retransmission timer. `expiries` counts expiries since an ACK
    /// advanced snd.una.
    pub(super) fn retransmission_timeout(&mut self, now: Instant, expiries: u32) {
        if self.board.is_empty() {
            self.transmission.window_probe_due = !self.release_by_timer() && self.is_shut_out();
            return;
        }
        let flight = match self.config.halves {
            // SACKed data are no longer in flight, however late the timer expired.
            FlightMeasure::FlightSize => self.board.flight_size() - self.board.sacked(),
            FlightMeasure::Pipe => self.board.pipe(),
            FlightMeasure::Window => self.congestion.control.window.cwnd,
        };
        let begins_loss_window = match self.congestion.state {
            CongestionState::Open | CongestionState::Disorder => true,
            // Linux's tcp_enter_loss: the window has already been reduced for this flight, unless
            // all of the flight is acknowledged.
            CongestionState::Reduced | CongestionState::Recovery => self.board.una() >= self.congestion.recover,
            CongestionState::Loss => expiries == 1,
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
        if begins_loss_window && self.board.sacked_segments() >= DUP_THRESH {
            self.loss.reordering.on_timeout();
        }
        if self.board.clear_reneged_sacks() || !self.detects_by_time() {
            self.board.mark_all_lost();
        } else {
            self.board.mark_timed_out(now, self.loss.rack.rtt());
        }
        // RFC 5682, §3.1, step 1: no test during a fast recovery. No test during a recovery after a
        // timeout either, unless the same segment times out again.
        self.congestion.tests_timeout = self.rules.spurious_timeout == SpuriousTimeout::ForwardRecovery
            && (expiries > 1 || !matches!(self.congestion.state, CongestionState::Recovery | CongestionState::Loss));
        self.begin_loss_recovery(now);
        self.counters.timeouts += 1;
        self.events.push_back(Event::RetransmissionTimeout { backoff: expiries });
    }

    /// Enters slow start when duplicate ACKs imply a loss, as after a timeout, because Tahoe has no
    /// fast recovery. The timer has no backoff (ns-2's `TcpAgent::dupack_action`, `slowdown` with
    /// `CLOSE_CWND_ONE`; Fall & Floyd, 1996, §2).
    pub(super) fn fall_back_to_slow_start(&mut self, now: Instant, summary: &AckSummary) {
        self.remember_window();
        self.begin_reduction(now, summary, Signal::Loss);
        self.congestion.tests_timeout = false;
        if self.congestion.state != CongestionState::Loss {
            self.congestion.recovery_began = now;
        }
        self.board.mark_all_lost();
        self.begin_loss_recovery(now);
        self.timing.restart(now);
        self.events.push_back(Event::RecoveryEntered { until: self.board.nxt() });
    }

    /// Marks losses and lowers the threshold. Slow start begins at the head.
    fn begin_loss_recovery(&mut self, now: Instant) {
        self.report_losses(now);
        self.congestion.recover = self.board.nxt();
        self.loss.repaired_until = Some(self.board.nxt());
        self.marks.on_reduction(self.board.nxt());
        // RFC 5681, §3.1: the loss window is one segment. Data that are in flight, as SACK and time
        // imply, are added to the window.
        self.congestion.control.window.cwnd = self.board.pipe() + self.congestion.control.window.mss;
        self.congestion.enter(now, CongestionState::Loss);
        self.loss.duplicates = 0;
        // RFC 6298, §5.4: the oldest segment is retransmitted, even if a controller that sets its
        // window leaves no room for that segment.
        (self.transmission.forced, self.transmission.only_new) = (true, false);
        self.loss.probe = TailLossProbe::default();
    }

    #[inline(never)]
    pub(super) fn continue_loss(&mut self, now: Instant, summary: &mut AckSummary, passes_recover: bool) -> u64 {
        let advances = summary.advance.bytes > 0;
        if advances {
            self.transmission.forced = false;
            self.timing.restart(now);
        }
        if advances && self.config.undo && self.congestion.is_refuted(summary.echo) {
            return self.undo_timeout(now, summary);
        }
        if self.congestion.tests_timeout && self.test_timeout(summary, passes_recover) {
            return self.undo_timeout(now, summary);
        }
        if passes_recover && self.rules.remaining_loss == RemainingLoss::SameAck {
            self.loss.rack.on_recovered();
            self.end_recovery(now);
            return self.resume(now, summary);
        }
        self.detect_losses(now, summary);
        let mut bytes = summary.advance.bytes;
        if passes_recover {
            if self.rules.exit_growth == ExitGrowth::GrowsBeyondRecovery {
                bytes = self.board.una() - self.congestion.recover;
            }
            self.loss.rack.on_recovered();
            self.end_recovery(now);
        } else if summary.retransmissions_lost {
            // The loss of a retransmission is another indication of congestion (RFC 5681, §4.3).
            // The window is reduced as for the first loss (Linux's tcp_fastretrans_alert).
            self.enter_recovery(now, summary);
            bytes = 0;
        }
        bytes
    }

    /// Undoes a spurious timeout: no data were lost, and the window is restored.
    fn undo_timeout(&mut self, now: Instant, summary: &mut AckSummary) -> u64 {
        self.congestion.tests_timeout = false;
        self.board.unmark_lost();
        // Pacing may delay data that the timeout had marked. Then no data are sent now, and nothing
        // has restarted the timer.
        self.timing.start(now);
        self.undo_reduction(now);
        self.end_recovery(now);
        self.resume(now, summary)
    }

    /// Returns `true` if the ACK reveals that the timeout was spurious: F-RTO (RFC 5682, §3.1).
    fn test_timeout(&mut self, summary: &AckSummary, passes_recover: bool) -> bool {
        if self.config.undo && self.board.delivery().original_acked {
            // Step 3.b: data that were sent once have arrived, although all data were considered
            // lost.
            return true;
        }
        if self.board.nxt() > self.congestion.recover {
            // Step 3.a: a duplicate ACK of the new data implies a loss.
            self.congestion.tests_timeout &= !summary.is_duplicate;
        } else if summary.advance.bytes > 0 && !passes_recover {
            // Step 2.b.
            self.congestion.recover = self.board.nxt();
            self.transmission.only_new = true;
        }
        false
    }

    /// Ends the F-RTO test if no new data may be sent, so that retransmissions may be sent (step
    /// 2.b).
    #[cold]
    pub(super) fn conclude_without_new_data(&mut self, room: u64) {
        let fits = |octets: u64| octets.min(self.congestion.control.window.mss) <= room;
        if self.board.nxt() == self.congestion.recover && !self.new_data().is_some_and(fits) {
            (self.transmission.only_new, self.congestion.tests_timeout) = (false, false);
        }
    }
}
