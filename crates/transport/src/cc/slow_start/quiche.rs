//! Hybrid slow start of QUIC stacks: it uses the delay alone, once per round.

use super::super::constants::constants;
use super::super::{Ack, Position, Window};
use acklab_base::Duration;

constants! {
    /// The constants of Google's quiche (`hybrid_slow_start.cc`).
    Config {
        /// The minimum window, in packets, at which slow start can end (`kHybridStartLowWindow`).
        #[schemars(range(min = 1, max = 1_000_000))]
        low_window: u32 = 16,
        /// The number of delay samples per round, whose minimum counts (`kHybridStartMinSamples`).
        #[schemars(range(min = 1))]
        min_samples: u32 = 8,
        /// Growth of the delay below this never ends slow start
        /// (`kHybridStartDelayMinThresholdUs`).
        delay_min: Duration = Duration::from_millis(4),
        /// Growth of the delay above this always ends slow start
        /// (`kHybridStartDelayMaxThresholdUs`).
        delay_max: Duration = Duration::from_millis(16),
        /// If `true`, compare with the previous round, as s2n-quic (`hybrid_slow_start.rs`) and
        /// mvfst (`QuicCubic.cpp`) do, instead of with the minimum round-trip time of the
        /// connection.
        against_last_round: bool = false,
    }
}

impl Config {
    /// The setting of s2n-quic and mvfst.
    pub const AGAINST_LAST_ROUND: Self = Self { against_last_round: true, ..Self::PUBLISHED };
}

#[derive(Clone, Copy, Debug)]
pub(super) struct QuicheHystart {
    constants: Config,
    /// The position whose acknowledgment ends the round.
    end: Option<Position>,
    /// The minimum delay of the round, among `samples` samples, and that of the previous round.
    round_min: Option<Duration>,
    samples: u32,
    last_min: Option<Duration>,
    found: bool,
}

impl QuicheHystart {
    pub(super) const fn new(constants: &Config) -> Self {
        Self { constants: *constants, end: None, round_min: None, samples: 0, last_min: None, found: false }
    }

    /// `HybridSlowStart::Restart`.
    pub(super) const fn reset(&mut self) {
        (self.end, self.round_min, self.samples, self.last_min, self.found) = (None, None, 0, None, false);
    }

    /// Follows `ShouldExitSlowStart`, and then `OnPacketAcked`.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if !window.in_slow_start() {
            return;
        }
        let end = *self.end.get_or_insert(ack.sent_to);
        if let Some(delay) = ack.rtt {
            self.take(delay, ack.min_rtt);
        }
        if self.found && window.cwnd >= u64::from(self.constants.low_window) * window.mss {
            window.ssthresh = window.cwnd;
        }
        if ack.acked_to >= end {
            self.last_min = self.round_min.or(self.last_min);
            (self.end, self.round_min, self.samples) = (None, None, 0);
        }
    }

    fn take(&mut self, delay: Duration, min_rtt: Option<Duration>) {
        self.samples = self.samples.saturating_add(1);
        if self.samples > self.constants.min_samples {
            return;
        }
        let round_min = self.round_min.map_or(delay, |min| min.min(delay));
        self.round_min = Some(round_min);
        let before = if self.constants.against_last_round { self.last_min } else { min_rtt };
        if self.samples == self.constants.min_samples
            && let Some(before) = before
        {
            let growth = (before / 8).min(self.constants.delay_max).max(self.constants.delay_min);
            self.found |= round_min > before + growth;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack};
    use super::*;
    use acklab_base::Instant;

    const MS: Duration = Duration::from_millis(1);

    /// Feeds a round of ACKs with this delay, on a path of 40 ms and with this window. Returns
    /// `true` if it ends slow start.
    fn round(hystart: &mut QuicheHystart, acks: u64, cwnd: u64, rtt: Duration) -> bool {
        let mut window = Window { cwnd: cwnd * MSS, ssthresh: u64::MAX, mss: MSS };
        for index in 1..=acks {
            let (acked_to, sent_to) = (Position(index), Position(acks));
            hystart
                .on_ack(&mut window, &Ack { acked_to, sent_to, min_rtt: Some(MS * 40), ..ack(Instant::ZERO, 2, rtt) });
        }
        window.ssthresh < u64::MAX
    }

    /// An eighth of 40 ms is 5 ms.
    #[test]
    fn eight_samples_with_an_eighth_of_the_round_trip_more_end_it() {
        let mut hystart = QuicheHystart::new(&Config::PUBLISHED);
        assert!(!round(&mut hystart, 20, 40, MS * 45));
        assert!(!round(&mut hystart, 7, 40, MS * 80), "too few samples");
        assert!(round(&mut hystart, 8, 40, MS * 46));
    }

    #[test]
    fn a_small_window_goes_on_until_it_is_large_enough() {
        let mut hystart = QuicheHystart::new(&Config::PUBLISHED);
        assert!(!round(&mut hystart, 8, 15, MS * 80));
        assert!(round(&mut hystart, 1, 16, MS * 40), "what was found stays found");
    }

    #[test]
    fn against_the_round_before_only_a_sudden_growth_counts() {
        let mut hystart = QuicheHystart::new(&Config::AGAINST_LAST_ROUND);
        let delays = [40, 44, 48, 52, 57, 65];
        assert_eq!(delays.map(|ms| round(&mut hystart, 8, 40, MS * ms)), [false, false, false, false, false, true]);
    }
}
