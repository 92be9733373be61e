//! The largest of what was measured lately.

use acklab_base::{Duration, Instant};

/// One value and when it was measured.
#[derive(Clone, Copy, Debug)]
struct Sample<T> {
    at: Instant,
    value: T,
}

/// A running maximum over a window of time in constant memory: the best three values, each newer than the one before (K. Nichols;
/// Linux's `lib/win_minmax.c`). For a minimum, take the maximum of [`Reverse`](std::cmp::Reverse).
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMax<T> {
    best: Option<[Sample<T>; 3]>,
}

impl<T> Default for WindowedMax<T> {
    fn default() -> Self {
        Self { best: None }
    }
}

impl<T: Copy + Ord> WindowedMax<T> {
    /// The maximum as of the last value.
    pub(super) fn get(&self) -> Option<T> {
        self.best.map(|best| best[0].value)
    }

    /// `value` was measured; what is older than `window` no longer counts.
    pub(super) fn enter(&mut self, now: Instant, value: T, window: Duration) {
        let new = Sample { at: now, value };
        let best = self.best.get_or_insert([new; 3]);
        if value >= best[0].value || now.since(best[2].at) > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].value {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].value {
            best[2] = new;
        }
        let age = now.since(best[0].at);
        if age > window {
            *best = [best[1], best[2], new];
            if now.since(best[0].at) > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > window / 4 {
            // A quarter of the window without a second best: take it from the second quarter.
            (best[1], best[2]) = (new, new);
        } else if best[2].at == best[1].at && age > window / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WINDOW: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    #[test]
    fn a_maximum_is_forgotten_with_its_window() {
        let mut filter = WindowedMax::default();
        let maxima: Vec<Option<u64>> = [(0, 9), (30, 5), (60, 7), (90, 4), (110, 3), (170, 2)]
            .into_iter()
            .map(|(ms, value)| {
                filter.enter(at(ms), value, WINDOW);
                filter.get()
            })
            .collect();
        assert_eq!(maxima, [Some(9), Some(9), Some(9), Some(9), Some(7), Some(4)]);
    }

    proptest! {
        #[test]
        fn it_is_never_below_the_newest_nor_above_the_window(steps in proptest::collection::vec((1u64..60, 0u64..50), 1..80)) {
            let (mut filter, mut seen, mut now) = (WindowedMax::default(), Vec::new(), 0);
            for (step, value) in steps {
                now += step;
                seen.push((now, value));
                filter.enter(at(now), value, WINDOW);
                let window = seen.iter().filter(|(ms, _)| now - ms <= 100).map(|(_, value)| *value).max();
                prop_assert!(filter.get() >= Some(value));
                prop_assert!(filter.get() <= window);
            }
        }
    }
}
