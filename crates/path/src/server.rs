//! Serialisation: when a packet has left the sending end of a link.

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
    /// A server of constant rate.
    #[must_use]
    pub fn constant(rate: Rate) -> Self {
        Self::Constant(rate, Serializer::default())
    }

    /// When the service of a packet ends that begins at `start`. `was_busy` says that the packet
    /// before it ended at `start`.
    #[inline]
    pub(crate) fn finish(&mut self, start: Instant, size: Bytes, was_busy: bool) -> Instant {
        let Self::Constant(rate, serializer) = self else { return self.finish_at_other_rate(start, size) };
        if !was_busy {
            serializer.reset();
        }
        start + serializer.transmit(size, *rate)
    }

    /// The same at a rate that is not constant. Few links have one.
    #[inline(never)]
    fn finish_at_other_rate(&mut self, start: Instant, size: Bytes) -> Instant {
        match self {
            Self::Unlimited | Self::Constant(..) => start,
            Self::Schedule(schedule) => schedule.finish(start, size),
            Self::Trace(trace) => trace.finish(start, size),
        }
    }

    /// The mean rate in `window`. Returns `None` if packets take no time to send.
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
