//! Serialisation: computes when a packet has left the sending end of a link.

mod schedule;
mod trace;

pub(crate) use schedule::check_times;
pub use schedule::{RateStep, Schedule, ScheduleError};
pub use trace::{Trace, TraceError};

use acklab_base::{Bytes, Instant, Rate, Serializer};
use std::ops::Range;

/// The sending end of a link, which serialises one packet at a time.
#[derive(Clone, Debug)]
pub enum Server {
    /// Packets take no time to send.
    Unlimited,
    /// A constant rate.
    Constant(Rate, Serializer),
    /// Rates that change at given instants.
    Schedule(Schedule),
    /// Delivery opportunities of a recorded link.
    Trace(Trace),
}

impl Server {
    /// Returns a server of constant rate.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self::Constant(rate, Serializer::default())
    }

    /// Returns when the service of a packet that begins at `start` ends. `was_busy` means that the
    /// service of the previous packet ended at `start`.
    #[inline]
    pub(crate) fn finish(&mut self, start: Instant, size: Bytes, was_busy: bool) -> Instant {
        let Self::Constant(rate, serializer) = self else { return self.finish_at_other_rate(start, size) };
        if !was_busy {
            serializer.reset();
        }
        start + serializer.transmit(size, *rate)
    }

    /// Returns the result of [`finish`](Self::finish) at a variable rate, which few links have.
    #[inline(never)]
    fn finish_at_other_rate(&mut self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Unlimited | Self::Constant(..) => start,
            Self::Schedule(schedule) => schedule.finish(start, size),
            Self::Trace(trace) => trace.finish(start, size),
        }
    }

    /// Returns the mean rate in `window`. Returns `None` if packets take no time to send.
    #[must_use]
    pub fn mean_rate(&self, window: &Range<Instant>) -> Option<f64> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate, _) => Some(rate.bits_per_second() as f64),
            Self::Schedule(schedule) => Some(schedule.mean_rate(window)),
            Self::Trace(trace) => Some(trace.mean_rate(window)),
        }
    }
}
