//! Explicit congestion notification by the counts of RFC 9000, §13.4.
//!
//! Packets with stream data are sent as ECT(0). RFC 3168, §6.1.5, forbids ECN-capable
//! retransmissions because a TCP segment keeps its sequence number. TACK retransmits data in
//! packets with new numbers, so the reason does not apply. The receiver counts arrivals by
//! codepoint. After the first such arrival, every TACK carries the counts. A mark is reported by
//! the next TACK and does not trigger one. Counts are cumulative, so that a lost TACK loses no
//! marks.
//!
//! If the counts are less than the number of acknowledged ECT(0) packets, the sender assumes that
//! the path clears or changes codepoints. It then stops sending ECT(0). A TACK with counts below
//! those of an earlier TACK is refused, because counts never decrease.

use super::refusal::Refusal;
use acklab_base::Ecn;
use acklab_wire::tack::EcnCounts;

/// The sender's state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Validation {
    is_capable: bool,
    /// Number of packets sent as ECT(0).
    sent: u64,
    /// Number of ECT(0) packets that were acknowledged: now, and when the last TACK arrived.
    acknowledged: u64,
    acknowledged_before: u64,
    /// The counts in the last TACK that was processed.
    reported: EcnCounts,
    /// The counts in the TACK that is processed next.
    read: EcnCounts,
}

impl Validation {
    pub(super) fn new(is_capable: bool) -> Self {
        Self { is_capable, ..Self::default() }
    }

    /// Records that a packet with stream data is sent. Returns its codepoint.
    #[inline]
    pub(super) fn on_sent(&mut self) -> Ecn {
        self.sent += u64::from(self.is_capable);
        if self.is_capable { Ecn::Ect0 } else { Ecn::NotEct }
    }

    /// Records that a packet with stream data was acknowledged.
    #[inline]
    pub(super) fn on_acknowledged(&mut self) {
        self.acknowledged += u64::from(self.is_capable);
    }

    /// Reads counts that have arrived.
    pub(super) fn read(&mut self, counts: EcnCounts) -> Result<(), Refusal> {
        if total(counts) > self.sent {
            return Err(Refusal::NeverSent);
        }
        self.read = counts;
        Ok(())
    }

    /// Handles a TACK with a larger number than all TACKs before. Returns the number of newly
    /// marked packets.
    ///
    /// # Errors
    /// If a count is below the count of an earlier TACK. Then all counts of the TACK are ignored.
    pub(super) fn on_tack(&mut self) -> Result<u64, Refusal> {
        let counts = std::mem::take(&mut self.read);
        if counts.ect0 < self.reported.ect0 || counts.ce < self.reported.ce {
            return Err(Refusal::Counts);
        }
        // The counts of this TACK include every packet that was acknowledged before the last TACK,
        // even if IACKs overtake TACKs (RFC 9000, §13.4.2.1).
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

    /// Sends `packets`, acknowledges them, and reads these counts.
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
