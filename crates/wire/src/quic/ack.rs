//! ACK frames (RFC 9000, §19.3).

use crate::varint;
use std::ops::Range;

/// An ACK frame.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// The packet numbers that have arrived: one range at least, the highest first, none empty, and with a gap between any two.
    pub ranges: Vec<Range<u64>>,
    /// How long the largest of them has waited for this frame, in units of 2^`ack_delay_exponent` microseconds.
    pub delay: u64,
    /// How the packets of this packet number space were marked on arrival, if that is reported.
    pub ecn: Option<EcnCounts>,
}

impl Clone for Ack {
    fn clone(&self) -> Self {
        Self { ranges: self.ranges.clone(), ..*self }
    }

    /// Uses the memory of `self` again.
    fn clone_from(&mut self, source: &Self) {
        self.ranges.clone_from(&source.ranges);
        (self.delay, self.ecn) = (source.delay, source.ecn);
    }
}

/// Counts of packets by the ECN field with which they arrived (§19.3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EcnCounts {
    /// ECT(0).
    pub ect0: u64,
    /// ECT(1).
    pub ect1: u64,
    /// CE.
    pub ce: u64,
}

impl Ack {
    /// The largest number that is acknowledged, or `None` if there is no range.
    #[must_use]
    pub fn largest(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.end - 1)
    }

    /// The fields of the ranges behind the first, with the first ACK range among them: gap and length of each.
    pub(super) fn fields(&self) -> impl Iterator<Item = (u64, u64)> {
        let behind = self.ranges.iter().skip(1);
        self.ranges.iter().zip(behind).map(|(above, range)| (above.start - range.end - 1, range.end - range.start - 1))
    }

    /// The first ACK range: the numbers below the largest that are acknowledged with it.
    pub(super) fn first_range(&self) -> u64 {
        self.ranges.first().map_or(0, |range| range.end - range.start - 1)
    }

    /// Octets of the frame.
    #[must_use]
    pub fn wire_len(&self) -> u64 {
        let ranges: u64 = self.fields().map(|(gap, length)| varint::len(gap) + varint::len(length)).sum();
        let ecn = self.ecn.map_or(0, |counts| [counts.ect0, counts.ect1, counts.ce].map(varint::len).iter().sum());
        let fixed = [self.largest().unwrap_or(0), self.delay, self.ranges.len() as u64 - 1, self.first_range()];
        1 + fixed.map(varint::len).iter().sum::<u64>() + ranges + ecn
    }
}
