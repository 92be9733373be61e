//! Copa's velocity (§2, step 4): the window changes by v/δ packets per round trip.

use acklab_base::{Duration, Instant};

/// The direction in which the window changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Up,
    Down,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    value: f64,
    direction: Direction,
    /// Round trips for which the direction has been the same.
    steady: u32,
    /// The window at the start of the present round trip.
    before: f64,
    /// The start of the present round trip.
    began: Instant,
}

impl Velocity {
    pub(super) const fn new(now: Instant, direction: Direction, cwnd: f64) -> Self {
        Self { value: 1.0, direction, steady: 0, before: cwnd, began: now }
    }

    #[cfg(test)]
    pub(super) const fn value(&self) -> f64 {
        self.value
    }

    /// Returns the velocity for an ACK whose target is in the direction `towards`. The velocity is
    /// at least 1 and at most `most`.
    ///
    /// Once per round trip, the window is compared with its value at the start of the round trip,
    /// when the packet acknowledged now was sent. If the direction has been the same for
    /// `steady_round_trips`, the velocity doubles. If the direction has changed, the velocity is
    /// reset to 1.
    pub(super) fn update(
        &mut self,
        now: Instant,
        cwnd: f64,
        towards: Direction,
        rtt: Duration,
        steady_round_trips: u32,
        most: f64,
    ) -> f64 {
        if now.since(self.began) >= rtt {
            let direction = if cwnd > self.before { Direction::Up } else { Direction::Down };
            if direction == self.direction {
                self.steady += 1;
                if self.steady >= steady_round_trips {
                    self.value *= 2.0;
                }
                (self.before, self.began) = (cwnd, now);
            } else {
                *self = Self::new(now, direction, cwnd);
            }
        }
        // A velocity reached in one direction does not apply to the other (mvfst's
        // `changeDirection`, which begins a new round trip).
        if towards != self.direction && self.value > 1.0 {
            *self = Self::new(now, towards, cwnd);
        }
        self.value = self.value.min(most).max(1.0);
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_sudden_change_of_direction_begins_a_round_trip() {
        let mut velocity = Velocity::new(at(0), Direction::Up, 50.0);
        let mut update = |ms, cwnd, towards| velocity.update(at(ms), cwnd, towards, RTT, 3, f64::INFINITY) as u64;
        let up: Vec<u64> = (1..=4).map(|round| update(100 * round, 50.0 + round as f64, Direction::Up)).collect();
        assert_eq!(up, [1, 1, 2, 4]);
        assert_eq!(update(450, 54.5, Direction::Down), 1);
        assert_eq!(update(500, 56.0, Direction::Down), 1, "the round trip that began at 400 ms does not end here");
        let down: Vec<u64> =
            (1..=3).map(|round| update(450 + 100 * round, 54.0 - round as f64, Direction::Down)).collect();
        assert_eq!(down, [1, 1, 2], "three round trips down from 450 ms on");
    }
}
