//! Explicit congestion notification by the counts of ACK frames (RFC 9000, §13.4).

use acklab_base::Ecn;
use acklab_wire::quic::EcnCounts;

/// The sender's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Validation {
    /// Packets leave with ECT(0), until validation fails (§13.4.2).
    is_capable: bool,
    /// Packets by their codepoint, as the peer has reported them.
    reported: EcnCounts,
}

impl Validation {
    pub(super) fn new(is_capable: bool) -> Self {
        Self { is_capable, reported: EcnCounts::default() }
    }

    /// The codepoint of what leaves.
    #[inline]
    pub(super) const fn codepoint(&self) -> Ecn {
        if self.is_capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// An ACK frame has come that acknowledges a larger number than any before it, `acknowledged` packets that were not acknowledged before,
    /// and has these counts. `sent` packets have left. Returns how many more were marked.
    ///
    /// Marking is given up if the counts cannot be true (§13.4.2.1): they are absent, fall, grow by less than was acknowledged, exceed what
    /// was sent, or name ECT(1).
    pub(super) fn on_ack(&mut self, counts: Option<&EcnCounts>, acknowledged: u64, sent: u64) -> u64 {
        if !self.is_capable {
            return 0;
        }
        let before = self.reported;
        let is_true = |counts: &&EcnCounts| {
            let (total, least) = (counts.ect0.saturating_add(counts.ce), before.ect0 + before.ce + acknowledged);
            counts.ce >= before.ce && counts.ect0 >= before.ect0 && counts.ect1 == 0 && (least..=sent).contains(&total)
        };
        let counts = match counts {
            None if acknowledged == 0 => return 0,
            counts => counts.filter(is_true),
        };
        let Some(counts) = counts else {
            self.is_capable = false;
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
        let mut validation = Validation::new(true);
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
            let mut validation = Validation::new(true);
            validation.on_ack(Some(&counts(10, 0)), 10, 30);
            assert_eq!(validation.on_ack(told.as_ref(), acknowledged, 30), 0);
            assert_eq!(validation.codepoint(), Ecn::NotEct, "{told:?}");
            assert_eq!(validation.on_ack(Some(&counts(20, 10)), 0, 30), 0, "no mark counts after that");
        }
    }

    #[test]
    fn an_ack_of_nothing_new_needs_no_counts() {
        let mut validation = Validation::new(true);
        assert_eq!((validation.on_ack(None, 0, 30), validation.codepoint()), (0, Ecn::Ect0));
    }
}
