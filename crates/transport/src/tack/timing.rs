//! Round-trip timing (Li et al., SIGCOMM 2020, §5.2; ToN 2021, §VI).
//!
//! A TACK acknowledges many packets, but can report the times of only one packet. The receiver
//! measures the one-way delay of each packet with two unsynchronised clocks. It selects the packet
//! with the minimum delay since the last TACK. The TACK contains that packet's departure time t0*,
//! and Δt*, the time since its arrival. The sender's sample is t1 − t0* − Δt*. RTTmin is the
//! minimum sample within τ.
//!
//! The alternative estimator uses the newest packet, as a timestamp echo or an ACK frame does. It
//! ignores the other packets since the last TACK, so its minimum sample is larger (Figure 6).

use super::refusal::Refusal;
use crate::recovery::rtt::{Estimator, RoundTripTimes};
use crate::windowed_max::WindowedMax;
use acklab_base::{Duration, Instant};
use acklab_wire::tack::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Maximum rounding error of a sample in microseconds. A sample is computed from three times in
/// whole microseconds, so it may be negative by this amount.
const ROUNDING: i64 = 3;

/// The packet to which the times in a TACK refer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// The packet with the minimum one-way delay since the last TACK.
    MinimumDelay,
    /// The newest packet.
    Newest,
}

/// A packet and its arrival.
#[derive(Clone, Copy, Debug)]
struct Timed {
    departed: Timestamp,
    arrived: Timestamp,
}

impl Timed {
    /// Returns the one-way delay in microseconds, plus the offset between the two clocks.
    const fn delay(&self) -> i32 {
        self.arrived.micros_since(self.departed)
    }
}

/// The receiver's state: the packet to which the times in the next TACK refer.
#[derive(Clone, Copy, Debug)]
pub(super) struct DelayFilter {
    timing: Timing,
    /// The packet selected since the last TACK.
    chosen: Option<Timed>,
    /// The packet to which the times in the last TACK refer.
    timed: Timed,
}

impl DelayFilter {
    pub(super) const fn new(timing: Timing) -> Self {
        let timed = Timed { departed: Timestamp(0), arrived: Timestamp(0) };
        Self { timing, chosen: None, timed }
    }

    /// Records the arrival of a packet.
    #[inline]
    pub(super) fn on_arrival(&mut self, departed: Timestamp, arrived: Timestamp) {
        let timed = Timed { departed, arrived };
        let is_better = self.timing == Timing::Newest
            || self.chosen.is_none_or(|chosen| timed.delay().wrapping_sub(chosen.delay()) <= 0);
        if is_better {
            self.chosen = Some(timed);
        }
    }

    /// Returns t0* and Δt* for a TACK that is sent now. If no packet has arrived since the last
    /// TACK, the times refer to the same packet again.
    pub(super) fn on_tack(&mut self, now: Timestamp) -> (Timestamp, u32) {
        self.timed = self.chosen.take().unwrap_or(self.timed);
        let Timed { departed, arrived } = self.timed;
        (departed, u32::try_from(now.micros_since(arrived)).unwrap_or(0))
    }
}

/// The sender's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrips {
    window: Duration,
    estimator: Estimator,
    least: WindowedMax<Reverse<Duration>>,
}

impl RoundTrips {
    /// Creates an estimator. RTTmin is the minimum sample within `window`, which is τ.
    pub(super) fn new(window: Duration) -> Self {
        Self { window, estimator: Estimator::default(), least: WindowedMax::default() }
    }

    pub(super) const fn estimator(&self) -> &Estimator {
        &self.estimator
    }

    /// Returns RTTmin.
    #[inline]
    pub(super) fn least(&self) -> Option<Duration> {
        self.least.get().map(|Reverse(least)| least)
    }

    /// Returns the sample of a packet that was sent at `echo`. The packet arrived `delay`
    /// microseconds before the answer was sent.
    pub(super) fn sample_of(now: Timestamp, echo: Timestamp, delay: u32) -> Result<Duration, Refusal> {
        let elapsed = i64::from(now.micros_since(echo));
        let sample = elapsed - i64::from(delay);
        if elapsed < 0 || sample < -ROUNDING {
            return Err(Refusal::Time);
        }
        Ok(Duration::from_micros(sample.max(1).unsigned_abs()))
    }

    pub(super) fn take(&mut self, now: Instant, sample: Duration) {
        self.estimator.sample(sample);
        self.least.update(self.window.as_nanos(), now.as_nanos(), Reverse(sample));
    }
}

impl RoundTripTimes for RoundTrips {
    #[inline]
    fn srtt(&self) -> Option<Duration> {
        self.estimator.srtt()
    }

    #[inline]
    fn least(&self) -> Option<Duration> {
        self.least()
    }

    #[inline]
    fn estimator(&self) -> Option<&Estimator> {
        Some(&self.estimator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets sent at intervals of 10 ms, with one-way delays of 40, 30 and 35 ms. The sender's
    /// clock is about to wrap.
    fn filter(timing: Timing) -> (Timestamp, u32) {
        let mut filter = DelayFilter::new(timing);
        for (index, under_way) in [40_000u32, 30_000, 35_000].into_iter().enumerate() {
            let left = 10_000 * index as u32;
            // The offset between the clocks is u32::MAX − 15 ms.
            filter.on_arrival(Timestamp(left.wrapping_sub(15_000)), Timestamp(left + under_way));
        }
        filter.on_tack(Timestamp(60_000))
    }

    #[test]
    fn the_packet_of_least_delay_is_timed_or_the_newest() {
        assert_eq!(filter(Timing::MinimumDelay), (Timestamp(10_000u32.wrapping_sub(15_000)), 20_000));
        assert_eq!(filter(Timing::Newest), (Timestamp(5_000), 5_000));
    }

    #[test]
    fn a_tack_without_arrivals_times_the_same_packet() {
        let mut filter = DelayFilter::new(Timing::MinimumDelay);
        filter.on_arrival(Timestamp(7), Timestamp(100));
        assert_eq!(filter.on_tack(Timestamp(150)), (Timestamp(7), 50));
        assert_eq!(filter.on_tack(Timestamp(250)), (Timestamp(7), 150));
    }

    #[test]
    fn time_does_not_run_backwards() {
        let sample = |now, echo, delay| RoundTrips::sample_of(Timestamp(now), Timestamp(echo), delay);
        assert_eq!(sample(1000, 100, 300), Ok(Duration::from_micros(600)));
        assert_eq!(sample(1000, 100, 902), Ok(Duration::from_micros(1)), "three times were rounded");
        assert_eq!(sample(1000, 100, 904), Err(Refusal::Time), "answered before it left");
        assert_eq!(sample(1000, 1001, 0), Err(Refusal::Time), "it has not left yet");
        assert_eq!(sample(1000, 100, u32::MAX), Err(Refusal::Time));
    }

    #[test]
    fn the_least_sample_is_forgotten_with_its_window() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut trips = RoundTrips::new(Duration::from_secs(1));
        for (ms, sample) in [(0, 20), (500, 30), (900, 40), (1400, 50)] {
            trips.take(at(ms), Duration::from_millis(sample));
        }
        assert_eq!(trips.least(), Some(Duration::from_millis(30)));
        assert_eq!(trips.estimator().samples(), 4);
    }
}
