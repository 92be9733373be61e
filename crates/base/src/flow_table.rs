//! Something kept for each flow.

use crate::FlowKey;

/// A map from [`FlowKey`] that is read once a packet.
///
/// Keys are hashes already, so a key's low bits are its place, and the next free place after that if another key is there (linear
/// probing). Entries stay: a flow that has ended costs its place and no time. The order of entries is that of their insertion, so
/// whoever goes through them does so in the same order in every run.
#[derive(Clone, Debug)]
pub struct FlowTable<T> {
    entries: Vec<(FlowKey, T)>,
    /// Keys with their indices in `entries`, or [`EMPTY`]; a power of two of them, at most half of them taken.
    places: Vec<(FlowKey, u32)>,
}

const EMPTY: u32 = u32::MAX;

impl<T> Default for FlowTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> FlowTable<T> {
    /// A table without entries.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new(), places: Vec::new() }
    }

    /// What is kept for `flow`.
    #[must_use]
    #[inline]
    pub fn get(&self, flow: FlowKey) -> Option<&T> {
        self.find(flow).map(|index| &self.entries[index].1)
    }

    /// The same, to be changed.
    #[inline]
    pub fn get_mut(&mut self, flow: FlowKey) -> Option<&mut T> {
        self.find(flow).map(|index| &mut self.entries[index].1)
    }

    /// What is kept for `flow`; `make` makes it if there is nothing yet.
    pub fn entry(&mut self, flow: FlowKey, make: impl FnOnce() -> T) -> &mut T {
        let index = match self.find(flow) {
            Some(index) => index,
            None => self.push(flow, make()),
        };
        &mut self.entries[index].1
    }

    /// Keeps `value` for `flow`, and returns what was kept for it before.
    pub fn insert(&mut self, flow: FlowKey, value: T) -> Option<T> {
        match self.find(flow) {
            Some(index) => Some(std::mem::replace(&mut self.entries[index].1, value)),
            None => {
                self.push(flow, value);
                None
            }
        }
    }

    /// All entries, in the order of their insertion.
    pub fn iter(&self) -> impl Iterator<Item = (FlowKey, &T)> {
        self.entries.iter().map(|(flow, value)| (*flow, value))
    }

    #[inline]
    fn find(&self, flow: FlowKey) -> Option<usize> {
        let mask = self.places.len().checked_sub(1)?;
        let mut place = flow.0 as usize & mask;
        loop {
            match self.places[place] {
                (key, index) if key == flow && index != EMPTY => return Some(index as usize),
                (_, EMPTY) => return None,
                _ => place = (place + 1) & mask,
            }
        }
    }

    fn push(&mut self, flow: FlowKey, value: T) -> usize {
        let index = self.entries.len();
        self.entries.push((flow, value));
        if 2 * self.entries.len() > self.places.len() {
            self.places = vec![(FlowKey(0), EMPTY); (4 * self.entries.len()).next_power_of_two()];
            (0..=index).for_each(|index| self.place(index));
        } else {
            self.place(index);
        }
        index
    }

    fn place(&mut self, index: usize) {
        let mask = self.places.len() - 1;
        let flow = self.entries[index].0;
        let mut place = flow.0 as usize & mask;
        while self.places[place].1 != EMPTY {
            place = (place + 1) & mask;
        }
        self.places[place] = (flow, index as u32);
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
                // Keys that share their low bits, so that places collide.
                let flow = FlowKey(key << 4);
                prop_assert_eq!(table.insert(flow, value), map.insert(flow, value));
                prop_assert_eq!(table.get(FlowKey(key << 4 | 1)), None);
            }
            let mut sorted: Vec<_> = table.iter().map(|(flow, value)| (flow, *value)).collect();
            sorted.sort_unstable();
            prop_assert!(sorted.into_iter().eq(map));
        }
    }
}
