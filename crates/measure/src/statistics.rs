//! Statistics that are updated during a run. They do not store individual values.

use acklab_base::{Duration, Instant};

/// Returns `count` as a floating-point number. The conversion of a signed integer takes one
/// instruction; that of an unsigned integer takes more. All counts here are below 2⁶³.
#[inline]
pub(crate) const fn real(count: u64) -> f64 {
    count as i64 as f64
}

/// Returns `span` in nanoseconds.
#[inline]
pub(crate) const fn nanos(span: Duration) -> f64 {
    real(span.as_nanos())
}

/// The arithmetic mean of a series.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mean {
    count: u64,
    sum: f64,
}

impl Mean {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }

    /// Adds the value zero `count` times.
    pub const fn add_zeros(&mut self, count: u64) {
        self.count += count;
    }

    /// Returns the mean. Returns `None` if there was no value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The arithmetic mean and the spread of a series.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    values: Mean,
    squares: f64,
}

impl Moments {
    /// Adds a value.
    #[inline]
    pub fn add(&mut self, value: f64) {
        self.values.add(value);
        self.squares += value * value;
    }

    /// Adds the value zero `count` times.
    pub const fn add_zeros(&mut self, count: u64) {
        self.values.add_zeros(count);
    }

    /// Returns the mean. Returns `None` if there was no value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        self.values.mean()
    }

    /// Returns the coefficient of variation: standard deviation divided by mean.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = (self.squares / self.values.count as f64 - mean * mean).max(0.0);
        (mean.abs() > 0.0).then(|| variance.sqrt() / mean)
    }
}

/// The mean and the spread of a quantity over time. Each value is weighted by its duration. Values
/// are stored in their original unit, so that only the result needs a conversion.
#[derive(Clone, Copy, Debug)]
pub struct OverTime {
    value: f64,
    /// The time of the last change. While there is no value, it is [`Instant::FAR_FUTURE`], so that
    /// no time is added.
    since: Instant,
    nanos: f64,
    area: f64,
    squares: f64,
}

impl Default for OverTime {
    fn default() -> Self {
        Self { value: 0.0, since: Instant::FAR_FUTURE, nanos: 0.0, area: 0.0, squares: 0.0 }
    }
}

impl OverTime {
    /// Sets the value from now on.
    #[inline]
    pub fn set(&mut self, now: Instant, value: f64) {
        self.hold(now);
        (self.value, self.since) = (value, now);
    }

    /// Returns `true` if the value is zero. Setting it to zero again changes nothing.
    #[inline]
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.value == 0.0 && self.since != Instant::FAR_FUTURE
    }

    /// Returns `true` if the value, or the last value before the measurement ended, is above zero.
    #[must_use]
    pub fn is_above_zero(&self) -> bool {
        self.value > 0.0
    }

    /// Adds the time since the last change to the weight of the current value.
    #[inline]
    fn hold(&mut self, now: Instant) {
        // Many changes occur at the same time. No time passes between them.
        if self.since != now {
            let nanos = nanos(now.since(self.since));
            let area = nanos * self.value;
            self.nanos += nanos;
            self.area += area;
            self.squares += area * self.value;
        }
    }

    /// Ends the measurement at `now`.
    pub fn finish(&mut self, now: Instant) {
        self.hold(now);
        self.since = Instant::FAR_FUTURE;
    }

    /// Returns the same quantity in a window that opens at `now`.
    #[must_use]
    pub fn reopened(&self, now: Instant) -> Self {
        let since = if self.since == Instant::FAR_FUTURE { self.since } else { now };
        Self { value: self.value, since, ..Self::default() }
    }

    /// Returns the mean. Returns `None` if the quantity never had a value.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.nanos > 0.0).then(|| self.area / self.nanos)
    }

    /// Returns the coefficient of variation: standard deviation divided by mean.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = (self.squares / self.nanos - mean * mean).max(0.0);
        (mean.abs() > 0.0).then(|| variance.sqrt() / mean)
    }
}

/// The distribution of a series of durations in nanoseconds, in buckets whose width is less than 1
/// % of their values.
#[derive(Clone, Debug, Default)]
pub struct Distribution {
    counts: Vec<u32>,
    total: u64,
}

impl Distribution {
    /// Each power of two has 2⁷ buckets.
    const BITS: u32 = 7;

    /// Adds a duration.
    #[inline]
    pub fn add(&mut self, nanos: u64) {
        let bucket = Self::bucket(nanos);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    const fn bucket(nanos: u64) -> usize {
        let shift = (u64::BITS - nanos.leading_zeros()).saturating_sub(Self::BITS + 1);
        ((shift as usize) << Self::BITS) + (nanos >> shift) as usize
    }

    /// Returns the middle of a bucket.
    fn middle(bucket: usize) -> f64 {
        let shift = (bucket >> Self::BITS).saturating_sub(1);
        let least = (bucket - (shift << Self::BITS)) << shift;
        least as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
    }

    /// Returns the smallest value that is at least as large as this share of the series. Returns
    /// `None` if there was no value.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let mut left = (share * self.total as f64).ceil().max(1.0) as u64;
        for (bucket, count) in self.counts.iter().enumerate() {
            left = left.saturating_sub(u64::from(*count));
            if left == 0 {
                return Some(Self::middle(bucket));
            }
        }
        None
    }
}

/// Returns Jain's fairness index: 1 if all shares are equal, 1/n if one flow has everything.
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variation() {
        let mut series = Moments::default();
        assert_eq!(series.mean(), None);
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|value| series.add(value));
        assert!((series.mean().unwrap() - 5.0).abs() < 1e-12);
        assert!((series.variation().unwrap() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn quantiles_are_exact_to_one_percent() {
        let mut series = Distribution::default();
        assert_eq!(series.quantile(0.95), None);
        for value in 1..=100_000_u64 {
            series.add(value * 1000);
        }
        for share in [0.0, 0.05, 0.5, 0.95, 1.0] {
            let (found, exact) = (series.quantile(share).unwrap(), (share * 1e8).max(1000.0));
            assert!((found / exact - 1.0).abs() < 0.01, "{share}: {found}, expected {exact}");
        }
    }

    #[test]
    fn small_values_have_buckets_of_their_own() {
        for value in 0..512 {
            let mut series = Distribution::default();
            series.add(value);
            assert!((series.quantile(0.5).unwrap() - value as f64).abs() <= 1.5, "{value}");
        }
    }

    #[test]
    fn each_value_is_weighted_by_its_duration() {
        let at = |ms: u64| Instant::from_nanos(ms * 1_000_000);
        let mut quantity = OverTime::default();
        quantity.set(at(100), 1.0);
        quantity.set(at(100), 2.0);
        quantity.set(at(400), 6.0);
        quantity.finish(at(500));
        assert!((quantity.mean().unwrap() - 3.0).abs() < 1e-12);
        assert!((quantity.variation().unwrap() - 3f64.sqrt() / 3.0).abs() < 1e-12);
    }

    #[test]
    fn fairness() {
        assert!((jain(&[1.0, 1.0, 1.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
