//! Explicit congestion notification by the counts of RFC 9000, §13.4.
//!
//! Packets with octets of streams leave as ECT(0); their numbers are new even where the octets are
//! not, so that what RFC 3168, §6.1.5, has against retransmissions does not hold. The receiver
//! counts what arrives by codepoint, and every TACK comes with the counts once there are any: a
//! mark waits for the next TACK and asks for none. Counts are cumulative, so that a TACK that is
//! lost loses none. A sender whose counts fall short of what was acknowledged takes it that the
//! path clears or changes codepoints, and sends no more of them. A TACK whose counts are below
//! those of an earlier one is refused, for no path makes a count smaller.

use super::refusal::Refusal;
use acklab_base::Ecn;
use acklab_wire::tack::EcnCounts;

/// The sender's part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validation {
    is_capable: bool,
    /// Packets that left as ECT(0).
    sent: u64,
    /// Of those, packets that were acknowledged, now and when the last TACK came.
    acknowledged: u64,
    acknowledged_before: u64,
    /// The counts that were reported last.
    reported: EcnCounts,
    /// The counts that have come with the TACK that is read next.
    read: EcnCounts,
}

impl Validation {
    pub(super) fn new(is_capable: bool) -> Self {
        Self { is_capable, ..Self::default() }
    }

    /// A packet with octets of a stream leaves. Returns its codepoint.
    #[inline]
    pub(super) fn on_sent(&mut self) -> Ecn {
        self.sent += u64::from(self.is_capable);
        if self.is_capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// A packet with octets of a stream was acknowledged.
    #[inline]
    pub(super) fn on_acknowledged(&mut self) {
        self.acknowledged += u64::from(self.is_capable);
    }

    /// Counts have come.
    pub(super) fn read(&mut self, counts: EcnCounts) -> Result<(), Refusal> {
        if total(counts) > self.sent {
            return Err(Refusal::NeverSent);
        }
        self.read = counts;
        Ok(())
    }

    /// A TACK has come, newer than any. Returns how many more packets were marked.
    ///
    /// # Errors
    /// If a count is below that of an earlier TACK. Nothing of it counts then.
    pub(super) fn on_tack(&mut self) -> Result<u64, Refusal> {
        let counts = std::mem::take(&mut self.read);
        if counts.ect0 < self.reported.ect0 || counts.ce < self.reported.ce {
            return Err(Refusal::Counts);
        }
        // What was known to have arrived when the last TACK came is in the counts of this one, even
        // if IACKs overtake TACKs (RFC 9000, §13.4.2.1).
        let known = std::mem::replace(&mut self.acknowledged_before, self.acknowledged);
        self.is_capable &= total(counts) >= known;
        let marked = counts.ce - self.reported.ce;
        self.reported = counts;
        Ok(marked.into())
    }
}

fn total(counts: EcnCounts) -> u64 {
    u64::from(counts.ect0) + u64::from(counts.ce)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends `packets`, has them acknowledged, and reads these counts.
    fn tack(validation: &mut Validation, packets: u64, ect0: u32, ce: u32) -> u64 {
        for _ in 0..packets {
            let _ = validation.on_sent();
            validation.on_acknowledged();
        }
        validation.read(EcnCounts { ect0, ce }).unwrap();
        validation.on_tack().unwrap()
    }

    #[test]
    fn marks_are_counted_once() {
        let mut validation = Validation::new(true);
        let marked = [(10, 10, 0), (10, 17, 3), (0, 17, 3), (10, 25, 5)]
            .map(|(packets, ect0, ce)| tack(&mut validation, packets, ect0, ce));
        assert_eq!(marked, [0, 3, 0, 2]);
        assert_eq!(validation.on_sent(), Ecn::Ect0);
    }

    #[test]
    fn a_path_that_clears_codepoints_gets_no_more() {
        let mut validation = Validation::new(true);
        assert_eq!(tack(&mut validation, 10, 4, 0), 0);
        assert_eq!(validation.on_sent(), Ecn::Ect0, "an IACK may have overtaken this TACK");
        tack(&mut validation, 0, 4, 0);
        assert_eq!(validation.on_sent(), Ecn::NotEct);
    }

    #[test]
    fn counts_that_run_backwards_are_refused() {
        let mut validation = Validation::new(true);
        tack(&mut validation, 10, 6, 4);
        for counts in [EcnCounts { ect0: 7, ce: 3 }, EcnCounts { ect0: 5, ce: 5 }, EcnCounts::default()] {
            validation.read(counts).unwrap();
            assert_eq!(validation.on_tack(), Err(Refusal::Counts), "{counts:?}");
        }
        assert_eq!(tack(&mut validation, 1, 6, 5), 1, "what is refused has no effect");
    }

    #[test]
    fn more_than_was_sent_is_refused() {
        let mut validation = Validation::new(true);
        let _ = validation.on_sent();
        assert_eq!(validation.read(EcnCounts { ect0: 1, ce: 1 }), Err(Refusal::NeverSent));
        assert_eq!(validation.on_tack(), Ok(0));
    }

    #[test]
    fn without_ecn_no_packet_is_capable() {
        let mut validation = Validation::new(false);
        assert_eq!(validation.on_sent(), Ecn::NotEct);
        assert_eq!(validation.read(EcnCounts { ect0: 1, ce: 0 }), Err(Refusal::NeverSent));
    }
}
