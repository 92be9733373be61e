//! Overlaps of PPDUs on the air.

use crate::reception::Interferer;
use std::collections::BTreeMap;

/// The PPDUs that overlap with each PPDU on the air, in the order in which they began.
///
/// A collision of n PPDUs has n² overlaps, so there is one list per PPDU: a single list would be
/// searched n times.
#[derive(Clone, Debug, Default)]
pub(super) struct Overlaps {
    of: BTreeMap<u64, Vec<Interferer>>,
    /// Reused memory of discarded lists.
    spare: Vec<Vec<Interferer>>,
}

impl Overlaps {
    /// Returns `true` if no PPDUs on the air overlap.
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Adds `other`, which interferes with the PPDU of this number.
    pub(super) fn add(&mut self, number: u64, other: Interferer) {
        self.of.entry(number).or_insert_with(|| self.spare.pop().unwrap_or_default()).push(other);
    }

    /// Returns the PPDUs that interfere with the PPDU of this number.
    pub(super) fn with(&self, number: u64) -> &[Interferer] {
        self.of.get(&number).map_or(&[], Vec::as_slice)
    }

    /// Discards the interferers of the PPDU of this number.
    pub(super) fn forget(&mut self, number: u64) {
        if let Some(mut list) = self.of.remove(&number) {
            list.clear();
            self.spare.push(list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ppdu_has_those_that_overlap_with_it() {
        let mut overlaps = Overlaps::default();
        let other = |from| Interferer { from, is_earlier: from == 2 };
        assert!(overlaps.is_empty());
        [(7, 1), (8, 2), (7, 3)].into_iter().for_each(|(number, from)| overlaps.add(number, other(from)));
        let senders = |overlaps: &Overlaps, number| -> Vec<usize> {
            overlaps.with(number).iter().map(|other| other.from).collect()
        };
        assert_eq!([7, 8, 9].map(|number| senders(&overlaps, number)), [vec![1, 3], vec![2], vec![]]);
        overlaps.forget(7);
        overlaps.forget(9);
        assert_eq!([7, 8].map(|number| senders(&overlaps, number)), [vec![], vec![2]]);
        overlaps.add(10, other(4));
        assert_eq!(senders(&overlaps, 10), [4], "the reused memory is empty");
        [8, 10].into_iter().for_each(|number| overlaps.forget(number));
        assert!(overlaps.is_empty());
    }
}
