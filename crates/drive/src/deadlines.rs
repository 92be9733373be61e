//! Stores one deadline per machine, with fast access to the earliest.
//!
//! The deadlines form a tournament tree. The leaves are the deadlines of the machines. Each inner
//! node is the earliest of its eight children, which share a cache line. Setting a deadline updates
//! the nodes above its leaf, up to the first node that does not change. For a timer that is
//! postponed repeatedly, this is the first node above the leaf. There are no stale entries. Among
//! equal deadlines, the lowest machine ID is first.

use acklab_base::Instant;

/// The number of children of a node.
const ARITY: usize = 8;

/// Deadlines of machines 0 to n − 1.
#[derive(Clone, Debug)]
pub(crate) struct Deadlines {
    /// The children of each inner node, beginning with the root. The children of slot `i` of group
    /// `g` are group `ARITY · g + i + 1`. [`Instant::FAR_FUTURE`] represents no deadline.
    groups: Vec<[Instant; ARITY]>,
    /// The first group of leaves.
    leaves: usize,
}

impl Deadlines {
    pub(crate) fn new(machines: usize) -> Self {
        let (mut leaves, mut width) = (0, 1);
        while width * ARITY < machines {
            leaves += width;
            width *= ARITY;
        }
        Self { groups: vec![[Instant::FAR_FUTURE; ARITY]; leaves + width], leaves }
    }

    /// Extends the tree to `machines` machines. The new machines have no deadline.
    pub(crate) fn grow(&mut self, machines: usize) {
        let known = &self.groups[self.leaves..];
        if machines <= known.len() * ARITY {
            return;
        }
        let mut larger = Self::new(machines);
        for (machine, at) in known.as_flattened().iter().enumerate().filter(|(_, at)| **at != Instant::FAR_FUTURE) {
            larger.set(machine as u32, Some(*at));
        }
        *self = larger;
    }

    /// Returns the earliest deadline and its machine.
    #[inline]
    pub(crate) fn earliest(&self) -> Option<(Instant, u32)> {
        let at = earliest_of(&self.groups[0]);
        if at == Instant::FAR_FUTURE {
            return None;
        }
        let mut group = 0;
        loop {
            let slot = self.groups[group].iter().take_while(|child| **child != at).count();
            if group >= self.leaves {
                return Some((at, ((group - self.leaves) * ARITY + slot) as u32));
            }
            group = ARITY * group + slot + 1;
        }
    }

    /// Sets the deadline of `machine`.
    #[inline]
    pub(crate) fn set(&mut self, machine: u32, deadline: Option<Instant>) {
        let (mut group, mut slot) = (self.leaves + machine as usize / ARITY, machine as usize % ARITY);
        let mut winner = deadline.unwrap_or(Instant::FAR_FUTURE);
        loop {
            let children = &mut self.groups[group];
            if children[slot] == winner {
                return;
            }
            children[slot] = winner;
            if group == 0 {
                return;
            }
            winner = earliest_of(children);
            (group, slot) = ((group - 1) / ARITY, (group - 1) % ARITY);
        }
    }
}

/// Compares in pairs, so that no comparison waits for more than two others.
#[inline]
fn earliest_of(children: &[Instant; ARITY]) -> Instant {
    let [a, b, c, d, e, f, g, h] = *children;
    a.min(b).min(c.min(d)).min(e.min(f).min(g.min(h)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_wins_and_of_equals_the_lowest_machine(
            machines in 1usize..200,
            steps in proptest::collection::vec((0usize..200, proptest::option::of(0u64..50)), 1..400),
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
