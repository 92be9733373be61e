//! The smoothed round-trip time (RFC 6298, §2).

use acklab_base::Duration;

/// SRTT and RTTVAR, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimator {
    srtt: Duration,
    rttvar: Duration,
    latest: Duration,
    min: Option<Duration>,
    samples: u64,
}

impl Estimator {
    /// Take a measurement: α = 1/8, β = 1/4.
    pub fn sample(&mut self, rtt: Duration) {
        if self.samples == 0 {
            (self.srtt, self.rttvar) = (rtt, rtt / 2);
        } else {
            self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(rtt)) / 4;
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
        self.latest = rtt;
        self.min = Some(self.min.map_or(rtt, |min| min.min(rtt)));
        self.samples += 1;
    }

    /// Smoothed round-trip time, if there was a measurement.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.srtt)
    }

    /// Mean deviation.
    #[must_use]
    pub const fn rttvar(&self) -> Duration {
        self.rttvar
    }

    /// The latest measurement.
    #[must_use]
    pub const fn latest(&self) -> Duration {
        self.latest
    }

    /// The shortest measurement.
    #[must_use]
    pub const fn min(&self) -> Option<Duration> {
        self.min
    }

    /// Number of measurements.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_later_measurements() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.srtt(), None);
        estimator.sample(Duration::from_millis(100));
        assert_eq!(
            (estimator.srtt(), estimator.rttvar()),
            (Some(Duration::from_millis(100)), Duration::from_millis(50))
        );
        estimator.sample(Duration::from_millis(180));
        assert_eq!(estimator.srtt(), Some(Duration::from_millis(110)));
        assert_eq!(estimator.rttvar(), Duration::from_micros(57_500), "3/4 of 50 ms and 1/4 of 80 ms");
        assert_eq!(estimator.min(), Some(Duration::from_millis(100)));
    }
}
