//! BBR, as designed together with TACK (Li et al., IEEE/ACM ToN 2021, §VI-D).
//!
//! The receiver's measurements are the input of BBR's path model. The delivery rate in a TACK
//! covers two TACK intervals. Time is counted in TACK intervals instead of round trips; a round
//! trip has β intervals. The differences from [BBR, version 1](super::bbr):
//!
//! * The states are Startup, Drain and Stable. A cycle of Stable has 32 TACK intervals: 4 that
//!   probe, 4 that drain, 24 that cruise. The bandwidth is the maximum rate of 40 intervals.
//! * The window is (2 + 1/(RTTmin·f)) · bandwidth · RTTmin, where f is the frequency of TACKs. The
//!   second term covers the data delivered since the last TACK, which are still counted as in
//!   flight.
//! * The pacing rate is at least MSS·f, one packet per TACK. `ProbeRTT` paces at that rate for a
//!   round-trip time, at least 200 ms.
//!
//! f is the frequency of the [formula](crate::ack::tack::law), which both ends compute from the
//! same quantities, or the frequency of arriving TACKs if it is lower. On a busy medium, packets
//! and TACKs wait for the channel much longer than the minimum round-trip time suggests. The
//! maximum recent interval is used, like the maximum rate. It is at most the excess of the
//! round-trip time over its minimum, and excludes idle periods of the application. After a loss or
//! a pause, only the formula is used, for as long as rates are stored. More data in flight would
//! only lengthen a queue that drops packets.
//!
//! Everything that the paper does not mention follows BBR, version 1. This includes the gains of
//! Startup and Drain, the end of Startup, the restart after an idle period, and packet conservation
//! in the first round of a recovery. It also includes the allowance at both ends for packets that
//! are sent in [bursts](Burst), which matters if the path's capacity is little more than a burst.
//! If the receiver reports no rate, as in TCP, the sender's samples replace it. Losses in Startup
//! are evaluated by the rule of version 3 ([`startup`]).

mod recovery;
mod startup;

use super::constants::constants;
use super::model::aggregation::AckEpoch;
use super::model::filter::TwoPeriodMax;
use super::model::full_pipe::FullPipe;
use super::model::gain::{Gain, delivered_in};
use super::model::pacing::PacingRate;
use super::model::rounds::Rounds;
use super::{Ack, CongestionControl, Lost, Sent, Settings, Signal, Start, Window};
use super::{bbr, bbr3};
use crate::ack::tack::law::{LONGEST_DELAY, Law, Path};
use crate::pacing::Burst;
use crate::recovery::CongestionState;
use crate::windowed_max::WindowedMax;
use acklab_base::{Duration, Instant, Rate, mul_div};
use recovery::{Limits, Recovery};
use startup::StartupLosses;

/// The constants that the paper leaves to BBR, or adopts from BBR, have the values of BBR, version
/// 1.
const V1: bbr::Config = bbr::Config::PUBLISHED;

/// The rule for losses in Startup is that of BBR, version 3.
const V3: bbr3::Config = bbr3::Config::PUBLISHED;

/// β: the number of TACK intervals per round trip at the published frequency (Li et al., SIGCOMM
/// 2020, §4.1).
const BETA: u32 = 4;

/// The number of intervals that the delivery rate in a TACK covers (ToN 2021, §VI-D).
const REPORTED_INTERVALS: u64 = 2;

/// The number of bursts in flight: one in the sender's queue, one in its interface, and one in
/// reassembly at the receiver (`bbr_quantization_budget`).
const BURSTS_IN_FLIGHT: u64 = 3;

