//! An indexed heap: at most one deadline a machine, which moves when it changes.

use acklab_base::Instant;

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// Deadlines of machines, the earliest on top; of equal ones, that of the lowest machine.
#[derive(Clone, Debug)]
pub(crate) struct DeadlineHeap {
    entries: Vec<(Instant, u32)>,
    place: Vec<u32>,
}

impl DeadlineHeap {
    pub(crate) fn new(machines: usize) -> Self {
        Self { entries: Vec::with_capacity(machines), place: vec![ABSENT; machines] }
    }

    pub(crate) fn peek(&self) -> Option<(Instant, u32)> {
        self.entries.first().copied()
    }

    /// The deadline of `machine` is now this.
    pub(crate) fn set(&mut self, machine: u32, deadline: Option<Instant>) {
        let place = self.place[machine as usize];
        match (deadline, place) {
            (None, ABSENT) => {}
            (None, place) => self.remove(place as usize),
            (Some(at), ABSENT) => {
                self.entries.push((at, machine));
                self.sift_up(self.entries.len() - 1, (at, machine));
            }
            (Some(at), place) => {
                let before = self.entries[place as usize].0;
                if at < before {
                    self.sift_up(place as usize, (at, machine));
                } else if at > before {
                    self.sift_down(place as usize, (at, machine));
                }
            }
        }
    }

    fn remove(&mut self, place: usize) {
        let (_, machine) = self.entries[place];
        self.place[machine as usize] = ABSENT;
        let Some(last) = self.entries.pop() else { return };
        if place == self.entries.len() {
            return;
        }
        if place > 0 && last < self.entries[(place - 1) / ARITY] {
            self.sift_up(place, last);
        } else {
            self.sift_down(place, last);
        }
    }

    fn put(&mut self, place: usize, entry: (Instant, u32)) {
        self.entries[place] = entry;
        self.place[entry.1 as usize] = place as u32;
    }

    fn sift_up(&mut self, mut place: usize, entry: (Instant, u32)) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.entries[parent] <= entry {
                break;
            }
            self.put(place, self.entries[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sift_down(&mut self, mut place: usize, entry: (Instant, u32)) {
        loop {
            let first = place * ARITY + 1;
            let children = first..(first + ARITY).min(self.entries.len());
            let Some(least) = children.min_by_key(|child| self.entries[*child]) else { break };
            if self.entries[least] >= entry {
                break;
            }
            self.put(place, self.entries[least]);
            place = least;
        }
        self.put(place, entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_top_is_always_the_earliest(steps in proptest::collection::vec((0u32..20, proptest::option::of(0u64..50)), 1..400)) {
            let (mut heap, mut plain) = (DeadlineHeap::new(20), [None; 20]);
            for (machine, deadline) in steps {
                let deadline = deadline.map(Instant::from_nanos);
                heap.set(machine, deadline);
                plain[machine as usize] = deadline;
                let earliest = plain.iter().zip(0u32..).filter_map(|(at, machine)| at.map(|at| (at, machine))).min();
                prop_assert_eq!(heap.peek(), earliest);
            }
        }
    }
}
