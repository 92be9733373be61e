//! The smoothed round-trip time (RFC 6298, §2).

use acklab_base::{Duration, Vitals};

/// The algorithm of the deviation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Deviation {
    /// RTTVAR of RFC 6298, §2.3, with each sample.
    #[default]
    Rfc,
    /// Linux's `tcp_rtt_estimator`. 4 · RTTVAR rises immediately to the largest mean deviation of
    /// the current round trip (`mdev_max`). It falls once per round trip, by a quarter of the
    /// difference, and never below the minimum of the timeout. A sample below SRTT that raises the
    /// mean deviation has an eighth of the usual weight.
    Linux {
        /// The minimum of 4 · RTTVAR: `tcp_rto_min`.
        min: Duration,
    },
}

/// The round-trip times that congestion control uses.
pub trait RoundTripTimes {
    /// Returns the smoothed round-trip time, if there was a measurement.
    fn srtt(&self) -> Option<Duration>;

    /// Returns the minimum round-trip time.
    fn least(&self) -> Option<Duration>;

    /// Returns the estimator, if this end measures round-trip times.
    fn estimator(&self) -> Option<&Estimator> {
        None
    }
}

impl RoundTripTimes for Estimator {
    #[inline]
    fn srtt(&self) -> Option<Duration> {
        self.srtt()
    }

    #[inline]
    fn least(&self) -> Option<Duration> {
        self.min()
    }

    #[inline]
    fn estimator(&self) -> Option<&Estimator> {
        Some(self)
    }
}

/// SRTT and RTTVAR, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Estimator {
    deviation: Deviation,
    srtt: Duration,
    /// RTTVAR. In Linux, 4 · RTTVAR, as the kernel stores it.
    rttvar: Duration,
    /// Linux: `mdev_us`, four times the mean deviation.
    mean: Duration,
    /// Linux: `mdev_max_us`, the maximum of `mdev_us` in the current round trip.
    largest: Duration,
    /// Linux: `rtt_seq`, snd.nxt when the round trip began.
    round_ends: u64,
    latest: Duration,
    min: Option<Duration>,
    samples: u64,
}

impl Estimator {
    /// Creates an estimator without a sample.
    #[must_use]
    pub fn new(deviation: Deviation) -> Self {
        Self { deviation, ..Self::default() }
    }

    /// Adds a sample: α = 1/8, β = 1/4.
    pub fn sample(&mut self, rtt: Duration) {
        self.sample_at(rtt, rtt, 0, 0);
    }

    /// Adds a sample with the `delay` that the receiver reports (RFC 9002, §5.3). Subtracts the
    /// delay unless the result would be below the minimum sample. The minimum and the latest sample
    /// include the delay. Returns the adjusted sample.
    pub fn sample_with_delay(&mut self, rtt: Duration, delay: Duration) -> Duration {
        let adjusted = match self.min {
            Some(min) if rtt >= min + delay => rtt.saturating_sub(delay),
            _ => rtt,
        };
        self.sample_at(adjusted, rtt, 0, 0);
        self.latest = rtt;
        adjusted
    }

    /// Adds a sample at snd.una and snd.nxt. `least` is the sample for the [minimum](Self::min)
    /// round-trip time.
    #[inline]
    pub fn sample_at(&mut self, rtt: Duration, least: Duration, una: u64, nxt: u64) {
        match self.deviation {
            Deviation::Linux { min } => self.deviate_as_linux(rtt, min, una, nxt),
            Deviation::Rfc if self.samples == 0 => self.rttvar = rtt / 2,
            Deviation::Rfc => self.rttvar = (self.rttvar * 3 + self.srtt.abs_diff(rtt)) / 4,
        }
        self.srtt = if self.samples == 0 { rtt } else { (self.srtt * 7 + rtt) / 8 };
        self.latest = rtt;
        if self.min.is_none_or(|min| least < min) {
            self.min = Some(least);
        }
        self.samples += 1;
    }

    fn deviate_as_linux(&mut self, rtt: Duration, min: Duration, una: u64, nxt: u64) {
        if self.samples == 0 {
            self.mean = rtt * 2;
            self.rttvar = self.mean.max(min);
            (self.largest, self.round_ends) = (self.rttvar, nxt);
            return;
        }
        let (error, quarter) = (self.srtt.abs_diff(rtt), self.mean / 4);
        let rise = error.saturating_sub(quarter);
        let rise = if rtt < self.srtt { rise / 8 } else { rise };
        self.mean = (self.mean + rise).saturating_sub(quarter.saturating_sub(error));
        if self.mean > self.largest {
            self.largest = self.mean;
            self.rttvar = self.rttvar.max(self.largest);
        }
        if una > self.round_ends {
            self.rttvar = self.rttvar.saturating_sub(self.rttvar.saturating_sub(self.largest) / 4);
            (self.round_ends, self.largest) = (nxt, min);
        }
    }

