//! The time that the system takes to wake the thread whose timer expires.

use acklab_base::Duration;

/// The number of wake-ups that are evaluated together. It is small, so that the first result is
/// early, but large enough for a quartile.
const WINDOW: usize = 32;
/// The maximum latency that is anticipated. A processor with a longer latency has halted. A thread
/// that polls keeps the processor busy, so that it does not halt.
const LONGEST: Duration = Duration::from_micros(50);

/// The latency of wake-ups by a timer.
#[derive(Clone, Debug, Default)]
pub struct WakeLatency {
    window: Vec<Duration>,
    usual: Duration,
}

impl WakeLatency {
    /// Adds the time from the instant at which a timer expired to that at which its thread ran.
    pub fn add(&mut self, latency: Duration) {
        self.window.push(latency);
        if self.window.len() < WINDOW {
            return;
        }
        self.window.sort_unstable();
        self.usual = self.window[WINDOW / 4].min(LONGEST);
        self.window.clear();
    }

    /// Returns the latency that three of four wake-ups reach or exceed, at most 50 us. Returns zero
    /// until 32 are known.
    #[must_use]
    pub const fn usual(&self) -> Duration {
        self.usual
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(latencies: impl IntoIterator<Item = u64>) -> Duration {
        let mut latency = WakeLatency::default();
        latencies.into_iter().map(Duration::from_micros).for_each(|found| latency.add(found));
        latency.usual()
    }

    #[test]
    fn the_usual_latency_is_the_lower_quartile_of_the_last_window() {
        assert_eq!(after(1..=31), Duration::ZERO);
        assert_eq!(after((1..=32).rev()), Duration::from_micros(9));
        assert_eq!(after((1..=32).chain([20; 31])), Duration::from_micros(9));
        assert_eq!(after((1..=32).chain([20; 32])), Duration::from_micros(20));
    }

    #[test]
    fn a_processor_that_halts_is_not_waited_for() {
        assert_eq!(after([300; 32]), LONGEST);
    }
}
