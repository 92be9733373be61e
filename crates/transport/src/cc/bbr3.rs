//! BBR, version 3 (draft-ietf-ccwg-bbr, the editors' copy after revision 06, whose sections are
//! cited).
//!
//! Like version 1, BBR 3 models the path by its bandwidth and its round-trip time. Version 3 also
//! models how much data may be in flight on the path. A long-term bound is found by probing until
//! losses exceed 2 %. Short-term bounds are lowered after each round with a loss.
//!
//! | module | rule |
//! |---|---|
//! | `constants` | the published constants |
//! | `startup` | Startup searches for the bandwidth; Drain empties the queue that Startup built (§5.3.1, §5.3.2) |
//! | `probe_bw` | the states Down, Cruise, Refill and Up of `ProbeBW` (§5.3.3) |
//! | `long_term` | the long-term bound, which limits probes and stores their result (§5.3.3.9, §5.5.10.2) |
//! | `short_term` | the short-term bounds after a loss between probes (§5.5.10.3) |
//! | `probe_rtt` | the shortest round-trip time, and the state `ProbeRTT` that remeasures it (§5.3.4) |
//! | `inflight` | the target of data in flight, and the window (§5.6.4) |
//! | `undo` | spurious loss detection (§5.5.11) |

mod constants;
mod inflight;
mod long_term;
mod probe_bw;
mod probe_rtt;
mod short_term;
mod startup;
mod undo;

pub use constants::Config;

use super::model::aggregation::AckEpoch;
use super::model::filter::TwoPeriodMax;
use super::model::full_pipe::FullPipe;
use super::model::gain::Gain;
use super::model::loss_round::LossRound;
use super::model::pacing::PacingRate;
use super::model::probe_rtt::ProbeRttTimer;
use super::model::rounds::Rounds;
use super::{Ack, CongestionControl, Lost, Phase, Position, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use crate::windowed_max::WindowedMax;
use acklab_base::random::Stream;
use acklab_base::{Duration, Instant, Rate};

/// The value of a bound that does not limit.
const INFINITY: u64 = u64::MAX;

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
    /// `ProbeBW_DOWN`: drain the queue and leave capacity for other flows.
    Down,
    /// `ProbeBW_CRUISE`: send at the estimated bandwidth.
    Cruise,
    /// `ProbeBW_REFILL`: send at the estimated bandwidth for a round without short-term bounds, so
    /// that a probe begins with a full pipe.
    Refill,
    /// `ProbeBW_UP`: probe for more bandwidth.
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
    /// BBR.bw: the maximum of the delivery rate within the short-term bound, in bits per second.
    bandwidth: u64,
    full_pipe: FullPipe,
    /// BBR.full_bw_now and BBR.full_bw_reached.
    is_full: bool,
    was_full: bool,
    /// BBR.drain_start_round.
    drain_began: u64,
    losses: LossRound,

    cycle: probe_bw::Cycle,
    long_term: long_term::LongTerm,
    short_term: short_term::ShortTerm,
    undo: undo::Undo,

    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    has_min_rtt_expired: bool,
    /// BBR.probe_rtt_cwnd.
    probe_rtt_cwnd: u64,
    probe_rtt: ProbeRttTimer,
    limits_itself: bool,
    restarts: bool,

    epoch: AckEpoch,
    extra_acked: WindowedMax<u64>,

    congestion: CongestionState,
    prior_window: u64,
    total_delivered: u64,
    has_sack: bool,
    /// The position whose acknowledgment ends the last round trip in which the window limited
    /// sending (§2.2: C.is_cwnd_limited).
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
            losses: LossRound::default(),
            cycle: probe_bw::Cycle::default(),
            long_term: long_term::LongTerm::default(),
            short_term: short_term::ShortTerm::default(),
            undo: undo::Undo::default(),
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            has_min_rtt_expired: false,
            probe_rtt_cwnd: start.initial_window,
            probe_rtt: ProbeRttTimer::default(),
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

    /// `AdvanceMaxBwFilter` (§5.5.6). A cycle without a sample does not advance the filter, as in
    /// Linux's version 3.
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

    /// `HandleRestartFromIdle` (§5.4.1).
    #[inline(never)]
    fn restart_from_idle(&mut self, window: &mut Window, now: Instant) {
        self.restarts = true;
        self.epoch = AckEpoch::starting(now);
        if self.state.is_probe_bw() {
            self.pacing.follow(self.bandwidth, Gain::ONE, self.was_full);
        } else if self.state == State::ProbeRtt && self.probe_rtt.has_passed(now) {
            self.exit_probe_rtt(window, now);
        }
    }
}

impl CongestionControl for Bbr3 {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.mss = window.mss;
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
        self.losses.end_ack(ack);
    }

    /// Processes a loss event (`OnEnterFastRecovery`, `OnEnterRTO`, §5.6.4.4). BBR does not use the
    /// threshold.
    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, signal: Signal) -> u64 {
        if signal != Signal::Mark {
            self.save_upon_loss(window.cwnd);
        }
        window.ssthresh
    }

    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        let in_recovery = |state| matches!(state, CongestionState::Recovery | CongestionState::Loss);
        if in_recovery(self.congestion) && !in_recovery(state) {
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
        if self.losses.on_lost(lost) {
            self.save_upon_loss(window.cwnd);
        }
        self.check_lost_probe(window, lost);
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
        Some(match self.state {
            State::ProbeRtt => Phase::ProbesRtt,
            state if state.probes() => Phase::Probes,
            _ => Phase::Cruises,
        })
    }
}

#[cfg(test)]
mod tests;
