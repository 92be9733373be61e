//! Copa (Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet",
//! NSDI '18).
//!
//! Adjusts the window towards a rate of 1 / (δ·d) packets per second, where d is the queueing
//! delay. Sections are those of the paper. Details that the paper omits follow the `genericCC` of
//! its authors (`markoviancc.cc`, `rtt-window.cc`, `estimators.cc`) or Facebook's mvfst
//! (`quic/congestion_control/Copa.cpp`). The comment at each detail names its source.
//!
//! | module | rule |
//! |---|---|
//! | `velocity` | the speed at which the window moves (§2, step 4) |
//! | `competition` | δ in competition with flows that fill buffers (§2.2) |
//! | `heavy_loss` | the reduction after heavy loss (genericCC) |
//! | `persistent_congestion` | detects when a timeout resets the window (mvfst) |
//! | `extreme` | the minimum and maximum filters of round-trip times |

mod competition;
mod extreme;
mod heavy_loss;
mod persistent_congestion;
mod velocity;

pub use persistent_congestion::TimeoutRule;

use super::constants::constants;
use super::{Ack, CongestionControl, Gain, Lost, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant, Rate};
use competition::Competition;
use extreme::Extreme;
use heavy_loss::HeavyLoss;
use persistent_congestion::PersistentCongestion;
use velocity::{Direction, Velocity};

constants! {
    /// The constants of Copa.
    Config {
        /// δ in the default mode, and its maximum in the competitive mode (§2, §2.2): 1/δ packets
        /// of the flow wait in the queue.
        #[schemars(range(min = 0.001, max = 10.0))]
        delta: f64 = 0.5,
        /// Length of the minimum filter of RTTmin (§2).
        rtt_min_window: Duration = Duration::from_secs(10),
        /// `true` if the round-trip time of the handshake is a sample for RTTmin. mvfst uses it,
        /// because its handshake packets are full-sized; genericCC measures only data. A SYN takes
        /// less time on a slow link than a full segment.
        counts_handshake: bool = false,
        /// Length of the minimum filter of RTTstanding in smoothed round-trip times (§2: a half).
        #[schemars(range(min = 0.01, max = 10.0))]
        rtt_standing_window: Gain = Gain::percent(50),
        /// The velocity doubles only after the direction has been the same for this many round
        /// trips (§2, step 4).
        #[schemars(range(min = 1))]
        steady_round_trips: u32 = 3,
        /// The minimum window, in packets (genericCC and mvfst).
        #[schemars(range(min = 1.0, max = 1000.0))]
        min_window: f64 = 2.0,
        /// The pacing rate in windows per RTTstanding (§2).
        #[schemars(range(min = 0.1, max = 100.0))]
        pacing_gain: f64 = 2.0,
        /// `true` if the flow switches to the competitive mode when it detects flows that fill
        /// buffers (§2.2).
        competes: bool = true,
        /// The queue is considered nearly empty if the queueing delay is below this fraction of
        /// RTTmax − RTTmin (§2.2).
        #[schemars(range(min = 0.0, max = 1.0))]
        nearly_empty: f64 = 0.1,
        /// Length of the maximum filter of RTTmax in smoothed round-trip times (§2.2).
        #[schemars(range(min = 1, max = 1000))]
        rtt_max_window: u32 = 4,
        /// The number of round trips within which Copa flows without competing flows empty the
        /// queue (§2.2).
        #[schemars(range(min = 1))]
        empty_window: u32 = 5,
        /// The fraction of lost packets above which the window is reduced (genericCC's
        /// `ReduceOnLoss`: 30 %); 1 disables the reduction, as in the paper and mvfst.
        #[schemars(range(min = 0.0, max = 1.0))]
        heavy_loss: f64 = 0.3,
        /// The minimum time over which that fraction is measured, in round-trip times
        /// (`ReduceOnLoss`).
        #[schemars(range(min = 1))]
        heavy_loss_round_trips: u32 = 2,
        /// The minimum number of packets, lost or delivered, over which that fraction is measured
        /// (`ReduceOnLoss`).
        #[schemars(range(min = 1))]
        heavy_loss_packets: u32 = 20,
        /// The factor by which the window is reduced after heavy loss (`markoviancc.cc`, `onACK`).
        #[schemars(range(min = 0.0, max = 1.0))]
        heavy_loss_factor: f64 = 0.7,
        /// The retransmission timeouts that set the window to its minimum.
        timeout: TimeoutRule = TimeoutRule::PersistentCongestion,
    }
}

impl Settings for Config {
    type Controller = Copa;

    fn controller(&self, start: &Start) -> Copa {
        Copa::new(self, start)
    }
}

/// The state of Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    constants: Config,
    /// The congestion window, in packets.
    cwnd: f64,
    in_slow_start: bool,
    rtt_min: Extreme,
    rtt_standing: Extreme,
    /// The latest sample of the round-trip time.
    latest_rtt: Option<Duration>,
    /// The last RTTstanding.
    standing: Option<Duration>,
    velocity: Velocity,
    competition: Competition,
    /// The start of the present round trip.
    round_began: Instant,
    heavy_loss: HeavyLoss,
    persistent_congestion: PersistentCongestion,
    mss: u64,
}

