//! The clock from which an end timestamps its packets.

use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use acklab_wire::tack::Timestamp;

/// A clock in microseconds. Its start is unknown to the peer, so that no code can rely on
/// synchronised clocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    offset: u32,
}

impl Clock {
    pub(super) fn new(random: &mut Stream) -> Self {
        Self { offset: random.below(1 << 32) as u32 }
    }

    #[inline]
    pub(super) const fn stamp(self, now: Instant) -> Timestamp {
        Timestamp(((now.as_nanos() / 1000) as u32).wrapping_add(self.offset))
    }
}

/// Converts a time that a frame carries in microseconds.
pub(super) const fn of_micros(micros: u32) -> Duration {
    Duration::from_micros(micros as u64)
}
