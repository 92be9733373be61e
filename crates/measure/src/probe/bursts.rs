//! Bursts of ACKs at the sender.

use crate::statistics::{Mean, real};
use acklab_base::{Duration, Instant};

/// Bursts: series of ACKs, each of which arrives within `gap` of the previous one.
///
/// The gap is half the transmission time of a full-sized segment on the slowest link of the forward
/// path. A receiver that acknowledges segments when they leave this link cannot send its ACKs
/// closer together. ACKs that arrive closer together were therefore compressed on the return path
/// (Mogul, "Observing TCP dynamics in real networks", SIGCOMM 1992, §3.2).
#[derive(Clone, Debug)]
pub(crate) struct Bursts {
    gap: Duration,
    last: Option<Instant>,
    length: u64,
    pub(crate) lengths: Mean,
    pub(crate) longest: u64,
}

impl Bursts {
    pub(super) fn new(gap: Duration) -> Self {
        Self { gap, last: None, length: 0, lengths: Mean::default(), longest: 0 }
    }

    pub(super) const fn gap(&self) -> Duration {
        self.gap
    }

    #[inline]
    pub(super) fn arrival(&mut self, now: Instant) {
        if self.last.is_some_and(|last| now.since(last) >= self.gap && now != last) {
            self.finish();
        }
        self.last = Some(now);
        self.length += 1;
    }

    #[inline]
    pub(super) fn finish(&mut self) {
        if self.length > 0 {
            self.lengths.add(real(self.length));
            self.longest = self.longest.max(self.length);
            self.length = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_acks_are_one_burst() {
        let mut bursts = Bursts::new(Duration::from_micros(375));
        for us in [0, 10, 20, 5_000, 5_010, 10_000] {
            bursts.arrival(Instant::ZERO + Duration::from_micros(us));
        }
        bursts.finish();
        assert_eq!((bursts.lengths.mean(), bursts.longest), (Some(2.0), 3), "bursts of three, two and one");
    }
}
