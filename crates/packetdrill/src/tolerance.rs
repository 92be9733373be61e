//! The tolerance of times in a script (`verify_time` of packetdrill's `run.c`).

use acklab_base::{Duration, Instant};

/// The tolerance of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// The minimum tolerance (`--tolerance_usecs`).
    pub least: Duration,
    /// The tolerance as a percentage of the time since the previous event (`--tolerance_percent`).
    pub percent: f64,
}

impl Default for Tolerance {
    /// `set_default_config` of packetdrill's `config.c`.
    fn default() -> Self {
        Self { least: Duration::from_micros(4000), percent: 12.5 }
    }
}

impl Tolerance {
    /// Returns the tolerance of an event that is expected `gap` after the previous one.
    #[must_use]
    pub fn of(&self, gap: Duration) -> Duration {
        let share = Duration::from_nanos((gap.as_nanos() as f64 * self.percent / 100.0) as u64);
        self.least.max(share)
    }

    /// Returns `true` if `at` is within `tolerated` of the range from `start` to `end`.
    #[must_use]
    pub fn holds(tolerated: Duration, start: Instant, end: Instant, at: Instant) -> bool {
        at + tolerated >= start && at <= end + tolerated
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_gaps_are_tolerated_in_proportion() {
        let tolerance = Tolerance::default();
        assert_eq!(tolerance.of(Duration::from_millis(20)), Duration::from_millis(4));
        assert_eq!(tolerance.of(Duration::from_secs(1)), Duration::from_millis(125));
    }

    #[test]
    fn a_range_is_tolerated_at_both_ends() {
        let at = |millis| Instant::ZERO + Duration::from_millis(millis);
        let holds = |millis| Tolerance::holds(Duration::from_millis(4), at(100), at(110), at(millis));
        assert_eq!([95, 96, 105, 114, 115].map(holds), [false, true, true, true, false]);
    }
}
