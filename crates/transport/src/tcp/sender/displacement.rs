//! Measures the displacement of packets on the path, if the rules of the stack require it (Linux's
//! `tcp_check_sack_reordering`).

use super::super::rules::ReorderingDegree;
use super::Sender;
use super::summary::AckSummary;
use std::ops::Range;

impl Sender {
    /// Measures the displacement that follows from the present ACK.
    #[inline]
    pub(super) fn note_displacement(&mut self) {
        if let Some(from) = self.board.delivery().reordered_from {
            self.measure_displacement(from);
        }
    }

    /// Measures data at `from` that arrived later than all data up to the highest acknowledged
    /// byte.
    #[inline(never)]
    pub(super) fn measure_displacement(&mut self, from: u64) {
        if self.rules.reordering_degree == ReorderingDegree::Measured && from < self.board.fack() {
            self.loss.reordering.on_displacement(self.board.fack() - from, self.congestion.control.window.mss);
            self.loss.rack.on_reordering();
        }
    }

    /// Processes a D-SACK for a segment whose retransmission was spurious (`tcp_sacktag_one`).
    pub(super) fn note_needless_retransmission(&mut self, duplicate: &Range<u64>) {
        if self.board.is_retransmitted_and_sacked(duplicate.start) {
            self.measure_displacement(duplicate.start);
        }
    }

    /// Returns the bytes by which an ACK increases the window without advancing snd.una. With high
    /// reordering, these are the SACKed bytes (Linux's `tcp_may_raise_cwnd`).
    pub(super) fn growth_out_of_order(&self, summary: &AckSummary) -> u64 {
        let grows = self.loss.reordering.is_high() && summary.advance.bytes == 0 && !summary.is_old;
        if grows { summary.newly_sacked } else { 0 }
    }
}
