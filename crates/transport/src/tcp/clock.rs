//! The clock of timestamps (RFC 7323, §4.1).

use acklab_base::{Duration, Instant};

/// Counts ticks since the start of the run. Usually, the tick is the tick of the previous reading
/// or the next one, and no division is necessary.
#[derive(Clone, Copy, Debug)]
pub(super) struct TickClock {
    tick: Duration,
    ticks: u64,
    /// The end of the current tick.
    ends: Instant,
}

impl TickClock {
    pub(super) fn new(tick: Duration) -> Self {
        Self { tick, ticks: 0, ends: Instant::ZERO + tick }
    }

    pub(super) const fn tick(&self) -> Duration {
        self.tick
    }

    /// Returns the end of the tick in which this clock had the value `echo`, or `None` if the clock
    /// has not had that value yet.
    pub(super) fn end_of(&mut self, now: Instant, echo: u32) -> Option<Instant> {
        let age = u64::from(self.read(now).wrapping_sub(echo));
        Some(Instant::ZERO + self.tick * (self.ticks.checked_sub(age)? + 1))
    }

    /// Returns the number of ticks that have passed, modulo 2³². `now` must not decrease.
    pub(super) fn read(&mut self, now: Instant) -> u32 {
        if now >= self.ends {
            let next_ends = self.ends + self.tick;
            if now < next_ends {
                (self.ticks, self.ends) = (self.ticks + 1, next_ends);
            } else {
                self.ticks = now.as_nanos() / self.tick.as_nanos();
                self.ends = Instant::ZERO + self.tick * (self.ticks + 1);
            }
        }
        self.ticks as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_counts_whole_ticks() {
        let mut clock = TickClock::new(Duration::from_millis(1));
        let readings =
            [0, 999_999, 1_000_000, 1_999_999, 7_500_000].map(|nanos| clock.read(Instant::from_nanos(nanos)));
        assert_eq!(readings, [0, 0, 1, 1, 7]);
        assert_eq!(clock.end_of(Instant::from_nanos(7_500_000), 5), Some(Instant::from_nanos(6_000_000)));
        assert_eq!(clock.end_of(Instant::from_nanos(7_500_000), 8), None);
    }
}
