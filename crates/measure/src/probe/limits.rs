//! The time during which each factor limited a sender.

use acklab_base::{Duration, Instant, LimitingFactor};

/// The time of each limiting factor.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Limits {
    /// The present factor, and the time up to which its duration has been added. `None` before the
    /// sender's first report.
    present: Option<(LimitingFactor, Instant)>,
    times: [Duration; LimitingFactor::ALL.len()],
}

impl Limits {
    /// Records that `factor` limits the sender from now on. It is `None` if the sender does not
    /// report the cause. The sender reports after each packet, and the factor rarely changes.
    #[inline]
    pub(super) fn set(&mut self, now: Instant, factor: Option<LimitingFactor>) {
        if self.present.map(|(present, _)| present) != factor {
            self.change(now, factor);
        }
    }

    #[inline(never)]
    fn change(&mut self, now: Instant, factor: Option<LimitingFactor>) {
        if let Some((present, since)) = self.present {
            self.times[present as usize] += now.since(since);
        }
        self.present = factor.map(|factor| (factor, now));
    }

    /// Ends the measurement. Later time is ignored.
    pub(super) fn finish(&mut self, now: Instant) {
        self.set(now, None);
    }

    /// Returns the same factors, with times measured from `now`.
    pub(super) fn reopened(&self, now: Instant) -> Self {
        Self { present: self.present.map(|(factor, _)| (factor, now)), ..Self::default() }
    }

    /// Returns each factor's share of the time for which a factor was reported, in the order of
    /// [`LimitingFactor::ALL`]. Returns `None` if no factor was reported.
    pub(crate) fn shares(&self) -> Option<[f64; LimitingFactor::ALL.len()]> {
        let total: u64 = self.times.iter().map(|time| time.as_nanos()).sum();
        (total > 0).then(|| self.times.map(|time| time.as_nanos() as f64 / total as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    #[test]
    fn a_factor_counts_until_the_next_one_is_told() {
        let mut limits = Limits::default();
        assert_eq!(limits.shares(), None);
        limits.set(at(10), Some(LimitingFactor::Window));
        limits.set(at(40), Some(LimitingFactor::Pacing));
        limits.set(at(50), None);
        limits.set(at(90), Some(LimitingFactor::Application));
        limits.finish(at(100));
        // 30, 10 and 10 ms of the 50 ms with a reported factor.
        assert_eq!(limits.shares(), Some([0.2, 0.0, 0.0, 0.6, 0.2]));
    }

    #[test]
    fn the_factor_at_the_beginning_of_the_window_counts_from_there() {
        let mut limits = Limits::default();
        limits.set(at(0), Some(LimitingFactor::Application));
        let mut reopened = limits.reopened(at(70));
        reopened.set(at(80), Some(LimitingFactor::ReceiveWindow));
        reopened.finish(at(100));
        let shares = reopened.shares().unwrap();
        assert!((shares[0] - 1.0 / 3.0).abs() < 1e-12 && (shares[2] - 2.0 / 3.0).abs() < 1e-12, "{shares:?}");
    }
}
