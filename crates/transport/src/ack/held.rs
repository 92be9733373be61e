//! The receiver's reassembly state that policies read.

use std::ops::Range;

/// The stream after an arrival, in bytes from its start.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The next byte expected: rcv.nxt.
    pub next: u64,
    /// The ranges beyond gaps: disjoint, not touching, in order, all above `next`.
    pub beyond: &'a [Range<u64>],
    /// `true` if ACKs report the ranges beyond gaps (RFC 2018).
    pub sack: bool,
    /// The number of ranges in the last report that are newer than the range that the arrival
    /// extends. If the arrival begins a range, all ranges in the report are newer.
    pub newer: usize,
}

impl Held<'_> {
    /// Returns the first byte from `offset` on that has not arrived.
    #[must_use]
    pub fn first_missing_from(&self, offset: u64) -> u64 {
        let missing = offset.max(self.next);
        // Most calls concern new data.
        if let Some(last) = self.beyond.last().filter(|last| last.start <= missing) {
            return missing.max(last.end);
        }
        let after = self.beyond.partition_point(|range| range.end <= missing);
        self.beyond.get(after).filter(|range| range.start <= missing).map_or(missing, |range| range.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_missing_octet_lies_below_between_or_above_what_is_held() {
        let beyond = [20..30, 40..50];
        let held = Held { next: 10, beyond: &beyond, sack: true, newer: 0 };
        let missing = [0, 10, 15, 20, 25, 35, 40, 60].map(|offset| held.first_missing_from(offset));
        assert_eq!(missing, [10, 10, 15, 30, 30, 35, 50, 60]);
    }
}
