//! The monotonic clock, counted from the start of a run.

use acklab_base::Instant;
use rustix::time::{ClockId, clock_gettime};

/// The monotonic clock, whose zero is the start of the run. It is read several times for each packet.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    /// Nanoseconds of the monotonic clock.
    start: u64,
}

/// A clock of the system in nanoseconds, which are enough for 584 years after its zero.
#[inline]
pub(crate) fn nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

impl WallClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: nanos(ClockId::Monotonic) }
    }

    /// The time since the start.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(nanos(ClockId::Monotonic) - self.start)
    }
}
