//! Delays that vary from packet to packet.

use acklab_base::random::Stream;
use acklab_base::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extra delay of every packet. Packets keep their order: a packet that would overtake another
/// packet arrives at the same time as that packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum JitterConfig {
    /// The extra delay is uniformly distributed from zero to `spread`.
    Uniform {
        /// The maximum extra delay.
        spread: Duration,
    },
    /// The extra delay is exponentially distributed with this mean.
    Exponential {
        /// Mean extra delay.
        mean: Duration,
    },
    /// The extra delay is normally distributed. Negative draws are replaced by zero.
    Normal {
        /// Mean extra delay.
        mean: Duration,
        /// Standard deviation.
        deviation: Duration,
    },
}

/// Extra delay of some packets, which later packets can overtake.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reorder {
    /// The share of packets that are delayed, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// The extra delay.
    pub by: Duration,
}

/// Computes the arrival times of packets at the far end.
#[derive(Clone, Debug)]
pub(crate) struct Arrivals {
    delay: Duration,
    jitter: Option<(JitterConfig, Stream)>,
    reorder: Option<(Reorder, Stream)>,
    latest_in_order: Instant,
}

impl Arrivals {
    pub(crate) fn new(
        delay: Duration,
        jitter: Option<(JitterConfig, Stream)>,
        reorder: Option<(Reorder, Stream)>,
    ) -> Self {
        Self { delay, jitter, reorder, latest_in_order: Instant::ZERO }
    }

    /// Returns the arrival time of a packet that left the server at `sent`.
    #[inline]
    pub(crate) fn arrival(&mut self, sent: Instant) -> Instant {
        let arrival = sent + self.delay;
        if self.jitter.is_none() && self.reorder.is_none() { arrival } else { self.vary(arrival) }
    }

    #[inline(never)]
    fn vary(&mut self, arrival: Instant) -> Instant {
        let mut arrival = arrival;
        if let Some((config, stream)) = &mut self.jitter {
            arrival += match *config {
                JitterConfig::Uniform { spread } => {
                    Duration::from_nanos(stream.below(spread.as_nanos().saturating_add(1)))
                }
                JitterConfig::Exponential { mean } => stream.exponential(mean),
                JitterConfig::Normal { mean, deviation } => {
                    Duration::from_secs_f64(stream.normal(mean.as_secs_f64(), deviation.as_secs_f64()))
                }
            };
            arrival = arrival.max(self.latest_in_order);
        }
        if let Some((reorder, stream)) = &mut self.reorder
            && stream.chance(reorder.probability)
        {
            return arrival + reorder.by;
        }
        self.latest_in_order = arrival;
        arrival
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::random::Seed;

    fn arrivals(jitter: Option<JitterConfig>, reorder: Option<Reorder>) -> Vec<u64> {
        let seed = Seed(5);
        let mut arrivals = Arrivals::new(
            Duration::from_millis(10),
            jitter.map(|config| (config, seed.stream("jitter"))),
            reorder.map(|reorder| (reorder, seed.stream("reorder"))),
        );
        (0..1000).map(|ms| arrivals.arrival(Instant::ZERO + Duration::from_millis(ms)).as_nanos()).collect()
    }

    #[test]
    fn without_jitter_it_is_the_propagation_delay() {
        assert!(arrivals(None, None).iter().enumerate().all(|(ms, at)| *at == (ms as u64 + 10) * 1_000_000));
    }

    #[test]
    fn jitter_keeps_order_and_never_speeds_up() {
        for jitter in [
            JitterConfig::Uniform { spread: Duration::from_millis(20) },
            JitterConfig::Exponential { mean: Duration::from_millis(5) },
            JitterConfig::Normal { mean: Duration::from_millis(5), deviation: Duration::from_millis(5) },
        ] {
            let arrivals = arrivals(Some(jitter), None);
            assert!(arrivals.is_sorted());
            assert!(arrivals.iter().enumerate().all(|(ms, at)| *at >= (ms as u64 + 10) * 1_000_000));
            assert_ne!(arrivals[0] + 999_000_000, arrivals[999]);
        }
    }

    #[test]
    fn reordering_holds_back_its_share() {
        let reorder = Reorder { probability: 0.1, by: Duration::from_millis(3) };
        let arrivals = arrivals(None, Some(reorder));
        let held = arrivals.iter().enumerate().filter(|(ms, at)| **at == (*ms as u64 + 13) * 1_000_000).count();
        assert!((70..130).contains(&held), "{held}");
    }
}
