//! Which way a flow goes.

use crate::scenario::{Flow, Link};
use std::collections::{BTreeMap, VecDeque};

/// Direction `2i` is link `i` forward, `2i + 1` the same link in reverse.
pub(crate) type Direction = usize;

/// The directions that a flow's data passes, in order; those of its ACKs are the same links the other way, backwards.
///
/// The way of the fewest links is taken, and of equal ones the one whose links stand first in the scenario. Nothing, if the
/// nodes are not connected.
pub(crate) fn route(links: &[Link], flow: &Flow) -> Option<Vec<Direction>> {
    let mut came_by: BTreeMap<&str, Option<Direction>> = BTreeMap::from([(flow.from.as_str(), None)]);
    let mut frontier = VecDeque::from([flow.from.as_str()]);
    while let Some(node) = frontier.pop_front() {
        for (index, link) in links.iter().enumerate() {
            for (direction, from, to) in [(2 * index, &link.from, &link.to), (2 * index + 1, &link.to, &link.from)] {
                if from == node && !came_by.contains_key(to.as_str()) {
                    came_by.insert(to, Some(direction));
                    frontier.push_back(to);
                }
            }
        }
    }
    let mut path = Vec::new();
    let mut node = flow.to.as_str();
    while let Some(direction) = *came_by.get(node)? {
        path.push(direction);
        let link = &links[direction / 2];
        node = if direction % 2 == 0 { &link.from } else { &link.to };
    }
    path.reverse();
    Some(path)
}

/// The way back.
pub(crate) fn reversed(path: &[Direction]) -> Vec<Direction> {
    path.iter().rev().map(|direction| direction ^ 1).collect()
}
