//! Rounds with losses, and the losses that end Startup (draft-ietf-ccwg-bbr, §5.3.1.3, §5.5.10).

use super::gain::Gain;
use crate::cc::{Ack, Lost, Position};
use crate::recovery::CongestionState;
use crate::recovery::delivery_rate::Sample;

/// A packet-timed round trip that begins with its first loss. Without a loss, it begins at the end
/// of the previous round.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct LossRound {
    /// BBR.is_loss_in_round.
    has_loss: bool,
    /// BBR.loss_round_delivered: the number of bytes delivered when the round began.
    began: u64,
    /// BBR.loss_round_start.
    starts: bool,
    /// The discontiguous ranges that were lost in the round.
    ranges: u32,
    last_end: Option<Position>,
    /// The number of bytes delivered when the current fast recovery began, or the recovery that
    /// this ACK ends.
    recovery_began: Option<u64>,
}

impl LossRound {
    /// Returns `true` if the latest ACK ended a round.
    pub(in crate::cc) const fn starts(&self) -> bool {
        self.starts
    }

    /// Returns `true` if the round has a loss.
    pub(in crate::cc) const fn has_loss(&self) -> bool {
        self.has_loss
    }

    /// Returns the number of discontiguous ranges that were lost in the round.
    pub(in crate::cc) const fn ranges(&self) -> u32 {
        self.ranges
    }

    /// Records a loss. Returns `true` if it is the first of the round. Adjacent ranges are counted
    /// as one.
    pub(in crate::cc) fn on_lost(&mut self, lost: &Lost) -> bool {
        let is_first = !self.has_loss;
        if is_first {
            self.began = lost.total_delivered;
        }
        self.has_loss = true;
        self.ranges += u32::from(self.last_end != Some(lost.start));
        self.last_end = Some(lost.end);
        is_first
    }

    /// Processes the sample of an ACK, with `total_delivered` octets delivered in all.
    pub(in crate::cc) fn update(&mut self, sample: Option<&Sample>, total_delivered: u64) {
        self.starts = sample.is_some_and(|sample| sample.prior_delivered >= self.began);
        if self.starts {
            self.began = total_delivered;
        }
    }

    /// Returns `true` if the losses end Startup (`CheckStartupHighLoss`). A fast recovery must have
    /// lasted for a round, in which a fraction of more than `threshold` and at least `ranges`
    /// ranges were lost. Without SACK, any loss in a fast recovery is sufficient.
    ///
    /// If packets are numbered, a fast recovery ends with its first round (RFC 9002, §7.3.2). So
    /// the ACK that ends the recovery is also evaluated.
    pub(in crate::cc) fn is_high(&self, ack: &Ack, threshold: Gain, ranges: u32) -> bool {
        if !ack.has_sack {
            return ack.state == CongestionState::Recovery && ack.lost > 0;
        }
        let has_recovered_for_a_round = |sample: &Sample| {
            ack.state != CongestionState::Loss
                && self.recovery_began.is_some_and(|began| sample.prior_delivered >= began)
        };
        self.starts
            && self.ranges >= ranges
            && ack.rate.as_ref().is_some_and(|sample| {
                has_recovered_for_a_round(sample) && sample.lost > threshold.of(sample.tx_in_flight)
            })
    }

    /// Forgets the losses of the round: it has ended, or they were spurious.
    pub(in crate::cc) const fn forget(&mut self) {
        (self.has_loss, self.ranges, self.last_end) = (false, 0, None);
    }

    /// Ends the processing of an ACK.
    pub(in crate::cc) fn end_ack(&mut self, ack: &Ack) {
        if self.starts {
            self.forget();
        }
        match ack.state {
            CongestionState::Recovery => _ = self.recovery_began.get_or_insert(ack.total_delivered),
            _ => self.recovery_began = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{MSS, ack, sample};
    use crate::recovery::delivery_rate::Stamp;
    use acklab_base::{Duration, Instant};

    /// Loses the packets with these numbers when 100 bytes have been delivered.
    fn losing(numbers: impl IntoIterator<Item = u64>) -> LossRound {
        let mut round = LossRound::default();
        for number in numbers {
            round.on_lost(&Lost {
                now: Instant::ZERO,
                sent_at: Instant::ZERO,
                bytes: MSS,
                start: Position(number),
                end: Position(number + 1),
                stamp: Stamp::default(),
                total_delivered: 100,
                total_lost: 0,
            });
        }
        round
    }

    /// An ACK of data that were sent when `prior` bytes had been delivered. Since then, `lost` of a
    /// hundred packets were lost.
    fn acking(state: CongestionState, prior: u64, lost: u64) -> Ack {
        let rate = Sample { lost: lost * MSS, tx_in_flight: 100 * MSS, ..sample(1000, prior) };
        let rtt = Duration::from_millis(10);
        Ack { state, total_delivered: 200, rate: Some(rate), ..ack(Instant::ZERO, 1, rtt) }
    }

    /// Feeds the ACKs. Returns whether the losses end Startup after each.
    fn high(mut round: LossRound, acks: &[Ack]) -> Vec<bool> {
        let step = |ack: &Ack| {
            round.update(ack.rate.as_ref(), ack.total_delivered);
            let is_high = round.is_high(ack, Gain::percent(2), 6);
            round.end_ack(ack);
            is_high
        };
        acks.iter().map(step).collect()
    }

    #[test]
    fn adjacent_losses_are_one_range() {
        assert_eq!(losing([1, 2, 3, 7, 9, 10]).ranges(), 3);
    }

    /// Six ranges and more than 2 % of 100 packets in flight (§5.3.1.3). The ACK at 100 bytes
    /// begins the recovery. The recovery has lasted for a round with the ACK of data sent at 200.
    #[test]
    fn a_round_of_recovery_with_six_ranges_and_over_two_percent_is_high() {
        use CongestionState::{Loss, Open, Recovery};
        let odd = |ranges: u64| losing((0..ranges).map(|range| 2 * range));
        let acks = |state, lost| [acking(Recovery, 0, 1), acking(state, 200, lost)];
        assert_eq!(high(odd(6), &acks(Recovery, 3)), [false, true]);
        assert_eq!(high(odd(5), &acks(Recovery, 3)), [false, false], "five ranges");
        assert_eq!(high(odd(6), &acks(Recovery, 2)), [false, false], "2 %");
        assert_eq!(high(odd(6), &acks(Open, 3)), [false, true], "the ACK that ends the recovery");
        assert_eq!(high(odd(6), &acks(Loss, 3)), [false, false], "a timeout ended the recovery");
        let open = [acking(Open, 0, 1), acking(Recovery, 200, 3)];
        assert_eq!(high(odd(6), &open), [false, false], "the recovery only begins");
    }

    #[test]
    fn without_sack_any_loss_in_a_recovery_is_high() {
        let lost = |state| Ack { has_sack: false, lost: MSS, state, rate: None, ..acking(state, 0, 0) };
        assert_eq!(high(losing([1]), &[lost(CongestionState::Recovery)]), [true]);
        assert_eq!(high(losing([1]), &[lost(CongestionState::Open)]), [false]);
    }
}
