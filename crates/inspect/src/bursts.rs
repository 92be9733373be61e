//! Bursts of arrivals, and their period. The arrivals are ACKs that a gate or Wi-Fi releases
//! together, or data that arrive as an aggregate.
//!
//! Arrivals belong to one burst if the time between them is less than half of the later one's
//! transmission time at the bottleneck (Mogul, *Observing TCP Dynamics in Real Networks*, SIGCOMM
//! 1992, §3.2).

use crate::rate::Point;

/// A direction is bursty if at least this share of its arrivals are in bursts of two or more.
const MIN_BURSTY: f64 = 0.5;
/// The minimum number of bursts for an estimate of their period.
const MIN_BURSTS: usize = 8;

/// Statistics of bursts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bursts {
    /// Mean number of arrivals per burst, including single ones.
    pub(crate) mean_length: f64,
    /// The median time from the start of a burst to the start of the next, in nanoseconds; `None`
    /// unless most arrivals are in bursts.
    pub(crate) period: Option<f64>,
}

/// Returns the statistics of bursts in `curves`, which have a point for each arrival. `rate` is the
/// rate of the bottleneck in octets per second.
///
/// The curves are samples of a connection. The first curve is the start of the connection, which
/// has many small bursts. Each later curve counts `stride` times.
pub(crate) fn bursts(curves: &[Vec<Point>], stride: u64, rate: f64) -> Option<Bursts> {
    let (mut arrivals, mut together, mut all) = (0, 0, 0);
    let mut intervals = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        let weight = if place == 0 { 1 } else { stride };
        for burst in starts(curve, rate).windows(2) {
            let length = weight * (burst[1] - burst[0]) as u64;
            intervals.push((curve[burst[1]].0 - curve[burst[0]].0, weight));
            arrivals += length;
            together += if length > weight { length } else { 0 };
            all += weight;
        }
    }
    (all > 0).then(|| {
        let is_bursty = intervals.len() >= MIN_BURSTS && together as f64 >= MIN_BURSTY * arrivals as f64;
        Bursts {
            mean_length: arrivals as f64 / all as f64,
            period: if is_bursty { weighted_median(intervals, all) } else { None },
        }
    })
}

/// Returns the median of values with weights, whose sum is `all`.
fn weighted_median(mut values: Vec<(u64, u64)>, all: u64) -> Option<f64> {
    values.sort_unstable();
    let mut seen = 0;
    let middle = values.iter().find(|(_, weight)| {
        seen += weight;
        2 * seen >= all
    });
    middle.map(|&(value, _)| value as f64)
}

/// Returns the indices at which bursts begin.
pub(crate) fn starts(curve: &[Point], rate: f64) -> Vec<usize> {
    let half = |two: &[Point]| (two[1].1 - two[0].1) as f64 / rate / 2.0 * 1e9;
    let begins = curve.windows(2).enumerate().filter(|(_, two)| (two[1].0 - two[0].0) as f64 >= half(two));
    std::iter::once(0).chain(begins.map(|(place, _)| place + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_has_a_period() {
        let curve: Vec<Point> = (0..400u64).map(|n| (n / 4 * 6_000_000 + n % 4 * 20_000, 3000 * (n + 1))).collect();
        let found = bursts(&[curve], 1, 2e6).unwrap();
        assert_eq!((found.mean_length, found.period), (4.0, Some(6e6)));
    }

    #[test]
    fn an_aggregate_arrives_at_once() {
        let curve: Vec<Point> = (0..400u64).map(|n| (n / 4 * 6_000_000, 3000 * (n + 1))).collect();
        assert_eq!(bursts(&[curve], 1, 2e6).unwrap(), Bursts { mean_length: 4.0, period: Some(6e6) });
    }

    #[test]
    fn the_start_weighs_as_much_as_it_lasts() {
        let curve = |length: u64, period: u64| -> Vec<Point> {
            (0..1024u64).map(|n| (n / length * period + n % length * 20_000, 3000 * (n + 1))).collect()
        };
        // 512 bursts at the start, and 31 in each of two samples.
        let curves = [curve(2, 1_500_000), curve(32, 20_000_000), curve(32, 20_000_000)];
        assert_eq!(bursts(&curves, 10, 1e7).unwrap().period, Some(20e6));
        assert_eq!(bursts(&curves, 8, 1e7).unwrap().period, Some(1.5e6));
    }

    #[test]
    fn even_arrivals_have_none() {
        let curve: Vec<Point> = (0..400u64).map(|n| (n * 1_500_000, 3000 * (n + 1))).collect();
        assert_eq!(bursts(&[curve], 1, 2e6).unwrap(), Bursts { mean_length: 1.0, period: None });
    }
}
