//! BBR, version 1, as in Linux (`net/ipv4/tcp_bbr.c`; Cardwell et al., "BBR: Congestion-Based
//! Congestion Control", ACM Queue 14(5), 2016).
//!
//! BBR models the path by two numbers: the maximum delivery rate of the last ten round trips and
//! the minimum round-trip time of the last ten seconds. The model sets the pacing rate and the
//! amount in flight. Losses do not change the model.
//!
//! | module | rule |
//! |---|---|
//! | `constants` | the published constants |
//! | `startup` | Startup searches for the bandwidth; Drain empties the queue that Startup built |
//! | `probe_bw` | the gain cycle of `ProbeBW`: probe, drain, cruise |
//! | `probe_rtt` | the shortest round-trip time, and the state `ProbeRTT` that remeasures it |
//! | `long_term` | detects the rate of a policer |
//! | `inflight` | computes the target of data in flight |
//! | `recovery` | sets the window, during and outside recovery |
//!
//! Windows are whole segments and gains are 256ths, as in the kernel. Rates are bits per second;
//! the kernel counts packets per microsecond in units of 2⁻²⁴.

mod constants;
mod inflight;
mod long_term;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;

pub use constants::Config;

use super::model::aggregation::AckEpoch;
use super::model::filter::TwoPeriodMax;
use super::model::full_pipe::FullPipe;
use super::model::gain::Gain;
use super::model::pacing::PacingRate;
use super::model::probe_rtt::ProbeRttTimer;
use super::model::rounds::Rounds;
use super::{Ack, CongestionControl, Lost, Phase, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::windowed_max::WindowedMax;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};

impl Settings for Config {
    type Controller = Bbr;

    fn controller(&self, start: &Start) -> Bbr {
        Bbr::new(self, start)
    }
}

/// The number of acknowledged segments after which an epoch of ACK aggregation restarts
/// (`bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// `bbr_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    constants: Config,
    mss: u64,
    random: Stream,
    mode: Mode,
    pacing: PacingRate,
    pacing_gain: Gain,
    window_gain: Gain,
    has_seen_rtt: bool,

    rounds: Rounds,
    bandwidth: WindowedMax<u64>,
    long_term: long_term::LongTerm,
    full_pipe: FullPipe,
    /// `full_bw_reached`: `true` once the pipe has been full.
    was_full: bool,
    cycle: probe_bw::Cycle,

    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    probe_rtt: ProbeRttTimer,
    /// `true` if the latest ACK was processed in `ProbeRTT`. Rate samples are then limited by the
    /// small window, not by the path.
    limits_itself: bool,
    /// `idle_restart`: `true` if sending resumed after an idle period, and nothing has been
    /// delivered since.
    restarts: bool,

    epoch: AckEpoch,
    extra_acked: TwoPeriodMax,
    extra_acked_rounds: u32,

    state: CongestionState,
    /// `packet_conservation`: `true` in the first round of a recovery, in which one segment is sent
    /// per delivered segment.
    conserves: bool,
    /// `prior_cwnd`: the window before a recovery or `ProbeRTT`.
    prior_window: u64,

    total_delivered: u64,
    delivered_at: Instant,
    total_lost: u64,
}

