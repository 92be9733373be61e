//! Distributions in bounded memory: a histogram with bins of equal ratio.

/// Bins per decade. Neighbours differ by 1.2 %, so a quantile is exact to 0.6 %.
const PER_DECADE: f64 = 200.0;
/// The minimum value that is resolved, in nanoseconds.
const MIN_NANOS: f64 = 1e3;
/// The number of decades above `MIN_NANOS`, up to 1000 s.
const DECADES: usize = 9;

/// A distribution of times.
#[derive(Clone, Debug, Default)]
pub(crate) struct Quantiles {
    /// Empty until the first value.
    bins: Vec<u32>,
    count: u64,
    sum: f64,
}

impl Quantiles {
    pub(crate) fn add(&mut self, nanos: u64) {
        self.add_many(nanos, 1);
    }

    /// Adds the same value `times` times.
    pub(crate) fn add_many(&mut self, nanos: u64, times: u64) {
        if self.bins.is_empty() {
            self.bins = vec![0; DECADES * PER_DECADE as usize + 1];
        }
        let place = libm::log10((nanos as f64 / MIN_NANOS).max(1.0)) * PER_DECADE;
        let place = (place as usize).min(self.bins.len() - 1);
        self.bins[place] = self.bins[place].saturating_add(u32::try_from(times).unwrap_or(u32::MAX));
        self.count += times;
        self.sum += nanos as f64 * times as f64;
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the sum of all values in nanoseconds.
    pub(crate) const fn sum(&self) -> f64 {
        self.sum
    }

    /// Returns the mean in nanoseconds, or `None` if there are no values.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Returns the quantile `share` in nanoseconds, or `None` if there are no values.
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = (share * self.count as f64).max(1.0);
        let mut seen = 0.0;
        for (place, &count) in self.bins.iter().enumerate() {
            seen += f64::from(count);
            if seen >= wanted {
                return Some(MIN_NANOS * libm::pow(10.0, (place as f64 + 0.5) / PER_DECADE));
            }
        }
        None
    }
}

/// Returns the quantile `share` of sorted values. Returns `None` if there are none.
pub(crate) fn quantile_of(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let (below, part) = (place as usize, place - (place as usize) as f64);
    Some(sorted[below] + part * (sorted[(below + 1).min(last)] - sorted[below]))
}

/// Sorts values, and returns their median.
pub(crate) fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    quantile_of(values, 0.5)
}

/// Returns the mode of positive values by the half-sample method, and the share of values within
/// `width` of it.
///
/// The half-sample mode repeatedly halves the sorted sample to its densest half until two or three
/// values are left (Bickel and Frühwirth, Computational Statistics & Data Analysis 50(12), 2006).
/// The width of a half is the ratio of its largest value to its smallest.
pub(crate) fn half_sample_mode(sorted: &[f64]) -> Option<f64> {
    let mut rest = sorted;
    while rest.len() > 3 {
        let half = rest.len().div_ceil(2);
        let spread = |start: usize| rest[start + half - 1] / rest[start];
        let start = (0..=rest.len() - half).min_by(|&one, &other| spread(one).total_cmp(&spread(other)))?;
        rest = &rest[start..start + half];
    }
    match *rest {
        [] => None,
        [one] => Some(one),
        [one, other] => Some(f64::midpoint(one, other)),
        [one, middle, other, ..] => {
            Some(if middle - one < other - middle { f64::midpoint(one, middle) } else { f64::midpoint(middle, other) })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_bin() {
        let mut times = Quantiles::default();
        (1..=1000).for_each(|ms| times.add(ms * 1_000_000));
        // A bin is 1.2 % wide.
        assert!((times.quantile(0.5).unwrap() / 500e6 - 1.0).abs() < 0.012);
        assert!((times.quantile(0.95).unwrap() / 950e6 - 1.0).abs() < 0.012);
        assert!((times.mean().unwrap() - 500.5e6).abs() < 1.0);
        assert_eq!(Quantiles::default().quantile(0.5), None);
    }

    #[test]
    fn the_mode_is_where_values_are_dense() {
        let mut values: Vec<f64> = (0..50).map(|n| 1.0 + f64::from(n)).collect();
        values.extend((0..40).map(|n| 20.0 + f64::from(n) / 1000.0));
        values.sort_by(f64::total_cmp);
        let mode = half_sample_mode(&values).unwrap();
        assert!((20.0..20.1).contains(&mode), "{mode}");
    }
}
