//! Whether a reduction of the window was for nothing.
//!
//! It was if the receiver reports each retransmission as a duplicate (D-SACK; RFC 3708), or if the ACK that ends the wait
//! echoes a timestamp from before the first retransmission (Eifel; RFC 3522). The response is Linux's: window and threshold are
//! what they were (`tcp_undo_cwnd_reduction`); RFC 4015 would add to the flight more slowly.

use std::ops::Range;

/// What is known of the last reduction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    before: Option<Before>,
    /// Retransmissions since it, less those that D-SACK has reported.
    unexplained: u64,
    retransmitted: bool,
    /// The timestamp of the first of them.
    first_timestamp: Option<u32>,
}

/// What stood before a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Congestion window, in octets.
    pub cwnd: u64,
    /// Slow-start threshold, in octets.
    pub ssthresh: u64,
    /// snd.una.
    pub una: u64,
}

impl Undo {
    /// The window is about to be reduced, with so many octets of retransmissions in flight.
    pub fn begin(&mut self, before: Before, resent: bool) {
        *self =
            Self { before: Some(before), retransmitted: resent, unexplained: u64::from(resent), first_timestamp: None };
    }

    /// A segment leaves again, with this timestamp.
    pub fn on_retransmission(&mut self, timestamp: Option<u32>) {
        self.unexplained += 1;
        self.retransmitted = true;
        self.first_timestamp = self.first_timestamp.or(timestamp);
    }

    /// The receiver reports `duplicate`, that is so many `segments`, as received twice.
    pub fn on_dsack(&mut self, duplicate: &Range<u64>, segments: u64) {
        if self.before.is_some_and(|before| duplicate.end > before.una) {
            self.unexplained = self.unexplained.saturating_sub(segments);
        }
    }

    /// Did D-SACK report each retransmission as needless?
    #[must_use]
    pub const fn is_refuted_by_dsack(&self) -> bool {
        self.before.is_some() && self.retransmitted && self.unexplained == 0
    }

    /// Does an ACK that echoes `echo` answer what left before the first retransmission?
    #[must_use]
    pub fn is_refuted_by_echo(&self, echo: Option<u32>) -> bool {
        let is_before = |echo: u32, first: u32| (echo.wrapping_sub(first) as i32) < 0;
        self.before.is_some() && echo.zip(self.first_timestamp).is_some_and(|(echo, first)| is_before(echo, first))
    }

    /// What stood before, if it is to be restored; afterwards there is nothing to undo.
    pub fn take(&mut self) -> Option<Before> {
        std::mem::take(self).before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: Before = Before { cwnd: 20, ssthresh: 100, una: 1000 };

    #[test]
    fn each_retransmission_must_be_reported() {
        let mut undo = Undo::default();
        assert!(!undo.is_refuted_by_dsack());
        undo.begin(BEFORE, false);
        assert!(!undo.is_refuted_by_dsack(), "nothing was sent again yet");
        undo.on_retransmission(None);
        undo.on_retransmission(None);
        undo.on_dsack(&(900..1000), 1);
        assert!(!undo.is_refuted_by_dsack(), "that one left before the reduction");
        undo.on_dsack(&(1000..1100), 1);
        assert!(!undo.is_refuted_by_dsack());
        undo.on_dsack(&(1100..1200), 1);
        assert!(undo.is_refuted_by_dsack());
        assert_eq!(undo.take(), Some(BEFORE));
        assert!(!undo.is_refuted_by_dsack());
    }

    #[test]
    fn an_echo_from_before_the_first_retransmission() {
        let mut undo = Undo::default();
        undo.begin(BEFORE, false);
        undo.on_retransmission(Some(3));
        undo.on_retransmission(Some(9));
        assert!(undo.is_refuted_by_echo(Some(u32::MAX)), "timestamps wrap");
        assert!(undo.is_refuted_by_echo(Some(2)));
        assert!(!undo.is_refuted_by_echo(Some(3)), "within a tick one cannot tell");
        assert!(!undo.is_refuted_by_echo(None));
    }
}
