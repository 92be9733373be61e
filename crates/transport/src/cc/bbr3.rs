//! BBR, version 3 (draft-ietf-ccwg-bbr, the editors' copy after revision 06, whose sections are cited).
//!
//! As version 1 it models the path by bandwidth and round-trip time, and besides by how much data in flight it bears: a
//! long-term bound that probing finds where losses exceed 2 %, and short-term bounds that follow each round with a
//! loss.
//!
//! | module | rule |
//! |---|---|
//! | `startup` | search for the bandwidth, then drain the queue that this left (§5.3.1, §5.3.2) |
//! | `probe_bw` | down, cruise, refill, up (§5.3.3) |
//! | `long_term` | how far a probe may go, and what it found (§5.3.3.9, §5.5.10.2) |
//! | `short_term` | what a loss between probes means (§5.5.10.3) |
//! | `probe_rtt` | the shortest round-trip time, and the pause that renews it (§5.3.4) |
//! | `inflight` | how much should be in flight, and the window (§5.6.4) |
//! | `undo` | losses that were none (§5.5.11) |

mod inflight;
mod long_term;
mod probe_bw;
mod probe_rtt;
mod short_term;
mod startup;
mod undo;

use super::constants::constants;
use super::model::aggregation::AckEpoch;
use super::model::filter::TwoPeriodMax;
use super::model::full_pipe::FullPipe;
use super::model::gain::Gain;
use super::model::pacing::PacingRate;
use super::model::probe_rtt::Pause;
use super::model::rounds::Rounds;
use super::{Ack, CongestionControl, Lost, Position, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::windowed_max::WindowedMax;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};

/// No bound.
const INFINITY: u64 = u64::MAX;

constants! {
    /// The constants of BBR, version 3, whose names in the draft stand with them.
    Config {
        /// BBR.StartupPacingGain, 4 ln 2: the least at which the rate doubles each round (§2.5).
        #[schemars(range(min = 1.0, max = 100.0))]
        startup_gain: Gain = Gain::percent(277),
        /// BBR.DrainPacingGain (§2.5, §5.6.1).
        #[schemars(range(min = 0.01, max = 1.0))]
        drain_gain: Gain = Gain::percent(50),
        /// The pacing gain of `ProbeBW_DOWN` (§5.6.1).
        #[schemars(range(min = 0.01, max = 1.0))]
        down_gain: Gain = Gain::percent(90),
        /// The pacing gain of `ProbeBW_UP` (§5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        up_gain: Gain = Gain::percent(125),
        /// BBR.DefaultCwndGain: the window in bandwidth-delay products (§2.5, §5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        cwnd_gain: Gain = Gain::percent(200),
        /// The same in `ProbeBW_UP` (§5.6.1).
        #[schemars(range(min = 1.0, max = 100.0))]
        up_cwnd_gain: Gain = Gain::percent(225),
        /// BBR.ProbeRTTCwndGain: what of the path the pause leaves in flight (§2.16.2).
        #[schemars(range(min = 0.01, max = 1.0))]
        probe_rtt_cwnd_gain: Gain = Gain::percent(50),
        /// BBR.LossThresh: the part of what is in flight that a round may lose (§2.8).
        #[schemars(range(min = 0.0, max = 0.99))]
        loss_threshold: Gain = Gain::percent(2),
        /// BBR.Beta: no less is left of a bound (§2.8).
        #[schemars(range(min = 0.01, max = 1.0))]
        beta: Gain = Gain::percent(70),
        /// BBR.Headroom: what others are left of the long-term bound (§2.8).
        #[schemars(range(min = 0.0, max = 0.99))]
        headroom: Gain = Gain::percent(15),
        /// BBR.MinPipeCwnd: the least window, in segments (§2.8).
        #[schemars(range(min = 1, max = 1_000_000))]
        min_window: u32 = 4,
        /// BBR.MinRTTFilterLen: how long a shortest round-trip time is believed (§2.16.1).
        min_rtt_window: Duration = Duration::from_secs(10),
        /// BBR.ProbeRTTDuration: how long little is kept in flight (§2.16.2).
        probe_rtt_duration: Duration = Duration::from_millis(200),
        /// BBR.PacingMarginPercent: the rate is paced by so much below the estimate (§5.6.2).
        #[schemars(range(min = 0.0, max = 0.99))]
        pacing_margin: Gain = Gain::percent(1),
        /// The pipe is not full while a round brings so many times the bandwidth (§5.3.1.2).
        #[schemars(range(min = 1.0, max = 100.0))]
        full_bandwidth_growth: Gain = Gain::percent(125),
        /// …and is after so many rounds that do not (§5.3.1.2).
        #[schemars(range(min = 1))]
        full_bandwidth_rounds: u32 = 3,
        /// BBRStartupFullLossCnt: ranges that a round of startup must lose to end it (§5.3.1.3).
        #[schemars(range(min = 1))]
        full_loss_count: u32 = 6,
        /// Rounds that draining takes at most (§5.3.2).
        #[schemars(range(min = 1))]
        drain_rounds: u32 = 3,
        /// A cycle takes at least so long by the clock (§5.3.3.8.2: T_bbr is two to three seconds)…
        probe_wait: Duration = Duration::from_secs(2),
        /// …and at most so much longer, by chance.
        probe_wait_range: Duration = Duration::from_secs(1),
        /// A cycle takes at most so many round trips, if Reno would grow its window by that of the path in fewer (§5.3.3.8.2: T_reno).
        #[schemars(range(min = 1))]
        reno_rounds: u32 = 63,
        /// BBR.ExtraAckedFilterLen: rounds over which what is acknowledged in bursts is remembered, but one before the pipe was full
        /// (§2.12).
        #[schemars(range(min = 1))]
        extra_acked_window: u32 = 10,
    }
}

