//! One deadline per machine, with fast access to the earliest.
//!
//! The deadlines form a tournament tree: the leaves are the deadlines of the machines, and each inner node is the earlier of its two
//! children. Setting a deadline updates the nodes above its leaf and stops at the first that does not change; for a timer that is
//! postponed again and again, that is the first node. There are no stale entries. Of equal deadlines, that of the lowest machine wins.

use acklab_base::Instant;

/// Deadlines of machines 0 to n − 1.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    /// The number of leaves: a power of two, at least the number of machines.
    leaves: usize,
    /// Node 1 is the root; the children of node `i` are `2i` and `2i + 1`. [`Instant::FAR_FUTURE`] stands for no deadline.
    nodes: Vec<Instant>,
}

impl Deadlines {
    pub(crate) fn new(machines: usize) -> Self {
        let leaves = machines.next_power_of_two();
        Self { leaves, nodes: vec![Instant::FAR_FUTURE; 2 * leaves] }
    }

    /// Grows to `machines` machines; the new ones have no deadline.
    pub(crate) fn grow(&mut self, machines: usize) {
        if machines <= self.leaves {
            return;
        }
        let mut larger = Self::new(machines);
        for (machine, at) in self.nodes[self.leaves..].iter().enumerate().filter(|(_, at)| **at != Instant::FAR_FUTURE)
        {
            larger.set(machine as u32, Some(*at));
        }
        *self = larger;
    }

    /// The earliest deadline and its machine.
    pub(crate) fn earliest(&self) -> Option<(Instant, u32)> {
        let at = self.nodes[1];
        if at == Instant::FAR_FUTURE {
            return None;
        }
        let mut node = 1;
        while node < self.leaves {
            node *= 2;
            node += usize::from(self.nodes[node] != at);
        }
        Some((at, (node - self.leaves) as u32))
    }

    /// Sets the deadline of `machine`.
    pub(crate) fn set(&mut self, machine: u32, deadline: Option<Instant>) {
        let mut node = self.leaves + machine as usize;
        let mut winner = deadline.unwrap_or(Instant::FAR_FUTURE);
        while self.nodes[node] != winner {
            self.nodes[node] = winner;
            if node == 1 {
                return;
            }
            winner = winner.min(self.nodes[node ^ 1]);
            node /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_wins_and_of_equals_the_lowest_machine(
            machines in 1usize..20,
            steps in proptest::collection::vec((0usize..20, proptest::option::of(0u64..50)), 1..400),
        ) {
            let (mut deadlines, mut plain) = (Deadlines::new(1), vec![None; machines]);
            deadlines.grow(machines);
            for (machine, deadline) in steps {
                let (machine, deadline) = (machine % machines, deadline.map(Instant::from_nanos));
                deadlines.set(machine as u32, deadline);
                plain[machine] = deadline;
                let earliest = plain.iter().zip(0u32..).filter_map(|(at, machine)| at.map(|at| (at, machine))).min();
                prop_assert_eq!(deadlines.earliest(), earliest);
            }
        }
    }
}
