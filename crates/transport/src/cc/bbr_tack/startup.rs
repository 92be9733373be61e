//! The evidence of losses in Startup (draft-ietf-ccwg-bbr, §5.3.1.3).
//!
//! A flow that conserves packets after each loss no longer doubles its rate. BBR, version 1, then
//! considers the pipe full, although the losses are random. Version 3 ignores losses in Startup
//! until a round of a recovery has lost more than 2 % in six ranges. Here this has two effects:
//!
//! * **Conservation** begins with the sixth lost range of a round. A flight of a few packets cannot
//!   have six ranges. So conservation also begins after a loss in each of the number of consecutive
//!   rounds that shows a full pipe. Otherwise each of a hundred flows that share 500 packets would
//!   fill its initial window for the whole connection.
//! * **The end of Startup** requires a queue in addition to the draft's criteria. The draft also
//!   bounds the data in flight after such losses, so that version 3 reduces its rate under random
//!   losses above 2 %. The paper has no such bound: its BBR, like version 1, fills a path with a
//!   higher loss rate.

use crate::cc::model::gain::Gain;
use crate::cc::model::loss_round::LossRound;
use crate::cc::{Ack, Lost};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StartupLosses {
    round: LossRound,
    /// The number of consecutive rounds with a loss, excluding the current round.
    lossy_rounds: u32,
    /// `true` if the current round has a loss.
    has_loss: bool,
}

impl StartupLosses {
    /// Records a loss. Returns `true` if it is the first of a round of losses.
    pub(super) fn on_lost(&mut self, lost: &Lost) -> bool {
        self.round.on_lost(lost)
    }

    /// Processes an ACK, which ends a packet-timed round if `ends_round`.
    pub(super) fn update(&mut self, ack: &Ack, ends_round: bool) {
        self.round.update(ack.rate.as_ref(), ack.total_delivered);
        if ends_round {
            self.lossy_rounds = if self.has_loss { self.lossy_rounds.saturating_add(1) } else { 0 };
            self.has_loss = false;
        }
        self.has_loss |= ack.lost > 0;
    }

    /// Returns `true` if a loss begins a recovery: the round has lost at least `ranges` ranges, or
    /// each of the last `rounds` rounds has a loss.
    pub(super) fn begin_recovery(&self, ranges: u32, rounds: u32) -> bool {
        self.round.ranges() >= ranges || self.lossy_rounds.saturating_add(self.has_loss.into()) >= rounds
    }

    /// Returns `true` if the losses meet the draft's criteria for the end of Startup.
    pub(super) fn are_high(&self, ack: &Ack, threshold: Gain, ranges: u32) -> bool {
        self.round.is_high(ack, threshold, ranges)
    }

    /// Ends the processing of an ACK.
    pub(super) fn end_ack(&mut self, ack: &Ack) {
        self.round.end_ack(ack);
    }

    /// Forgets losses that were spurious.
    pub(super) const fn forget(&mut self) {
        self.round.forget();
        (self.lossy_rounds, self.has_loss) = (0, false);
    }
}
