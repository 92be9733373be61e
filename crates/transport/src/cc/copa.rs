//! Copa (Arun & Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI '18).
//!
//! The window moves towards a rate of 1 / (δ·d) packets a second, where d is the queueing delay. Sections are the paper's.
//! What it leaves open follows its authors' `genericCC` (`markoviancc.cc`, `rtt-window.cc`) or Facebook's mvfst
//! (`quic/congestion_control/Copa.cpp`); each place says which.

mod competition;
mod extreme;

use super::{Ack, CongestionControl, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::{Duration, Instant, Rate};
use competition::Competition;
use extreme::Extreme;

/// §2: RTTmin is the least of the last ten seconds.
const RTT_MIN_WINDOW: Duration = Duration::from_secs(10);
/// §2, step 4: the velocity doubles only after the direction has been the same for so many round trips.
const STEADY_ROUND_TRIPS: u32 = 3;
/// genericCC and mvfst: the least window, in packets.
const MIN_WINDOW: f64 = 2.0;

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
    /// When the present round trip began, and with which window.
    since: Option<(Instant, f64)>,
}

/// The state of Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    /// The congestion window, in packets.
    cwnd: f64,
    in_slow_start: bool,
    rtt_min: Extreme,
    rtt_standing: Extreme,
    /// The last standing round-trip time.
    standing: Option<Duration>,
    velocity: Velocity,
    competition: Competition,
    mss: u64,
}

impl Copa {
    pub(super) fn new(start: &Start) -> Self {
        Self {
            cwnd: start.initial_window as f64 / start.mss as f64,
            in_slow_start: true,
            rtt_min: Extreme::least(),
            rtt_standing: Extreme::least(),
            standing: None,
            velocity: Velocity { value: 1.0, direction: Direction::Up, steady: 0, since: None },
            competition: Competition::new(),
            mss: start.mss,
        }
    }

    /// §2: what each ACK does, with n packets that it acknowledges in the place of n ACKs (mvfst).
    fn step(&mut self, now: Instant, packets: f64, srtt: Duration, queueing: Duration, standing: Duration) {
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
        }
        let towards = if is_below { Direction::Up } else { Direction::Down };
        self.velocity.update(now, self.cwnd, srtt, towards);
        // genericCC: the window at most doubles in a round trip.
        self.velocity.value = self.velocity.value.min(self.cwnd / inverse_delta).max(1.0);
        let step = packets * self.velocity.value * inverse_delta / self.cwnd;
        self.cwnd = match towards {
            Direction::Up => self.cwnd + step,
            Direction::Down => (self.cwnd - step).max(MIN_WINDOW),
        };
    }

    fn apply(&self, window: &mut Window) {
        window.cwnd = (self.cwnd * self.mss as f64) as u64;
    }
}

impl Velocity {
    /// §2, step 4. The round trip is one of the smoothed time (mvfst), which needs no ACK at its end.
    fn update(&mut self, now: Instant, cwnd: f64, srtt: Duration, towards: Direction) {
        match self.since {
            None => self.since = Some((now, cwnd)),
            Some((began, before)) if now.since(began) >= srtt => {
                let direction = if cwnd > before { Direction::Up } else { Direction::Down };
                if direction == self.direction {
                    self.steady += 1;
                    if self.steady >= STEADY_ROUND_TRIPS {
                        self.value *= 2.0;
                    }
                } else {
                    (self.value, self.direction, self.steady) = (1.0, direction, 0);
                }
                self.since = Some((now, cwnd));
            }
            Some(_) => {}
        }
        // mvfst: speed that was gathered one way is not for the other.
        if towards != self.direction && self.value > 1.0 {
            *self = Self { value: 1.0, direction: towards, steady: 0, since: Some((now, cwnd)) };
        }
    }
}

impl CongestionControl for Copa {
    fn on_established(&mut self, now: Instant, window: &mut Window, rtt: Option<Duration>) {
        self.competition.begin(now);
        if let Some(rtt) = rtt {
            self.rtt_min.update(now, rtt, RTT_MIN_WINDOW);
            self.standing = Some(rtt);
        }
        self.apply(window);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(srtt) = ack.srtt else { return };
        if ack.lost > 0 {
            self.competition.on_loss(ack.now);
        }
        let Some(rtt) = ack.newest_rtt else { return };
        let rtt_min = self.rtt_min.update(ack.now, rtt, RTT_MIN_WINDOW);
        let standing = self.rtt_standing.update(ack.now, rtt, srtt / 2);
        self.standing = Some(standing);
        let queueing = standing.saturating_sub(rtt_min);
        self.competition.on_rtt(ack.now, rtt, srtt, queueing, rtt_min);
        self.step(ack.now, ack.delivered as f64 / self.mss as f64, srtt, queueing, standing);
        self.apply(window);
    }

