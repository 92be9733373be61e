//! Copa beside flows that fill buffers (§2.2): when to compete with them, and with which δ.

use super::extreme::Extreme;
use acklab_base::{Duration, Instant};

/// 1/δ in the default mode (§2, δ = 0.5), and the least in the competitive mode (§2.2: "at most 0.5").
const DEFAULT_INVERSE_DELTA: f64 = 2.0;
/// §2.2: the queue is nearly empty if the queueing delay is below this share of RTTmax − RTTmin.
const NEARLY_EMPTY: f64 = 0.1;
/// §2.2: RTTmax is that of the last four round trips.
const RTT_MAX_WINDOW: u64 = 4;
/// §2.2: Copa alone empties the queue once every five round trips.
const EMPTY_WINDOW: u32 = 5;

/// What decides δ.
#[derive(Clone, Debug)]
pub(super) struct Competition {
    inverse_delta: f64,
    is_competitive: bool,
    rtt_max: Extreme,
    /// Round trips that have begun since the queue was nearly empty.
    rounds_since_empty: u32,
    /// Something was lost in the present round trip.
    has_lost: bool,
}

impl Competition {
    pub(super) const fn new() -> Self {
        Self {
            inverse_delta: DEFAULT_INVERSE_DELTA,
            is_competitive: false,
            rtt_max: Extreme::greatest(),
            rounds_since_empty: 0,
            has_lost: false,
        }
    }

    /// 1/δ: packets that the flow keeps in the queue.
    pub(super) const fn inverse_delta(&self) -> f64 {
        self.inverse_delta
    }

    /// A round trip was measured, with the queueing delay and the shortest round trip that it leaves.
    pub(super) fn on_rtt(
        &mut self,
        now: Instant,
        rtt: Duration,
        srtt: Duration,
        queueing: Duration,
        rtt_min: Duration,
        is_new_round: bool,
    ) {
        let rtt_max = self.rtt_max.update(now, rtt, srtt * RTT_MAX_WINDOW);
        let swing = rtt_max.saturating_sub(rtt_min).as_nanos() as f64;
        self.rounds_since_empty += u32::from(is_new_round);
        // A queue that is empty is nearly empty, also if nothing swings.
        if queueing.is_zero() || (queueing.as_nanos() as f64) < NEARLY_EMPTY * swing {
            self.rounds_since_empty = 0;
        }
        let competes = self.rounds_since_empty > EMPTY_WINDOW;
        if competes != self.is_competitive {
            (self.is_competitive, self.inverse_delta) = (competes, DEFAULT_INVERSE_DELTA);
        } else if is_new_round && competes && !self.has_lost {
            self.inverse_delta += 1.0;
        }
        self.has_lost &= !is_new_round;
    }

    /// Something was lost: half of 1/δ, once a round trip.
    pub(super) fn on_loss(&mut self) {
        if self.is_competitive && !self.has_lost {
            self.inverse_delta = (self.inverse_delta / 2.0).max(DEFAULT_INVERSE_DELTA);
            self.has_lost = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Feeds ten measurements a round trip of a path of 100 ms, with so much queueing, and returns 1/δ.
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
        let mut competition = Competition::new();
        assert_eq!(feed(&mut competition, 0..50, |at| if at % 50 == 7 { 1 } else { 20 }), 2);
        assert!(!competition.is_competitive);
    }

    #[test]
    fn a_queue_that_never_empties_is_competed_for() {
        let mut competition = Competition::new();
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
