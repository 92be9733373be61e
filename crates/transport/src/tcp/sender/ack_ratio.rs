//! The sender's half of ACK congestion control (RFC 5690): detects lost ACKs, and sets the ACK
//! Ratio R.
//!
//! * Without loss, an ACK covers at most R full-sized segments. An ACK that covers more segments
//!   suggests that another ACK was lost or is late (§4.4). That ACK is declared lost when three
//!   other ACKs have arrived, as with data (§5.4). ACKs are not examined while segments are
//!   missing, or during a recovery (§4.4, §4.4.1).
//! * R is doubled once per window of data with a lost ACK. It is decreased by one after
//!   cwnd/(MSS·(R² − R)) windows without a lost ACK. R is at least 2, the minimum that a sender may
//!   request, and at most cwnd/(2·MSS), rounded up (§4.5). RFC 5690 does not decrease R with the
//!   window (§4.5.1), except by that bound. After a timeout, R is therefore 2.
//! * A new ratio is sent on one segment of new data, and on its retransmission. The ratio is in use
//!   once that segment is acknowledged. Only then may the next ratio follow (§4.2, §4.5).
//!   Meanwhile, an ACK may cover as many segments as either ratio permits.

use super::ack_request::{Requested, View};

/// §4.1: the initial ratio, which is also the minimum that the sender requests (§4.5).
const INITIAL_RATIO: u64 = 2;
/// §4.5, rule (2): K, the ACKs per window.
const ACKS_PER_WINDOW: u64 = 2;
/// §5.4: the threshold is the same as for duplicate ACKs of data.
const REORDERED_ACKS: u32 = 3;

/// The ratio that the sender requests from the receiver.
#[derive(Clone, Debug)]
pub(super) struct AckRatio {
    pub(super) requested: Requested,
    suspect: Option<Suspect>,
    /// The end of the data sent before the ratio was last doubled, which happens once per window.
    doubled_for: u64,
    /// Bytes acknowledged since the last lost ACK or the last change of the ratio.
    acked_without_loss: u64,
    /// The value of `acked_without_loss` at which the ratio is decreased.
    lower_after: u64,
}

/// An ACK that covers more segments than expected. Another ACK may be missing between these
/// offsets.
#[derive(Clone, Copy, Debug)]
struct Suspect {
    after: u64,
    before: u64,
    /// The number of later ACKs.
    later: u32,
}

impl AckRatio {
    pub(super) fn new() -> Self {
        Self {
            requested: Requested::new(INITIAL_RATIO),
            suspect: None,
            doubled_for: 0,
            acked_without_loss: 0,
            lower_after: u64::MAX,
        }
    }

    pub(super) fn on_ack(&mut self, view: View) {
        if view.ack < view.una {
            // The missing ACK was late, not lost.
            if self.suspect.is_some_and(|suspect| suspect.after < view.ack && view.ack < suspect.before) {
                self.suspect = None;
            }
            return;
        }
        if self.requested.confirm(view.ack) {
            (self.acked_without_loss, self.lower_after) = (0, lower_after(self.requested.in_use(), &view));
        }
        let ratio = self.requested.in_use();
        let wanted = if self.shows_lost_ack(&view) {
            self.acked_without_loss = 0;
            self.lower_after = lower_after(ratio, &view);
            let is_doubled = view.ack <= self.doubled_for;
            if is_doubled || self.requested.pending().is_some() { ratio } else { self.double(&view) }
        } else if self.acked_without_loss >= self.lower_after && self.suspect.is_none() {
            self.acked_without_loss = 0;
            ratio - 1
        } else {
            ratio
        };
        let most = view.cwnd.div_ceil(ACKS_PER_WINDOW * view.mss).clamp(INITIAL_RATIO, u64::from(u8::MAX));
        self.requested.ask(wanted.clamp(INITIAL_RATIO, most));
    }

    /// Returns `true` if this ACK implies that another ACK was lost.
    fn shows_lost_ack(&mut self, view: &View) -> bool {
        let is_lost = self.suspect.as_mut().is_some_and(|suspect| {
            suspect.later += 1;
            suspect.later >= REORDERED_ACKS
        });
        if is_lost {
            self.suspect = None;
        }
        if view.in_order {
            let acked = view.ack - view.una;
            self.acked_without_loss += acked;
            let ratio = self.requested.in_use();
            let most = self.requested.pending().map_or(ratio, |pending| pending.max(ratio));
            if acked > most * view.mss && self.suspect.is_none() {
                self.suspect = Some(Suspect { after: view.una, before: view.ack, later: 0 });
            }
        }
        is_lost
    }

