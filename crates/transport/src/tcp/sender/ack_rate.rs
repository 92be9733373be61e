//! The sender's half of TARR (draft-ietf-tcpm-ack-rate-request): selects the rate R.
//!
//! * R is `segments`, reduced so that a window contains at least `acks_per_window` ACKs. This
//!   applies to the congestion window and to the peer's window. With R larger than a window, the
//!   sender would have to wait for the receiver's timer.
//! * A smaller R is requested immediately, and so is the maximum. Any other R is requested once it
//!   is a quarter larger than the present R. A growing window then does not change R with each ACK.
//! * After a reduction, the window may be smaller than R segments. Meanwhile, the segment that
//!   fills the window requests an immediate ACK (R = 0). The last segment of the application's data
//!   does so too.

use super::ack_request::{Requested, View};
use crate::ack::ack_rate_request::{AckRateRequest, INITIAL_RATE};

/// The rate that the sender requests from the receiver.
#[derive(Clone, Debug)]
pub(super) struct AckRate {
    settings: AckRateRequest,
    pub(super) requested: Requested,
}

impl AckRate {
    pub(super) const fn new(settings: AckRateRequest) -> Self {
        Self { settings, requested: Requested::new(INITIAL_RATE as u64) }
    }

    pub(super) fn on_ack(&mut self, view: View) {
        if view.ack < view.una {
            return;
        }
        let _ = self.requested.confirm(view.ack);
        let share = view.cwnd.min(view.window) / (u64::from(self.settings.acks_per_window.max(1)) * view.mss);
        let (most, in_use) = (u64::from(self.settings.segments.max(1)), self.requested.in_use());
        let wanted = share.clamp(1, most);
        if wanted < in_use || wanted > in_use + in_use / 4 || wanted == most {
            self.requested.ask(wanted);
        }
    }

    /// Returns `true` if a window of `cwnd` bytes is full before the receiver sends an ACK without
    /// a request.
    pub(super) fn outlasts(&self, cwnd: u64, mss: u64) -> bool {
        self.requests_at_once() && cwnd < self.requested.pending().unwrap_or(0).max(self.requested.in_use()) * mss
    }

    /// Returns `true` if segments may request an immediate ACK.
    pub(super) const fn requests_at_once(&self) -> bool {
        self.settings.immediate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(ack: u64, cwnd: u64, window: u64) -> View {
        let mss = 1000;
        View { ack, una: ack, nxt: ack, cwnd: cwnd * mss, window: window * mss, mss, in_order: true }
    }

    /// Returns the rate to request. `cwnd` and `window` are in segments, and the receiver uses
    /// `in_use`.
    fn pending(in_use: u64, cwnd: u64, window: u64) -> Option<u64> {
        let mut rate = AckRate::new(AckRateRequest { segments: 16, acks_per_window: 4, ..AckRateRequest::default() });
        rate.requested = Requested::new(in_use);
        rate.on_ack(view(0, cwnd, window));
        rate.requested.pending()
    }

    #[test]
    fn a_window_has_four_acks_and_an_ack_sixteen_segments_at_most() {
        assert_eq!(pending(2, 40, 100), Some(10));
        assert_eq!(pending(2, 100, 20), Some(5), "the peer's window counts as well");
        assert_eq!(pending(2, 1000, 1000), Some(16));
        assert_eq!(pending(2, 3, 100), Some(1));
    }

    #[test]
    fn a_growing_window_asks_by_quarters_and_a_shrinking_one_at_once() {
        assert_eq!((pending(8, 40, 100), pending(8, 44, 100)), (None, Some(11)));
        assert_eq!(pending(14, 64, 100), Some(16), "the largest");
        assert_eq!(pending(8, 28, 100), Some(7));
    }

    #[test]
    fn a_window_below_the_rate_needs_an_ack_at_once() {
        let mut rate = AckRate::new(AckRateRequest::default());
        rate.requested = Requested::new(8);
        assert!(rate.outlasts(7000, 1000) && !rate.outlasts(8000, 1000));
        rate.requested.ask(16);
        assert!(rate.outlasts(15_000, 1000), "what is under way may be in use");
        rate.settings.immediate = false;
        assert!(!rate.outlasts(7000, 1000));
    }
}