impl Settings for Config {
    type Controller = Bbr3;

    fn controller(&self, start: &Start) -> Bbr3 {
        Bbr3::new(self, start)
    }
}

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    /// Send less: let the queue drain and leave room for others.
    Down,
    /// Send as much as arrives.
    Cruise,
    /// The same for a round without short-term bounds, so that a probe begins with a full pipe.
    Refill,
    /// Send more: probe.
    Up,
    ProbeRtt,
}

impl State {
    const fn is_probe_bw(self) -> bool {
        matches!(self, Self::Down | Self::Cruise | Self::Refill | Self::Up)
    }

    /// `IsProbingBW` (§5.3.3.9).
    const fn probes(self) -> bool {
        matches!(self, Self::Startup | Self::Refill | Self::Up)
    }

    /// §5.6.1.
    const fn pacing_gain(self, constants: &Config) -> Gain {
        match self {
            Self::Startup => constants.startup_gain,
            Self::Drain => constants.drain_gain,
            Self::Down => constants.down_gain,
            Self::Cruise | Self::Refill | Self::ProbeRtt => Gain::ONE,
            Self::Up => constants.up_gain,
        }
    }

    /// §5.6.1.
    const fn window_gain(self, constants: &Config) -> Gain {
        match self {
            Self::Startup | Self::Drain | Self::Down | Self::Cruise | Self::Refill => constants.cwnd_gain,
            Self::Up => constants.up_cwnd_gain,
            Self::ProbeRtt => constants.probe_rtt_cwnd_gain,
        }
    }
}

/// The state of BBR.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    constants: Config,
    mss: u64,
    initial_window: u64,
    random: Stream,
    state: State,
    pacing: PacingRate,

    rounds: Rounds,
    max_bandwidth: TwoPeriodMax,
    /// BBR.bw: the greatest rate, within the short-term bound; bits per second.
    bandwidth: u64,
    full_pipe: FullPipe,
    /// BBR.full_bw_now and BBR.full_bw_reached.
    is_full: bool,
    was_full: bool,
    /// BBR.drain_start_round.
    drain_began: u64,
    losses: startup::Losses,

    cycle: probe_bw::Cycle,
    long_term: long_term::LongTerm,
    short_term: short_term::ShortTerm,
    undo: undo::Undo,

    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    has_min_rtt_expired: bool,
    /// BBR.probe_rtt_cwnd.
    pause_window: u64,
    pause: Pause,
    limits_itself: bool,
    restarts: bool,

    epoch: AckEpoch,
    extra_acked: WindowedMax<u64>,

    congestion: CongestionState,
    prior_window: u64,
    total_delivered: u64,
    has_sack: bool,
    /// The window held back sending in the round trip that ends when this is acknowledged (§2.2: C.is_cwnd_limited).
    limited_until: Position,
    is_window_limited: bool,
}