impl Bbr {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            mss: start.mss,
            random: start.random.clone(),
            mode: Mode::Startup,
            pacing: PacingRate::new(constants.pacing_margin),
            pacing_gain: constants.startup_gain,
            window_gain: constants.startup_gain,
            has_seen_rtt: false,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::default(),
            long_term: long_term::LongTerm::default(),
            full_pipe: FullPipe::default(),
            was_full: false,
            cycle: probe_bw::Cycle::default(),
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            probe_rtt: ProbeRttTimer::default(),
            limits_itself: false,
            restarts: false,
            epoch: AckEpoch::default(),
            extra_acked: TwoPeriodMax::default(),
            extra_acked_rounds: 0,
            state: CongestionState::Open,
            conserves: false,
            prior_window: 0,
            total_delivered: 0,
            delivered_at: Instant::ZERO,
            total_lost: 0,
        }
    }

    /// Returns the maximum recent delivery rate, in bits per second (`bbr_max_bw`).
    fn max_bandwidth(&self) -> u64 {
        self.bandwidth.get().unwrap_or(0)
    }

    /// Returns the estimated bandwidth of the path, in bits per second (`bbr_bw`).
    fn bandwidth(&self) -> u64 {
        self.long_term.policed().unwrap_or(self.max_bandwidth())
    }

    /// Sets the initial pacing rate (`bbr_init_pacing_rate_from_rtt`).
    fn start_pacing(&mut self, window: u64, srtt: Option<Duration>) {
        self.has_seen_rtt = srtt.is_some();
        self.pacing.start(window, srtt, self.constants.startup_gain);
        self.pacing.keep_margin();
    }

    /// Sets the pacing rate (`bbr_set_pacing_rate`).
    fn set_pacing(&mut self, window: u64, srtt: Option<Duration>) {
        if !self.has_seen_rtt && srtt.is_some() {
            self.start_pacing(window, srtt);
        }
        self.pacing.follow(self.bandwidth(), self.pacing_gain, self.was_full);
    }

    /// Updates the bandwidth (`bbr_update_bw`).
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.update(ack.rate.as_ref(), ack.total_delivered);
        let Some(sample) = &ack.rate else { return };
        if self.rounds.starts() {
            self.conserves = false;
        }
        self.sample_long_term(ack.lost > 0, sample.is_app_limited);
        let rate = sample.bits_per_second();
        if !sample.is_app_limited || rate >= self.max_bandwidth() {
            self.bandwidth.update(self.constants.bandwidth_window.into(), self.rounds.count(), rate);
        }
    }

    /// Updates the ACK aggregation (`bbr_update_ack_aggregation`).
    fn update_aggregation(&mut self, window: &Window, ack: &Ack) {
        if ack.delivered == 0 || ack.rate.is_none() {
            return;
        }
        if self.rounds.starts() {
            self.extra_acked_rounds += 1;
            if self.extra_acked_rounds >= self.constants.extra_acked_window {
                self.extra_acked_rounds = 0;
                self.extra_acked.advance();
            }
        }
        if self.epoch.acked() + ack.delivered >= EPOCH_SEGMENTS * self.mss {
            self.epoch = AckEpoch::starting(ack.now);
        }
        let extra = self.epoch.on_acked(ack.now, ack.delivered, self.bandwidth());
        self.extra_acked.update(extra.min(window.cwnd));
    }

    /// Updates the gains (`bbr_update_gains`).
    fn update_gains(&mut self) {
        let Config { startup_gain, drain_gain, cwnd_gain, .. } = self.constants;
        (self.pacing_gain, self.window_gain) = match self.mode {
            Mode::Startup => (startup_gain, startup_gain),
            Mode::Drain => (drain_gain, startup_gain),
            Mode::ProbeBw if self.long_term.policed().is_some() => (Gain::ONE, cwnd_gain),
            Mode::ProbeBw => (self.cycle.gain(&self.constants), cwnd_gain),
            Mode::ProbeRtt => (Gain::ONE, Gain::ONE),
        };
    }

    /// Enters the mode after `ProbeRTT` (`bbr_reset_mode`).
    fn resume(&mut self) {
        if self.was_full {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// Saves the window that is restored later (`bbr_save_cwnd`).
    fn save_window(&mut self, cwnd: u64) {
        let is_cut = matches!(self.state, CongestionState::Recovery | CongestionState::Loss);
        self.prior_window = if is_cut || self.mode == Mode::ProbeRtt { self.prior_window.max(cwnd) } else { cwnd };
    }

    /// Paces at the bandwidth after an idle period (`bbr_cwnd_event`, `CA_EVENT_TX_START`).
    #[inline(never)]
    fn restart_from_idle(&mut self, window: &mut Window, now: Instant) {
        self.restarts = true;
        self.epoch = AckEpoch::starting(now);
        match self.mode {
            Mode::ProbeBw => self.pacing.follow(self.bandwidth(), Gain::ONE, self.was_full),
            Mode::ProbeRtt if self.probe_rtt.has_passed(now) => self.exit_probe_rtt(window, now),
            Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }
}

impl CongestionControl for Bbr {
    /// `bbr_init`.
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.mss = window.mss;
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        self.epoch = AckEpoch::starting(now);
        self.delivered_at = now;
        self.start_pacing(window.cwnd, rtt);
    }

    /// `bbr_main`.
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.total_delivered = ack.total_delivered;
        if ack.delivered > 0 {
            self.delivered_at = ack.now;
        }
        self.update_bandwidth(ack);
        self.update_aggregation(window, ack);
        self.update_cycle(ack);
        self.check_full_pipe(ack);
        self.check_drain(window, ack);
        self.update_min_rtt(window, ack);
        self.update_gains();
        self.set_pacing(window.cwnd, ack.srtt);
        self.set_window(window, ack);
    }

    /// Follows `bbr_ssthresh`: BBR does not use the threshold.
    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, _signal: Signal) -> u64 {
        self.save_window(window.cwnd);
        window.ssthresh
    }

    /// Follows `bbr_set_state`: a timeout ends a round.
    fn on_state(&mut self, _now: Instant, _window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss {
            self.state = state;
            self.full_pipe.forget_baseline();
            self.rounds.end();
            self.sample_long_term(true, false);
        }
    }

    /// `bbr_undo_cwnd`.
    fn on_undo(&mut self, _now: Instant, _window: &mut Window) {
        self.full_pipe = FullPipe::default();
        self.long_term.reset(self.interval_start());
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        (self.total_lost, self.total_delivered) = (lost.total_lost, lost.total_delivered);
    }

    #[inline]
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if sent.is_app_limited && sent.in_flight <= sent.bytes {
            self.restart_from_idle(window, sent.now);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing.rate()
    }

    fn governs_window(&self) -> bool {
        true
    }

    /// `bbr_sndbuf_expand`.
    fn send_buffer_windows(&self) -> u64 {
        3
    }

    fn wants_delivery_rate(&self) -> bool {
        true
    }

    fn limits_itself(&self) -> bool {
        self.limits_itself
    }

    fn phase(&self) -> Option<Phase> {
        Some(match self.mode {
            Mode::Startup => Phase::Probes,
            Mode::ProbeBw if self.cycle.probes() => Phase::Probes,
            Mode::Drain | Mode::ProbeBw => Phase::Cruises,
            Mode::ProbeRtt => Phase::ProbesRtt,
        })
    }
}

#[cfg(test)]
mod tests;
