//! The receiver's reassembly state, as a policy sees it.

use std::ops::Range;

/// The stream as it stands after an arrival, in octets from its start.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a> {
    /// The next octet expected: rcv.nxt.
    pub next: u64,
    /// What lies beyond gaps: disjoint, not touching, in order, all above `next`.
    pub beyond: &'a [Range<u64>],
    /// ACKs report what lies beyond gaps (RFC 2018).
    pub sack: bool,
    /// Of the ranges that were reported last, those that had changed after the one that the arrival
    /// extends; all of them if it begins one.
    pub newer: usize,
}

impl Held<'_> {
    /// Returns the first octet from `offset` on that has not arrived.
    #[must_use]
    pub fn first_missing_from(&self, offset: u64) -> u64 {
        let missing = offset.max(self.next);
        // Most calls look for new data.
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
