//! Measures ACK aggregation.
//!
//! If ACKs or data arrive in bursts, a sender with only a bandwidth-delay product in flight idles
//! between two bursts. It needs additional data in flight: the acknowledged bytes in excess of the
//! bandwidth. The excess is counted per epoch. An epoch ends when the acknowledged bytes fall
//! behind the bandwidth (draft-ietf-ccwg-bbr, §5.5.9; Linux's `bbr_update_ack_aggregation`).

use super::gain::delivered_in;
use acklab_base::Instant;

#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct AckEpoch {
    began: Instant,
    /// The number of bytes acknowledged since the start of the epoch.
    acked: u64,
}

impl AckEpoch {
    pub(in crate::cc) const fn starting(now: Instant) -> Self {
        Self { began: now, acked: 0 }
    }

    /// Returns the bytes acknowledged in the epoch.
    pub(in crate::cc) const fn acked(&self) -> u64 {
        self.acked
    }

    /// Counts `octets` more acknowledged bytes. Returns the excess of the epoch over the bandwidth.
    pub(in crate::cc) fn on_acked(&mut self, now: Instant, octets: u64, bits_per_second: u64) -> u64 {
        let mut expected = delivered_in(bits_per_second, now.since(self.began));
        if self.acked <= expected {
            *self = Self::starting(now);
            expected = 0;
        }
        self.acked += octets;
        self.acked - expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Duration;

    #[test]
    fn what_is_beyond_the_bandwidth_is_extra() {
        let at = |ms| Instant::ZERO + Duration::from_millis(ms);
        let mut epoch = AckEpoch::starting(at(0));
        assert_eq!(epoch.on_acked(at(10), 5000, 8_000_000), 5000, "a new epoch begins with each burst after silence");
        assert_eq!(epoch.on_acked(at(11), 2000, 8_000_000), 6000, "7000 in the time of 1000");
        assert_eq!(epoch.on_acked(at(18), 1000, 8_000_000), 1000, "8000 were expected: the burst is over");
    }
}
