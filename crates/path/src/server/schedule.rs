//! Rates that change at given instants.

use acklab_base::{Bytes, Duration, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// A change of a link's rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// Time since the start of the run.
    #[schemars(example = "0s")]
    pub at: Duration,
    /// The rate from that time on.
    #[schemars(example = "8Mbps")]
    pub rate: Rate,
}

/// Rate steps in order of time. The first is at zero.
#[derive(Clone, Debug)]
pub struct Schedule {
    steps: Vec<RateStep>,
    current: usize,
}

/// The reason why steps do not form a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScheduleError {
    /// There is no step, or the first step is later than zero.
    NothingAtStart,
    /// The step with this index is not later than the previous one.
    OutOfOrder(usize),
}

impl fmt::Display for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NothingAtStart => f.write_str("expected a first step with at = \"0s\""),
            Self::OutOfOrder(index) => write!(f, "step {index} is not later than the one before it"),
        }
    }
}

impl std::error::Error for ScheduleError {}

/// Checks that the times of steps begin at zero and that each is later than the previous one.
pub(crate) fn check_times(mut times: impl Iterator<Item = Duration>) -> Result<(), ScheduleError> {
    let Some(mut before) = times.next().filter(|first| first.is_zero()) else {
        return Err(ScheduleError::NothingAtStart);
    };
    for (index, at) in (1..).zip(times) {
        if at <= before {
            return Err(ScheduleError::OutOfOrder(index));
        }
        before = at;
    }
    Ok(())
}

impl Schedule {
    /// Returns a schedule of these steps.
    ///
    /// # Errors
    /// If the steps do not begin at zero or are out of order.
    pub fn new(steps: &[RateStep]) -> Result<Self, ScheduleError> {
        check_times(steps.iter().map(|step| step.at))?;
        Ok(Self { steps: steps.to_vec(), current: 0 })
    }

    /// Returns when the service of a packet that begins at `start` ends, rounded up to a
    /// nanosecond. If the rate changes during the service, each part of the packet is sent at the
    /// rate that applies at its time.
    #[inline(never)]
    pub(super) fn finish(&mut self, start: Instant, size: Bytes) -> Instant {
        // The unit is bits times 10⁹, so that products of rate and nanoseconds are subtracted
        // exactly.
        let mut work = u128::from(size.get()) * 8 * 1_000_000_000;
        let mut now = start;
        while self.steps.get(self.current + 1).is_some_and(|next| Instant::ZERO + next.at <= now) {
            self.current += 1;
        }
        loop {
            let rate = u128::from(self.steps[self.current].rate.bits_per_second());
            let change = self.steps.get(self.current + 1).map(|next| Instant::ZERO + next.at);
            let capacity = change.map(|change| u128::from(change.since(now).as_nanos()) * rate);
            match (change, capacity) {
                (Some(change), Some(capacity)) if capacity < work => {
                    work -= capacity;
                    now = change;
                    self.current += 1;
                }
                _ => return now + Duration::from_nanos(u64::try_from(work.div_ceil(rate)).unwrap_or(u64::MAX)),
            }
        }
    }

    pub(super) fn mean_rate(&self, window: &Range<Instant>) -> f64 {
        let ends = self.steps.iter().skip(1).map(|step| Instant::ZERO + step.at).chain([window.end]);
        let bits: f64 = self
            .steps
            .iter()
            .zip(ends)
            .map(|(step, end)| {
                let within = end.min(window.end).since(window.start.max(Instant::ZERO + step.at));
                within.as_secs_f64() * step.rate.bits_per_second() as f64
            })
            .sum();
        bits / window.end.since(window.start).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn schedule() -> Schedule {
        let step = |ms, mbps| RateStep { at: Duration::from_millis(ms), rate: Rate::from_mbps(mbps) };
        Schedule::new(&[step(0, 8), step(10, 4), step(20, 16)]).unwrap()
    }

    #[test]
    fn a_packet_across_a_step_is_sent_partly_at_each_rate() {
        // 2000 B are 16,000 bits. In 1 ms at 8 Mbps, 8000 bits are sent; the other 8000 bits take 2
        // ms at 4 Mbps.
        assert_eq!(schedule().finish(at(9), Bytes(2000)), at(12));
        // 8 ms at 4 Mbps and then 2 ms at 16 Mbps.
        assert_eq!(schedule().finish(at(12), Bytes(8000)), at(22));
    }

    #[test]
    fn steps_are_checked() {
        let step = |ms| RateStep { at: Duration::from_millis(ms), rate: Rate::from_mbps(1) };
        assert_eq!(Schedule::new(&[]).unwrap_err(), ScheduleError::NothingAtStart);
        assert_eq!(Schedule::new(&[step(1)]).unwrap_err(), ScheduleError::NothingAtStart);
        assert_eq!(Schedule::new(&[step(0), step(5), step(5)]).unwrap_err(), ScheduleError::OutOfOrder(2));
    }

    #[test]
    fn the_mean_is_weighted_by_time() {
        let mean = |from, until| schedule().mean_rate(&(at(from)..at(until)));
        assert!((mean(0, 40) - (80.0 + 40.0 + 320.0) / 40.0 * 1e6).abs() < 1e-3);
        assert!((mean(0, 10) - 8e6).abs() < 1e-3);
        assert!((mean(15, 25) - 10e6).abs() < 1e-3, "half at 4, half at 16");
    }
}
