//! Means that are kept while a run goes on.

/// The arithmetic mean of a series, and its spread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Series {
    count: u64,
    sum: f64,
    squares: f64,
}

impl Series {
    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1;
        self.sum += value;
        self.squares += value * value;
    }

    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Nothing, if there was no value.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }

    /// Coefficient of variation: standard deviation over mean.
    pub(crate) fn variation(&self) -> Option<f64> {
        let mean = self.mean()?;
        let variance = (self.squares / self.count as f64 - mean * mean).max(0.0);
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
    fn fairness() {
        assert!((jain(&[1.0, 1.0, 1.0]).unwrap() - 1.0).abs() < 1e-12);
        assert!((jain(&[1.0, 0.0, 0.0, 0.0]).unwrap() - 0.25).abs() < 1e-12);
        assert_eq!(jain(&[0.0, 0.0]), None);
    }
}