constants! {
    /// The constants of BBR as designed with TACK (ToN 2021, §VI-D, unless another source is
    /// named).
    Config {
        /// The gain of Startup, as in BBR, version 1.
        #[schemars(range(min = 1.0, max = 100.0))]
        startup_gain: Gain = V1.startup_gain,
        /// The gain of Drain, as in BBR, version 1.
        #[schemars(range(min = 0.01, max = 1.0))]
        drain_gain: Gain = V1.drain_gain,
        /// The window in bandwidth-delay products, without the data delivered between two TACKs.
        #[schemars(range(min = 1.0, max = 100.0))]
        cwnd_gain: Gain = V1.cwnd_gain,
        /// The gain of probing intervals.
        #[schemars(range(min = 1.01, max = 100.0))]
        probe_gain: Gain = V1.probe_gain,
        /// The gain of draining intervals.
        #[schemars(range(min = 0.01, max = 0.99))]
        yield_gain: Gain = V1.yield_gain,
        /// The number of TACK intervals that probe, which is also the number that drain: a phase of
        /// BBR, version 1.
        #[schemars(range(min = 1, max = 1000))]
        probe_intervals: u32 = BETA,
        /// The number of TACK intervals in a cycle: as many round trips as in BBR, version 1.
        #[schemars(range(min = 3, max = 10_000))]
        cycle_intervals: u32 = BETA * V1.cycle_phases,
        /// The number of TACK intervals over which the bandwidth is maximized: as many round trips
        /// as in BBR, version 1.
        #[schemars(range(min = 1))]
        bandwidth_window: u32 = BETA * V1.bandwidth_window,
        /// The fraction by which the pacing rate is below the estimate, as in BBR, version 1:
        /// "TCP-TACK follows the same design to gradually drain any excess queue" (footnote 3).
        #[schemars(range(min = 0.0, max = 0.99))]
        pacing_margin: Gain = V1.pacing_margin,
        /// The time for which a minimum round-trip time is valid.
        min_rtt_window: Duration = V1.min_rtt_window,
        /// The minimum duration of a pause that renews the minimum round-trip time.
        probe_rtt_duration: Duration = V1.probe_rtt_duration,
        /// The minimum growth of the bandwidth per round while the pipe is not full, as a factor,
        /// as in BBR, version 1.
        #[schemars(range(min = 1.0, max = 100.0))]
        full_bandwidth_growth: Gain = V1.full_bandwidth_growth,
        /// The number of rounds without such growth after which the pipe is full, as in BBR,
        /// version 1.
        #[schemars(range(min = 1))]
        full_bandwidth_rounds: u32 = V1.full_bandwidth_rounds,
        /// BBR.LossThresh: the maximum loss rate of a round of Startup, as a fraction of the data
        /// in flight; as in BBR, version 3.
        #[schemars(range(min = 0.0, max = 0.99))]
        loss_threshold: Gain = V3.loss_threshold,
        /// BBRStartupFullLossCnt: the number of lost ranges in a round of Startup from which losses
        /// are evaluated; as in BBR, version 3.
        #[schemars(range(min = 1))]
        full_loss_count: u32 = V3.full_loss_count,
        /// The maximum time over which bursts of acknowledgments are compensated (IETF 101, as in
        /// BBR, version 1).
        extra_acked_time: Duration = V1.extra_acked_time,
        /// The number of TACK intervals in each of the two periods of the maximum filter of these
        /// bursts: as many round trips as in BBR, version 1.
        #[schemars(range(min = 1))]
        extra_acked_window: u32 = BETA * V1.extra_acked_window,
    }
}

impl Settings for Config {
    type Controller = BbrTack;

    fn controller(&self, start: &Start) -> BbrTack {
        BbrTack::new(self, start)
    }
}

/// The state of the model. A pause, which renews the minimum round-trip time, may interrupt Startup
/// and Stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    Stable,
}

/// The state of BBR as designed with TACK.
#[derive(Clone, Debug)]
pub struct BbrTack {
    constants: Config,
    mss: u64,
    initial_window: u64,
    burst: Option<Burst>,
    law: Law,
    state: State,
    pacing: PacingRate,
    bandwidth: WindowedMax<u64>,
    full_pipe: FullPipe,
    rounds: Rounds,
    /// The last round of Startup in which a packet waited in a queue.
    queued_in: Option<u64>,
    /// The intervals between TACKs, each limited to the excess of the smoothed round-trip time over
    /// its minimum.
    waits: WindowedMax<Duration>,
    /// The number of the first TACK interval whose wait is used.
    waits_from: u64,
    /// The number of future reports that cover an idle period.
    idle_reports: u64,
    /// 1/f at the latest ACK.
    interval: Duration,
    /// The number of TACK intervals so far.
    intervals: u64,
    began: Instant,
    /// The number of the interval in which the current cycle began.
    cycle_began: u64,
    min_rtt: Option<Duration>,
    min_rtt_at: Instant,
    /// The end of the pause.
    pause: Option<Instant>,
    /// `true` if sending resumed after an idle period, and nothing has been delivered since.
    restarts: bool,
    epoch: AckEpoch,
    extra_acked: TwoPeriodMax,
    extra_began: u64,
    recovery: Recovery,
    losses: StartupLosses,
    /// `true` if losses have ended Startup, and no round of losses has begun since (BBR.undo_state
    /// of version 3).
    has_lost_startup: bool,
}

