//! Measures the delivery rate.
//!
//! TACK's receiver measures the delivery rate in each TACK interval and uses the maximum over some
//! round trips (Li et al., SIGCOMM 2020, §4.1 and §5.4). Here an interval begins and ends with an
//! arrival and lasts at least RTTmin/β. It does not depend on the ACKs sent, because the rate
//! determines when ACKs are sent.

use crate::windowed_max::WindowedMax;
use acklab_base::{Duration, Instant, mul_div};

/// Nanoseconds in a second.
const SECOND: u64 = 1_000_000_000;

/// The delivery rate, in bytes per second.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// β, the number of intervals per round-trip time.
    intervals: u32,
    /// The number of round trips for which a maximum is valid.
    round_trips: u32,
    /// The start of the interval, and the number of bytes that had arrived by then.
    began: Option<(Instant, u64)>,
    rate: WindowedMax<u64>,
}

impl Delivery {
    /// Creates a meter that measures `intervals` rates per round-trip time and keeps the maximum
    /// over `round_trips` round-trip times.
    #[must_use]
    pub fn new(intervals: u32, round_trips: u32) -> Self {
        Self { intervals, round_trips, began: None, rate: WindowedMax::default() }
    }

    /// Returns the recent maximum of the rate, in bytes per second.
    #[must_use]
    pub fn rate(&self) -> Option<u64> {
        self.rate.get()
    }

    /// Processes a segment. `arrived` is the total number of bytes that have arrived, including
    /// this segment. `rtt` is the minimum round-trip time.
    pub fn on_data(&mut self, now: Instant, arrived: u64, rtt: Option<Duration>) {
        let Some((began, before)) = self.began else {
            self.began = Some((now, arrived));
            return;
        };
        let (Some(rtt), elapsed) = (rtt, now.since(began)) else { return };
        if elapsed.is_zero() || elapsed < rtt / u64::from(self.intervals) {
            return;
        }
        let rate = mul_div(arrived - before, SECOND, elapsed.as_nanos());
        let window = rtt.saturating_mul(u64::from(self.round_trips));
        self.rate.update(window.as_nanos(), now.as_nanos(), rate);
        self.began = Some((now, arrived));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Feeds one segment of 1000 bytes per millisecond, with a round-trip time of 40 ms and β of 4.
    fn steady(meter: &mut Delivery, from: u64, until: u64) {
        for ms in from..until {
            meter.on_data(Instant::ZERO + MS * ms, (ms + 1) * 1000, Some(MS * 40));
        }
    }

    #[test]
    fn a_steady_rate_is_met_exactly() {
        let mut meter = Delivery::new(4, 10);
        steady(&mut meter, 0, 10);
        assert_eq!(meter.rate(), None, "an interval of 10 ms is not over");
        steady(&mut meter, 10, 200);
        assert_eq!(meter.rate(), Some(1_000_000));
    }

    #[test]
    fn a_burst_counts_with_the_silence_behind_it() {
        let mut meter = Delivery::new(4, 10);
        for segment in 1..=10 {
            meter.on_data(Instant::ZERO, segment * 1000, Some(MS * 40));
        }
        meter.on_data(Instant::ZERO + MS * 40, 11_000, Some(MS * 40));
        assert_eq!(meter.rate(), Some(250_000));
    }
}