    fn double(&mut self, view: &View) -> u64 {
        self.doubled_for = view.nxt;
        2 * self.requested.in_use()
    }
}

/// Returns cwnd/(MSS·(R² − R)) windows, in bytes (§4.5).
fn lower_after(ratio: u64, view: &View) -> u64 {
    if ratio <= INITIAL_RATIO {
        return u64::MAX;
    }
    view.cwnd.saturating_mul(view.cwnd) / (view.mss * (ratio * ratio - ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the view of an ACK, with a window of `cwnd` segments of 1000 bytes.
    fn view(una: u64, ack: u64, cwnd: u64) -> View {
        View {
            ack: ack * 1000,
            una: una * 1000,
            nxt: (una + cwnd) * 1000,
            cwnd: cwnd * 1000,
            window: u64::MAX,
            mss: 1000,
            in_order: true,
        }
    }

    fn pending(acks: &AckRatio) -> Option<u64> {
        acks.requested.pending()
    }

    /// Processes consecutive ACKs that cover these numbers of segments.
    fn run(acks: &mut AckRatio, mut una: u64, cwnd: u64, covers: &[u64]) -> u64 {
        for cover in covers {
            acks.on_ack(view(una, una + cover, cwnd));
            una += cover;
        }
        una
    }

    #[test]
    fn an_ack_that_covers_too_much_counts_after_three_others() {
        let mut acks = AckRatio::new();
        run(&mut acks, 0, 20, &[2, 2, 4, 2, 2]);
        assert_eq!(pending(&acks), None);
        run(&mut acks, 12, 20, &[2]);
        assert_eq!(pending(&acks), Some(4));
    }

    #[test]
    fn an_ack_that_was_only_late_does_not_count() {
        let mut acks = AckRatio::new();
        run(&mut acks, 0, 20, &[2, 4]);
        acks.on_ack(view(6, 4, 20));
        run(&mut acks, 6, 20, &[2, 2, 2, 2]);
        assert_eq!(pending(&acks), None);
    }

    #[test]
    fn a_window_doubles_once_and_never_beyond_half_a_window() {
        let mut acks = AckRatio::new();
        let una = run(&mut acks, 0, 6, &[4, 2, 2, 2]);
        assert_eq!(pending(&acks), Some(3), "half of six");
        acks.requested.load(una * 1000);
        let una = run(&mut acks, una, 6, &[3]);
        assert_eq!((acks.requested.in_use(), pending(&acks)), (3, None));
        // All acknowledged data were sent before the ratio doubled.
        acks.doubled_for = u64::MAX;
        run(&mut acks, una, 100, &[6, 3, 3, 3]);
        assert_eq!(pending(&acks), None);
    }

    #[test]
    fn it_falls_by_one_after_enough_windows_without_loss() {
        let mut acks = AckRatio::new();
        acks.requested.ask(4);
        acks.requested.load(0);
        // cwnd/(MSS·(R² − R)) = 24/12 = 2 windows of 24 segments.
        let una = run(&mut acks, 0, 24, &[2; 1]);
        assert_eq!((acks.requested.in_use(), acks.lower_after), (4, 48_000));
        let una = run(&mut acks, una, 24, &[4; 11]);
        assert_eq!(pending(&acks), None);
        run(&mut acks, una, 24, &[4]);
        assert_eq!(pending(&acks), Some(3));
    }

    #[test]
    fn a_small_window_brings_it_down_and_recoveries_are_not_judged() {
        let mut acks = AckRatio { requested: Requested::new(8), ..AckRatio::new() };
        acks.on_ack(view(0, 1, 1));
        assert_eq!(pending(&acks), Some(2), "after a timeout");
        let mut acks = AckRatio::new();
        for una in 0..6 {
            acks.on_ack(View { in_order: false, ..view(una * 5, una * 5 + 5, 40) });
        }
        assert_eq!(pending(&acks), None);
    }
}