impl BbrTack {
    fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            mss: start.mss,
            initial_window: start.initial_window,
            burst: start.burst,
            law: Law::default(),
            state: State::Startup,
            pacing: PacingRate::new(constants.pacing_margin),
            bandwidth: WindowedMax::default(),
            full_pipe: FullPipe::default(),
            rounds: Rounds::default(),
            queued_in: None,
            waits: WindowedMax::default(),
            waits_from: 0,
            idle_reports: 0,
            interval: LONGEST_DELAY,
            intervals: 0,
            began: Instant::ZERO,
            cycle_began: 0,
            min_rtt: None,
            min_rtt_at: Instant::ZERO,
            pause: None,
            restarts: false,
            epoch: AckEpoch::default(),
            extra_acked: TwoPeriodMax::default(),
            extra_began: 0,
            recovery: Recovery::default(),
            losses: StartupLosses::default(),
            has_lost_startup: false,
        }
    }

    /// Returns the maximum recent delivery rate, in bits per second.
    fn max_bandwidth(&self) -> u64 {
        self.bandwidth.get().unwrap_or(0)
    }

    /// Updates the interval between two TACKs: that of the formula, or a longer interval if TACKs
    /// arrive less often.
    fn update_interval(&mut self) {
        let bandwidth = Some(self.max_bandwidth() / 8);
        let path = Path { mss: self.mss, bandwidth, rtt_min: self.min_rtt };
        self.interval = self.law.interval(&path).max(self.waits.get().unwrap_or_default()).min(LONGEST_DELAY);
    }

    /// Updates how long the sender waited for a TACK, from the receiver's reports.
    fn update_waits(&mut self, ack: &Ack, reported: Duration) {
        let memory = u64::from(self.constants.bandwidth_window);
        if ack.state != CongestionState::Open || self.pause.is_some() {
            (self.waits, self.waits_from) = (WindowedMax::default(), self.intervals + memory);
        } else if self.idle_reports > 0 {
            self.idle_reports -= 1;
        } else if self.intervals >= self.waits_from {
            let longest = ack.srtt.unwrap_or_default().saturating_sub(self.min_rtt.unwrap_or_default());
            self.waits.update(memory, self.intervals, (reported / REPORTED_INTERVALS).min(longest));
        }
    }

    /// Counts a TACK interval once its time has passed. TACKs that arrive early or late do not
    /// change the length of the following intervals. A period without TACKs is one interval.
    fn count_interval(&mut self, now: Instant) {
        if now.since(self.began) >= self.interval {
            self.intervals += 1;
            let latest = now.since(Instant::ZERO).saturating_sub(self.interval);
            self.began = (self.began + self.interval).max(Instant::ZERO + latest);
        }
    }

    fn update_bandwidth(&mut self, ack: &Ack) {
        self.rounds.update(ack.rate.as_ref(), ack.total_delivered);
        let Some(sample) = &ack.rate else { return };
        self.count_interval(ack.now);
        if let Some(reported) = sample.reported_interval {
            self.update_waits(ack, reported);
        }
        let rate = sample.bits_per_second();
        if !sample.is_app_limited || rate >= self.max_bandwidth() {
            self.bandwidth.update(self.constants.bandwidth_window.into(), self.intervals, rate);
        }
    }

    fn update_aggregation(&mut self, window: &Window, ack: &Ack) {
        if ack.delivered == 0 {
            return;
        }
        if self.intervals >= self.extra_began + u64::from(self.constants.extra_acked_window) {
            self.extra_began = self.intervals;
            self.extra_acked.advance();
        }
        let extra = self.epoch.on_acked(ack.now, ack.delivered, self.max_bandwidth());
        self.extra_acked.update(extra.min(window.cwnd));
    }

    fn update_state(&mut self, ack: &Ack) {
        let is_limited = ack.rate.is_none_or(|sample| sample.is_app_limited);
        let Config {
            full_bandwidth_growth,
            full_bandwidth_rounds,
            cycle_intervals,
            loss_threshold,
            full_loss_count,
            ..
        } = self.constants;
        match self.state {
            State::Startup => {
                self.note_queue(ack);
                let is_full = self.rounds.starts()
                    && !is_limited
                    && !self.is_held()
                    && self.full_pipe.on_round(self.max_bandwidth(), full_bandwidth_growth, full_bandwidth_rounds);
                self.has_lost_startup =
                    self.has_queued_lately() && self.losses.are_high(ack, loss_threshold, full_loss_count);
                if is_full || self.has_lost_startup {
                    self.state = State::Drain;
                }
            }
            State::Drain => {
                if ack.in_flight <= self.path(Gain::ONE) + self.bursts() {
                    (self.state, self.cycle_began) = (State::Stable, self.intervals);
                }
            }
            State::Stable => {
                if self.intervals >= self.cycle_began + u64::from(cycle_intervals) {
                    self.cycle_began = self.intervals;
                }
            }
        }
    }

    /// Returns `true` if the round that ends is no evidence of a full pipe. A conserved round
    /// delivers as much as the previous one, whatever the capacity of the pipe. There is one
    /// exception: a round-trip time longer by a quarter shows that packets waited in a queue. So
    /// much data was then in flight that the rate would have grown by a quarter.
    fn is_held(&self) -> bool {
        self.recovery.sees_conserved() && !self.has_queued_lately()
    }

    /// Returns `true` if a packet waited in a queue within the number of rounds that show a full
    /// pipe.
    fn has_queued_lately(&self) -> bool {
        let lately = u64::from(self.constants.full_bandwidth_rounds);
        self.queued_in.is_some_and(|round| self.rounds.count() <= round + lately)
    }

    fn note_queue(&mut self, ack: &Ack) {
        let growth = self.constants.full_bandwidth_growth;
        if let Some((rtt, least)) = ack.newest_rtt.zip(self.min_rtt)
            && rtt.as_nanos() >= growth.of(least.as_nanos())
        {
            self.queued_in = Some(self.rounds.count());
        }
    }

    /// Updates the minimum round-trip time, and starts the pause that renews it. An idle period
    /// empties the queue as a pause does.
    fn update_min_rtt(&mut self, ack: &Ack) {
        let has_expired = ack.now > self.min_rtt_at + self.constants.min_rtt_window;
        if let Some(rtt) = ack.newest_rtt
            && (has_expired || self.min_rtt.is_none_or(|min_rtt| rtt <= min_rtt))
        {
            (self.min_rtt, self.min_rtt_at) = (Some(rtt), ack.now);
            if has_expired && self.pause.is_none() && !self.restarts {
                let time = ack.srtt.unwrap_or_default().max(self.constants.probe_rtt_duration);
                self.pause = Some(ack.now + time);
            }
        }
        self.end_pause(ack.now);
        if ack.delivered > 0 {
            self.restarts = false;
        }
    }

    fn end_pause(&mut self, now: Instant) {
        if self.pause.is_some_and(|until| now >= until) {
            (self.pause, self.min_rtt_at) = (None, now);
            self.cycle_began = self.intervals;
        }
    }

    /// Paces at the bandwidth after an idle period (`bbr_cwnd_event` of Linux's BBR,
    /// `CA_EVENT_TX_START`). All data have been acknowledged, so a recovery is over.
    #[inline(never)]
    fn restart_from_idle(&mut self, window: &mut Window, now: Instant) {
        window.cwnd = self.recovery.end(window.cwnd);
        self.restarts = true;
        self.idle_reports = REPORTED_INTERVALS;
        self.epoch = AckEpoch::starting(now);
        self.end_pause(now);
        if self.state == State::Stable && self.pause.is_none() {
            self.pacing.follow(self.max_bandwidth(), Gain::ONE, true);
        }
    }

    fn pacing_gain(&self) -> Gain {
        let Config { startup_gain, drain_gain, probe_gain, yield_gain, probe_intervals, .. } = self.constants;
        let probes = u64::from(probe_intervals);
        match (self.state, self.intervals - self.cycle_began) {
            (State::Startup, _) => startup_gain,
            (State::Drain, _) => drain_gain,
            (State::Stable, interval) if interval < probes => probe_gain,
            (State::Stable, interval) if interval < 2 * probes => yield_gain,
            (State::Stable, _) => Gain::ONE,
        }
    }

    /// Returns MSS·f, in bits per second.
    fn least_rate(&self) -> u64 {
        mul_div(self.mss, 8_000_000_000, self.interval.as_nanos().max(1))
    }

    fn set_pacing(&mut self) {
        if self.max_bandwidth() == 0 {
            return;
        }
        let least = self.least_rate();
        let rate = self.pacing_gain().of(self.max_bandwidth());
        match self.pause {
            Some(_) => self.pacing.follow(least, Gain::ONE, true),
            None => self.pacing.follow(rate.max(least), Gain::ONE, self.state != State::Startup),
        }
    }

    /// Returns the bandwidth-delay product of the path times `gain`, in bytes.
    fn path(&self, gain: Gain) -> u64 {
        self.min_rtt.map_or(self.initial_window, |min_rtt| gain.of_bdp(self.max_bandwidth(), min_rtt))
    }

    /// Returns the number of bytes delivered between two TACKs. The sender still counts them as in
    /// flight.
    fn between_tacks(&self) -> u64 {
        delivered_in(self.max_bandwidth(), self.interval)
    }

    /// Returns the allowance for bursts at both ends, in bytes: three bursts, as in Linux's BBR
    /// (`bbr_quantization_budget`). Returns zero if packets are sent one by one.
    fn bursts(&self) -> u64 {
        let burst = self.burst.zip(self.pacing.rate());
        burst.map_or(0, |(burst, rate)| BURSTS_IN_FLIGHT * burst.quantum(self.mss, rate))
    }

    /// Returns the maximum amount in flight: (2 + 1/(RTTmin·f)) · bandwidth · RTTmin, plus the
    /// allowances for bursts of ACKs and of packets. In Startup, the larger gain of Startup
    /// replaces the 2.
    fn cap(&self) -> u64 {
        let Config { cwnd_gain, startup_gain, extra_acked_time, .. } = self.constants;
        let gain = if self.state == State::Stable { cwnd_gain } else { startup_gain };
        let between = self.between_tacks();
        let extra = self.extra_acked.get().min(delivered_in(self.max_bandwidth(), extra_acked_time));
        let extra = if self.state == State::Startup { 0 } else { extra.saturating_sub(between) };
        (self.path(gain) + between + extra + self.bursts()).max(self.min_window())
    }

    /// Sets the window. It grows by the delivered bytes up to the cap, and drops to the cap
    /// immediately, as in BBR, version 1.
    fn set_window(&mut self, window: &mut Window, ack: &Ack) {
        let limits =
            Limits { between: self.between_tacks(), least: self.min_window(), is_full: self.state != State::Startup };
        let conserved = self.recovery.conserves();
        let Config { full_loss_count, full_bandwidth_rounds, .. } = self.constants;
        let counts = limits.is_full
            || !self.recovery.is_over()
            || self.losses.begin_recovery(full_loss_count, full_bandwidth_rounds);
        let cwnd = if counts { self.recovery.window(window.cwnd, ack, limits) } else { window.cwnd };
        if self.recovery.conserves() && !conserved {
            // As in Linux's BBR, a new round begins, so that conserved packets have a complete
            // round of ACKs.
            self.rounds.begin(ack.total_delivered);
        }
        window.cwnd = if self.recovery.conserves() { cwnd } else { self.towards_cap(cwnd, ack) };
    }

    fn min_window(&self) -> u64 {
        u64::from(V1.min_window) * self.mss
    }

    /// Returns the next window below the cap. The first flight grows the window without evidence of
    /// the bandwidth, as in BBR, version 1 (`bbr_set_cwnd`).
    fn towards_cap(&self, cwnd: u64, ack: &Ack) -> u64 {
        let grown = cwnd + ack.delivered;
        match self.state {
            State::Startup if self.max_bandwidth() == 0 || ack.total_delivered < self.initial_window => grown,
            State::Startup => grown.min(self.cap().max(self.initial_window)).max(cwnd),
            State::Drain | State::Stable => grown.min(self.cap()),
        }
    }
}

