//! Sets the window in a recovery, after Linux's BBR (`bbr_set_cwnd_to_recover_or_restore`).
//!
//! In the first round after a loss, a flow sends as much as is delivered: packet conservation. Then
//! the window grows by the delivered bytes, up to its cap. At the end of a recovery the previous
//! window is restored. TACK requires two changes:
//!
//! * Linux ends a recovery when all data sent before it began are acknowledged, including
//!   retransmissions, which takes two rounds or more. With a number per transmission, this
//!   condition would already be met at the end of the first round, and each round with a loss would
//!   conserve packets. So a recovery here has a second round, in which the retransmissions of the
//!   first round are acknowledged. Once the pipe has been full, each further loss prolongs the
//!   second round. It then ends after a round without loss, as in Chromium's BBR, which also
//!   numbers packets (`UpdateRecoveryState`). In Startup a further loss does not prolong it: a flow
//!   that still doubles its rate conserves packets in every other round.
//! * The sender receives reports of arrivals once per TACK interval. Arrivals since the last report
//!   are still counted as in flight, so the sender may send that much more.

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
    /// The end of the packets sent when the phase began, or when a loss last prolonged it.
    until: Position,
    /// The window before the recovery.
    prior_window: u64,
}

/// The limits of a recovery's window that do not depend on the ACK. Sizes are in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// The bytes delivered between two TACKs.
    pub(super) between: u64,
    /// The minimum window.
    pub(super) least: u64,
    /// `true` if the pipe has been full.
    pub(super) is_full: bool,
}

impl Recovery {
    /// Returns `true` if no recovery is in progress.
    pub(super) fn is_over(&self) -> bool {
        self.phase == Phase::Open
    }

    /// Returns `true` if the flow sends exactly as much as is delivered.
    pub(super) fn conserves(&self) -> bool {
        self.phase == Phase::Conservation
    }

    /// Returns `true` if the packets acknowledged now were sent during packet conservation.
    pub(super) fn sees_conserved(&self) -> bool {
        self.phase == Phase::Growth
    }

    /// Processes an ACK. Returns the window before it grows by the delivered bytes.
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

    /// Ends the recovery after all packets have arrived. Returns the window.
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

    /// Returns an ACK for a packet, with 20 packets in flight and `lost` packets lost. `acked_to`
    /// and `sent_to` are the ends of the acknowledged and the sent packets.
    fn reporting(lost: u64, acked_to: u64, sent_to: u64) -> Ack {
        let (in_flight, acked_to, sent_to) = (20 * MSS, Position(acked_to), Position(sent_to));
        Ack { lost: lost * MSS, in_flight, acked_to, sent_to, ..ack(Instant::ZERO, 1, Duration::from_millis(10)) }
    }

    /// Returns each window, in packets, and whether packets are conserved.
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
        // 20 packets are in flight, and 6 are delivered until the next TACK.
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