impl Copa {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        let cwnd = start.initial_window as f64 / start.mss as f64;
        Self {
            constants: *constants,
            cwnd,
            in_slow_start: true,
            rtt_min: Extreme::least(),
            rtt_standing: Extreme::least(),
            latest_rtt: None,
            standing: None,
            velocity: Velocity::new(Instant::ZERO, Direction::Up, cwnd),
            competition: Competition::new(constants),
            round_began: Instant::ZERO,
            heavy_loss: HeavyLoss::default(),
            persistent_congestion: PersistentCongestion::default(),
            mss: start.mss,
        }
    }

    fn packets(&self, octets: u64) -> f64 {
        octets as f64 / self.mss as f64
    }

    /// §2: changes the window by one step. An ACK for n packets is treated as n ACKs (mvfst).
    fn step(&mut self, now: Instant, packets: f64, queueing: Duration, standing: Duration, rtt: Duration) {
        let inverse_delta = self.competition.inverse_delta();
        // Compares λ = cwnd / RTTstanding with 1 / (δ·d), both multiplied by RTTstanding and d.
        let is_below = self.cwnd * queueing.as_nanos() as f64 <= inverse_delta * standing.as_nanos() as f64;
        if self.in_slow_start {
            if is_below {
                // One packet per acknowledged packet doubles the window in a round trip
                // (genericCC).
                self.cwnd += packets;
                return;
            }
            self.in_slow_start = false;
            self.velocity = Velocity::new(now, Direction::Down, self.cwnd);
        }
        let towards = if is_below { Direction::Up } else { Direction::Down };
        // genericCC: the window at most doubles in a round trip.
        let most = self.cwnd / inverse_delta;
        let velocity = self.velocity.update(now, self.cwnd, towards, rtt, self.constants.steady_round_trips, most);
        let step = packets * velocity * inverse_delta / self.cwnd;
        self.cwnd = match towards {
            Direction::Up => self.cwnd + step,
            Direction::Down => (self.cwnd - step).max(self.constants.min_window),
        };
    }

    fn apply(&self, window: &mut Window) {
        window.cwnd = (self.cwnd * self.mss as f64) as u64;
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.mss = window.mss;
        self.velocity = Velocity::new(now, Direction::Up, self.cwnd);
        self.round_began = now;
        if let Some(rtt) = rtt {
            // The handshake's round trip paces the first window in any case.
            self.standing = Some(rtt);
            if self.constants.counts_handshake {
                self.rtt_min.update(now, rtt, self.constants.rtt_min_window);
            }
        }
        self.apply(window);
    }

    /// Processes an ACK. An ACK without a sample of the round-trip time, such as that of a
    /// retransmission, uses the latest sample (mvfst's `lrtt`).
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.lost > 0 {
            self.competition.on_loss();
        }
        self.latest_rtt = ack.newest_rtt.or(self.latest_rtt);
        let (Some(srtt), Some(rtt)) = (ack.srtt, self.latest_rtt) else { return };
        self.persistent_congestion.on_ack(ack.now, ack.newest_sent_at.zip(ack.newest_rtt), ack.delivered);
        let rtt_min = self.rtt_min.update(ack.now, rtt, self.constants.rtt_min_window);
        let standing = self.rtt_standing.update(ack.now, rtt, self.constants.rtt_standing_window.of_time(srtt));
        self.standing = Some(standing);
        let queueing = standing.saturating_sub(rtt_min);
        let is_new_round = ack.now.since(self.round_began) >= rtt;
        if is_new_round {
            self.round_began = ack.now;
        }
        self.competition.on_rtt(ack.now, rtt, srtt, queueing, rtt_min, is_new_round);
        self.step(ack.now, self.packets(ack.delivered), queueing, standing, rtt);
        if self.heavy_loss.on_delivered(&self.constants, ack.now, self.packets(ack.delivered), rtt) {
            self.cwnd = (self.cwnd * self.constants.heavy_loss_factor).max(self.constants.min_window);
        }
        self.apply(window);
    }

    fn on_lost(&mut self, _window: &Window, lost: &Lost) {
        self.heavy_loss.on_lost(self.packets(lost.bytes));
        if self.persistent_congestion.on_lost(lost) && self.constants.timeout == TimeoutRule::PersistentCongestion {
            self.cwnd = self.constants.min_window;
        }
    }

    /// A loss sets no threshold, because the default mode does not react to loss (§2.2). A timer
    /// may have detected the loss.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        self.competition.on_loss();
        u64::MAX
    }

    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss && self.constants.timeout == TimeoutRule::Every {
            self.cwnd = self.constants.min_window;
        }
        self.apply(window);
    }

    /// §2: 2·cwnd / RTTstanding.
    fn pacing_rate(&self) -> Option<Rate> {
        let seconds = self.standing?.as_secs_f64();
        Rate::from_bits_per_second((self.constants.pacing_gain * self.cwnd * self.mss as f64 * 8.0 / seconds) as u64)
    }

    fn governs_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
