//! The lateness of deliveries.

use acklab_base::{Duration, Instant};

/// Each power of two is divided into this many buckets, so that a quantile is exact to 1/32.
const PER_OCTAVE: u64 = 32;
const SECOND: u64 = 1_000_000_000;

/// A histogram of durations whose buckets have a relative width of 1/32.
#[derive(Clone, Debug, Default)]
struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Histogram {
    /// Returns the bucket of a value: below 32 ns the buckets are single nanoseconds; each octave
    /// above has 32.
    const fn bucket(nanos: u64) -> usize {
        if nanos < PER_OCTAVE {
            return nanos as usize;
        }
        let octave = nanos.ilog2() - PER_OCTAVE.ilog2();
        (octave as u64 * PER_OCTAVE + (nanos >> octave)) as usize
    }

    /// Returns the upper edge of a bucket.
    const fn edge(bucket: usize) -> u64 {
        let bucket = bucket as u64;
        if bucket < 2 * PER_OCTAVE {
            return bucket;
        }
        let octave = bucket / PER_OCTAVE - 1;
        ((bucket - octave * PER_OCTAVE + 1) << octave) - 1
    }

    fn add(&mut self, nanos: u64) {
        let bucket = Self::bucket(nanos);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// Returns the value that is not exceeded by the share `share` of all values. Returns `None` if
    /// there are no values.
    fn quantile(&self, share: f64) -> Option<Duration> {
        let rank = ((self.total as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let reaches = |count: &u64| {
            seen += count;
            seen >= rank
        };
        let bucket = self.counts.iter().position(reaches)?;
        Some(Duration::from_nanos(Self::edge(bucket)))
    }

    fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }
}

/// The lateness of the deliveries of one second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Second {
    /// The second, counted from the start of the run.
    pub number: u64,
    /// The number of deliveries in this second.
    pub deliveries: u64,
    /// The median lateness.
    pub p50: Duration,
    /// The 99th percentile of lateness.
    pub p99: Duration,
    /// The lateness that 999 of 1000 deliveries do not exceed. It shows each stall that lasts
    /// longer than a millisecond.
    pub p999: Duration,
    /// The maximum lateness.
    pub max: Duration,
}

/// The lateness of deliveries: the time from the instant at which the world delivers a packet to
/// the instant at which the device accepts it.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    all: Histogram,
    longest: u64,
    /// The deliveries of the current second.
    current: Histogram,
    longest_of_current: u64,
    second: u64,
    /// The last complete second with deliveries.
    ended: Option<Second>,
    /// The complete second with the largest 99.9th percentile.
    worst: Option<Second>,
}

impl Lateness {
    /// Adds a delivery that was due at `due` and done at `done`.
    pub fn add(&mut self, due: Instant, done: Instant) {
        let second = due.as_nanos() / SECOND;
        if second != self.second {
            self.end_second();
            self.second = second;
        }
        let nanos = done.since(due).as_nanos();
        self.all.add(nanos);
        self.current.add(nanos);
        self.longest = self.longest.max(nanos);
        self.longest_of_current = self.longest_of_current.max(nanos);
    }

    fn end_second(&mut self) {
        self.worst = self.worst_second();
        self.ended = self.current_second().or(self.ended);
        self.current.clear();
        self.longest_of_current = 0;
    }

    fn current_second(&self) -> Option<Second> {
        let max = Duration::from_nanos(self.longest_of_current);
        let quantile = |share| self.current.quantile(share).map(|value| value.min(max));
        Some(Second {
            number: self.second,
            deliveries: self.current.total,
            p50: quantile(0.5)?,
            p99: quantile(0.99)?,
            p999: quantile(0.999)?,
            max,
        })
    }

    /// Returns the number of deliveries.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.all.total
    }

    /// Returns the lateness that is not exceeded by the share `share` of deliveries, exact to 1/32.
    /// Returns `None` if there was no delivery.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        self.all.quantile(share).map(|value| value.min(Duration::from_nanos(self.longest)))
    }

    /// Returns the maximum lateness.
    #[must_use]
    pub fn max(&self) -> Option<Duration> {
        (self.all.total > 0).then_some(Duration::from_nanos(self.longest))
    }

    /// Returns the second with the largest 99.9th percentile. Returns `None` if there was no
    /// delivery.
    #[must_use]
    pub fn worst_second(&self) -> Option<Second> {
        match (self.worst, self.current_second()) {
            (Some(worst), Some(current)) => Some(if current.p999 > worst.p999 { current } else { worst }),
            (worst, current) => worst.or(current),
        }
    }

    /// Returns the second with this number, if it is the current one or the one before. Returns
    /// `None` if it had no delivery.
    #[must_use]
    pub fn second(&self, number: u64) -> Option<Second> {
        [self.current_second(), self.ended].into_iter().flatten().find(|second| second.number == number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_contains_its_edge_and_the_next_begins_after_it() {
        for bucket in 0..1_500 {
            let edge = Histogram::edge(bucket);
            assert_eq!((Histogram::bucket(edge), Histogram::bucket(edge + 1)), (bucket, bucket + 1), "{edge}");
        }
    }

    #[test]
    fn quantiles_are_exact_to_a_thirty_second() {
        let mut lateness = Lateness::default();
        (1..=1_000_u64).for_each(|micros| {
            lateness.add(Instant::ZERO, Instant::from_nanos(micros * 1_000));
        });
        for share in [0.5, 0.9, 0.99] {
            let (found, exact) = (lateness.quantile(share).unwrap().as_nanos() as f64, share * 1e6);
            assert!((0.0..=1.0 / 32.0).contains(&(found / exact - 1.0)), "{share}: {found}");
        }
        assert_eq!(lateness.max(), Some(Duration::from_millis(1)));
    }

    /// A stall of 5 ms in one second with 2000 packets delays ten of them: less than one in a
    /// hundred.
    #[test]
    fn a_stall_shows_in_its_second() {
        let mut lateness = Lateness::default();
        for packet in 0..6_000_u64 {
            let due = Instant::from_nanos(packet * 500_000);
            let stall = Instant::from_nanos(1_500_000_000)..Instant::from_nanos(1_505_000_000);
            let done = if stall.contains(&due) { stall.end } else { due + Duration::from_micros(10) };
            lateness.add(due, done);
        }
        let worst = lateness.worst_second().unwrap();
        assert_eq!((worst.number, worst.deliveries, worst.max), (1, 2_000, Duration::from_millis(5)));
        assert!(worst.p99 <= Duration::from_micros(11), "{worst:?}");
        assert!(worst.p999 >= Duration::from_millis(4), "{worst:?}");
        assert_eq!(lateness.second(1), Some(worst));
        assert_eq!((lateness.second(2).unwrap().deliveries, lateness.second(0)), (2_000, None));
    }
}
