//! Compares two kinds of steps: those in which no packet of the connection can be missing
//! (controls), and those in which some may be.
//!
//! If the counter were that of the host, its other packets would also fall into controls: as often
//! per step, and as often per second. Only controls between two skipping steps count, because the
//! host would be sending then.

/// The minimum number of controls that would be expected to skip with a counter of the host, for a
/// proof; *chosen*: if ten are expected, none skips in one of 22,000 random cases (Poisson).
const MIN_EXPECTED: f64 = 10.0;
/// The share of these that may skip because of reordered packets.
const MAX_SHARE: f64 = 0.1;

/// Controls, and other steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Controls {
    /// All controls.
    pub(super) steps: u64,
    /// The number of `steps` that skip numbers.
    pub(super) skipping: u64,
    /// Controls between two steps that skip.
    within: Steps,
    /// Controls since the last step that skips.
    since: Steps,
    /// The other steps, from the first to the last that skips, and the number of them that skip.
    others: Steps,
    others_since: Steps,
    others_skipping: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    count: u64,
    nanos: u64,
}

impl Steps {
    fn add(&mut self, count: u64, nanos: u64) {
        self.count += count;
        self.nanos += nanos;
    }

    fn take(&mut self, from: &mut Self) {
        self.add(from.count, from.nanos);
        *from = Self::default();
    }
}

impl Controls {
    /// Records a step that took `nanos` and skipped this count of numbers.
    #[inline]
    pub(super) fn step(&mut self, is_control: bool, skipped: u32, nanos: u64) {
        self.steps += u64::from(is_control);
        self.skipping += u64::from(is_control && skipped > 0);
        if skipped > 0 {
            if self.others_skipping == 0 {
                (self.since, self.others_since) = (Steps::default(), Steps::default());
            }
            self.within.take(&mut self.since);
            self.others.take(&mut self.others_since);
        }
        match (is_control, skipped > 0) {
            (true, _) => self.since.add(1, nanos),
            (false, true) => {
                self.others.add(1, nanos);
                self.others_skipping += 1;
            }
            (false, false) => self.others_since.add(1, nanos),
        }
    }

    /// Returns the controls between two steps that skip.
    pub(super) const fn within(&self) -> u64 {
        self.within.count
    }

    /// Returns the number of controls between skipping steps that would be expected to skip with a
    /// counter of the host.
    fn expected(&self) -> f64 {
        let per = |within: u64, others: u64| within as f64 / others.max(1) as f64;
        let as_often = per(self.within.count, self.others.count).min(per(self.within.nanos, self.others.nanos));
        self.others_skipping as f64 * as_often
    }

    /// Returns the proof that the counter is not that of the host.
    pub(super) fn proof(&self) -> Option<String> {
        let expected = self.expected();
        (expected >= MIN_EXPECTED && self.skipping as f64 <= MAX_SHARE * expected)
            .then(|| format!("{}, of which {expected:.0} would if the host counted", self.unskipped()))
    }

    /// Returns how many controls skip no number, as text.
    pub(super) fn unskipped(&self) -> String {
        format!("{} of {} steps between contiguous segments skip none", self.steps - self.skipping, self.steps)
    }

    /// Returns the reason why there is no proof.
    pub(super) fn lack(&self) -> String {
        format!(
            "{}, of which {:.1} would if the host counted, expected at least {MIN_EXPECTED}",
            self.unskipped(),
            self.expected()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Returns `steps` steps of 1 ms that skip, with a control of `nanos` nanoseconds after each of
    /// the first `skipping`.
    fn controls(steps: u64, skipping: u64, nanos: u64) -> Controls {
        let mut controls = Controls::default();
        for step in 0..100 {
            controls.step(false, 3, MS);
            if step < steps {
                controls.step(true, u32::from(step < skipping), nanos);
            }
        }
        controls
    }

    #[test]
    fn as_many_steps_of_as_long_a_time_without_skipped_numbers_are_a_proof() {
        assert!(controls(9, 0, MS).proof().is_none());
        assert!(controls(30, 0, MS).proof().is_some());
        assert!(controls(30, 4, MS).proof().is_none());
    }

    /// Within a microsecond, another packet of the host cannot pass in between. In a single long
    /// pause, the host may have paused as well.
    #[test]
    fn short_steps_and_few_long_ones_are_no_proof() {
        assert!(controls(99, 0, 1000).proof().is_none());
        assert!(controls(3, 0, 1000 * MS).proof().is_none());
    }

    /// The host may have begun or stopped sending when numbers began to be skipped.
    #[test]
    fn controls_before_and_behind_do_not_count() {
        let mut found = Controls::default();
        (0..50).for_each(|_| found.step(true, 0, MS));
        (0..100).for_each(|_| found.step(false, 3, MS));
        (0..50).for_each(|_| found.step(true, 0, MS));
        assert!(found.proof().is_none(), "{found:?}");
    }
}
