//! Steps between packets between which none of the connection can be missing, as a control of those between which some may be.

/// Steps in controls that would skip if the host counted, by the rate of the others, for a proof; *chosen*: by chance none of ten does in one of 22,000 cases (Poisson).
const MIN_EXPECTED: f64 = 10.0;
/// Of these, so many may skip: the numbers of a packet that was reordered.
const MAX_SHARE: f64 = 0.1;

/// Controls, and other steps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Controls {
    pub(super) steps: u64,
    /// Of `steps`, those that skip numbers.
    pub(super) skipping: u64,
    nanos: u64,
    /// Other steps that skip numbers, and the time of all others.
    others_skipping: u64,
    others_nanos: u64,
}

impl Controls {
    /// A step took `nanos` and skipped so many numbers.
    #[inline]
    pub(super) fn step(&mut self, is_control: bool, skipped: u32, nanos: u64) {
        if is_control {
            self.steps += 1;
            self.skipping += u64::from(skipped > 0);
            self.nanos += nanos;
        } else {
            self.others_skipping += u64::from(skipped > 0);
            self.others_nanos += nanos;
        }
    }

    /// The controls that would skip if the host counted: as many per second as other steps.
    fn expected(&self) -> f64 {
        self.others_skipping as f64 * self.nanos as f64 / self.others_nanos.max(1) as f64
    }

    /// What shows that the host does not count.
    pub(super) fn proof(&self) -> Option<String> {
        let expected = self.expected();
        (expected >= MIN_EXPECTED && self.skipping as f64 <= MAX_SHARE * expected)
            .then(|| format!("{}, of which {expected:.0} would if the host counted", self.unskipped()))
    }

    /// How many controls skip none.
    pub(super) fn unskipped(&self) -> String {
        format!("{} of {} steps between contiguous segments skip none", self.steps - self.skipping, self.steps)
    }

    /// Why there is no proof.
    pub(super) fn lack(&self) -> String {
        format!(
            "{} steps between contiguous segments, of which {:.1} would skip if the host counted, expected at least {MIN_EXPECTED}",
            self.steps,
            self.expected()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 100 steps of 1 ms that skip, and controls of 1 ms.
    fn controls(steps: u64, skipping: u64) -> Controls {
        let mut controls = Controls::default();
        (0..100).for_each(|_| controls.step(false, 3, 1_000_000));
        (0..steps).for_each(|step| controls.step(true, u32::from(step < skipping), 1_000_000));
        controls
    }

    #[test]
    fn as_long_a_time_without_skipped_numbers_is_a_proof() {
        assert!(controls(9, 0).proof().is_none());
        assert!(controls(30, 0).proof().is_some());
        assert!(controls(30, 4).proof().is_none());
    }

    /// A thousand segments that follow each other within a microsecond: another packet of the host has no time to come between.
    #[test]
    fn contiguous_segments_within_no_time_are_no_proof() {
        let mut controls = controls(0, 0);
        (0..1000).for_each(|_| controls.step(true, 0, 1000));
        assert!(controls.proof().is_none());
    }
}
