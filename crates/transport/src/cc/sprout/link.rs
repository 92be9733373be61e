//! The distribution of the rate of a link, and the resulting distribution of arrivals.
//!
//! Packets arrive as a Poisson process whose rate is a Brownian motion between zero and the maximum
//! rate. At zero, an outage, it stays for an exponential time (NSDI '13, §3.1). Rates are discrete
//! and equally spaced.

/// The maximum change of the rate per tick, in standard deviations (`Process::evolve`).
const REACH: f64 = 5.0;

/// The probability distribution of the rate.
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The probability of each rate.
    probabilities: Vec<f64>,
    /// The expected arrivals of a tick at each rate.
    means: Vec<f64>,
    /// For each rate, the first rate that it may become within a tick, and the probabilities of
    /// that rate and the following ones. They do not sum to one at the ends, because changes beyond
    /// the range are discarded (`Process::evolve`).
    moves: Vec<(usize, Vec<f64>)>,
}

impl Link {
    /// Creates a link with a uniform distribution. Rates are packets per second. `wander` is the
    /// standard deviation of the rate after one second, `tick` is in seconds.
    pub(super) fn new(rates: usize, max_rate: f64, wander: f64, outage_escape: f64, tick: f64) -> Self {
        let step = max_rate / (rates - 1) as f64;
        let deviation = wander * tick.sqrt() / step;
        let reach = (REACH * deviation).ceil() as usize;
        let escapes = 1.0 - libm::exp(-outage_escape * tick);
        let moves_of = |from: usize| {
            let first = from.saturating_sub(reach);
            let last = (from + reach).min(rates - 1);
            let probability = |to: usize| {
                let distance = to as f64 - from as f64;
                let moves = normal((distance + 0.5) / deviation) - normal((distance - 0.5) / deviation);
                match (from, to) {
                    (0, 0) => (1.0 - escapes) * moves,
                    (0, _) => escapes * moves,
                    _ => moves,
                }
            };
            (first, (first..=last).map(probability).collect())
        };
        Self {
            probabilities: vec![1.0 / rates as f64; rates],
            means: (0..rates).map(|rate| rate as f64 * step * tick).collect(),
            moves: (0..rates).map(moves_of).collect(),
        }
    }

    fn normalize(&mut self) {
        let sum: f64 = self.probabilities.iter().sum();
        self.probabilities.iter_mut().for_each(|probability| *probability /= sum);
    }

    /// Evolves the distribution by one tick.
    pub(super) fn evolve(&mut self) {
        let mut after = vec![0.0; self.probabilities.len()];
        for (probability, (first, moves)) in self.probabilities.iter().zip(&self.moves) {
            for (sum, moves) in after[*first..].iter_mut().zip(moves) {
                *sum += probability * moves;
            }
        }
        self.probabilities = after;
        self.normalize();
    }

    /// Updates the distribution after a tick with `arrivals` packets (Bayes).
    pub(super) fn observe(&mut self, arrivals: u32) {
        let log_likelihood = |mean: f64| match (mean > 0.0, arrivals) {
            (true, _) => f64::from(arrivals) * libm::log(mean) - mean,
            (false, 0) => 0.0,
            (false, _) => f64::NEG_INFINITY,
        };
        let logs: Vec<f64> = self.means.iter().map(|mean| log_likelihood(*mean)).collect();
        // The maximum becomes one, so that it does not underflow.
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        for (probability, log) in self.probabilities.iter_mut().zip(logs) {
            // No observation excludes a rate permanently.
            *probability = (*probability * libm::exp(log - most)).max(f64::MIN_POSITIVE);
        }
        self.normalize();
    }

    /// Returns the mean rate in packets per tick.
    #[cfg(test)]
    pub(super) fn mean(&self) -> f64 {
        self.probabilities.iter().zip(&self.means).map(|(probability, mean)| probability * mean).sum()
    }
}

/// Returns the distribution function of the standard normal distribution.
fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * std::f64::consts::FRAC_1_SQRT_2)
}

/// For each number of ticks, number of arrivals and current rate: the probability of at most that
/// number of arrivals (`ProcessForecastInterval`). As in the authors' program, the arrivals of
/// different ticks are considered independent given the current rate.
#[derive(Clone, Debug)]
pub(super) struct Forecasts {
    /// Indexed by the number of ticks minus one, by arrivals, and by rate.
    at_most: Vec<Vec<Vec<f64>>>,
}

