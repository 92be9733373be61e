//! BBR, version 1, as Linux has it (`net/ipv4/tcp_bbr.c`; Cardwell et al., "BBR: Congestion-Based Congestion Control",
//! ACM Queue 14(5), 2016).
//!
//! A model of the path – the greatest rate of delivery of ten round trips, the shortest round-trip time of ten seconds
//! – decides how fast to send and how much may be in flight. Loss does not move it.
//!
//! | module | rule |
//! |---|---|
//! | `startup` | search for the bandwidth, then drain the queue that this left |
//! | `probe_bw` | the cycle of eight phases: send more, send less, cruise |
//! | `probe_rtt` | the shortest round-trip time, and the pause that renews it |
//! | `long_term` | the rate of a policer |
//! | `inflight` | how much should be in flight |
//! | `recovery` | the window, also while losses are repaired |
//!
//! Windows are whole segments and gains are 256ths, as in the kernel; rates are bits per second where it counts packets
//! a microsecond in 2⁻²⁴ths.

mod inflight;
mod long_term;
mod probe_bw;
mod probe_rtt;
mod recovery;
mod startup;

use super::constants::constants;
use super::model::aggregation::AckEpoch;
use super::model::filter::TwoPeriodMax;
use super::model::full_pipe::FullPipe;
use super::model::gain::Gain;
use super::model::pacing::PacingRate;
use super::model::probe_rtt::Pause;
use super::model::rounds::Rounds;
use super::{Ack, CongestionControl, Lost, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::windowed_max::WindowedMax;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};

constants! {
    /// The constants of BBR, version 1 (`tcp_bbr.c`, whose names stand with them).
    Config {
        /// The gain of startup, 2/ln 2: the least at which the rate doubles in a round trip (`bbr_high_gain`).
        #[schemars(range(min = 1.0, max = 100.0))]
        startup_gain: Gain = Gain::over_256(256 * 2885 / 1000 + 1),
        /// Its inverse, which drains in a round trip what it has queued (`bbr_drain_gain`).
        #[schemars(range(min = 0.01, max = 1.0))]
        drain_gain: Gain = Gain::over_256(256 * 1000 / 2885),
        /// The window in bandwidth-delay products, with room for delayed and stretched ACKs (`bbr_cwnd_gain`).
        #[schemars(range(min = 1.0, max = 100.0))]
        cwnd_gain: Gain = Gain::over_256(2 * 256),
        /// The gain of the phase that sends more (`bbr_pacing_gain`: 5/4).
        #[schemars(range(min = 1.01, max = 100.0))]
        probe_gain: Gain = Gain::over_256(256 * 5 / 4),
        /// The gain of the phase that sends less (`bbr_pacing_gain`: 3/4).
        #[schemars(range(min = 0.01, max = 0.99))]
        yield_gain: Gain = Gain::over_256(256 * 3 / 4),
        /// Phases of a cycle: one that sends more, one that sends less, and the rest cruise (`CYCLE_LEN`).
        #[schemars(range(min = 3, max = 1000))]
        cycle_phases: u32 = 8,
        /// Round trips over which bandwidth is remembered: a cycle and two more (`bbr_bw_rtts`).
        #[schemars(range(min = 1))]
        bandwidth_window: u32 = 10,
        /// How long a shortest round-trip time is believed (`bbr_min_rtt_win_sec`).
        min_rtt_window: Duration = Duration::from_secs(10),
        /// How long little is kept in flight, so that the pauses of several flows overlap (`bbr_probe_rtt_mode_ms`).
        probe_rtt_duration: Duration = Duration::from_millis(200),
        /// The least window, in segments: two in flight and two being acknowledged (`bbr_cwnd_min_target`).
        #[schemars(range(min = 1, max = 1_000_000))]
        min_window: u32 = 4,
        /// The rate is paced by so much below the estimate, so that on the whole the queue drains (`bbr_pacing_margin_percent`).
        #[schemars(range(min = 0.0, max = 0.99))]
        pacing_margin: Gain = Gain::percent(1),
        /// The pipe is not full while a round brings so many times the bandwidth (`bbr_full_bw_thresh`).
        #[schemars(range(min = 1.0, max = 100.0))]
        full_bandwidth_growth: Gain = Gain::percent(125),
        /// …and is after so many rounds that do not (`bbr_full_bw_cnt`).
        #[schemars(range(min = 1))]
        full_bandwidth_rounds: u32 = 3,
        /// How much the window makes up for what is acknowledged in bursts; 0 for not at all (`bbr_extra_acked_gain`).
        extra_acked_gain: Gain = Gain::ONE,
        /// Rounds of one of the two periods of the maximum of those bursts (`bbr_extra_acked_win_rtts`).
        #[schemars(range(min = 1))]
        extra_acked_window: u32 = 5,
        /// The time over which they are made up for at most (`bbr_extra_acked_max_us`).
        extra_acked_time: Duration = Duration::from_millis(100),
        /// Policers: rounds of an interval at least; four times as many at most (`bbr_lt_intvl_min_rtts`).
        #[schemars(range(min = 1, max = 1_000_000))]
        policer_min_rounds: u32 = 4,
        /// Policers: octets lost to delivered ones from which an interval counts (`bbr_lt_loss_thresh`: 50/256).
        #[schemars(range(min = 0.001, max = 1.0))]
        policer_loss_threshold: Gain = Gain::over_256(50),
        /// Policers: rounds for which their rate is believed (`bbr_lt_bw_max_rtts`).
        #[schemars(range(min = 1))]
        policer_rounds: u32 = 48,
    }
}