    /// Returns the smoothed round-trip time, if there was a measurement.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        (self.samples > 0).then_some(self.srtt)
    }

    /// Returns the vitals of an endpoint with only the round-trip times set.
    #[must_use]
    #[inline]
    pub fn vitals(&self) -> Vitals {
        let (rtt_samples, latest_rtt) = (self.samples(), self.latest());
        Vitals { rtt_samples, latest_rtt, smoothed_rtt: self.srtt(), ..Vitals::default() }
    }

    /// Returns 4 · RTTVAR, K · RTTVAR of RFC 6298, §2.3.
    #[must_use]
    pub fn deviation(&self) -> Duration {
        match self.deviation {
            Deviation::Rfc => self.rttvar * 4,
            Deviation::Linux { .. } => self.rttvar,
        }
    }

    /// Returns the mean deviation.
    #[must_use]
    pub fn rttvar(&self) -> Duration {
        match self.deviation {
            Deviation::Rfc => self.rttvar,
            Deviation::Linux { .. } => self.rttvar / 4,
        }
    }

    /// Returns the latest measurement.
    #[must_use]
    pub const fn latest(&self) -> Duration {
        self.latest
    }

    /// Returns the minimum measurement.
    #[must_use]
    pub const fn min(&self) -> Option<Duration> {
        self.min
    }

    /// Returns the number of measurements.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn first_and_later_measurements() {
        let mut estimator = Estimator::default();
        assert_eq!(estimator.srtt(), None);
        estimator.sample_at(MS(100), MS(90), 0, 0);
        assert_eq!((estimator.srtt(), estimator.rttvar()), (Some(MS(100)), MS(50)));
        estimator.sample_at(MS(180), MS(180), 0, 0);
        assert_eq!(estimator.srtt(), Some(MS(110)));
        assert_eq!(estimator.rttvar(), Duration::from_micros(57_500), "3/4 of 50 ms and 1/4 of 80 ms");
        assert_eq!(estimator.min(), Some(MS(90)));
    }

    #[test]
    fn what_the_receiver_waited_is_taken_off_unless_too_much_is() {
        let mut estimator = Estimator::default();
        estimator.sample_with_delay(MS(100), MS(20));
        assert_eq!((estimator.srtt(), estimator.min()), (Some(MS(100)), Some(MS(100))), "the first sample as it is");
        estimator.sample_with_delay(MS(120), MS(20));
        assert_eq!((estimator.srtt(), estimator.latest()), (Some(MS(100)), MS(120)));
        estimator.sample_with_delay(MS(108), MS(20));
        assert_eq!(estimator.srtt(), Some(MS(101)), "88 ms would be below the shortest");
    }

    /// Follows `tcp_rtt_estimator`, computed by hand. `mdev_us` and `rttvar_us` are in the kernel's
    /// units: four times the deviation.
    #[test]
    fn the_deviation_of_linux_rises_at_once_and_falls_once_a_round_trip() {
        let mut estimator = Estimator::new(Deviation::Linux { min: MS(200) });
        estimator.sample_at(MS(100), MS(100), 0, 1000);
        assert_eq!((estimator.mean, estimator.deviation()), (MS(200), MS(200)));
        estimator.sample_at(MS(500), MS(500), 500, 1000);
        assert_eq!((estimator.mean, estimator.deviation()), (MS(550), MS(550)), "200 + 400 - 50");
        // SRTT is 150 ms. The sample is 100 ms below SRTT. This error is less than a quarter of the
        // mean, 137.5 ms, so the mean falls by the difference.
        estimator.sample_at(MS(50), MS(50), 800, 2000);
        assert_eq!((estimator.mean, estimator.deviation()), (Duration::from_micros(512_500), MS(550)));
        // A round trip ends with the maximum still at 550 ms, so nothing falls yet. The next round
        // trip begins at 200 ms.
        estimator.sample_at(MS(150), MS(150), 1001, 3000);
        assert_eq!(estimator.deviation(), MS(550));
        assert_eq!(estimator.largest, MS(200));
        (0..40).for_each(|_| estimator.sample_at(MS(140), MS(140), 1500, 3000));
        let largest = estimator.largest;
        estimator.sample_at(MS(140), MS(140), 3001, 4000);
        assert_eq!(estimator.deviation(), MS(550) - (MS(550) - largest) / 4, "a quarter of the difference, once");
    }

    #[test]
    fn a_shorter_round_trip_raises_the_deviation_of_linux_by_an_eighth() {
        let mut estimator = Estimator::new(Deviation::Linux { min: MS(200) });
        estimator.sample_at(MS(400), MS(400), 0, 1000);
        (0..60).for_each(|_| estimator.sample_at(MS(400), MS(400), 500, 1000));
        let mean = estimator.mean;
        assert!(mean < MS(1));
        estimator.sample_at(MS(80), MS(80), 500, 1000);
        assert_eq!(estimator.mean, mean + (MS(320) - mean / 4) / 8);
    }
}
