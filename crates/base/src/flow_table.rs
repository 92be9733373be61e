//! A map keyed by flow.

use crate::FlowKey;

/// A map from [`FlowKey`] to `T`, fast enough for one lookup per packet.
///
/// Keys are hashes already, so the low bits of a key select its slot, and collisions are resolved
/// by linear probing. Single entries are not removed, because the entry of an ended flow costs
/// memory but no time; [`forget`](Self::forget) removes many at once. Iteration follows the order
/// of insertion, so it is the same in every run.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    /// The keys and their values, in the order of insertion. A lookup reads a slot and a value, so
    /// the values are stored separately from the keys.
    keys: Vec<FlowKey>,
    values: Vec<T>,
    /// Each slot contains a key and its index in `keys`, or the index [`EMPTY`]. The number of
    /// slots is a power of two, and at most half of them are used.
    slots: Vec<(FlowKey, u32)>,
    /// The number of entries at which [`forget`](Self::forget) begins to search for removable ones.
    crowded: usize,
}

/// The index of an unused slot.
const EMPTY: u32 = u32::MAX;

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> FlowTable<T> {
    /// The number of entries below which [`forget`](Self::forget) removes none.
    pub const FEW: usize = 1024;

    /// Returns a table without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { keys: Vec::new(), values: Vec::new(), slots: Vec::new(), crowded: Self::FEW }
    }

    /// Returns the value of `flow`.
    #[must_use]
    #[inline]
    pub fn get(&self, flow: FlowKey) -> Option<&T> {
        self.find(flow).map(|index| &self.values[index])
    }

    /// Returns the value of `flow`, mutable.
    #[inline]
    pub fn get_mut(&mut self, flow: FlowKey) -> Option<&mut T> {
        self.find(flow).map(|index| &mut self.values[index])
    }

    /// Returns the value of `flow`, and inserts the result of `make` if there is none.
    pub fn entry(&mut self, flow: FlowKey, make: impl FnOnce() -> T) -> &mut T {
        let index = match self.find(flow) {
            Some(index) => index,
            None => self.push(flow, make()),
        };
        &mut self.values[index]
    }

    /// Sets the value of `flow`, and returns the previous one.
    pub fn insert(&mut self, flow: FlowKey, value: T) -> Option<T> {
        match self.find(flow) {
            Some(index) => Some(std::mem::replace(&mut self.values[index], value)),
            None => {
                self.push(flow, value);
                None
            }
        }
    }

    /// Returns the number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns `true` if there are no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Removes the entries that `keep` rejects, if the table has many entries. It examines all
    /// entries when the table has [`FEW`](Self::FEW) entries, and again each time the number of
    /// entries has doubled. So one call per insertion takes constant time on average.
    #[inline]
    pub fn forget(&mut self, keep: impl FnMut(&T) -> bool) {
        if self.keys.len() >= self.crowded {
            self.retain(keep);
            self.crowded = Self::FEW.max(2 * self.keys.len());
        }
    }

    #[inline(never)]
    fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let (keys, values) = (std::mem::take(&mut self.keys), std::mem::take(&mut self.values));
        (self.keys, self.values) = keys.into_iter().zip(values).filter(|(_, value)| keep(value)).unzip();
        self.rebuild();
    }

    /// Returns all entries, in the order of their insertion.
    pub fn iter(&self) -> impl Iterator<Item = (FlowKey, &T)> {
        self.keys.iter().copied().zip(&self.values)
    }

    #[inline]
    fn find(&self, flow: FlowKey) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = flow.0 as usize & mask;
        loop {
            match self.slots[slot] {
                (key, index) if key == flow && index != EMPTY => return Some(index as usize),
                (_, EMPTY) => return None,
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn push(&mut self, flow: FlowKey, value: T) -> usize {
        let index = self.keys.len();
        self.keys.push(flow);
        self.values.push(value);
        if 2 * self.keys.len() > self.slots.len() {
            self.rebuild();
        } else {
            self.fill_slot(index);
        }
        index
    }

    /// Rebuilds the slots from the entries.
    fn rebuild(&mut self) {
        self.slots = vec![(FlowKey(0), EMPTY); (2 * self.keys.len() + 1).next_power_of_two()];
        (0..self.keys.len()).for_each(|index| self.fill_slot(index));
    }

    fn fill_slot(&mut self, index: usize) {
        let mask = self.slots.len() - 1;
        let flow = self.keys[index];
        let mut slot = flow.0 as usize & mask;
        while self.slots[slot].1 != EMPTY {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (flow, index as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_agrees_with_a_map(steps in proptest::collection::vec((0u64..40, any::<u8>()), 0..300)) {
            let (mut table, mut map) = (FlowTable::new(), BTreeMap::new());
            for (key, value) in steps {
                // Keys share their low bits, so that slots collide.
                let flow = FlowKey(key << 4);
                prop_assert_eq!(table.insert(flow, value), map.insert(flow, value));
                prop_assert_eq!(table.get(FlowKey(key << 4 | 1)), None);
            }
            let mut sorted: Vec<_> = table.iter().map(|(flow, value)| (flow, *value)).collect();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(map.clone()));
            table.retain(|value| *value % 3 == 0);
            map.retain(|_, value| *value % 3 == 0);
            prop_assert_eq!(table.len(), map.len());
            prop_assert_eq!(table.is_empty(), map.is_empty());
            for key in (0..40).map(|key| FlowKey(key << 4)) {
                prop_assert_eq!(table.get(key), map.get(&key));
            }
        }
    }

    #[test]
    fn many_are_forgotten_and_few_are_not() {
        let few = FlowTable::<u64>::FEW as u64;
        let mut table = FlowTable::new();
        let mut insert = |keys: std::ops::Range<u64>, kept: u64| {
            for key in keys {
                table.forget(|value| *value < kept);
                table.insert(FlowKey(key), key);
            }
            table.len() as u64
        };
        assert_eq!(insert(0..few, 0), few, "unwanted, but few");
        assert_eq!(insert(few..few + 1, 900), 901, "one more, and the others are the first 900");
        assert_eq!(insert(few + 1..few + 900, 0), 1800, "until there are twice as many");
        assert_eq!(insert(few + 900..few + 901, 0), 1);
    }
}
