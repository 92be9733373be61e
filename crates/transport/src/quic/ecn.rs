//! Explicit congestion notification by the counts of ACK frames (RFC 9000, §13.4).

use acklab_base::Ecn;
use acklab_wire::quic::EcnCounts;

/// The sender's state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validation {
    /// The codepoint of outgoing packets, until validation fails (§13.4.2).
    codepoint: Ecn,
    /// The number of packets by codepoint, as the peer last reported.
    reported: EcnCounts,
}

impl Validation {
    /// Creates the state of a sender of packets with this codepoint.
    pub(super) fn new(codepoint: Ecn) -> Self {
        Self { codepoint, reported: EcnCounts::default() }
    }

    /// Returns the codepoint of outgoing packets.
    #[inline]
    pub(super) const fn codepoint(&self) -> Ecn {
        self.codepoint
    }

    /// Handles an ACK frame with these counts. The frame acknowledges a larger number than any
    /// earlier frame. `acknowledged` packets are newly acknowledged, and `sent` packets were sent
    /// in total. Returns the number of newly marked packets.
    ///
    /// Marking is disabled if the counts are impossible (§13.4.2.1). Counts are impossible if they
    /// are absent, decrease, grow by less than `acknowledged`, exceed `sent`, or include the other
    /// ECT codepoint.
    pub(super) fn on_ack(&mut self, counts: Option<&EcnCounts>, acknowledged: u64, sent: u64) -> u64 {
        if self.codepoint == Ecn::NotEct {
            return 0;
        }
        let before = self.reported;
        let is_l4s = self.codepoint == Ecn::Ect1;
        let of = |counts: &EcnCounts| if is_l4s { (counts.ect1, counts.ect0) } else { (counts.ect0, counts.ect1) };
        let is_true = |counts: &&EcnCounts| {
            let ((own, other), (own_before, _)) = (of(counts), of(&before));
            let (total, least) = (own.saturating_add(counts.ce), own_before + before.ce + acknowledged);
            counts.ce >= before.ce && own >= own_before && other == 0 && (least..=sent).contains(&total)
        };
        let counts = match counts {
            None if acknowledged == 0 => return 0,
            counts => counts.filter(is_true),
        };
        let Some(counts) = counts else {
            self.codepoint = Ecn::NotEct;
            return 0;
        };
        self.reported = *counts;
        counts.ce - before.ce
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn counts(ect0: u64, ce: u64) -> EcnCounts {
        EcnCounts { ect0, ect1: 0, ce }
    }

    #[test]
    fn marks_are_counted_once() {
        let mut validation = Validation::new(Ecn::Ect0);
        let marked =
            [(10, 0), (17, 3), (17, 3), (25, 5)].map(|(ect0, ce)| validation.on_ack(Some(&counts(ect0, ce)), 0, 30));
        assert_eq!((marked, validation.codepoint()), ([0, 3, 0, 2], Ecn::Ect0));
    }

    #[test]
    fn counts_that_cannot_be_true_end_marking() {
        let ect1 = EcnCounts { ect1: 1, ..counts(10, 0) };
        for (told, acknowledged) in
            [(None, 1), (Some(counts(9, 0)), 0), (Some(counts(10, 0)), 1), (Some(counts(30, 1)), 1), (Some(ect1), 0)]
        {
            let mut validation = Validation::new(Ecn::Ect0);
            validation.on_ack(Some(&counts(10, 0)), 10, 30);
            assert_eq!(validation.on_ack(told.as_ref(), acknowledged, 30), 0);
            assert_eq!(validation.codepoint(), Ecn::NotEct, "{told:?}");
            assert_eq!(validation.on_ack(Some(&counts(20, 10)), 0, 30), 0, "no mark counts after that");
        }
    }

    #[test]
    fn l4s_is_counted_as_ect1() {
        let mut validation = Validation::new(Ecn::Ect1);
        let l4s = EcnCounts { ect0: 0, ect1: 17, ce: 3 };
        assert_eq!((validation.on_ack(Some(&l4s), 20, 30), validation.codepoint()), (3, Ecn::Ect1));
        assert_eq!(validation.on_ack(Some(&EcnCounts { ect0: 1, ..l4s }), 0, 30), 0);
        assert_eq!(validation.codepoint(), Ecn::NotEct, "another codepoint than was sent");
    }

    #[test]
    fn an_ack_of_nothing_new_needs_no_counts() {
        let mut validation = Validation::new(Ecn::Ect0);
        assert_eq!((validation.on_ack(None, 0, 30), validation.codepoint()), (0, Ecn::Ect0));
    }
}
