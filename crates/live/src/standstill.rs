//! Measures the times at which a processor stands still, whatever this process does.

use crate::WallClock;
use acklab_base::Duration;

/// Shorter gaps are interrupts, which occur on every processor.
const SHORTEST: Duration = Duration::from_micros(100);

/// The times at which a processor stood still: a virtual machine whose host runs something else,
/// firmware, or interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// The duration of the longest standstill.
    pub longest: Duration,
    /// The total duration of all standstills of 100 us and more.
    pub total: Duration,
}

impl Standstill {
    /// Reads the clock for the time `during` and finds gaps between the readings. The calling
    /// thread should have real-time priority, so that no other thread makes gaps. No emulator can
    /// deliver a packet in such a gap.
    #[must_use]
    pub fn measure(during: Duration) -> Self {
        let clock = WallClock::start();
        let mut found = Self { longest: Duration::ZERO, total: Duration::ZERO };
        let mut last = clock.now();
        let end = last + during;
        while last < end {
            let now = clock.now();
            found.add(now.since(last));
            last = now;
        }
        found
    }

    fn add(&mut self, gap: Duration) {
        self.longest = self.longest.max(gap);
        if gap >= SHORTEST {
            self.total += gap;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;

    #[test]
    fn short_gaps_do_not_add_up() {
        let mut found = Standstill { longest: Duration::ZERO, total: Duration::ZERO };
        [20, 100, 99, 5_000].into_iter().map(Duration::from_micros).for_each(|gap| found.add(gap));
        assert_eq!(found, Standstill { longest: Duration::from_millis(5), total: Duration::from_micros(5_100) });
    }

    #[test]
    fn it_takes_the_time_that_it_is_given() {
        let clock = WallClock::start();
        let found = Standstill::measure(Duration::from_millis(5));
        let taken = clock.now().since(Instant::ZERO);
        assert!(taken >= Duration::from_millis(5));
        assert!(found.longest > Duration::ZERO && found.longest <= taken && found.total <= taken, "{found:?}");
    }
}
