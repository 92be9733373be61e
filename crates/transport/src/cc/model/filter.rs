//! Maxima over a window.

/// A value and when it was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    value: u64,
    at: u64,
}

/// The greatest value of a window, nearly exact in constant space: Kathleen Nichols' algorithm, which keeps the best
/// three values of three parts of the window (Linux's `lib/win_minmax.c`; draft-ietf-ccwg-bbr, §5.5.5).
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct WindowedMax {
    best: [Seen; 3],
}

impl WindowedMax {
    pub(in crate::cc) const fn get(&self) -> u64 {
        self.best[0].value
    }

    /// `value` is seen at time `at`, in the unit of `window`.
    pub(in crate::cc) fn update(&mut self, window: u64, at: u64, value: u64) {
        let seen = Seen { value, at };
        if value >= self.best[0].value || at - self.best[2].at > window {
            self.best = [seen; 3];
            return;
        }
        if value >= self.best[1].value {
            (self.best[1], self.best[2]) = (seen, seen);
        } else if value >= self.best[2].value {
            self.best[2] = seen;
        }
        self.age(window, seen);
    }

    /// Drops what has left the window, and takes second and third choices from its later parts.
    fn age(&mut self, window: u64, seen: Seen) {
        let age = seen.at - self.best[0].at;
        if age > window {
            self.best = [self.best[1], self.best[2], seen];
            if seen.at - self.best[0].at > window {
                self.best = [self.best[1], self.best[2], seen];
            }
        } else if self.best[1].at == self.best[0].at && age > window / 4 {
            (self.best[1], self.best[2]) = (seen, seen);
        } else if self.best[2].at == self.best[1].at && age > window / 2 {
            self.best[2] = seen;
        }
    }
}

/// The greatest value of the present and the last of two periods whose end the owner tells.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct TwoPeriodMax {
    last: u64,
    present: u64,
}

impl TwoPeriodMax {
    pub(in crate::cc) const fn get(&self) -> u64 {
        if self.last > self.present { self.last } else { self.present }
    }

    pub(in crate::cc) fn update(&mut self, value: u64) {
        self.present = self.present.max(value);
    }

    /// A new period begins.
    pub(in crate::cc) const fn advance(&mut self) {
        (self.last, self.present) = (self.present, 0);
    }

    /// Has anything been seen in the present period?
    pub(in crate::cc) const fn has_present(&self) -> bool {
        self.present > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_maximum_lives_as_long_as_the_window() {
        let mut filter = WindowedMax::default();
        filter.update(10, 0, 100);
        (1..=10).for_each(|at| filter.update(10, at, 50));
        assert_eq!(filter.get(), 100);
        filter.update(10, 11, 50);
        assert_eq!(filter.get(), 50);
    }

    #[test]
    fn a_fall_is_followed_by_the_second_best() {
        let mut filter = WindowedMax::default();
        for at in 0..=11 {
            filter.update(10, at, 100 - at);
        }
        assert!((89..=97).contains(&filter.get()), "a value of a later part of the window: {}", filter.get());
    }

    #[test]
    fn two_periods_are_remembered() {
        let mut filter = TwoPeriodMax::default();
        filter.update(7);
        filter.advance();
        filter.update(5);
        assert_eq!(filter.get(), 7);
        filter.advance();
        assert_eq!((filter.get(), filter.has_present()), (5, false));
    }

    proptest! {
        /// It never exceeds the true maximum of the window, and never falls below the newest value.
        #[test]
        fn it_lies_between_the_newest_value_and_the_true_maximum(steps in proptest::collection::vec((0u64..4, 0u64..1000), 1..200)) {
            let (mut filter, mut at, mut seen) = (WindowedMax::default(), 0, Vec::new());
            for (step, value) in steps {
                at += step;
                filter.update(10, at, value);
                seen.push((at, value));
                let truth = seen.iter().filter(|(then, _)| at - then <= 10).map(|(_, value)| *value).max().unwrap();
                prop_assert!((value..=truth).contains(&filter.get()), "{} of {truth}, newest {value}", filter.get());
            }
        }
    }
}