impl Forecasts {
    /// Creates the forecasts for up to `ticks` ticks, with at most `most` arrivals per tick.
    pub(super) fn new(link: &Link, ticks: u32, most: usize) -> Self {
        let rates = link.means.len();
        // For each rate: the distribution of the arrivals in the tick after t ticks, not
        // normalised, and the probability that the rate is in range.
        let mut in_tick: Vec<Vec<f64>> = link.means.iter().map(|mean| poisson(*mean, most)).collect();
        let mut in_range = vec![1.0; rates];
        let mut sums: Vec<Vec<f64>> = vec![vec![1.0]; rates];
        let mut at_most = Vec::new();
        for _ in 0..ticks {
            for ((sum, tick), range) in sums.iter_mut().zip(&in_tick).zip(&in_range) {
                *sum = convolve(sum, tick, *range);
            }
            at_most.push(cumulative(&sums));
            let after: (Vec<Vec<f64>>, Vec<f64>) = link
                .moves
                .iter()
                .map(|(first, moves)| {
                    let mut tick = vec![0.0; most + 1];
                    let mut range = 0.0;
                    for (to, probability) in (*first..).zip(moves) {
                        range += probability * in_range[to];
                        for (sum, arrivals) in tick.iter_mut().zip(&in_tick[to]) {
                            *sum += probability * arrivals;
                        }
                    }
                    (tick, range)
                })
                .unzip();
            (in_tick, in_range) = after;
        }
        Self { at_most }
    }

    /// Returns the length of the longest forecast.
    pub(super) const fn ticks(&self) -> u32 {
        self.at_most.len() as u32
    }

    /// Returns the smallest number of arrivals within `ticks` ticks whose cumulative probability is
    /// at least `caution` (`ProcessForecastInterval::lower_quantile`).
    pub(super) fn arrivals(&self, link: &Link, ticks: u32, caution: f64) -> u32 {
        let by_arrivals = &self.at_most[ticks as usize - 1];
        let is_below = |by_rate: &Vec<f64>| {
            let at_most: f64 = link.probabilities.iter().zip(by_rate).map(|(rate, at_most)| rate * at_most).sum();
            at_most < caution
        };
        by_arrivals.partition_point(is_below) as u32
    }
}

/// Returns the probabilities of 0 to `most` arrivals. Higher numbers count as `most`.
fn poisson(mean: f64, most: usize) -> Vec<f64> {
    let mut probabilities = Vec::with_capacity(most + 1);
    let (mut probability, mut rest) = (libm::exp(-mean), 1.0);
    for arrivals in 0..most {
        probabilities.push(probability);
        rest -= probability;
        probability *= mean / (arrivals + 1) as f64;
    }
    probabilities.push(rest.max(0.0));
    probabilities
}

/// Returns the distribution of the sum of two variables. The second distribution is divided by
/// `by`.
fn convolve(one: &[f64], other: &[f64], by: f64) -> Vec<f64> {
    let mut sums = vec![0.0; one.len() + other.len() - 1];
    for (offset, probability) in one.iter().enumerate() {
        for (sum, with) in sums[offset..].iter_mut().zip(other) {
            *sum += probability * with / by;
        }
    }
    sums
}

