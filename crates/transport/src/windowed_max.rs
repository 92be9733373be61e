//! A windowed maximum, for receivers and controllers.

/// A value, and the time at which it was measured.
#[derive(Clone, Copy, Debug)]
struct Seen<T> {
    at: u64,
    value: T,
}

/// A running maximum over a window. It is nearly exact, and stores three values: the maximum of
/// each of three parts of the window (Kathleen Nichols' algorithm; Linux's `lib/win_minmax.c`;
/// draft-ietf-ccwg-bbr, §5.5.5). For a minimum, use the maximum of [`Reverse`](std::cmp::Reverse).
/// The owner chooses the unit of time: nanoseconds or round trips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WindowedMax<T> {
    best: Option<[Seen<T>; 3]>,
}

impl<T> Default for WindowedMax<T> {
    fn default() -> Self {
        Self { best: None }
    }
}

impl<T: Copy + Ord> WindowedMax<T> {
    /// Returns the maximum after the last value.
    pub(crate) fn get(&self) -> Option<T> {
        self.best.map(|best| best[0].value)
    }

    /// Adds `value`, measured at `at`. Values older than `window` are ignored from now on. `window`
    /// and `at` have the same unit.
    pub(crate) fn update(&mut self, window: u64, at: u64, value: T) {
        let new = Seen { at, value };
        let best = self.best.get_or_insert([new; 3]);
        if value >= best[0].value || at - best[2].at > window {
            *best = [new; 3];
            return;
        }
        if value >= best[1].value {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].value {
            best[2] = new;
        }
        let age = at - best[0].at;
        if age > window {
            *best = [best[1], best[2], new];
            if at - best[0].at > window {
                *best = [best[1], best[2], new];
            }
        } else if best[1].at == best[0].at && age > window / 4 {
            // A quarter of the window has passed without a second best value: take one from the
            // second quarter.
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

    #[test]
    fn a_maximum_is_forgotten_with_its_window() {
        let mut filter = WindowedMax::default();
        let maxima: Vec<Option<u64>> = [(0, 9), (30, 5), (60, 7), (90, 4), (110, 3), (170, 2)]
            .into_iter()
            .map(|(at, value)| {
                filter.update(100, at, value);
                filter.get()
            })
            .collect();
        assert_eq!(maxima, [Some(9), Some(9), Some(9), Some(9), Some(7), Some(4)]);
    }

    #[test]
    fn a_maximum_lives_as_long_as_the_window() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        (1..=10).for_each(|at| filter.update(10, at, 50));
        assert_eq!(filter.get(), Some(100));
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), Some(50));
    }

    #[test]
    fn a_fall_is_followed_by_the_second_best() {
        let mut filter = WindowedMax::default();
        for at in 0..=11 {
            filter.update(10, at, 100 - at);
        }
        let second = filter.get().unwrap();
        assert!((89..=97).contains(&second), "a value of a later part of the window: {second}");
    }

    proptest! {
        #[test]
        fn it_is_never_below_the_newest_nor_above_the_window(steps in proptest::collection::vec((1u64..60, 0u64..50), 1..80)) {
            holds(100, &steps)?;
        }

        #[test]
        fn it_lies_between_the_newest_value_and_the_true_maximum(steps in proptest::collection::vec((0u64..4, 0u64..1000), 1..200)) {
            holds(10, &steps)?;
        }
    }

    /// Checks that the result never exceeds the true maximum of the window, and is never below the
    /// newest value.
    fn holds(window: u64, steps: &[(u64, u64)]) -> Result<(), TestCaseError> {
        let (mut filter, mut at, mut seen) = (WindowedMax::default(), 0, Vec::new());
        for (step, value) in steps {
            at += step;
            filter.update(window, at, *value);
            seen.push((at, *value));
            let truth = seen.iter().filter(|(then, _)| at - then <= window).map(|(_, value)| *value).max().unwrap();
            let found = filter.get().unwrap();
            prop_assert!((*value..=truth).contains(&found), "{found} of {truth}, newest {value}");
        }
        Ok(())
    }
}
