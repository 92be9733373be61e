//! The clock of the capture.

mod tick;

use tick::Ticks;

/// What the times of frames show of the clock that made them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clock {
    ticks: Ticks,
}

impl Clock {
    /// A frame has this time, in nanoseconds.
    #[inline]
    pub(crate) fn read(&mut self, nanos: u64) {
        self.ticks.read(nanos);
    }

    /// The tick in nanoseconds.
    pub(crate) fn tick(&self) -> f64 {
        self.ticks.tick()
    }
}
