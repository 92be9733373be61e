//! Means that are kept while a run goes on.

use acklab_base::Instant;

/// The arithmetic mean of a series.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mean {
    count: u64,
    sum: f64,
}

impl Mean {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
    }

    /// The value zero, so many times.
    pub(crate) const fn add_zeros(&mut self, count: u64) {
        self.count += count;
    }

    /// Nothing, if there was no value.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}

/// The arithmetic mean of a series, and its spread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Series {
    values: Mean,
    squares: f64,
}

impl Series {
    pub(crate) fn add(&mut self, value: f64) {
        self.values.add(value);
        self.squares += value * value;
    }

    /// The value zero, so many times.
    pub(crate) const fn add_zeros(&mut self, count: u64) {
        self.values.add_zeros(count);
    }

    /// Nothing, if there was no value.
    pub(crate) fn mean(&self) -> Option<f64> {
        self.values.mean()
    }

    /// Coefficient of variation: standard deviation over mean.
    pub(crate) fn variation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = (self.squares / self.values.count as f64 - mean * mean).max(0.0);
        (mean.abs() > 0.0).then(|| variance.sqrt() / mean)
    }
}

/// The mean of a quantity over time: each value counts for as long as it holds. It is kept in whatever unit the quantity has at
/// hand, so that nothing is divided before the end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OverTime {
    value: f64,
    /// Since when `value` holds; nothing, before the first.
    since: Option<Instant>,
    nanos: f64,
    area: f64,
    squares: f64,
}

impl OverTime {
    /// From now on it is `value`.
    pub(crate) fn set(&mut self, now: Instant, value: f64) {
        self.hold(now);
        (self.value, self.since) = (value, Some(now));
    }

    fn hold(&mut self, now: Instant) {
        // What holds for no time adds nothing, and at one instant much may happen.
        if let Some(since) = self.since
            && since != now
        {
            let nanos = now.since(since).as_nanos() as f64;
            let area = nanos * self.value;
            self.nanos += nanos;
            self.area += area;
            self.squares += area * self.value;
        }
    }

    /// It keeps its value until `now`, and what comes then does not count.
    pub(crate) fn finish(&mut self, now: Instant) {
        self.hold(now);
        self.since = None;
    }

    /// The same quantity in a window that opens at `now`.
    pub(crate) fn reopened(&self, now: Instant) -> Self {
        Self { value: self.value, since: self.since.map(|_| now), ..Self::default() }
    }

    /// Nothing, if it never had a value.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.nanos > 0.0).then(|| self.area / self.nanos)
    }

    /// Coefficient of variation: standard deviation over mean.
    pub(crate) fn variation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = (self.squares / self.nanos - mean * mean).max(0.0);
        (mean.abs() > 0.0).then(|| variance.sqrt() / mean)
    }
}

/// Jain's index of fairness: 1 if all shares are equal, 1/n if one has everything.
pub(crate) fn jain(shares: &[f64]) -> Option<f64> {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), share| (sum + share, squares + share * share));
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_variation() {
        let mut series = Series::default();
        assert_eq!(series.mean(), None);
        [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0].into_iter().for_each(|value| series.add(value));
        assert!((series.mean().unwrap() - 5.0).abs() < 1e-12);
        assert!((series.variation().unwrap() - 0.4).abs() < 1e-12);
    }

    #[test]
    fn each_value_counts_for_as_long_as_it_holds() {
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
