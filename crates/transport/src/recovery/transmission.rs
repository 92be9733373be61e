//! Outcomes of transmissions except [losses](super::scoreboard::Loss), for controllers that
//! evaluate a sending rate by the outcomes of the transmissions at this rate.

use acklab_base::Instant;

/// The outcome of a transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The transmission was acknowledged, cumulatively or selectively.
    Delivered {
        /// `true` if the transmission was wrongly reported lost before.
        was_lost: bool,
    },
    /// The outcome remains unknown. One cause is that the bytes were retransmitted before they were
    /// acknowledged or lost, so that the acknowledgment is ambiguous. Other causes are discarded
    /// keys, and an MTU probe, whose loss does not indicate congestion.
    Unknown,
}

/// A transmission and its outcome. Each transmission has one outcome or is lost; only a spurious
/// loss has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The time at which it was sent.
    pub sent_at: Instant,
    /// The outcome of the transmission.
    pub outcome: Outcome,
}

#[cfg(test)]
mod tests {
    use super::super::delivery_rate::Stamp;
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use acklab_base::Duration;

    fn at(nanos: u64) -> Instant {
        Instant::from_nanos(nanos)
    }

    /// Five segments of 100 bytes that were sent at 0, 1, 2, 3 and 4.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::default().keeping_outcomes(true);
        (0..5).for_each(|k| board.send(at(k), 100, Stamp::default()));
        board
    }

    fn outcomes(board: &mut Scoreboard) -> Vec<(u64, Outcome)> {
        let outcomes = board
            .outcomes()
            .iter()
            .map(|transmission| (transmission.sent_at.as_nanos(), transmission.outcome))
            .collect();
        board.clear_outcomes();
        outcomes
    }

    fn losses(board: &mut Scoreboard) -> Vec<u64> {
        board.drain_losses().map(|loss| loss.sent_at.as_nanos()).collect()
    }

    const DELIVERED: Outcome = Outcome::Delivered { was_lost: false };

    #[test]
    fn each_transmission_of_a_segment_has_its_own_outcome() {
        let mut board = board();
        board.sack(std::iter::once(100..400));
        board.detect_losses();
        assert_eq!(outcomes(&mut board), [(1, DELIVERED), (2, DELIVERED), (3, DELIVERED)]);
        assert_eq!(losses(&mut board), [0]);
        board.retransmit(at(7), 0, Stamp::default());
        assert!(outcomes(&mut board).is_empty());
        board.advance(500);
        assert_eq!(outcomes(&mut board), [(7, DELIVERED), (4, DELIVERED)], "the sacked ones were reported before");
    }

    #[test]
    fn a_timeout_loses_what_is_out_and_nothing_twice() {
        let mut board = board();
        board.mark_head_lost();
        board.retransmit(at(7), 0, Stamp::default());
        assert_eq!(losses(&mut board), [0]);
        board.mark_all_lost();
        assert_eq!(losses(&mut board), [7, 1, 2, 3, 4]);
        board.mark_all_lost();
        board.mark_timed_out(at(9), Duration::ZERO);
        assert!(losses(&mut board).is_empty());
    }

    #[test]
    fn a_loss_is_taken_back_and_a_repetition_without_cause_is_told() {
        let mut board = board();
        board.mark_head_lost();
        board.unmark_lost();
        board.retransmit(at(7), 100, Stamp::default());
        assert_eq!((losses(&mut board), outcomes(&mut board)), (vec![0], vec![(1, Outcome::Unknown)]));
        board.advance(200);
        assert_eq!(outcomes(&mut board), [(0, Outcome::Delivered { was_lost: true }), (7, DELIVERED)]);
    }

    #[test]
    fn nothing_is_kept_for_those_who_do_not_ask() {
        let mut board = Scoreboard::default();
        board.send(at(0), 100, Stamp::default());
        board.advance(100);
        assert!(board.outcomes().is_empty());
    }
}
