//! `HyStart++` (RFC 9406).

use super::super::constants::constants;
use super::super::{Ack, Position, Window};
use acklab_base::Duration;

constants! {
    /// The constants of `HyStart++`, with their names in RFC 9406, §4.3.
    Config {
        /// `MIN_RTT_THRESH`: growth of the delay below this never begins conservative slow start.
        min_rtt_threshold: Duration = Duration::from_millis(4),
        /// `MAX_RTT_THRESH`: growth of the delay of at least this always begins conservative slow
        /// start.
        max_rtt_threshold: Duration = Duration::from_millis(16),
        /// `MIN_RTT_DIVISOR`: between these two bounds, the threshold is the last round's minimum
        /// delay divided by this.
        #[schemars(range(min = 1))]
        min_rtt_divisor: u32 = 8,
        /// `N_RTT_SAMPLE`: the minimum number of samples in a round for a decision.
        #[schemars(range(min = 1))]
        rtt_samples: u32 = 8,
        /// `CSS_GROWTH_DIVISOR`: growth in conservative slow start is divided by this. The RFC
        /// requires at least 2.
        #[schemars(range(min = 2))]
        css_growth_divisor: u32 = 4,
        /// `CSS_ROUNDS`: the number of rounds of conservative slow start.
        #[schemars(range(min = 1))]
        css_rounds: u32 = 5,
        /// L: the maximum number of segments per ACK by which the window grows without pacing. With
        /// pacing there is no limit.
        #[schemars(range(min = 1))]
        unpaced_limit: u32 = 8,
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HystartPlusPlus {
    constants: Config,
    paced: bool,
    /// The position whose acknowledgment ends the round. `None` before the first ACK.
    window_end: Option<Position>,
    last_round_min: Option<Duration>,
    current_round_min: Option<Duration>,
    samples: u32,
    conservative: Option<Conservative>,
}

/// The state of conservative slow start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The delay below which a round shows that slow start ended too early.
    baseline_min: Duration,
    rounds: u32,
}

impl HystartPlusPlus {
    pub(super) const fn new(constants: &Config, paced: bool) -> Self {
        Self {
            constants: *constants,
            paced,
            window_end: None,
            last_round_min: None,
            current_round_min: None,
            samples: 0,
            conservative: None,
        }
    }

    /// RFC 9406, §4.3: `HyStart++` applies to the initial slow start, before a threshold is set.
    pub(super) const fn is_first_slow_start(&self, window: &Window) -> bool {
        window.ssthresh == u64::MAX
    }

    /// RFC 9406, §4.2, in its order: growth, the round's minimum delay, the decision, the end of
    /// the round.
    pub(super) fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        // All ACKs are used for rounds and delays. The window grows only while it limits sending.
        let acked = if ack.may_grow { ack.acked.bytes } else { 0 };
        let limit = if self.paced { u64::MAX } else { u64::from(self.constants.unpaced_limit) * window.mss };
        let divisor = if self.conservative.is_some() { self.constants.css_growth_divisor.into() } else { 1_u64 };
        window.cwnd += acked.min(limit) / divisor;
        let window_end = *self.window_end.get_or_insert(ack.sent_to);
        if let Some(rtt) = ack.rtt {
            self.current_round_min = Some(self.current_round_min.map_or(rtt, |min| min.min(rtt)));
            self.samples += 1;
        }
        if self.samples >= self.constants.rtt_samples {
            self.decide();
        }
        if ack.acked_to >= window_end {
            self.end_round(window, ack.sent_to);
        }
    }

    fn decide(&mut self) {
        let Some(current) = self.current_round_min else { return };
        match self.conservative {
            None => {
                let Some(last) = self.last_round_min else { return };
                let Config { min_rtt_threshold, max_rtt_threshold, min_rtt_divisor, .. } = self.constants;
                let grown = last / u64::from(min_rtt_divisor);
                let threshold = grown.min(max_rtt_threshold).max(min_rtt_threshold);
                if current >= last + threshold {
                    self.conservative = Some(Conservative { baseline_min: current, rounds: 0 });
                }
            }
            Some(Conservative { baseline_min, .. }) if current < baseline_min => self.conservative = None,
            Some(_) => {}
        }
    }

    /// The round in which conservative slow start begins counts as one of its rounds.
    fn end_round(&mut self, window: &mut Window, sent_to: Position) {
        self.window_end = Some(sent_to);
        self.last_round_min = self.current_round_min.take();
        self.samples = 0;
        if let Some(conservative) = &mut self.conservative {
            conservative.rounds += 1;
            if conservative.rounds >= self.constants.css_rounds {
                window.ssthresh = window.cwnd;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{MSS, ack, start};
    use super::super::super::{Growth, Start};
    use super::super::{Phase, SlowStart};
    use super::*;
    use acklab_base::Instant;

    /// Simulates rounds of slow start: each sends the window and gets `acks` ACKs for it.
    struct Rounds {
        phase: Phase,
        window: Window,
        una: u64,
        may_grow: bool,
    }

    impl Rounds {
        fn new(paced: bool) -> Self {
            let start = Start { slow_start: SlowStart::HYSTART_PLUS_PLUS, paced, ..start(Growth::ByteCounting) };
            let window = Window { cwnd: 16 * MSS, ssthresh: u64::MAX, mss: MSS };
            Self { phase: Phase::new(&start), window, una: 0, may_grow: true }
        }

        /// Returns the growth of the window, in segments, in a round of `acks` ACKs with this
        /// round-trip time.
        fn round(&mut self, acks: u64, rtt_ms: u64) -> u64 {
            let (before, each) = (self.window.cwnd, 16 / acks);
            let end = self.una + 16 * MSS;
            for _ in 0..acks {
                self.una += each * MSS;
                let sent_to = if self.una < end { end } else { end + 16 * MSS };
                let ack = Ack {
                    acked_to: Position(self.una),
                    sent_to: Position(sent_to),
                    may_grow: self.may_grow,
                    ..ack(Instant::ZERO, each, Duration::from_millis(rtt_ms))
                };
                self.phase.on_ack(&mut self.window, &ack);
            }
            (self.window.cwnd - before) / MSS
        }
    }

    #[test]
    fn delay_above_an_eighth_begins_conservative_slow_start() {
        let mut rounds = Rounds::new(false);
        assert_eq!(rounds.round(16, 40), 16);
        assert_eq!(rounds.round(16, 44), 16, "4 ms less than 40 / 8");
        assert_eq!(rounds.round(16, 50), 10, "8 samples at full growth, 8 at a quarter of it");
        assert_eq!(rounds.round(16, 50), 4);
    }

    #[test]
    fn five_conservative_rounds_end_slow_start() {
        let mut rounds = Rounds::new(false);
        rounds.round(16, 20);
        for round in 0..5 {
            assert_eq!(rounds.window.ssthresh, u64::MAX, "round {round}");
            rounds.round(16, 30);
        }
        assert_eq!(rounds.window.ssthresh, rounds.window.cwnd, "the partial round was the first of five");
    }

    #[test]
    fn delay_that_falls_again_resumes_slow_start() {
        let mut rounds = Rounds::new(false);
        rounds.round(16, 20);
        rounds.round(16, 30);
        assert_eq!(rounds.round(16, 29), 10, "8 conservative, then as before");
        assert_eq!(rounds.round(16, 29), 16);
    }

    #[test]
    fn an_ack_counts_for_eight_segments_unless_sending_is_paced() {
        assert_eq!(Rounds::new(false).round(1, 20), 8);
        assert_eq!(Rounds::new(true).round(1, 20), 16);
    }

    #[test]
    fn fewer_than_eight_acks_a_round_blind_it() {
        let (mut seen, mut thinned) = (Rounds::new(true), Rounds::new(true));
        for rtt_ms in [20, 40, 80, 160] {
            seen.round(8, rtt_ms);
            assert_eq!(thinned.round(4, rtt_ms), 16, "full growth, however long the queue");
        }
        assert!(seen.phase.grow_is_conservative());
        assert!(!thinned.phase.grow_is_conservative());
    }

    #[test]
    fn rounds_and_delays_count_while_the_application_limits_sending() {
        let mut rounds = Rounds::new(false);
        rounds.may_grow = false;
        assert_eq!((rounds.round(16, 20), rounds.round(16, 40)), (0, 0));
        assert!(rounds.phase.grow_is_conservative(), "the delay doubled");
    }

    #[test]
    fn a_later_slow_start_is_the_classic_one() {
        let mut rounds = Rounds::new(false);
        rounds.window = Window { cwnd: MSS, ssthresh: 100 * MSS, mss: MSS };
        assert_eq!(rounds.round(2, 20), 4, "two segments an ACK, as RFC 3465 has it");
    }

    impl Phase {
        fn grow_is_conservative(&self) -> bool {
            matches!(self.exit, super::super::Exit::PlusPlus(hystart) if hystart.conservative.is_some())
        }
    }
}
