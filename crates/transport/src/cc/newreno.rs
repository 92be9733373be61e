//! Reno's window (RFC 5681, §3.1), with the three ways in which stacks let it grow.

use super::{Acked, Growth, Window};

/// RFC 3465, §2.3: at most so many segments an ACK in slow start.
const BYTE_COUNTING_LIMIT: u64 = 2;

/// The state of NewReno: growth not yet turned into window.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    growth: Growth,
    /// Octets acknowledged towards the next segment of growth in congestion avoidance.
    credit: u64,
}

impl NewReno {
    pub(super) const fn new(growth: Growth) -> Self {
        Self { growth, credit: 0 }
    }

    pub(super) fn on_ack(&mut self, window: &mut Window, acked: Acked) {
        match self.growth {
            Growth::PerAck => per_ack(window, acked.segments),
            Growth::PerSegment => self.per_octet(window, acked.bytes, u64::MAX),
            Growth::ByteCounting => self.per_octet(window, acked.bytes, BYTE_COUNTING_LIMIT * window.mss),
        }
    }

    /// Slow start takes what it needs to reach the threshold; the rest counts for congestion avoidance.
    fn per_octet(&mut self, window: &mut Window, mut acked: u64, slow_start_limit: u64) {
        if window.in_slow_start() {
            let grown = (window.cwnd + acked.min(slow_start_limit)).min(window.ssthresh.max(window.cwnd));
            acked = acked.saturating_sub(grown - window.cwnd);
            window.cwnd = grown;
            if window.in_slow_start() {
                return;
            }
        }
        self.credit += acked;
        while self.credit >= window.cwnd {
            self.credit -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// RFC 5681, eq. 4. A stack that counts segments halves whole ones.
    pub(super) fn ssthresh(&self, window: &Window, flight: u64) -> u64 {
        let half = if self.growth == Growth::PerSegment { flight / window.mss / 2 * window.mss } else { flight / 2 };
        half.max(2 * window.mss)
    }

    pub(super) fn on_reduction(&mut self) {
        self.credit = 0;
    }
}

/// One segment, or one part of it, an ACK. An ACK that leaves slow start and covers more than one segment counts in congestion
/// avoidance too, as in ns-3's `IncreaseWindow`.
fn per_ack(window: &mut Window, mut segments: u64) {
    if segments > 0 && window.in_slow_start() {
        window.cwnd += window.mss;
        segments -= 1;
    }
    if segments > 0 && !window.in_slow_start() {
        window.cwnd += (window.mss * window.mss / window.cwnd).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn grow(growth: Growth, cwnd: u64, ssthresh: u64, acks: &[u64]) -> u64 {
        let mut window = Window { cwnd: cwnd * MSS, ssthresh: ssthresh * MSS, mss: MSS };
        let mut controller = NewReno::new(growth);
        for segments in acks {
            controller.on_ack(&mut window, Acked { bytes: segments * MSS, segments: *segments });
        }
        window.cwnd
    }

    #[test]
    fn slow_start_by_ack_and_by_octet() {
        assert_eq!(grow(Growth::PerAck, 10, 100, &[2; 5]), 15 * MSS);
        assert_eq!(grow(Growth::PerSegment, 10, 100, &[2; 5]), 20 * MSS);
        assert_eq!(grow(Growth::PerSegment, 10, 100, &[10]), 20 * MSS);
        assert_eq!(grow(Growth::ByteCounting, 10, 100, &[10]), 12 * MSS);
    }

    #[test]
    fn congestion_avoidance_adds_a_segment_a_window() {
        assert_eq!(grow(Growth::PerSegment, 10, 10, &[2; 5]), 11 * MSS);
        assert_eq!(grow(Growth::ByteCounting, 10, 10, &[2; 5]), 11 * MSS);
        let thinned = grow(Growth::PerAck, 10, 10, &[2; 5]);
        assert!((10_480..=10_500).contains(&thinned), "half as many ACKs, half the growth: {thinned}");
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        assert_eq!(grow(Growth::PerSegment, 10, 12, &[4]), 12 * MSS, "two octet-segments remain as credit");
        assert_eq!(grow(Growth::PerSegment, 10, 12, &[4, 10]), 13 * MSS);
    }

    #[test]
    fn half_of_the_flight_but_two_segments_at_least() {
        let window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        assert_eq!(NewReno::new(Growth::PerAck).ssthresh(&window, 41 * MSS), 20_500);
        assert_eq!(NewReno::new(Growth::PerSegment).ssthresh(&window, 41 * MSS), 20_000);
        assert_eq!(NewReno::new(Growth::PerAck).ssthresh(&window, 3 * MSS), 2 * MSS);
    }
}
