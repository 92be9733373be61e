//! Detects whether a reduction of the window was spurious.
//!
//! A reduction was spurious if D-SACK reports each retransmission as a duplicate (RFC 3708). It was
//! also spurious if the ACK that fills the hole echoes a timestamp from before the first
//! retransmission (Eifel; RFC 3522). The response is Linux's: window and threshold are restored
//! (`tcp_undo_cwnd_reduction`). RFC 4015 would increase the amount in flight more slowly.

use std::ops::Range;

/// The state before the last reduction, and the evidence that the reduction was spurious.
#[derive(Clone, Copy, Debug, Default)]
pub struct Undo {
    before: Option<Before>,
    /// The number of retransmissions that no D-SACK has reported, or `None` if there were none
    /// since the reduction (Linux's `undo_retrans`, where −1 means none).
    unreported: Option<u64>,
    /// The timestamp of the first retransmission.
    first_timestamp: Option<u32>,
}

/// The state before a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Congestion window, in bytes.
    pub cwnd: u64,
    /// Slow-start threshold, in bytes.
    pub ssthresh: u64,
    /// snd.una.
    pub una: u64,
}

impl Undo {
    /// Records the state before a reduction, with `retransmissions` retransmitted segments in
    /// flight (Linux's `tcp_init_undo`).
    pub fn begin(&mut self, before: Before, retransmissions: u64) {
        let unreported = (retransmissions > 0).then_some(retransmissions);
        let first_timestamp = self.first_timestamp.filter(|_| retransmissions > 0);
        *self = Self { before: Some(before), unreported, first_timestamp };
    }

    /// Records a retransmission with this timestamp.
    pub fn on_retransmission(&mut self, timestamp: Option<u32>) {
        self.unreported = Some(self.unreported.unwrap_or(0) + 1);
        self.first_timestamp = self.first_timestamp.or(timestamp);
    }

    /// Processes a D-SACK of `duplicate`, which consists of `segments` segments.
    pub fn on_dsack(&mut self, duplicate: &Range<u64>, segments: u64) {
        if self.before.is_some_and(|before| duplicate.end > before.una) {
            self.unreported = self.unreported.map(|unreported| unreported.saturating_sub(segments));
        }
    }

    /// Returns `true` if D-SACK has reported every retransmission.
    #[must_use]
    pub fn is_refuted_by_dsack(&self) -> bool {
        self.before.is_some() && self.unreported == Some(0)
    }

    /// Returns `true` if an original transmission elicited the ACK: `echo` is from before the first
    /// retransmission, or nothing was retransmitted (Linux's `tcp_packet_delayed`).
    #[must_use]
    pub fn is_refuted_by_echo(&self, echo: Option<u32>) -> bool {
        let is_before = |(echo, first): (u32, u32)| (echo.wrapping_sub(first) as i32) < 0;
        self.before.is_some() && (self.unreported.is_none() || echo.zip(self.first_timestamp).is_some_and(is_before))
    }

    /// Removes and returns the state before the reduction, if there was a reduction. Afterwards
    /// there is nothing to undo.
    pub fn take(&mut self) -> Option<Before> {
        self.before.take()
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
        undo.begin(BEFORE, 0);
        assert!(!undo.is_refuted_by_dsack(), "nothing was retransmitted yet");
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
        undo.begin(BEFORE, 0);
        undo.on_retransmission(Some(3));
        undo.on_retransmission(Some(9));
        assert!(undo.is_refuted_by_echo(Some(u32::MAX)), "timestamps wrap");
        assert!(undo.is_refuted_by_echo(Some(2)));
        assert!(!undo.is_refuted_by_echo(Some(3)), "within a tick the order is unknown");
        assert!(!undo.is_refuted_by_echo(None));
    }

    #[test]
    fn retransmissions_in_flight_before_the_reduction_must_be_reported_as_well() {
        let mut undo = Undo::default();
        undo.begin(BEFORE, 3);
        (0..2).for_each(|_| undo.on_dsack(&(1000..1100), 1));
        assert!(!undo.is_refuted_by_dsack(), "two of three");
        undo.on_dsack(&(1100..1200), 1);
        assert!(undo.is_refuted_by_dsack());
    }
}
