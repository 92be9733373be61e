//! Copa (Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI '18).
//!
//! The window moves towards a rate of 1 / (δ·d) packets a second, where d is the queueing delay. Sections are the paper's.
//! What it leaves open follows its authors' `genericCC` (`markoviancc.cc`, `rtt-window.cc`) or Facebook's mvfst
//! (`quic/congestion_control/Copa.cpp`); each place says which.

mod competition;
mod extreme;

use super::constants::constants;
use super::{Ack, CongestionControl, Gain, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant, Rate};
use competition::Competition;
use extreme::Extreme;

constants! {
    /// The constants of Copa.
    Config {
        /// δ in the default mode, and the greatest in the competitive one (§2, §2.2): 1/δ packets of its own wait in the queue.
        #[schemars(range(min = 0.001, max = 10.0))]
        delta: f64 = 0.5,
        /// RTTmin is the least of so long (§2).
        rtt_min_window: Duration = Duration::from_secs(10),
        /// RTTstanding is the least of this part of the smoothed round trip (§2: a half).
        #[schemars(range(min = 0.01, max = 10.0))]
        rtt_standing_window: Gain = Gain::percent(50),
        /// The velocity doubles only after the direction has been the same for so many round trips (§2, step 4).
        #[schemars(range(min = 1))]
        steady_round_trips: u32 = 3,
        /// The least window, in packets (genericCC and mvfst).
        #[schemars(range(min = 1.0, max = 1000.0))]
        min_window: f64 = 2.0,
        /// Paced at this many windows in a standing round trip (§2).
        #[schemars(range(min = 0.1, max = 100.0))]
        pacing_gain: f64 = 2.0,
        /// Compete with flows that fill buffers (§2.2).
        competes: bool = true,
        /// The queue is nearly empty if the queueing delay is below this share of RTTmax − RTTmin (§2.2).
        #[schemars(range(min = 0.0, max = 1.0))]
        nearly_empty: f64 = 0.1,
        /// RTTmax is that of so many round trips (§2.2).
        #[schemars(range(min = 1, max = 1000))]
        rtt_max_window: u32 = 4,
        /// Copa alone empties the queue once in so many round trips (§2.2).
        #[schemars(range(min = 1))]
        empty_window: u32 = 5,
    }
}

impl Settings for Config {
    type Controller = Copa;

    fn controller(&self, start: &Start) -> Copa {
        Copa::new(self, start)
    }
}

/// Where the window has been going.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    Up,
    Down,
}

/// v: by how many packets times 1/δ the window moves in a round trip (§2, step 4).
#[derive(Clone, Copy, Debug)]
struct Velocity {
    value: f64,
    direction: Direction,
    /// Round trips for which the direction has been the same.
    steady: u32,
    /// The window at the start of the present round trip.
    before: f64,
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
    /// The last standing round-trip time.
    standing: Option<Duration>,
    velocity: Velocity,
    competition: Competition,
    /// When the present round trip began: it ends with the first ACK of something that left since.
    round_began: Instant,
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
            standing: None,
            velocity: Velocity::new(Direction::Up, cwnd),
            competition: Competition::new(constants),
            round_began: Instant::ZERO,
            mss: start.mss,
        }
    }

    /// §2: what each ACK does, with n packets that it acknowledges in the place of n ACKs (mvfst).
    fn step(&mut self, packets: f64, queueing: Duration, standing: Duration, is_new_round: bool) {
        let inverse_delta = self.competition.inverse_delta();
        // λ = cwnd / RTTstanding against 1 / (δ·d), without their common unit of time.
        let is_below = self.cwnd * queueing.as_nanos() as f64 <= inverse_delta * standing.as_nanos() as f64;
        if self.in_slow_start {
            if is_below {
                // Twice the window in a round trip, a packet for each one acknowledged (genericCC).
                self.cwnd += packets;
                return;
            }
            self.in_slow_start = false;
            self.velocity = Velocity::new(Direction::Down, self.cwnd);
        }
        let towards = if is_below { Direction::Up } else { Direction::Down };
        self.velocity.update(self.cwnd, towards, is_new_round, self.constants.steady_round_trips);
        // genericCC: the window at most doubles in a round trip.
        self.velocity.value = self.velocity.value.min(self.cwnd / inverse_delta).max(1.0);
        let step = packets * self.velocity.value * inverse_delta / self.cwnd;
        self.cwnd = match towards {
            Direction::Up => self.cwnd + step,
            Direction::Down => (self.cwnd - step).max(self.constants.min_window),
        };
    }

    fn apply(&self, window: &mut Window) {
        window.cwnd = (self.cwnd * self.mss as f64) as u64;
    }
}

impl Velocity {
    const fn new(direction: Direction, cwnd: f64) -> Self {
        Self { value: 1.0, direction, steady: 0, before: cwnd }
    }

    /// §2, step 4: once a round trip, the window is compared with what it was when the packet left that is now acknowledged.
    fn update(&mut self, cwnd: f64, towards: Direction, is_new_round: bool, steady_round_trips: u32) {
        if is_new_round {
            let direction = if cwnd > self.before { Direction::Up } else { Direction::Down };
            if direction == self.direction {
                self.steady += 1;
                if self.steady >= steady_round_trips {
                    self.value *= 2.0;
                }
                self.before = cwnd;
            } else {
                *self = Self::new(direction, cwnd);
            }
        }
        // mvfst: speed that was gathered one way is not for the other.
        if towards != self.direction && self.value > 1.0 {
            *self = Self::new(towards, cwnd);
        }
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.round_began = now;
        // It paces the first window and is no more: a SYN takes less time on a slow link than data, and against it an empty
        // queue would never look empty. genericCC, too, measures data only.
        self.standing = rtt;
        self.apply(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.lost > 0 {
            self.competition.on_loss();
        }
        let (Some(srtt), Some(rtt)) = (ack.srtt, ack.newest_rtt) else { return };
        let is_new_round = ack.now.since(self.round_began) >= rtt;
        if is_new_round {
            self.round_began = ack.now;
        }
        let rtt_min = self.rtt_min.update(ack.now, rtt, self.constants.rtt_min_window);
        let standing = self.rtt_standing.update(ack.now, rtt, self.constants.rtt_standing_window.of_time(srtt));
        self.standing = Some(standing);
        let queueing = standing.saturating_sub(rtt_min);
        self.competition.on_rtt(ack.now, rtt, srtt, queueing, rtt_min, is_new_round);
        self.step(ack.delivered as f64 / self.mss as f64, queueing, standing, is_new_round);
        self.apply(window);
    }

    /// Loss sets no threshold: in the default mode Copa does not react to it at all (§2.2). A timer may have found it.
    fn ssthresh(&mut self, _now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        self.competition.on_loss();
        u64::MAX
    }

    /// After a timeout, the least window, as after mvfst's persistent congestion.
    fn on_state(&mut self, _now: Instant, window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss {
            self.cwnd = self.constants.min_window;
            self.velocity = Velocity::new(Direction::Up, self.cwnd);
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
