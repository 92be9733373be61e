//! Tests the three versions by event and by round.

use super::super::testing::{MSS, ack, start};
use super::super::{Growth, SlowStart};
use super::*;

const STACKS: [Dialect; 3] = [Dialect::Reference, Dialect::Linux, Dialect::Ns3];

struct Rounds {
    vegas: Vegas,
    window: Window,
    una: u64,
}

/// Returns a flow in congestion avoidance with 20 segments on a path of 20 ms.
fn rounds(dialect: Dialect) -> Rounds {
    let start = Start { dialect, slow_start: SlowStart::Classic {}, ..start(Growth::PerSegment) };
    let window = Window { cwnd: 20 * MSS, ssthresh: 15 * MSS, mss: MSS };
    let mut rounds = Rounds { vegas: Vegas::new(&Config::PUBLISHED, &start), window, una: 0 };
    rounds.round(10, 20_000);
    rounds.window.cwnd = 20 * MSS;
    rounds
}

impl Rounds {
    /// Runs a round of `acks` ACKs with this round-trip time. Returns the window afterwards, in
    /// segments.
    fn round(&mut self, acks: u64, rtt_us: u64) -> u64 {
        let end = self.una + 20 * MSS;
        for _ in 0..acks {
            self.una += 20 * MSS / acks;
            // Linux's round ends beyond snd.nxt at its start.
            let sent_to = if self.una < end { end - 1 } else { end + 20 * MSS - 1 };
            let ack = Ack {
                acked_to: Position(self.una),
                sent_to: Position(sent_to),
                ..ack(Instant::ZERO, 20 / acks, Duration::from_micros(rtt_us))
            };
            self.vegas.on_ack(&mut self.window, &ack);
        }
        self.window.cwnd / MSS
    }
}

/// Of 20 segments, 1 waits at 21 ms, 3 at 23.5 ms, 5 at 27 ms.
#[test]
fn the_window_keeps_two_to_four_segments_waiting() {
    for dialect in STACKS {
        assert_eq!(rounds(dialect).round(10, 21_000), 21, "{dialect:?}");
        assert_eq!(rounds(dialect).round(10, 23_500), 20, "{dialect:?}");
        assert_eq!(rounds(dialect).round(10, 27_000), 19, "{dialect:?}");
    }
}

/// At 24.5 ms, 3.67 segments wait. Linux divides by the base and computes 4.5, truncated to 4. At
/// 25.2 ms the numbers are 4.1 and 5.2.
#[test]
fn what_waits_is_counted_differently() {
    assert_eq!(rounds(Dialect::Linux).round(10, 25_200), 19);
    assert_eq!(rounds(Dialect::Reference).round(10, 25_200), 19, "4.13 of 20");
    assert_eq!(rounds(Dialect::Ns3).round(10, 25_200), 19, "20 − 15");
    assert_eq!(rounds(Dialect::Linux).round(10, 25_010), 19, "⌊5.01⌋ of the base");
    assert_eq!(rounds(Dialect::Reference).round(10, 24_900), 20, "3.93 of the round trip");
    assert_eq!(rounds(Dialect::Ns3).round(10, 24_900), 20, "20 − 16");
}

#[test]
fn rounds_of_two_acks_are_renos() {
    for dialect in [Dialect::Linux, Dialect::Ns3] {
        let (mut many, mut few) = (rounds(dialect), rounds(dialect));
        assert_eq!((0..6).map(|_| many.round(4, 40_000)).last(), Some(14), "{dialect:?}: backs off");
        assert!((0..6).map(|_| few.round(2, 40_000)).last() >= Some(20), "{dialect:?}: grows into the queue");
    }
    assert_eq!(rounds(Dialect::Reference).round(1, 40_000), 19, "the paper decides by any sample");
}

#[test]
fn an_ack_that_is_late_from_the_start_raises_the_base() {
    let start = Start { dialect: Dialect::Linux, ..start(Growth::PerSegment) };
    let window = Window { cwnd: 20 * MSS, ssthresh: 15 * MSS, mss: MSS };
    let mut late = Rounds { vegas: Vegas::new(&Config::PUBLISHED, &start), window, una: 0 };
    // The receiver always waits 5 ms. The same queue of 5 ms is a smaller share of the longer round
    // trip.
    late.round(4, 25_000);
    late.window.cwnd = 20 * MSS;
    assert_eq!(late.round(4, 29_000), 20, "⌊20 · 4 / 25⌋ = 3 wait");
    let mut prompt = rounds(Dialect::Linux);
    prompt.window.cwnd = 20 * MSS;
    assert_eq!(prompt.round(4, 25_500), 19, "⌊20 · 5.5 / 20⌋ = 5 wait");
}

#[test]
fn a_queue_ends_slow_start() {
    for (dialect, left) in [(Dialect::Reference, 20), (Dialect::Linux, 17), (Dialect::Ns3, 17)] {
        let mut rounds = rounds(dialect);
        rounds.window.ssthresh = 1000 * MSS;
        rounds.vegas.round.holds = true;
        let before = rounds.window.cwnd;
        assert!(rounds.round(1, 20_000) >= before / MSS);
        rounds.window.cwnd = 20 * MSS;
        rounds.vegas.round = Round { end: Position(rounds.una), min: None, samples: 5, holds: true };
        assert_eq!(rounds.round(1, 25_000), left, "{dialect:?}");
        assert!(!rounds.window.in_slow_start() || dialect != Dialect::Reference);
    }
}

#[test]
fn thresholds_after_loss() {
    let window = Window { cwnd: 20 * MSS, ssthresh: 15 * MSS, mss: MSS };
    let threshold = |dialect, ssthresh| {
        let window = Window { ssthresh, ..window };
        rounds(dialect).vegas.ssthresh(Instant::ZERO, &window, 20 * MSS, Signal::Loss)
    };
    assert_eq!(threshold(Dialect::Linux, u64::MAX), 10 * MSS);
    assert_eq!(threshold(Dialect::Ns3, u64::MAX), 19 * MSS);
    assert_eq!(threshold(Dialect::Ns3, 15 * MSS), 15 * MSS);
}

/// From 20 segments, of which 6 or more wait: `tcp_vegas_ssthresh` is min(ssthresh, cwnd), ns-3's
/// `GetSsThresh` subtracts one segment.
#[test]
fn thresholds_after_a_decrease() {
    for (dialect, threshold) in [(Dialect::Reference, 19), (Dialect::Linux, 19), (Dialect::Ns3, 18)] {
        let mut rounds = rounds(dialect);
        rounds.window.ssthresh = 20 * MSS;
        assert_eq!(rounds.round(10, 30_000), 19, "{dialect:?}");
        assert_eq!(rounds.window.ssthresh, threshold * MSS, "{dialect:?}");
    }
}

#[test]
fn outside_the_open_state_it_is_reno() {
    let mut rounds = rounds(Dialect::Linux);
    rounds.vegas.on_state(Instant::ZERO, &mut rounds.window, CongestionState::Disorder);
    assert_eq!(rounds.round(10, 40_000), 21);
}