impl CongestionControl for BbrTack {
    fn on_frequency(&mut self, law: Law) {
        self.law = law;
    }

    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.mss = window.mss;
        (self.min_rtt, self.min_rtt_at) = (rtt, now);
        self.update_interval();
        (self.began, self.epoch) = (now, AckEpoch::starting(now));
        self.pacing.start(window.cwnd, rtt, self.constants.startup_gain);
        self.pacing.keep_margin();
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.update_bandwidth(ack);
        self.update_aggregation(window, ack);
        self.losses.update(ack, self.rounds.starts());
        self.update_state(ack);
        self.update_min_rtt(ack);
        self.update_interval();
        self.set_pacing();
        self.set_window(window, ack);
        self.losses.end_ack(ack);
    }

    /// The threshold is not used.
    fn ssthresh(&mut self, _now: Instant, window: &Window, _flight: u64, _signal: Signal) -> u64 {
        window.ssthresh
    }

    fn on_state(&mut self, _now: Instant, _window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss {
            self.full_pipe.forget_baseline();
            self.rounds.end();
        }
    }

    fn on_undo(&mut self, _now: Instant, window: &mut Window) {
        self.full_pipe = FullPipe::default();
        window.cwnd = self.recovery.end(window.cwnd);
        self.losses.forget();
        if std::mem::take(&mut self.has_lost_startup) {
            self.state = State::Startup;
        }
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        let is_first = self.losses.on_lost(lost);
        self.has_lost_startup &= !is_first;
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

    fn wants_delivery_rate(&self) -> bool {
        true
    }

    fn limits_itself(&self) -> bool {
        self.pause.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::Position;
    use super::super::testing::{MSS, ack, sample, sent, start};
    use super::*;
    use crate::recovery::delivery_rate::{Sample, Stamp};

    const RTT: Duration = Duration::from_millis(40);
    const INTERVAL: Duration = Duration::from_millis(10);

    /// A path of 8 Mbps and 40 ms with a TACK every 10 ms, each for 10 packets.
    struct Path {
        controller: BbrTack,
        window: Window,
        tacks: u64,
    }

    impl Path {
        fn new() -> Self {
            Self::bursting(None)
        }

        fn bursting(burst: Option<Burst>) -> Self {
            let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
            let mut controller = BbrTack::new(&Config::PUBLISHED, &Start { burst, ..start(Growth::PerSegment) });
            controller.on_established(Instant::ZERO, &mut window, Some(RTT));
            Self { controller, window, tacks: 0 }
        }

        fn now(&self) -> Instant {
            Instant::ZERO + INTERVAL * self.tacks
        }

        /// Loses `ranges` packets that are not adjacent.
        fn lose(&mut self, ranges: u64) {
            for range in 0..ranges {
                self.controller.on_lost(
                    &self.window,
                    &Lost {
                        now: self.now(),
                        sent_at: Instant::ZERO,
                        bytes: MSS,
                        start: Position(2 * range),
                        end: Position(2 * range + 1),
                        stamp: Stamp::default(),
                        total_delivered: 10 * MSS * self.tacks,
                        total_lost: 0,
                    },
                );
            }
        }

        /// A TACK of a fast recovery that ends a round. It reports `ranges` lost ranges, each of
        /// one of the 100 packets in flight.
        fn lossy_round(&mut self, rtt: Duration, ranges: u64) {
            self.tacks += 1;
            self.lose(ranges);
            let total = 10 * MSS * self.tacks;
            let rate =
                Sample { lost: ranges * MSS, tx_in_flight: 100 * MSS, ..sample(1000 * self.tacks, total - 10 * MSS) };
            let ack = Ack {
                state: CongestionState::Recovery,
                has_sack: true,
                total_delivered: total,
                lost: ranges * MSS,
                in_flight: 100 * MSS,
                rate: Some(rate),
                ..ack(self.now(), 10, rtt)
            };
            self.controller.on_ack(&mut self.window, &ack);
        }

        fn tack(&mut self, rtt: Duration) -> u64 {
            self.tacks += 1;
            let total = 10 * MSS * self.tacks;
            // Four TACKs ago, 40 packets less had been delivered.
            let rate =
                Sample { delivered: 20 * MSS, interval: INTERVAL * 2, ..sample(0, total.saturating_sub(50 * MSS)) };
            let ack = Ack { total_delivered: total, in_flight: 40 * MSS, rate: Some(rate), ..ack(self.now(), 10, rtt) };
            self.controller.on_ack(&mut self.window, &ack);
            self.controller.pacing_rate().map_or(0, Rate::bits_per_second)
        }
    }

    /// All rates are 1 % lower, because of the pacing margin.
    #[test]
    fn a_cycle_has_32_intervals() {
        let mut path = Path::new();
        while path.controller.state != State::Stable {
            path.tack(RTT);
            assert!(path.tacks < 100, "four rounds, and then the pipe is full");
        }
        let rates: Vec<u64> = (0..33).map(|_| path.tack(RTT) / 990_000).collect();
        assert_eq!(rates[..3], [10; 3], "the first was that in which the cycle began");
        assert_eq!(rates[3..7], [6; 4]);
        assert_eq!(rates[7..31], [8; 24]);
        assert_eq!(rates[31..], [10; 2]);
    }

    /// Two TACKs per round trip deliver ten packets each, the same in every round. Each TACK
    /// reports six lost ranges. So one round conserves packets, the next grows, and half a round
    /// later the next recovery begins.
    #[test]
    fn rounds_of_conserved_packets_do_not_tell_that_the_pipe_is_full() {
        let tacks_until_full = |loses: bool, rtt: Duration| {
            let mut path = Path::new();
            (1u64..).find(|count| {
                path.tacks += 1;
                let rate = Sample {
                    delivered: 20 * MSS,
                    interval: INTERVAL * 2,
                    ..sample(0, 10 * MSS * count.saturating_sub(2))
                };
                let ack = Ack {
                    total_delivered: 10 * MSS * count,
                    lost: u64::from(loses) * MSS,
                    in_flight: 20 * MSS,
                    rate: Some(rate),
                    acked_to: Position(10 * count + 1),
                    sent_to: Position(10 * count + 20),
                    ..ack(path.now(), 10, rtt)
                };
                path.lose(if loses { 6 } else { 0 });
                path.controller.on_ack(&mut path.window, &ack);
                path.controller.state != State::Startup
            })
        };
        assert_eq!(tacks_until_full(false, RTT), Some(7), "a round, and three without growth");
        assert_eq!(tacks_until_full(true, RTT), Some(13), "of five TACKs, two rounds, one counts");
        assert_eq!(tacks_until_full(true, RTT * 5 / 4), Some(8), "if packets wait in a queue, all count");
    }

    /// Five ranges in a round of Startup change nothing; six begin packet conservation
    /// (BBRStartupFullLossCnt). A loss in each of three rounds also begins it. Once the pipe has
    /// been full, each loss begins it.
    #[test]
    fn a_few_losses_in_startup_are_not_believed() {
        let conserves = |state: State, rounds: &[u64]| {
            let mut path = Path::new();
            path.controller.state = state;
            rounds.iter().for_each(|ranges| path.lossy_round(RTT, *ranges));
            path.controller.recovery.conserves()
        };
        assert_eq!([5, 6].map(|ranges| conserves(State::Startup, &[ranges])), [false, true]);
        assert!(!conserves(State::Startup, &[1, 1, 0, 1, 1]), "a round without a loss lies between them");
        assert!(conserves(State::Startup, &[1, 1, 1]));
        assert!(conserves(State::Stable, &[1]));
    }

    /// Rounds of a recovery end Startup if they lose six of 100 packets and a queue has formed. An
    /// RTT that is a quarter longer indicates the queue. The first of the rounds begins the
    /// recovery. An undo returns to Startup, unless more losses have followed.
    #[test]
    fn high_loss_with_a_queue_ends_startup() {
        let after = |rtt: Duration, ranges: u64| {
            let mut path = Path::new();
            path.tack(RTT);
            (0..2).for_each(|_| path.lossy_round(rtt, ranges));
            path
        };
        assert_eq!(after(RTT, 6).controller.state, State::Startup, "without a queue");
        assert_eq!(after(RTT * 5 / 4, 2).controller.state, State::Startup, "2 % may be lost");
        let mut path = after(RTT * 5 / 4, 6);
        assert_ne!(path.controller.state, State::Startup);
        path.controller.on_undo(path.now(), &mut path.window);
        assert_eq!(path.controller.state, State::Startup);

        let mut path = after(RTT * 5 / 4, 6);
        path.lose(1);
        path.controller.on_undo(path.now(), &mut path.window);
        assert_ne!(path.controller.state, State::Startup);
    }

    #[test]
    fn a_loss_begins_a_round() {
        let mut path = Path::new();
        path.controller.state = State::Stable;
        let mut count = |delivered: u64, lost: u64, prior: u64| {
            path.tacks += 1;
            let rate = Some(sample(1000, prior * MSS));
            let ack = Ack { total_delivered: delivered * MSS, lost: lost * MSS, rate, ..ack(path.now(), 10, RTT) };
            path.controller.on_ack(&mut path.window, &ack);
            path.controller.rounds.count()
        };
        assert_eq!([count(10, 0, 0), count(20, 1, 0)], [1; 2]);
        assert_eq!(count(30, 0, 10), 1, "it left before the loss was known");
        assert_eq!(count(40, 0, 20), 2);
    }

    /// With β = 4, the window is 2.25 times the bandwidth-delay product of the path.
    #[test]
    fn the_window_holds_what_comes_between_two_tacks() {
        let mut path = Path::new();
        (0..100).for_each(|_| _ = path.tack(RTT));
        assert_eq!(path.window.cwnd, 90 * MSS);
    }

    /// A burst has five packets and is sent in 5 ms at 8 Mbps. In the four probing intervals the
    /// bursts are a quarter larger, in the draining ones a quarter smaller.
    #[test]
    fn the_window_holds_three_bursts_more() {
        let burst = Burst { packets: 2, time: Duration::from_millis(5), catches_up: true };
        let mut path = Path::bursting(Some(burst));
        (0..100).for_each(|_| _ = path.tack(RTT));
        let mut window = || {
            path.tack(RTT);
            path.window.cwnd
        };
        let mut windows: Vec<u64> = (0..100).map(|_| (window() - 90 * MSS) / 3).collect();
        windows.sort_unstable();
        windows.dedup();
        assert_eq!(windows, [3712, 4950, 6187], "less 1 %");
    }

    #[test]
    fn of_a_slow_path_the_window_holds_six_packets_more() {
        let burst = Burst { packets: 10, time: Duration::from_millis(1), catches_up: true };
        let mut path = Path::bursting(Some(burst));
        (0..100).for_each(|_| _ = path.tack(RTT));
        assert_eq!(path.window.cwnd, 96 * MSS);
    }

    #[test]
    fn a_round_trip_that_is_old_is_renewed_at_a_packet_a_tack() {
        let mut path = Path::new();
        path.tack(RTT);
        let longer = RTT + Duration::from_millis(1);
        let rates: Vec<u64> = (0..1100).map(|_| path.tack(longer)).collect();
        let paused = rates.iter().filter(|rate| **rate == 772_682).count();
        assert_eq!(paused, 20, "200 ms at a packet in 10.25 ms, a quarter of the round trip, less 1 %");
    }

    /// TACKs arrive every 30 ms instead of every 10 ms, at one packet per millisecond.
    #[test]
    fn the_window_holds_what_comes_while_tacks_wait() {
        let mut path = Path::new();
        (0..100).for_each(|_| _ = path.tack(RTT));
        let slow = |path: &mut Path, state| {
            path.tacks += 3;
            let rate = Sample {
                delivered: 60 * MSS,
                interval: INTERVAL * 6,
                reported_interval: Some(INTERVAL * 6),
                ..sample(0, 0)
            };
            let ack = Ack { state, in_flight: 40 * MSS, rate: Some(rate), ..ack(path.now(), 30, RTT * 2) };
            path.controller.on_ack(&mut path.window, &ack);
            (path.controller.interval, path.controller.between_tacks() / MSS)
        };
        assert_eq!(slow(&mut path, CongestionState::Open), (INTERVAL * 3, 30));
        assert_eq!(slow(&mut path, CongestionState::Recovery), (INTERVAL, 10));
        for _ in 0..39 {
            assert_eq!(slow(&mut path, CongestionState::Open), (INTERVAL, 10), "as long as rates are remembered");
        }
        assert_eq!(slow(&mut path, CongestionState::Open), (INTERVAL * 3, 30));
    }

    #[test]
    fn a_silence_ends_a_recovery() {
        let mut path = Path::new();
        (0..100).for_each(|_| _ = path.tack(RTT));
        let before = path.window.cwnd;
        let loss = Ack { lost: MSS, in_flight: 10 * MSS, sent_to: Position(1000), ..ack(path.now(), 1, RTT) };
        path.controller.on_ack(&mut path.window, &loss);
        assert!(path.window.cwnd < before, "what is delivered is conserved");
        let sent = Sent { is_app_limited: true, ..sent(path.now() + RTT * 10, MSS) };
        path.controller.on_sent(&mut path.window, &sent);
        assert_eq!(path.window.cwnd, before);
    }

    #[test]
    fn an_idle_application_leaves_the_model_as_it_is() {
        let mut path = Path::new();
        (0..100).for_each(|_| _ = path.tack(RTT));
        path.tacks += 3000;
        let sent = Sent { is_app_limited: true, ..sent(path.now(), MSS) };
        path.controller.on_sent(&mut path.window, &sent);
        assert_eq!(
            path.controller.pacing_rate().map(Rate::bits_per_second),
            Some(7_920_000),
            "the bandwidth, less 1 %"
        );
        path.tacks += 1;
        let silence = Sample {
            interval: INTERVAL * 3000,
            reported_interval: Some(INTERVAL * 3000),
            is_app_limited: true,
            ..sample(20 * MSS, 0)
        };
        let late = Ack { rate: Some(silence), ..ack(path.now(), 10, RTT) };
        path.controller.on_ack(&mut path.window, &late);
        assert_eq!((path.controller.interval, path.controller.pause), (INTERVAL, None), "f, and no pause");
        assert_eq!(path.window.cwnd, 90 * MSS);
    }
}