    /// Loss sets no threshold: in the default mode Copa does not react to it at all (§2.2). A timer may have found it.
    fn ssthresh(&mut self, now: Instant, _window: &Window, _flight: u64, _signal: Signal) -> u64 {
        self.competition.on_loss(now);
        u64::MAX
    }

    /// After a timeout, the least window, as after mvfst's persistent congestion.
    fn on_state(&mut self, now: Instant, window: &mut Window, state: CongestionState) {
        if state == CongestionState::Loss {
            self.cwnd = MIN_WINDOW;
            self.velocity = Velocity { value: 1.0, direction: Direction::Up, steady: 0, since: Some((now, self.cwnd)) };
        }
        self.apply(window);
    }

    /// §2: 2·cwnd / RTTstanding.
    fn pacing_rate(&self) -> Option<Rate> {
        let seconds = self.standing?.as_secs_f64();
        Rate::from_bits_per_second((2.0 * self.cwnd * self.mss as f64 * 8.0 / seconds) as u64)
    }

    fn governs_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Growth;
    use super::super::testing::{MSS, ack, start};
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    struct Flow {
        copa: Copa,
        window: Window,
        now: Instant,
    }

    impl Flow {
        /// On a path of 100 ms.
        fn new() -> Self {
            let mut flow = Self {
                copa: Copa::new(&start(Growth::PerSegment)),
                window: Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS },
                now: Instant::ZERO,
            };
            flow.copa.on_established(flow.now, &mut flow.window, Some(MS(100)));
            flow
        }

        /// ACKs of `segments` each, `gap_ms` apart, whose round trips were of `rtt_ms`.
        fn acks(&mut self, count: u64, segments: u64, gap_ms: u64, rtt_ms: u64) -> f64 {
            for _ in 0..count {
                self.now += MS(gap_ms);
                let mut ack = ack(self.now, segments, MS(rtt_ms));
                ack.srtt = Some(MS(100));
                self.copa.on_ack(&mut self.window, &ack);
            }
            self.copa.cwnd
        }
    }

    #[test]
    fn slow_start_doubles_until_the_target_is_passed() {
        let mut flow = Flow::new();
        assert!((flow.acks(10, 1, 10, 100) - 20.0).abs() < 1e-9, "no queue, no bound");
        // Within srtt/2 the standing time is still that of the empty queue.
        flow.acks(1, 1, 10, 120);
        assert!(flow.copa.in_slow_start);
        // 20 ms of queue allow 2 · 120 / 20 = 12 packets.
        let cwnd = flow.acks(1, 1, 60, 120);
        assert!(!flow.copa.in_slow_start && cwnd < 21.0, "{cwnd}");
    }

    #[test]
    fn a_round_trip_moves_the_window_by_inverse_delta() {
        let mut flow = Flow::new();
        (flow.copa.in_slow_start, flow.copa.cwnd) = (false, 50.0);
        let up = flow.acks(50, 1, 2, 100);
        assert!((up - 52.0).abs() < 0.05, "{up}");
        let mut thinned = Flow::new();
        (thinned.copa.in_slow_start, thinned.copa.cwnd) = (false, 50.0);
        let thin = thinned.acks(5, 10, 20, 100);
        assert!((thin - up).abs() < 0.05, "ten packets an ACK are ten steps: {thin}");
    }

    #[test]
    fn velocity_doubles_after_three_round_trips_one_way_and_is_lost_on_the_turn() {
        let mut flow = Flow::new();
        (flow.copa.in_slow_start, flow.copa.cwnd) = (false, 50.0);
        flow.acks(10, 5, 10, 100);
        assert!((flow.copa.velocity.value - 1.0).abs() < 1e-9);
        flow.acks(21, 5, 10, 100);
        assert!((flow.copa.velocity.value - 2.0).abs() < 1e-9, "{:?}", flow.copa.velocity);
        flow.acks(10, 5, 10, 100);
        assert!((flow.copa.velocity.value - 4.0).abs() < 1e-9);
        flow.acks(1, 5, 51, 200);
        assert!((flow.copa.velocity.value - 1.0).abs() < 1e-9, "100 ms of queue turn it at once");
    }

    #[test]
    fn loss_alone_moves_nothing_but_a_timeout_does() {
        let mut flow = Flow::new();
        let before = flow.acks(5, 1, 10, 100);
        assert_eq!(flow.copa.ssthresh(flow.now, &flow.window, 10 * MSS, Signal::Loss), u64::MAX);
        flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Recovery);
        assert!((flow.copa.cwnd - before).abs() < 1e-9);
        flow.copa.on_state(flow.now, &mut flow.window, CongestionState::Loss);
        assert_eq!(flow.window.cwnd, 2 * MSS);
    }

    #[test]
    fn paced_at_twice_the_window_in_a_standing_round_trip() {
        let flow = Flow::new();
        assert_eq!(flow.copa.pacing_rate(), Rate::from_bits_per_second(2 * 10 * MSS * 8 * 10));
    }
}
