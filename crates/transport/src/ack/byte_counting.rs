//! An ACK for every L full-sized segments' worth of octets.
//!
//! Li et al., SIGCOMM 2020, §4.1: the byte-counting ACK, f = bw/(L·MSS), L = 2, 4, 8, 16; without bound as the bandwidth grows. As
//! such it has no timer: what does not fill the count is acknowledged with what follows, or never. RFC 1122, §4.2.3.2, wants one
//! of less than 500 ms. Disorder is not theirs to say: as in RFC 5681, §4.2, it is acknowledged at once.

use super::{Arrival, Decision, Ledger, Reason};
use acklab_base::Duration;

/// The byte-counting ACK.
#[derive(Clone, Copy, Debug)]
pub struct ByteCounting {
    segments: u32,
    timer: Option<Duration>,
}

impl ByteCounting {
    pub(super) const fn new(segments: u32, timer: Option<Duration>) -> Self {
        Self { segments, timer }
    }

    pub(super) fn decide(&self, arrival: &Arrival, ledger: &Ledger) -> Decision {
        if let Some(reason) = arrival.disorder() {
            return Decision::Now(reason);
        }
        if ledger.bytes >= u64::from(self.segments) * ledger.full_size {
            return Decision::Now(Reason::ByteCount);
        }
        match self.timer {
            Some(timer) => Decision::At(ledger.since.unwrap_or(ledger.newest) + timer, Reason::Timer),
            None => Decision::Hold,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use acklab_base::Instant;

    fn after(payloads: &[u64]) -> Ledger {
        let (mut ledger, mut offset) = (Ledger::default(), 0);
        for payload in payloads {
            ledger.enter(Instant::ZERO, offset..offset + payload, *payload);
            offset += payload;
        }
        ledger
    }

    #[test]
    fn octets_count_and_not_segments() {
        let policy = ByteCounting::new(2, None);
        assert_eq!(policy.decide(&Arrival::InOrder, &after(&[1000])), Decision::Hold);
        assert_eq!(policy.decide(&Arrival::InOrder, &after(&[1000, 400, 400])), Decision::Hold);
        assert_eq!(policy.decide(&Arrival::InOrder, &after(&[1000, 400, 600])), Decision::Now(Reason::ByteCount));
    }

    #[test]
    fn the_timer_runs_from_the_first_and_disorder_does_not_wait() {
        let policy = ByteCounting::new(16, Some(Duration::from_millis(100)));
        let due = Instant::ZERO + Duration::from_millis(100);
        assert_eq!(policy.decide(&Arrival::InOrder, &after(&[1000; 15])), Decision::At(due, Reason::Timer));
        assert_eq!(policy.decide(&Arrival::InOrder, &after(&[1000; 16])), Decision::Now(Reason::ByteCount));
        assert_eq!(policy.decide(&Arrival::OutOfOrder, &after(&[1000])), Decision::Now(Reason::OutOfOrder));
        assert_eq!(
            policy.decide(&Arrival::FillsGap { closed: false }, &after(&[1000])),
            Decision::Now(Reason::FillsGap)
        );
    }
}