impl Bbr3 {
    /// `OnInit` (§5.2.1).
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            mss: start.mss,
            initial_window: start.initial_window,
            random: start.random.clone(),
            state: State::Startup,
            pacing: PacingRate::new(constants.pacing_margin),
            rounds: Rounds::default(),
            max_bandwidth: TwoPeriodMax::default(),
            bandwidth: 0,
            full_pipe: FullPipe::default(),
            is_full: false,
            was_full: false,
            drain_began: 0,
            losses: startup::Losses::default(),
            cycle: probe_bw::Cycle::default(),
            long_term: long_term::LongTerm::default(),
            short_term: short_term::ShortTerm::default(),
            undo: undo::Undo::default(),
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            has_min_rtt_expired: false,
            pause_window: start.initial_window,
            pause: Pause::default(),
            limits_itself: false,
            restarts: false,
            epoch: AckEpoch::default(),
            extra_acked: WindowedMax::default(),
            congestion: CongestionState::Open,
            prior_window: 0,
            total_delivered: 0,
            has_sack: true,
            limited_until: Position::default(),
            is_window_limited: false,
        }
    }

    /// `UpdateMaxBw`, `UpdateRound` (§5.5.1, §5.5.5).
    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.update(ack.rate.as_ref(), ack.total_delivered);
        self.cycle.count_round(self.rounds.starts());
        if let Some(sample) = &ack.rate {
            let rate = sample.bits_per_second();
            if rate >= self.max_bandwidth.get() || !sample.is_app_limited {
                self.max_bandwidth.update(rate);
            }
        }
    }

    /// `AdvanceMaxBwFilter` (§5.5.6). A cycle without a sample leaves the filter as it is, as in Linux's version 3.
    fn advance_bandwidth(&mut self) {
        if self.max_bandwidth.has_present() {
            self.max_bandwidth.advance();
        }
    }

    /// `UpdateACKAggregation` (§5.5.9).
    fn update_aggregation(&mut self, window: &Window, ack: &Ack) {
        if ack.delivered == 0 {
            return;
        }
        let extra = self.epoch.on_acked(ack.now, ack.delivered, self.bandwidth).min(window.cwnd);
        let length = if self.was_full { self.constants.extra_acked_window.into() } else { 1 };
        self.extra_acked.update(length, self.rounds.count(), extra);
    }

    /// `CheckFullBWReached` (§5.3.1.2).
    fn check_full_pipe(&mut self, ack: &Ack) {
        if self.is_full || !self.rounds.starts() {
            return;
        }
        if let Some(sample) = ack.rate.filter(|sample| !sample.is_app_limited) {
            let Config { full_bandwidth_growth, full_bandwidth_rounds, .. } = self.constants;
            self.is_full =
                self.full_pipe.on_round(sample.bits_per_second(), full_bandwidth_growth, full_bandwidth_rounds);
            self.was_full |= self.is_full;
        }
    }

    /// `ResetFullBW`, and the rate that is to be exceeded.
    const fn reset_full_pipe(&mut self, baseline: u64) {
        (self.full_pipe, self.is_full) = (FullPipe::from(baseline), false);
    }

    /// `SaveCwnd` (§5.6.4.4).
    fn save_window(&mut self, cwnd: u64) {
        let is_cut = matches!(self.congestion, CongestionState::Recovery | CongestionState::Loss);
        self.prior_window = if is_cut || self.state == State::ProbeRtt { self.prior_window.max(cwnd) } else { cwnd };
    }

    /// `RestoreCwnd` (§5.6.4.4).
    fn restore_window(&self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior_window);
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        self.epoch = AckEpoch::starting(now);
        self.pacing.start(window.cwnd, rtt, self.constants.startup_gain);
    }

    /// `UpdateOnACK` (§5.2.3).
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        (self.total_delivered, self.has_sack) = (ack.total_delivered, ack.has_sack);
        if ack.window_limited {
            self.limited_until = ack.sent_to;
        }
        self.is_window_limited = ack.acked_to < self.limited_until;
        self.note_delivery(ack);
        self.update_bandwidth(ack);
        self.adapt_short_term(window);
        self.update_aggregation(window, ack);
        self.check_full_pipe(ack);
        self.check_startup(ack);
        self.check_drain(ack);
        self.update_probe_bw(window, ack);
        self.update_min_rtt(ack);
        self.check_probe_rtt(window, ack);
        self.end_delivery_round(ack);
        self.bandwidth = self.max_bandwidth.get().min(self.short_term.bandwidth);
        self.pacing.follow(self.bandwidth, self.state.pacing_gain(&self.constants), self.was_full);
        self.set_window(window, ack);
    }

    /// `OnEnterFastRecovery`, `OnEnterRTO` (§5.6.4.4): the threshold does not matter to it.
    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, signal: Signal) -> u64 {
        if signal != Signal::Mark {
            self.save_upon_loss(window.cwnd);
        }
        window.ssthresh
    }

    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        let repairs = |state| matches!(state, CongestionState::Recovery | CongestionState::Loss);
        if repairs(self.congestion) && !repairs(state) {
            self.restore_window(window);
        }
        self.congestion = state;
    }

    /// `HandleSpuriousLossDetection` (§5.5.11.2).
    fn on_undo(&mut self, _now: Instant, window: &mut Window) {
        self.handle_spurious_loss(window);
    }

    /// `HandleLostPacket` (§5.5.10.2).
    fn on_lost(&mut self, window: &Window, lost: &Lost) {
        self.total_delivered = lost.total_delivered;
        self.losses.note(lost);
        self.note_loss(window);
        self.judge_lost_probe(window, lost);
    }

    /// `HandleRestartFromIdle` (§5.4.1).
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if sent.in_flight > sent.bytes || !sent.is_app_limited {
            return;
        }
        self.restarts = true;
        self.epoch = AckEpoch::starting(sent.now);
        if self.state.is_probe_bw() {
            self.pacing.follow(self.bandwidth, Gain::ONE, self.was_full);
        } else if self.state == State::ProbeRtt && self.pause.has_passed(sent.now) {
            self.end_pause(window, sent.now);
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
