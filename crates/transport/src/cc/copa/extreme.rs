//! An exact minimum or maximum filter over a window of time.

use acklab_base::{Duration, Instant};
use std::collections::VecDeque;

/// Whether an extreme is a minimum or a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Least,
    Greatest,
}

/// A queue in which each sample is more extreme than the samples after it. The first sample is the
/// extreme.
#[derive(Clone, Debug)]
pub(super) struct Extreme {
    end: End,
    samples: VecDeque<(Instant, Duration)>,
}

impl Extreme {
    pub(super) const fn least() -> Self {
        Self { end: End::Least, samples: VecDeque::new() }
    }

    pub(super) const fn greatest() -> Self {
        Self { end: End::Greatest, samples: VecDeque::new() }
    }

    /// Adds a sample, removes those older than `window`, and returns the extreme.
    pub(super) fn update(&mut self, now: Instant, sample: Duration, window: Duration) -> Duration {
        while let Some((_, last)) = self.samples.back()
            && match self.end {
                End::Least => *last >= sample,
                End::Greatest => *last <= sample,
            }
        {
            self.samples.pop_back();
        }
        self.samples.push_back((now, sample));
        while let Some((at, _)) = self.samples.front()
            && now.since(*at) > window
        {
            self.samples.pop_front();
        }
        self.samples.front().map_or(sample, |(_, extreme)| *extreme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extreme_is_forgotten_with_its_window() {
        let (mut least, mut greatest) = (Extreme::least(), Extreme::greatest());
        let mut update = |at: u64, sample: u64| {
            let (now, sample, window) =
                (Instant::ZERO + Duration::from_millis(at), Duration::from_millis(sample), Duration::from_millis(10));
            [&mut least, &mut greatest].map(|extreme| extreme.update(now, sample, window).as_millis())
        };
        assert_eq!(update(0, 5), [5, 5]);
        assert_eq!(update(4, 9), [5, 9]);
        assert_eq!(update(8, 7), [5, 9]);
        assert_eq!(update(11, 8), [7, 9], "the 5 of 0 ms is 11 ms old");
        assert_eq!(update(15, 8), [7, 8], "so is the 9 of 4 ms");
    }
}
