//! ns-3.37's `HyStart` (`TcpCubic::HystartUpdate`). Its differences from Linux's:
//!
//! 1. its samples are the smoothed round-trip time (`TcpSocketBase` passes `m_lastRtt` to
//!    `PktsAcked`, on every ACK);
//! 2. slow start ends when the delay has grown by the minimum round-trip time, clamped to 4 ms to 1
//!    s; in Linux, by an eighth of it, clamped to 4 to 16 ms;
//! 3. an ACK train must last for a whole round trip, paced or not;
//! 4. the ninth sample decides, using the minimum of the first eight;
//! 5. only an ACK that grows the window begins a round.

use super::super::constants::constants;
use super::super::{Ack, Position, Window};
use super::hystart::Hystart;
use acklab_base::{Duration, Instant};

constants! {
    /// The constants of ns-3.37's `HyStart`.
    Config {
        /// The minimum window, in segments, at which the algorithm looks for signs
        /// (`HyStartLowWindow`).
        #[schemars(range(min = 1, max = 1_000_000))]
        low_window: u32 = 16,
        /// The maximum gap between two ACKs of a train (`HyStartAckDelta`).
        ack_delta: Duration = Duration::from_millis(2),
        /// The number of delay samples before a decision (`HyStartMinSamples`).
        #[schemars(range(min = 1))]
        min_samples: u32 = 8,
        /// Growth of the delay below this never ends slow start (`HyStartDelayMin`).
        delay_min: Duration = Duration::from_millis(4),
        /// Growth of the delay above this always ends slow start (`HyStartDelayMax`).
        delay_max: Duration = Duration::from_secs(1),
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Ns3Hystart {
    constants: Config,
    hystart: Hystart,
}

impl Ns3Hystart {
    pub(super) fn new(constants: &Config) -> Self {
        Self { constants: *constants, hystart: Hystart::default() }
    }

    /// `CubicReset` and `HystartReset`.
    pub(super) const fn reset(&mut self, now: Instant, sent_to: Position) {
        self.hystart.reset(now, sent_to);
    }

    /// Follows `PktsAcked`, and then the beginning of `IncreaseWindow`.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Some(delay) = ack.srtt {
            let delay_min = self.hystart.shortest(delay);
            if window.cwnd <= window.ssthresh
                && window.cwnd >= u64::from(self.constants.low_window) * window.mss
                && !self.hystart.found
            {
                self.update(window, ack.now, delay, delay_min);
            }
        }
        if ack.may_grow && window.in_slow_start() && ack.acked_to > self.hystart.end {
            self.hystart.begin_round(ack.now, ack.sent_to);
        }
    }

    fn update(&mut self, window: &mut Window, now: Instant, delay: Duration, delay_min: Duration) {
        let hystart = &mut self.hystart;
        if now.since(hystart.last_ack) <= self.constants.ack_delta {
            hystart.last_ack = now;
            hystart.found |= now.since(hystart.round_start) > delay_min;
        }
        if hystart.samples < self.constants.min_samples {
            hystart.round_min = Some(hystart.round_min.map_or(delay, |min| min.min(delay)));
            hystart.samples += 1;
        } else {
            let threshold = delay_min + delay_min.min(self.constants.delay_max).max(self.constants.delay_min);
            hystart.found |= hystart.round_min.is_some_and(|round_min| round_min > threshold);
        }
        if hystart.found {
            window.ssthresh = window.cwnd;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// Feeds a round of ACKs `gap` apart after a first one of 20 ms. Returns `true` if it ends slow
    /// start.
    fn round(acks: u64, gap: Duration, srtt: Duration) -> bool {
        let mut hystart = Ns3Hystart::new(&Config::PUBLISHED);
        let mut window = Window { cwnd: 40 * MSS, ssthresh: u64::MAX, mss: MSS };
        let begin = Instant::ZERO + Duration::from_secs(1);
        hystart.on_ack(
            &mut window,
            &Ack { acked_to: Position(MSS), sent_to: Position(100 * MSS), ..ack(begin, 1, ms(20)) },
        );
        for index in 1..=acks {
            let ack = Ack {
                acked_to: Position((1 + index) * MSS),
                sent_to: Position(100 * MSS),
                ..ack(begin + gap * index, 1, srtt)
            };
            hystart.on_ack(&mut window, &ack);
        }
        window.ssthresh == window.cwnd
    }

    #[test]
    fn a_train_must_outlast_the_round_trip() {
        assert!(!round(20, ms(1), ms(20)));
        assert!(round(21, ms(1), ms(20)));
        assert!(!round(12, Duration::from_micros(2100), ms(20)), "thinned: 25 ms of ACKs and no train");
    }

    #[test]
    fn delay_must_double_and_be_seen_nine_times() {
        assert!(!round(8, Duration::from_micros(1), ms(41)));
        assert!(round(9, Duration::from_micros(1), ms(41)));
        assert!(!round(9, Duration::from_micros(1), ms(40)));
    }
}
