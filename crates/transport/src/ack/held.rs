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
}

impl Held<'_> {
    /// The first octet from `offset` on that has not arrived.
    #[must_use]
    pub fn first_missing_from(&self, offset: u64) -> u64 {
        let missing = offset.max(self.next);
        let after = self.beyond.partition_point(|range| range.end <= missing);
        self.beyond.get(after).filter(|range| range.start <= missing).map_or(missing, |range| range.end)
    }

    /// Returns `true` if `start..end` is a range of its own, not adjacent to another.
    #[must_use]
    pub fn is_isolated(&self, start: u64, end: u64) -> bool {
        let place = self.beyond.partition_point(|range| range.start < start);
        self.beyond.get(place).is_some_and(|range| *range == (start..end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_missing_octet_lies_below_between_or_above_what_is_held() {
        let beyond = [20..30, 40..50];
        let held = Held { next: 10, beyond: &beyond, sack: true };
        let missing = [0, 10, 15, 20, 25, 35, 40, 60].map(|offset| held.first_missing_from(offset));
        assert_eq!(missing, [10, 10, 15, 30, 30, 35, 50, 60]);
        assert!(held.is_isolated(20, 30) && !held.is_isolated(20, 25));
    }
}
