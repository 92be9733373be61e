//! The states Down, Cruise, Refill and Up of `ProbeBW` (§5.3.3).

use super::{Bbr3, Config, State};
use crate::cc::model::gain::Gain;
use crate::cc::{Ack, Window};
use acklab_base::{Duration, Instant};

/// BBR.ack_phase: the relation between a probe and the data being acknowledged (§2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    /// `ACKS_INIT`: no probe.
    #[default]
    Init,
    /// `ACKS_REFILLING`: the pipe is being filled for a probe.
    Refilling,
    /// `ACKS_PROBE_STARTING`: the probe has begun, but ACKs are of data sent before it.
    Starting,
    /// `ACKS_PROBE_FEEDBACK`: ACKs are of data sent in the probe.
    Feedback,
    /// `ACKS_PROBE_STOPPING`: the probe has ended, but ACKs may be of data sent in it.
    Stopping,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) ack_phase: AckPhase,
    /// BBR.cycle_stamp.
    began: Instant,
    /// BBR.bw_probe_wait.
    wait: Duration,
    rounds_since_up: u64,
}

impl Cycle {
    pub(super) fn count_round(&mut self, starts: bool) {
        self.rounds_since_up += u64::from(starts);
    }
}

impl Bbr3 {
    /// `UpdateProbeBWCyclePhase` (§5.3.3.9).
    pub(super) fn update_probe_bw(&mut self, window: &Window, ack: &Ack) {
        if !self.was_full || self.adapt_long_term(window, ack) {
            return;
        }
        let goes_down = self.state == State::Up && self.is_time_to_go_down(window, ack);
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(window, ack.now) => self.enter_refill(),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.rounds.starts() => self.enter_up(window, ack),
            State::Up if goes_down => {
                self.long_term.was_too_high = false;
                self.enter_down(ack.now);
            }
            _ => {}
        }
    }

    /// `StartProbeBW_DOWN`.
    pub(super) fn enter_down(&mut self, now: Instant) {
        self.reset_signals();
        self.long_term.stop_raising();
        self.pick_wait();
        self.cycle.began = now;
        self.cycle.ack_phase = AckPhase::Stopping;
        self.rounds.begin(self.total_delivered);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn enter_refill(&mut self) {
        self.short_term.reset_model();
        self.long_term.prepare_probe();
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.begin(self.total_delivered);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    fn enter_up(&mut self, window: &Window, ack: &Ack) {
        self.long_term.is_probe_sample = true;
        self.cycle.ack_phase = AckPhase::Starting;
        self.rounds.begin(self.total_delivered);
        self.reset_full_pipe(latest_rate(ack));
        self.state = State::Up;
        self.long_term.raise_slope(window.cwnd, self.mss);
    }

    /// `PickProbeWait` (§5.3.3.8.3).
    fn pick_wait(&mut self) {
        self.cycle.rounds_since_up = self.random.below(2);
        let Config { probe_wait, probe_wait_range, .. } = self.constants;
        self.cycle.wait = probe_wait + Duration::from_nanos(self.random.below(probe_wait_range.as_nanos()));
    }

    /// `IsTimeToProbeBW`, `IsRenoCoexistenceProbeTime`.
    fn is_time_to_probe(&self, window: &Window, now: Instant) -> bool {
        let reno_rounds = self.target_inflight(window) / self.mss;
        now > self.cycle.began + self.cycle.wait
            || self.cycle.rounds_since_up >= reno_rounds.min(self.constants.reno_rounds.into())
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        ack.in_flight <= self.inflight_with_headroom()
            && ack.in_flight <= self.inflight(self.max_bandwidth.get(), Gain::ONE)
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, window: &Window, ack: &Ack) -> bool {
        if self.long_term.was_too_high && ack.in_flight >= self.long_term.inflight {
            self.long_term.was_precautionary = true;
            return true;
        }
        if self.is_window_limited && window.cwnd >= self.long_term.inflight {
            self.reset_full_pipe(latest_rate(ack));
            return false;
        }
        self.is_full
    }

    /// Starts the wait for the next probe without `ProbeBW_DOWN`, because `ProbeRTT` has drained
    /// the queue (`ExitProbeRTT`, §5.3.4.4).
    pub(super) fn enter_cruise_after_probe_rtt(&mut self, now: Instant) {
        self.enter_down(now);
        self.state = State::Cruise;
    }
}

/// Returns RS.delivery_rate, in bits per second.
fn latest_rate(ack: &Ack) -> u64 {
    ack.rate.map_or(0, |sample| sample.bits_per_second())
}
