//! Challenge ACKs (RFC 5961, §3 to §5; §7 for their limit).
//!
//! A segment that may be forged, or may belong to an earlier connection, is answered with an ACK. A
//! peer that has lost its state answers that ACK with a RST. The RST has a sequence number that
//! only the peer can know.

use super::super::rules::ChallengeLimit;
use acklab_base::{Duration, Instant};

/// Limits the challenge ACKs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Challenges {
    rule: ChallengeLimit,
    /// The start of the present interval, and the number of challenges in it.
    interval: Option<(Instant, u32)>,
}

impl Challenges {
    pub(super) const fn new(rule: ChallengeLimit) -> Self {
        Self { rule, interval: None }
    }

    /// Returns the maximum number of challenge ACKs per interval, and the length of the interval.
    const fn limit(&self) -> (u32, Duration) {
        match self.rule {
            ChallengeLimit::TenInFiveSeconds => (10, Duration::from_secs(5)),
            ChallengeLimit::OneInHalfASecond => (1, Duration::from_millis(500)),
        }
    }

    /// Returns `true`, and counts a challenge ACK, if the limit permits another.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        let (most, length) = self.limit();
        let (began, sent) = self.interval.filter(|(began, _)| now.since(*began) < length).unwrap_or((now, 0));
        if sent < most {
            self.interval = Some((began, sent + 1));
        }
        sent < most
    }

    /// Returns `true` if the limit includes ACKs that answer segments without data from outside the
    /// window.
    pub(super) fn covers_unacceptable(&self) -> bool {
        self.rule == ChallengeLimit::OneInHalfASecond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of challenge ACKs that are sent, if they are due at these times.
    fn admitted(rule: ChallengeLimit, millis: impl Iterator<Item = u64>) -> usize {
        let mut challenges = Challenges::new(rule);
        millis.filter(|at| challenges.admit(Instant::ZERO + Duration::from_millis(*at))).count()
    }

    #[test]
    fn the_limit_is_of_an_interval() {
        use ChallengeLimit::{OneInHalfASecond, TenInFiveSeconds};
        assert_eq!(admitted(TenInFiveSeconds, (0..40).map(|k| k * 100)), 10);
        assert_eq!(admitted(TenInFiveSeconds, (0..40).map(|k| k * 500)), 40, "ten in each five seconds");
        assert_eq!(admitted(OneInHalfASecond, (0..40).map(|k| k * 100)), 8);
    }
}
