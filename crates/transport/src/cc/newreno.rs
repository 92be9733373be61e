//! Reno's congestion window (RFC 5681, §3.1). [`Growth`] selects one of three rules of growth.

use super::constants::constants;
use super::slow_start::Phase;
use super::{Ack, CongestionControl, Growth, Position, Sent, Settings, Signal, Start, Window};
use crate::recovery::CongestionState;
use acklab_base::Instant;

constants! {
    /// The constants of NewReno.
    Config {
        /// β: the multiplicative decrease of the flight after a loss (RFC 5681, §3.1, eq. 4: a
        /// half).
        #[schemars(range(min = 0.1, max = 0.99))]
        beta: f64 = 0.5,
        /// The minimum threshold, in segments (RFC 5681, §3.1, eq. 4).
        #[schemars(range(min = 2))]
        min_ssthresh: u32 = 2,
    }
}

impl Settings for Config {
    type Controller = NewReno;

    fn controller(&self, start: &Start) -> NewReno {
        NewReno::new(self, start)
    }
}

/// The state of NewReno.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    constants: Config,
    growth: Growth,
    pub(super) slow_start: Phase,
    /// The bytes acknowledged towards the next segment of growth in congestion avoidance.
    credit: u64,
    /// The end of the data sent so far.
    sent_to: Position,
}

impl NewReno {
    pub(super) fn new(constants: &Config, start: &Start) -> Self {
        Self {
            constants: *constants,
            growth: start.growth,
            slow_start: Phase::new(start),
            credit: 0,
            sent_to: Position::default(),
        }
    }
}

impl CongestionControl for NewReno {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let remaining = self.slow_start.on_ack(window, ack);
        if window.in_slow_start() {
            return;
        }
        match self.growth {
            Growth::PerAck if remaining.segments > 0 => window.cwnd += (window.mss * window.mss / window.cwnd).max(1),
            Growth::PerAck => {}
            Growth::PerSegment | Growth::ByteCounting => {
                self.credit += remaining.bytes;
                while self.credit >= window.cwnd {
                    self.credit -= window.cwnd;
                    window.cwnd += window.mss;
                }
            }
        }
    }

    /// Follows RFC 5681, eq. 4. A stack that counts segments first rounds the flight down to whole
    /// segments.
    fn ssthresh(&mut self, _now: Instant, window: &Window, flight: u64, _signal: Signal) -> u64 {
        let reduced = |of: u64| (of as f64 * self.constants.beta) as u64;
        let threshold =
            if self.growth == Growth::PerSegment { reduced(flight / window.mss) * window.mss } else { reduced(flight) };
        threshold.max(u64::from(self.constants.min_ssthresh) * window.mss)
    }

    /// A reduction discards the credit of the old window.
    fn on_state(&mut self, now: Instant, _window: &mut Window, state: CongestionState) {
        if state.reduces() {
            self.credit = 0;
        }
        if state == CongestionState::Loss {
            self.slow_start.on_timeout(now, self.sent_to);
        }
    }

    #[inline]
    fn on_sent(&mut self, _window: &mut Window, sent: &Sent) {
        self.sent_to = self.sent_to.max(sent.end);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MSS, ack, start};
    use super::*;
    use acklab_base::Duration;

    fn grow(growth: Growth, cwnd: u64, ssthresh: u64, acks: &[u64]) -> u64 {
        let mut window = Window { cwnd: cwnd * MSS, ssthresh: ssthresh * MSS, mss: MSS };
        let mut controller = NewReno::new(&Config::PUBLISHED, &start(growth));
        for segments in acks {
            controller.on_ack(&mut window, &ack(Instant::ZERO, *segments, Duration::from_millis(10)));
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
        let threshold = |growth, flight| {
            NewReno::new(&Config::PUBLISHED, &start(growth)).ssthresh(Instant::ZERO, &window, flight, Signal::Loss)
        };
        assert_eq!(threshold(Growth::PerAck, 41 * MSS), 20_500);
        assert_eq!(threshold(Growth::PerSegment, 41 * MSS), 20_000);
        assert_eq!(threshold(Growth::PerAck, 3 * MSS), 2 * MSS);
    }
}
