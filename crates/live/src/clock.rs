//! The monotonic clock, counted from the start of a run.

use acklab_base::{Duration, Instant};
use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock with its zero at the start of the run. It is read several times for each
/// packet.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    /// Nanoseconds of the monotonic clock.
    start: u64,
}

/// Returns a clock of the system in nanoseconds. 64 bits suffice for 584 years after the clock's
/// zero.
#[inline]
pub(crate) fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl WallClock {
    /// Creates a clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self::start_in(Duration::ZERO)
    }

    /// Creates a clock that starts after `lead`. Before that, the clock shows zero.
    #[must_use]
    pub fn start_in(lead: Duration) -> Self {
        Self { start: nanos(ClockId::Monotonic) + lead.as_nanos() }
    }

    /// Returns once the clock has started.
    pub fn wait_for_start(&self) {
        let left = self.start.saturating_sub(nanos(ClockId::Monotonic));
        std::thread::sleep(std::time::Duration::from_nanos(left));
    }

    /// Returns the time since the start.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(nanos(ClockId::Monotonic).saturating_sub(self.start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_zero_until_it_starts() {
        let clock = WallClock::start_in(Duration::from_millis(50));
        assert_eq!(clock.now(), Instant::ZERO);
        clock.wait_for_start();
        assert!(clock.now() > Instant::ZERO);
    }
}
