//! Spreads lists that are too long for one TACK over several TACKs.
//!
//! A TACK has room for about 350 runs per list. An overshoot on a fast path with a long round-trip
//! time causes thousands of runs. Each TACK therefore continues where the previous TACK ended,
//! starting with the oldest packets, and restarts after the last packets. TACKs normally follow
//! arrivals. A sender whose window is full of packets with unknown fate sends no packets, so no
//! packets arrive. While the lists do not fit, further TACKs are therefore sent at the frequency
//! β/RTTmin, which TACK's law permits (Li et al., SIGCOMM 2020, §4.1). They end once all blocks
//! have been listed since the last arrival. If some of these TACKs were lost, the sender requests
//! another TACK.

use crate::recovery::alarm::Alarm;
use acklab_base::{Duration, Instant};

/// The start of the next TACK's lists, and the departure time of that TACK if no packet arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sweep {
    /// The number below which all packets have been listed.
    from: u64,
    /// The number of packets that had arrived when the lists restarted, and the same number at the
    /// last TACK.
    begun_with: u64,
    told: u64,
    goes_on: Alarm,
}

impl Sweep {
    /// Returns the number at which the lists of a TACK start, if the receiver waits for `next`.
    pub(super) fn from(&self, next: u64) -> u64 {
        self.from.max(next)
    }

    /// Returns `true` if no packet has arrived since the last TACK. `arrived` is the total number
    /// of packets that have arrived.
    pub(super) const fn is_quiet(&self, arrived: u64) -> bool {
        self.told == arrived
    }

    /// Restarts the lists at the oldest packet, because the sender has requested a TACK.
    pub(super) const fn restart(&mut self, arrived: u64) {
        (self.from, self.begun_with) = (0, arrived);
    }

    /// Records a TACK with complete lists.
    #[inline]
    pub(super) fn on_whole(&mut self, arrived: u64) {
        (self.from, self.told) = (0, arrived);
        self.goes_on = Alarm::NEVER;
    }

    /// Records a TACK that is sent now with incomplete lists. The lists are complete up to `upto`,
    /// or up to the last packet if `upto` is `None`. If no packet arrives, the next TACK is sent
    /// after `period`.
    pub(super) fn on_part(&mut self, now: Instant, upto: Option<u64>, arrived: u64, period: Duration) {
        self.told = arrived;
        let mut is_over = false;
        match upto.filter(|upto| *upto > self.from) {
            Some(upto) => self.from = upto,
            None => {
                is_over = self.begun_with == arrived;
                self.restart(arrived);
            }
        }
        self.goes_on.set((!is_over).then(|| now + period));
    }

    /// Records a TACK that lists only the first gap and the last block. If no packet arrives, a
    /// TACK with all permitted blocks is sent at `due`.
    pub(super) fn on_ends(&mut self, due: Instant) {
        self.goes_on.set(Instant::earliest(self.goes_on.at(), Some(due)));
    }

    /// Returns when a TACK is due if no packet arrives.
    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.goes_on.at()
    }

    /// Returns `true` if a TACK is due although no packet has arrived.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        self.goes_on.expire(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn everything_is_listed_once_after_the_last_arrival() {
        let mut sweep = Sweep::default();
        let at = |ms| Instant::ZERO + MS * ms;
        // The second and the fourth TACK reach the end. The third packet arrives before the second
        // TACK.
        let parts = [(0, Some(50), 2), (10, None, 3), (20, Some(50), 3), (30, None, 3)];
        let listed = parts.map(|(ms, upto, arrived)| {
            let from = sweep.from(7);
            sweep.on_part(at(ms), upto, arrived, MS * 10);
            (from, sweep.deadline())
        });
        let expected = [(7, Some(at(10))), (50, Some(at(20))), (7, Some(at(30))), (50, None)];
        assert_eq!(listed, expected);
        sweep.restart(3);
        sweep.on_part(at(100), Some(50), 3, MS * 10);
        assert!(!sweep.expire(at(109)) && sweep.expire(at(110)) && !sweep.expire(at(110)));
        sweep.on_whole(4);
        assert_eq!((sweep.from(9), sweep.deadline(), sweep.is_quiet(4)), (9, None, true));
    }

    #[test]
    fn the_ends_do_not_count_as_a_part() {
        let mut sweep = Sweep::default();
        let at = |ms| Instant::ZERO + MS * ms;
        sweep.on_part(at(0), Some(50), 2, MS * 10);
        sweep.on_ends(at(12));
        assert_eq!(
            (sweep.from(7), sweep.deadline(), sweep.is_quiet(2)),
            (50, Some(at(10)), true),
            "what was due stays"
        );
        sweep.on_whole(3);
        sweep.on_ends(at(20));
        assert_eq!((sweep.deadline(), sweep.is_quiet(4)), (Some(at(20)), false), "the rest is listed in time");
    }
}
