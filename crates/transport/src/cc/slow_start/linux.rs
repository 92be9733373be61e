//! Linux's `HyStart` (`tcp_cubic.c`).

use super::super::constants::constants;
use super::super::{Ack, Position, Window};
use super::hystart::Hystart;
use crate::pacing;
use acklab_base::{Duration, Instant, mul_div};

constants! {
    /// The constants of Linux's `HyStart`.
    Config {
        /// The minimum window, in segments, at which the algorithm looks for signs
        /// (`hystart_low_window`).
        #[schemars(range(min = 1, max = 1_000_000))]
        low_window: u32 = 16,
        /// The maximum gap between two ACKs of a train (`hystart_ack_delta_us`).
        ack_delta: Duration = Duration::from_millis(2),
        /// The number of delay samples before a decision (`HYSTART_MIN_SAMPLES`).
        #[schemars(range(min = 1))]
        min_samples: u32 = 8,
        /// Growth of the delay below this never ends slow start (`HYSTART_DELAY_MIN`).
        delay_min: Duration = Duration::from_millis(4),
        /// Growth of the delay above this always ends slow start (`HYSTART_DELAY_MAX`).
        delay_max: Duration = Duration::from_millis(16),
        /// The maximum allowance for segmentation offload (`hystart_ack_delay`).
        ack_delay_max: Duration = Duration::from_millis(1),
    }
}

/// `sk_gso_max_size` of an ordinary device (`GSO_LEGACY_MAX_SIZE`), in bytes.
const GSO_MAX_SIZE: u64 = 65_536;

#[derive(Clone, Copy, Debug)]
pub(super) struct LinuxHystart {
    constants: Config,
    /// `true` if `sk_pacing_status` is not `SK_PACING_NONE`.
    paced: bool,
    hystart: Hystart,
}

impl LinuxHystart {
    pub(super) fn new(constants: &Config, paced: bool) -> Self {
        Self { constants: *constants, paced, hystart: Hystart::default() }
    }

    /// `bictcp_reset` and `bictcp_hystart_reset`.
    pub(super) const fn reset(&mut self, now: Instant, sent_to: Position) {
        self.hystart.reset(now, sent_to);
    }

    /// Follows `cubictcp_acked`. The sample is from the newest segment that the ACK covers, so it
    /// excludes the waiting time of a delayed ACK.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(delay) = ack.newest_rtt else { return };
        let delay_min = self.hystart.shortest(delay);
        if self.hystart.found || !window.in_slow_start() {
            return;
        }
        if ack.acked_to > self.hystart.end {
            self.hystart.begin_round(ack.now, ack.sent_to);
        }
        if window.cwnd < u64::from(self.constants.low_window) * window.mss {
            return;
        }
        let train = self.is_train_long(window, ack, delay_min);
        let delayed = self.is_delayed(delay, delay_min);
        if train || delayed {
            self.hystart.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// An ACK train of half the path's round-trip time means that the forward path is full. With
    /// pacing, segments may be sent up to half a round-trip time late, so the train must last for a
    /// whole round-trip time.
    fn is_train_long(&mut self, window: &Window, ack: &Ack, delay_min: Duration) -> bool {
        if ack.now.since(self.hystart.last_ack) > self.constants.ack_delta {
            return false;
        }
        self.hystart.last_ack = ack.now;
        let allowed = delay_min + ack_delay(window, ack).min(self.constants.ack_delay_max);
        let threshold = if self.paced { allowed } else { allowed / 2 };
        ack.now.since(self.hystart.round_start) > threshold
    }

    fn is_delayed(&mut self, delay: Duration, delay_min: Duration) -> bool {
        let hystart = &mut self.hystart;
        let round_min = hystart.round_min.map_or(delay, |min| min.min(delay));
        hystart.round_min = Some(round_min);
        if hystart.samples < self.constants.min_samples {
            hystart.samples += 1;
            return false;
        }
        round_min > delay_min + (delay_min / 8).min(self.constants.delay_max).max(self.constants.delay_min)
    }
}

/// Returns the delay that segmentation offload may add: four of its largest packets at the pacing
/// rate (`hystart_ack_delay`). Linux computes the pacing rate for every flow.
fn ack_delay(window: &Window, ack: &Ack) -> Duration {
    let rate =
        ack.srtt.and_then(|srtt| pacing::rate_of_window(pacing::Spread::LINUX, window.cwnd, window.ssthresh, srtt));
    rate.map_or(Duration::ZERO, |rate| {
        Duration::from_nanos(mul_div(4 * GSO_MAX_SIZE, 8_000_000_000, rate.bits_per_second().max(1)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;

    /// Feeds a round of ACKs for two segments each, `gap` apart. Returns `true` if it ends slow
    /// start. The path takes 20 ms.
    fn round(hystart: &mut LinuxHystart, acks: u64, gap: Duration, rtt: Duration) -> bool {
        let mut window = Window { cwnd: 40 * MSS, ssthresh: u64::MAX, mss: MSS };
        let begin = hystart.hystart.round_start + Duration::from_secs(1);
        let Position(begun) = hystart.hystart.end;
        for index in 1..=acks {
            let sent_to = Position(begun + 1000 * MSS);
            let ack = Ack { acked_to: Position(begun + index * 2 * MSS), sent_to, ..ack(begin + gap * index, 2, rtt) };
            hystart.on_ack(&mut window, &ack);
        }
        window.ssthresh == window.cwnd
    }

    fn warm(paced: bool) -> LinuxHystart {
        let mut hystart = LinuxHystart::new(&Config::PUBLISHED, paced);
        assert!(!round(&mut hystart, 5, Duration::from_millis(1), ms(20)));
        hystart
    }

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_it() {
        // (20 ms + 1 ms for offload) / 2.
        assert!(!round(&mut warm(false), 11, ms(1), ms(20)), "10 ms after the first");
        assert!(round(&mut warm(false), 12, ms(1), ms(20)), "11 ms after the first");
        assert!(!round(&mut warm(true), 21, ms(1), ms(20)), "paced, a whole round trip");
        assert!(round(&mut warm(true), 23, ms(1), ms(20)));
    }

    #[test]
    fn delay_ends_it_after_eight_samples() {
        assert!(!round(&mut warm(false), 8, ms(1), ms(25)));
        assert!(round(&mut warm(false), 9, ms(1), ms(25)), "more than 20 + max(4, 20 / 8)");
        assert!(!round(&mut warm(false), 9, ms(1), ms(24)));
    }

    #[test]
    fn below_sixteen_segments_nothing_ends_it() {
        let mut hystart = warm(false);
        let mut window = Window { cwnd: 15 * MSS, ssthresh: u64::MAX, mss: MSS };
        for index in 0..100 {
            let at = Instant::ZERO + ms(2000 + index);
            hystart.on_ack(&mut window, &Ack { acked_to: Position(1), sent_to: Position(1), ..ack(at, 1, ms(200)) });
        }
        assert_eq!(window.ssthresh, u64::MAX);
    }

    #[test]
    fn acks_thinned_beyond_two_milliseconds_form_no_train() {
        assert!(round(&mut warm(false), 24, Duration::from_micros(500), ms(20)), "12 ms of ACKs each 0.5 ms");
        assert!(!round(&mut warm(false), 20, Duration::from_micros(2100), ms(20)), "40 ms of ACKs each 2.1 ms: blind");
    }

    #[test]
    fn bunched_acks_hide_delay_until_the_ninth() {
        assert!(
            !round(&mut warm(false), 8, ms(1), ms(200)),
            "8 ACKs a round, a queue of nine round trips, and no exit"
        );
    }
}
