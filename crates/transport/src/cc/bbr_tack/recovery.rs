//! The window in a recovery, after Linux's BBR (`bbr_set_cwnd_to_recover_or_restore`).
//!
//! In the first round after a loss, a flow sends as much as is delivered: packet conservation. Then
//! the window grows by what is delivered, up to its cap. At its end a recovery restores the window
//! from before it. TACK's conditions change two things:
//!
//! * Linux ends a recovery when all is acknowledged that was sent when it began, retransmissions
//!   included, which takes two rounds and more. With a number for each transmission that would be
//!   the end of the first round, and each round with a loss would conserve. So a recovery has a
//!   second round, in which the retransmissions of the first are acknowledged, and once the pipe
//!   has been full, each further loss prolongs it: it ends after a round without one, as in
//!   Chromium's BBR, where packets are numbered as well (`UpdateRecoveryState`). In Startup a
//!   further loss does not: a flow that still doubles its rate conserves in every other round.
//! * The sender learns of arrivals once in a TACK interval, and what arrives meanwhile counts as in
//!   flight. As much may be sent meanwhile.

use crate::cc::{Ack, Position};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Open,
    Conservation,
    Growth,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recovery {
    phase: Phase,
    /// All that was sent when the phase began, or was prolonged, lies below.
    until: Position,
    /// The window before the recovery.
    prior_window: u64,
}

/// What the window of a recovery depends on, besides the ACK. Sizes in octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Delivered between two TACKs.
    pub(super) between: u64,
    /// The least window.
    pub(super) least: u64,
    /// The pipe has been full.
    pub(super) is_full: bool,
}

impl Recovery {
    /// Returns `true` if as much is sent as is delivered, and no more.
    pub(super) fn conserves(&self) -> bool {
        self.phase == Phase::Conservation
    }

    /// Returns `true` if what is acknowledged now left while packets were conserved.
    pub(super) fn sees_conserved(&self) -> bool {
        self.phase == Phase::Growth
    }

    /// Processes an ACK. Returns the window before it grows by what is delivered.
    pub(super) fn window(&mut self, cwnd: u64, ack: &Ack, limits: Limits) -> u64 {
        let Limits { between, least, is_full } = limits;
        let is_over = ack.acked_to > self.until;
        match self.phase {
            Phase::Open if ack.lost == 0 => return cwnd,
            Phase::Open => {
                (self.phase, self.until, self.prior_window) = (Phase::Conservation, ack.sent_to, cwnd);
                return (ack.in_flight + ack.delivered.max(between)).min(cwnd).max(least);
            }
            Phase::Conservation if is_over => (self.phase, self.until) = (Phase::Growth, ack.sent_to),
            Phase::Growth if is_full && ack.lost > 0 => self.until = ack.sent_to,
            Phase::Growth if is_over => {
                self.phase = Phase::Open;
                return cwnd.max(self.prior_window);
            }
            Phase::Conservation | Phase::Growth => {}
        }
        cwnd.saturating_sub(ack.lost).max(ack.in_flight + ack.delivered).max(least)
    }

    /// The recovery is over: all packets have arrived. Returns the window.
    pub(super) fn end(&mut self, cwnd: u64) -> u64 {
        match std::mem::take(&mut self.phase) {
            Phase::Open => cwnd,
            Phase::Conservation | Phase::Growth => cwnd.max(self.prior_window),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{MSS, ack};
    use acklab_base::{Duration, Instant};

    /// An ACK for a packet, with 20 in flight and `lost` lost, which acknowledges up to `acked_to`
    /// of `sent_to`.
    fn reporting(lost: u64, acked_to: u64, sent_to: u64) -> Ack {
        let (in_flight, acked_to, sent_to) = (20 * MSS, Position(acked_to), Position(sent_to));
        Ack { lost: lost * MSS, in_flight, acked_to, sent_to, ..ack(Instant::ZERO, 1, Duration::from_millis(10)) }
    }

    /// The windows in packets, and whether they conserve.
    fn windows(is_full: bool, steps: &[(u64, Ack)]) -> Vec<(u64, bool)> {
        let limits = Limits { between: 6 * MSS, least: 4 * MSS, is_full };
        let mut recovery = Recovery::default();
        let step = |(cwnd, ack): &(u64, Ack)| (recovery.window(cwnd * MSS, ack, limits) / MSS, recovery.conserves());
        steps.iter().map(step).collect()
    }

    #[test]
    fn a_round_conserves_another_grows_and_then_the_window_is_restored() {
        let steps = [
            (60, reporting(0, 100, 160)),
            (60, reporting(10, 101, 160)),
            (26, reporting(3, 160, 185)),
            (23, reporting(0, 161, 186)),
            (30, reporting(0, 186, 190)),
            (31, reporting(0, 187, 200)),
        ];
        // In flight and delivered until the next TACK are 20 and 6.
        let expected = [(60, false), (26, true), (23, true), (23, false), (30, false), (60, false)];
        assert_eq!([true, false].map(|is_full| windows(is_full, &steps)), [expected; 2]);
    }

    #[test]
    fn what_was_conserved_is_acknowledged_while_the_window_grows() {
        let limits = Limits { between: 6 * MSS, least: 4 * MSS, is_full: false };
        let mut recovery = Recovery::default();
        let mut sees = |ack: Ack| {
            recovery.window(60 * MSS, &ack, limits);
            recovery.sees_conserved()
        };
        assert!(!sees(reporting(10, 101, 160)), "160 packets had left when the loss was known");
        assert!(!sees(reporting(0, 160, 185)));
        assert!(sees(reporting(0, 161, 186)), "the first that was conserved");
        assert!(sees(reporting(0, 186, 190)), "the last");
        assert!(!sees(reporting(0, 187, 200)));
    }

    #[test]
    fn a_further_loss_prolongs_a_recovery_once_the_pipe_has_been_full() {
        let steps = [
            (60, reporting(10, 101, 160)),
            (26, reporting(0, 161, 186)),
            (30, reporting(2, 180, 190)),
            (29, reporting(0, 187, 200)),
            (30, reporting(0, 191, 200)),
        ];
        assert_eq!(windows(true, &steps)[2..], [(28, false), (29, false), (60, false)]);
        assert_eq!(windows(false, &steps)[2..4], [(28, false), (60, false)]);
    }

    #[test]
    fn a_recovery_that_is_over_restores_the_window_at_once() {
        let mut recovery = Recovery::default();
        recovery.window(60 * MSS, &reporting(10, 101, 160), Limits { between: 0, least: 0, is_full: true });
        assert_eq!(recovery.end(21 * MSS), 60 * MSS);
        assert_eq!(recovery.end(30 * MSS), 30 * MSS, "once");
    }
}
