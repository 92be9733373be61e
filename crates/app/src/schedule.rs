//! The times and sizes of writes at a mean rate.

use crate::Traffic;
use crate::video::{Frame, Frames};
use acklab_base::random::Stream;
use acklab_base::{Bytes, Duration, Instant, Rate, Serializer};

/// The times and sizes of an application's writes.
#[derive(Clone, Debug)]
pub struct Schedule {
    source: Source,
    next: Option<Instant>,
}

#[derive(Clone, Debug)]
enum Source {
    /// Writes of one size.
    Writes {
        rate: Rate,
        write: Bytes,
        /// The source of exponentially distributed intervals. Without it, intervals are even.
        chance: Option<Stream>,
        /// Computes intervals whose rounding errors do not accumulate.
        intervals: Serializer,
    },
    Video(Box<Frames>),
}

/// A write that has become due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// Octets.
    Octets(u64),
    /// A frame of a video.
    Frame(Frame),
}

impl Write {
    /// Returns its size.
    #[must_use]
    pub const fn octets(self) -> u64 {
        match self {
            Self::Octets(octets) => octets,
            Self::Frame(frame) => frame.size,
        }
    }
}

impl Schedule {
    /// Returns the schedule of `traffic`. Returns `None` if it has no rate. The schedule starts
    /// with [`begin`](Self::begin).
    #[must_use]
    pub fn of(traffic: Traffic, chance: Stream) -> Option<Self> {
        let intervals = Serializer::default();
        let source = match traffic {
            Traffic::Constant { rate, write } => Source::Writes { rate, write, chance: None, intervals },
            Traffic::Poisson { rate, write } => Source::Writes { rate, write, chance: Some(chance), intervals },
            Traffic::Video(video) => Source::Video(Box::new(Frames::new(video, chance))),
            Traffic::Greedy {} | Traffic::Fixed { .. } | Traffic::Drawn { .. } => return None,
        };
        Some(Self { source, next: None })
    }

    /// Sets the time of the first write to `now`.
    pub const fn begin(&mut self, now: Instant) {
        self.next = Some(now);
    }

    /// Ends the schedule.
    pub const fn end(&mut self) {
        self.next = None;
    }

    /// Returns when the next write is due.
    #[must_use]
    pub const fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Returns the next write that has become due.
    pub fn take_due(&mut self, now: Instant) -> Option<Write> {
        let due = self.next.filter(|due| *due <= now)?;
        let (write, gap) = match &mut self.source {
            Source::Writes { rate, write, chance, intervals } => {
                let mean = intervals.transmit(*write, *rate);
                (Write::Octets(write.get()), chance.as_mut().map_or(mean, |chance| chance.exponential(mean)))
            }
            Source::Video(frames) => (Write::Frame(frames.draw()), frames.interval()),
        };
        // An interval is at least a nanosecond, so that a finite number of writes is due at any
        // rate.
        self.next = Some(due + gap.max(Duration::from_nanos(1)));
        Some(write)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    fn due(traffic: Traffic, after: Duration) -> u64 {
        let mut schedule = Schedule::of(traffic, Seed(1).stream("source")).unwrap();
        schedule.begin(Instant::ZERO);
        std::iter::from_fn(|| schedule.take_due(Instant::ZERO + after)).count() as u64
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
