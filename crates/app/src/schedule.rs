//! The times of writes at a mean rate.

use crate::Traffic;
use acklab_base::random::Stream;
use acklab_base::{Bytes, Duration, Instant, Rate, Serializer};

/// The times of an application's writes, of which all have the same size.
#[derive(Clone, Debug)]
pub struct Schedule {
    rate: Rate,
    write: Bytes,
    /// The source of exponentially distributed intervals; without it, intervals are even.
    chance: Option<Stream>,
    next: Option<Instant>,
    /// Computes intervals whose rounding errors do not accumulate.
    intervals: Serializer,
}

impl Schedule {
    /// The schedule of `traffic`. Returns `None` if it has no rate. The schedule starts with [`begin`](Self::begin).
    #[must_use]
    pub fn of(traffic: Traffic, chance: Stream) -> Option<Self> {
        let (rate, write, chance) = match traffic {
            Traffic::Constant { rate, write } => (rate, write, None),
            Traffic::Poisson { rate, write } => (rate, write, Some(chance)),
            Traffic::Greedy {} | Traffic::Fixed { .. } => return None,
        };
        Some(Self { rate, write, chance, next: None, intervals: Serializer::default() })
    }

    /// Makes the first write due now.
    pub const fn begin(&mut self, now: Instant) {
        self.next = Some(now);
    }

    /// Ends the schedule.
    pub const fn end(&mut self) {
        self.next = None;
    }

    /// The size of one write.
    #[must_use]
    pub const fn write(&self) -> Bytes {
        self.write
    }

    /// When the next write is due.
    #[must_use]
    pub const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// The number of writes that have become due since the last call.
    pub fn take_due(&mut self, now: Instant) -> u64 {
        let mut writes = 0;
        while let Some(due) = self.next
            && due <= now
        {
            writes += 1;
            let mean = self.intervals.transmit(self.write, self.rate);
            let gap = self.chance.as_mut().map_or(mean, |chance| chance.exponential(mean));
            // An interval is at least a nanosecond, so that the loop ends at any rate.
            self.next = Some(due + gap.max(Duration::from_nanos(1)));
        }
        writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    fn due(traffic: Traffic, after: Duration) -> u64 {
        let mut schedule = Schedule::of(traffic, Seed(1).stream("source")).unwrap();
        schedule.begin(Instant::ZERO);
        schedule.take_due(Instant::ZERO + after)
    }

    #[test]
    fn a_constant_rate_is_kept() {
        let traffic = Traffic::Constant { rate: Rate::from_mbps(8), write: Bytes(1000) };
        assert_eq!(due(traffic, Duration::from_millis(100)), 101, "a write each millisecond, the first at once");
    }

    #[test]
    fn a_rate_without_whole_nanoseconds_is_kept_too() {
        let rate = Rate::from_bits_per_second(866_700_001).unwrap();
        let writes = due(Traffic::Constant { rate, write: Bytes(1472) }, Duration::from_secs(100));
        assert_eq!(writes, (100.0 * 866_700_001.0 / (1472.0 * 8.0)) as u64 + 1);
    }

    #[test]
    fn poisson_writes_have_the_mean_rate() {
        let writes = due(Traffic::Poisson { rate: Rate::from_mbps(8), write: Bytes(1000) }, Duration::from_secs(100));
        assert!((writes as f64 / 1e5 - 1.0).abs() < 0.01);
    }
}
