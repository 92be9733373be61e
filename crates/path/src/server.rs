//! How long a packet takes to leave.

mod schedule;
mod trace;

pub use schedule::{Schedule, ScheduleError, Step};
pub use trace::{Trace, TraceError};

use acklab_base::{Bytes, Instant, Rate, Serializer};

/// The serialising end of a link, one packet at a time.
#[derive(Clone, Debug)]
pub enum Server {
    /// No serialisation time at all.
    Unlimited,
    /// One rate.
    Constant(Rate, Serializer),
    /// Rates that change at given instants.
    Schedule(Schedule),
    /// Delivery opportunities of a recorded link.
    Trace(Trace),
}

impl Server {
    /// A server of one rate.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self::Constant(rate, Serializer::default())
    }

    /// When a packet of `size` is out that begins at `start`. `was_busy`: the packet before it ended just there.
    #[inline]
    pub(crate) fn finish(&mut self, start: Instant, size: Bytes, was_busy: bool) -> Instant {
        match self {
            Self::Unlimited => start,
            Self::Constant(rate, serializer) => {
                if !was_busy {
                    serializer.reset();
                }
                start + serializer.transmit(size, *rate)
            }
            Self::Schedule(schedule) => schedule.finish(start, size),
            Self::Trace(trace) => trace.finish(start, size),
        }
    }

    /// The mean rate from the start of the run to `until`, if it has one.
    #[must_use]
    pub fn mean_rate(&self, until: Instant) -> Option<f64> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate, _) => Some(rate.bits_per_second() as f64),
            Self::Schedule(schedule) => Some(schedule.mean_rate(until)),
            Self::Trace(trace) => Some(trace.mean_rate()),
        }
    }
}
