//! A time threshold that adapts to reordering, as the reordering window of RACK does (RFC 8985,
//! §6.2, step 4; RFC 9002, §6.1.2, permits larger thresholds).

use crate::recovery::rack::WIDE_FOR_RECOVERIES;

/// The difference between the time threshold and a round-trip time, in quarters of the minimum
/// round-trip time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Widening {
    steps: u64,
    /// The number of recoveries after which the widening ends.
    ends_with: u64,
    /// The packet number whose acknowledgment ends the round trip of the last widening.
    round_ends: u64,
}

impl Widening {
    /// Widens the threshold, at most once per round trip, because a packet that was considered lost
    /// was acknowledged. `recoveries` is the number of recoveries so far, `largest` is the largest
    /// acknowledged number, and `next` is the next number to be used.
    pub fn on_spurious_loss(&mut self, largest: u64, next: u64, recoveries: u64) {
        if largest >= self.round_ends {
            (self.steps, self.round_ends) = (self.steps(recoveries) + 1, next);
            self.ends_with = recoveries + u64::from(WIDE_FOR_RECOVERIES);
        }
    }

    /// Returns the quarters that apply after this number of recoveries.
    #[must_use]
    pub const fn steps(&self, recoveries: u64) -> u64 {
        if recoveries < self.ends_with { self.steps } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8985, §6.2, step 4: one step per round trip, for sixteen recoveries.
    #[test]
    fn it_widens_once_a_round_trip_and_ends_after_sixteen_recoveries() {
        let mut widening = Widening::default();
        assert_eq!(widening.steps(0), 0);
        widening.on_spurious_loss(10, 20, 1);
        widening.on_spurious_loss(19, 30, 1);
        assert_eq!(widening.steps(1), 1, "the same round trip");
        widening.on_spurious_loss(20, 40, 2);
        assert_eq!([17, 18].map(|recoveries| widening.steps(recoveries)), [2, 0]);
        widening.on_spurious_loss(40, 60, 18);
        assert_eq!(widening.steps(18), 1, "anew");
    }
}
