//! Packet-timed round trips.
//!
//! A round ends with the first ACK of data that were sent after the round began
//! (draft-ietf-ccwg-bbr, §5.5.1; Linux's `bbr_update_bw`). Late ACKs prolong it.

use crate::recovery::delivery_rate::Sample;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct Rounds {
    /// The bytes delivered when the present round began.
    began: u64,
    count: u64,
    starts: bool,
}

impl Rounds {
    /// Returns the number of rounds that have ended.
    pub(in crate::cc) const fn count(&self) -> u64 {
        self.count
    }

    /// Returns `true` if the latest ACK began a round.
    pub(in crate::cc) const fn starts(&self) -> bool {
        self.starts
    }

    /// Processes the sample of an ACK, with `total_delivered` bytes delivered so far.
    pub(in crate::cc) fn update(&mut self, sample: Option<&Sample>, total_delivered: u64) {
        self.starts = sample.is_some_and(|sample| sample.prior_delivered >= self.began);
        if self.starts {
            self.begin(total_delivered);
            self.count += 1;
        }
    }

    /// Ends the round after a timeout.
    pub(in crate::cc) const fn end(&mut self) {
        self.starts = true;
    }

    /// Begins a new round now, even if the last one has not ended.
    pub(in crate::cc) const fn begin(&mut self, total_delivered: u64) {
        self.began = total_delivered;
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::sample;
    use super::*;

    #[test]
    fn a_round_ends_with_what_left_after_it_began() {
        let mut rounds = Rounds::default();
        rounds.update(Some(&sample(1000, 0)), 1000);
        assert!(rounds.starts());
        rounds.update(Some(&sample(1000, 0)), 2000);
        assert!(!rounds.starts(), "it left before 1000 octets were delivered");
        rounds.update(None, 2000);
        assert!(!rounds.starts());
        rounds.update(Some(&sample(1000, 1000)), 3000);
        assert_eq!((rounds.starts(), rounds.count()), (true, 2));
    }
}
