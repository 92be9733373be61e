//! Decides when Copa competes with flows that fill buffers, and with which value of δ (§2.2).

use super::Config;
use super::extreme::Extreme;
use acklab_base::{Duration, Instant};

/// The mode and its δ.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    constants: Config,
    /// 1/δ in the default mode, and its minimum in the competitive mode (§2.2: "at most 0.5").
    default_inverse_delta: f64,
    inverse_delta: f64,
    is_competitive: bool,
    rtt_max: Extreme,
    /// The number of round trips that have begun since the queue was nearly empty.
    rounds_since_empty: u32,
    /// `true` if a packet was lost in the present round trip.
    has_lost: bool,
}

impl Competition {
    pub(super) const fn new(constants: &Config) -> Self {
        let default_inverse_delta = 1.0 / constants.delta;
        Self {
            constants: *constants,
            default_inverse_delta,
            inverse_delta: default_inverse_delta,
            is_competitive: false,
            rtt_max: Extreme::greatest(),
            rounds_since_empty: 0,
            has_lost: false,
        }
    }

    /// Returns 1/δ: the number of packets that the flow keeps in the queue.
    pub(super) const fn inverse_delta(&self) -> f64 {
        self.inverse_delta
    }

    /// Processes a sample of the round-trip time, with its queueing delay and RTTmin.
    pub(super) fn on_rtt(
        &mut self,
        now: Instant,
        rtt: Duration,
        srtt: Duration,
        queueing: Duration,
        rtt_min: Duration,
        is_new_round: bool,
    ) {
        let rtt_max = self.rtt_max.update(now, rtt, srtt * u64::from(self.constants.rtt_max_window));
        let swing = rtt_max.saturating_sub(rtt_min).as_nanos() as f64;
        self.rounds_since_empty += u32::from(is_new_round);
        // An empty queue is nearly empty even if RTTmax equals RTTmin.
        if queueing.is_zero() || (queueing.as_nanos() as f64) < self.constants.nearly_empty * swing {
            self.rounds_since_empty = 0;
        }
        let competes = self.constants.competes && self.rounds_since_empty > self.constants.empty_window;
        if competes != self.is_competitive {
            (self.is_competitive, self.inverse_delta) = (competes, self.default_inverse_delta);
        } else if is_new_round && competes && !self.has_lost {
            self.inverse_delta += 1.0;
        }
        self.has_lost &= !is_new_round;
    }

    /// Processes a loss: halves 1/δ, at most once per round trip.
    pub(super) fn on_loss(&mut self) {
        if self.is_competitive && !self.has_lost {
            self.inverse_delta = (self.inverse_delta / 2.0).max(self.default_inverse_delta);
            self.has_lost = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Feeds ten samples per round trip on a path of 100 ms plus `queueing` ms, and returns 1/δ.
    fn feed(competition: &mut Competition, round_trips: std::ops::Range<u64>, queueing: impl Fn(u64) -> u64) -> u64 {
        for round in round_trips {
            for part in 0..10 {
                let (now, queueing) = (Instant::ZERO + MS(100 * round + 10 * part), MS(queueing(10 * round + part)));
                competition.on_rtt(now, MS(100) + queueing, MS(100), queueing, MS(100), part == 0);
            }
        }
        competition.inverse_delta() as u64
    }

    #[test]
    fn a_queue_that_empties_every_five_round_trips_is_ones_own() {
        let mut competition = Competition::new(&Config::PUBLISHED);
        assert_eq!(feed(&mut competition, 0..50, |at| if at % 50 == 7 { 1 } else { 20 }), 2);
        assert!(!competition.is_competitive);
    }

    #[test]
    fn a_queue_that_never_empties_is_competed_for() {
        let mut competition = Competition::new(&Config::PUBLISHED);
        assert_eq!(feed(&mut competition, 0..6, |_| 50), 2, "the sixth round trip begins the competition");
        assert_eq!(feed(&mut competition, 6..16, |_| 50), 12, "and each one after it adds a packet");
        competition.on_loss();
        competition.on_loss();
        assert_eq!(competition.inverse_delta() as u64, 6, "once a round trip");
        assert_eq!(feed(&mut competition, 16..18, |_| 50), 7, "that of the loss adds none");
        assert_eq!(feed(&mut competition, 18..19, |_| 0), 2);
        assert!(!competition.is_competitive);
    }
}
