//! The monotonic clock, counted from the start of a run.

use acklab_base::Instant;

/// The monotonic clock, whose zero is the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct WallClock {
    start: std::time::Instant,
}

impl WallClock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Self {
        Self { start: std::time::Instant::now() }
    }

    /// The time since the start.
    #[must_use]
    #[inline]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(self.start.elapsed().as_nanos() as u64)
    }
}