/// Returns the cumulative probabilities, indexed by arrivals and then by rate, from the
/// distribution for each rate.
fn cumulative(by_rate: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut at_most = vec![0.0; by_rate.len()];
    let arrivals = 0..by_rate[0].len();
    arrivals
        .map(|arrivals| {
            at_most.iter_mut().zip(by_rate).for_each(|(sum, distribution)| *sum += distribution[arrivals]);
            at_most.clone()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::{Seed, Stream};

    fn link() -> Link {
        Link::new(256, 1000.0, 200.0, 1.0, 0.02)
    }

    /// Returns the arrivals of a tick, drawn from the gaps of a Poisson process.
    fn arrivals(random: &mut Stream, mean: f64) -> u32 {
        let (mut count, mut at) = (0, -libm::log(1.0 - random.unit()));
        while at < mean {
            count += 1;
            at -= libm::log(1.0 - random.unit());
        }
        count
    }

    #[test]
    fn probabilities_stay_probabilities() {
        let mut link = link();
        for arrivals in [0, 3, 200, 0, 0, 7] {
            link.evolve();
            link.observe(arrivals);
            assert!((link.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_rate_of_a_steady_link_is_found() {
        let (mut link, mut random) = (link(), Seed(1).stream("arrivals"));
        let mut sum = 0.0;
        for tick in 0..400 {
            link.evolve();
            link.observe(arrivals(&mut random, 8.0));
            sum += if tick < 100 { 0.0 } else { link.mean() / 300.0 };
        }
        assert!((sum - 8.0).abs() < 0.4, "400 packets/s are 8 a tick: {sum}");
    }

    /// The posterior variance of a Brownian motion observed by Poisson counts is in equilibrium P =
    /// (P + Q)·R / (P + Q + R). This is the Riccati equation of a Kalman filter with Q = σ²τ and R
    /// = λ/τ.
    #[test]
    fn the_uncertainty_is_that_of_a_kalman_filter() {
        let (mut link, mut random) = (link(), Seed(2).stream("arrivals"));
        let mut variance = 0.0;
        for tick in 0..600 {
            link.evolve();
            link.observe(arrivals(&mut random, 10.0));
            let mean = link.mean();
            let now: f64 = link.probabilities.iter().zip(&link.means).map(|(p, m)| p * (m - mean) * (m - mean)).sum();
            variance += if tick < 100 { 0.0 } else { now / 500.0 };
        }
        let (q, r): (f64, f64) = ((200.0 * 0.02_f64.sqrt() * 0.02_f64).powi(2), 10.0);
        let expected = (-q + (q * q + 4.0 * q * r).sqrt()) / 2.0;
        assert!((variance / expected - 1.0).abs() < 0.1, "{variance} of {expected}");
    }

    /// An outage ends with rate λz: after t seconds without observations, the link is still in it
    /// with a probability of at most exp(−λz·t).
    #[test]
    fn an_outage_lasts() {
        let mut link = link();
        link.probabilities.iter_mut().for_each(|probability| *probability = 0.0);
        link.probabilities[0] = 1.0;
        link.evolve();
        // The moves from zero within half a step are weighted by exp(−λz·τ), and the upward moves
        // by 1 − exp(−λz·τ).
        let (deviation, stays) = (200.0 * 0.02_f64.sqrt() / (1000.0 / 255.0), libm::exp(-0.02));
        let at_zero = normal(0.5 / deviation) - normal(-0.5 / deviation);
        let up = normal(5.0 + 1.0 / deviation) - normal(0.5 / deviation);
        let expected = stays * at_zero / (stays * at_zero + (1.0 - stays) * up);
        assert!((link.probabilities[0] - expected).abs() < 1e-3, "{} of {expected}", link.probabilities[0]);
    }

    /// Compares the forecast with a simulation of the model: the fifth percentile of the arrivals
    /// within five ticks from a known rate.
    #[test]
    fn the_forecast_is_the_fifth_percentile() {
        let mut link = link();
        let forecasts = Forecasts::new(&link, 8, 30);
        link.probabilities.iter_mut().for_each(|probability| *probability = 0.0);
        let present = 100;
        link.probabilities[present] = 1.0;
        let mut random = Seed(3).stream("walk");
        // Ticks are independent given the present rate. Each tick draws its own rate, with the
        // variance of the walk at that time.
        let mut counts: Vec<u32> = (0..20_000)
            .map(|_| {
                (0..5)
                    .map(|tick| {
                        let wander = random.normal(0.0, 200.0 * f64::from(tick).mul_add(0.02, 0.0).sqrt());
                        let rate = (present as f64 * 1000.0 / 255.0 + wander).clamp(0.0, 1000.0);
                        arrivals(&mut random, rate * 0.02)
                    })
                    .sum()
            })
            .collect();
        counts.sort_unstable();
        let (forecast, simulated) = (forecasts.arrivals(&link, 5, 0.05), counts[1000]);
        assert!(forecast.abs_diff(simulated) <= 1, "{forecast}, {simulated} simulated");
    }

    #[test]
    fn forecasts_grow_with_time_and_with_the_rate() {
        let mut link = link();
        let forecasts = Forecasts::new(&link, 8, 30);
        let mut last = 0;
        for arrivals in [0, 4, 8, 16] {
            (0..50).for_each(|_| {
                link.evolve();
                link.observe(arrivals);
            });
            let by = |ticks| forecasts.arrivals(&link, ticks, 0.05);
            assert!((1..8).all(|ticks| by(ticks) <= by(ticks + 1)));
            assert!(by(8) >= last);
            last = by(8);
        }
        assert!(last > 80, "16 a tick: {last} of 128 within eight ticks");
    }
}