impl Settings for Config {
    type Controller = Bbr;

    fn controller(&self, start: &Start) -> Bbr {
        Bbr::new(self, start)
    }
}

/// Segments acknowledged after which an epoch of aggregation is too old (`bbr_ack_epoch_acked_reset_thresh`).
const EPOCH_SEGMENTS: u64 = 1 << 20;

/// What it is after.
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
    /// Was the pipe ever full?
    was_full: bool,
    cycle: probe_bw::Cycle,

    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    pause: Pause,
    /// The pause of the latest ACK: rates are then not the path's.
    limits_itself: bool,
    /// Sending begins again after silence.
    restarts: bool,

    epoch: AckEpoch,
    extra_acked: TwoPeriodMax,
    extra_acked_rounds: u32,

    state: CongestionState,
    /// For each segment delivered, one is sent: the first round of a recovery.
    conserves: bool,
    /// The window before a recovery or a pause.
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
            pause: Pause::default(),
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

    /// The greatest recent rate of delivery, in bits per second (`bbr_max_bw`).
    fn max_bandwidth(&self) -> u64 {
        self.bandwidth.get().unwrap_or(0)
    }

    /// What the path is believed to carry, in bits per second (`bbr_bw`).
    fn bandwidth(&self) -> u64 {
        self.long_term.policed().unwrap_or(self.max_bandwidth())
    }

    /// `bbr_init_pacing_rate_from_rtt`.
    fn start_pacing(&mut self, window: u64, srtt: Option<Duration>) {
        self.has_seen_rtt = srtt.is_some();
        self.pacing.start(window, srtt, self.constants.startup_gain);
        self.pacing.keep_margin();
    }

    /// `bbr_set_pacing_rate`.
    fn set_pacing(&mut self, window: u64, srtt: Option<Duration>) {
        if !self.has_seen_rtt && srtt.is_some() {
            self.start_pacing(window, srtt);
        }
        self.pacing.follow(self.bandwidth(), self.pacing_gain, self.was_full);
    }

    /// `bbr_update_bw`.
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

    /// `bbr_update_ack_aggregation`.
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

    /// `bbr_update_gains`.
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

    /// Where it goes on after a pause (`bbr_reset_mode`).
    fn resume(&mut self) {
        if self.was_full {
            self.enter_probe_bw();
        } else {
            self.mode = Mode::Startup;
        }
    }

    /// The window that is worth going back to (`bbr_save_cwnd`).
    fn save_window(&mut self, cwnd: u64) {
        let is_cut = matches!(self.state, CongestionState::Recovery | CongestionState::Loss);
        self.prior_window = if is_cut || self.mode == Mode::ProbeRtt { self.prior_window.max(cwnd) } else { cwnd };
    }
}

impl CongestionControl for Bbr {
    /// `bbr_init`.
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
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

    /// `bbr_ssthresh`: the threshold does not matter to it.
    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, _signal: Signal) -> u64 {
        self.save_window(window.cwnd);
        window.ssthresh
    }

    /// `bbr_set_state`: a timeout ends a round.
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

    /// `bbr_cwnd_event`, `CA_EVENT_TX_START`: silence needs no more speed than the path has.
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if sent.in_flight > sent.bytes || !sent.is_app_limited {
            return;
        }
        self.restarts = true;
        self.epoch = AckEpoch::starting(sent.now);
        match self.mode {
            Mode::ProbeBw => self.pacing.follow(self.bandwidth(), Gain::ONE, self.was_full),
            Mode::ProbeRtt if self.pause.has_passed(sent.now) => self.end_pause(window, sent.now),
            Mode::Startup | Mode::Drain | Mode::ProbeRtt => {}
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing.rate()
    }

    fn governs_window(&self) -> bool {
        true
    }

    fn wants_delivery_rate(&self) -> bool {
        true
    }

    fn limits_itself(&self) -> bool {
        self.limits_itself
    }
}

#[cfg(test)]
mod tests;
