//! Nodes, the hops between them, and the next hop to each destination.

use acklab_base::NodeId;
use std::collections::VecDeque;

/// One step of a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Over a link direction. Direction `2i` is link `i` forward, `2i + 1` the same link in reverse.
    Link(usize),
    /// Through a cell, from one of its nodes to another; the access point is node 0.
    Cell {
        /// Which cell.
        cell: usize,
        /// The cell's node where it begins.
        from: usize,
        /// The cell's node where it ends.
        to: usize,
    },
}

impl Hop {
    /// The same the other way.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Link(direction) => Self::Link(direction ^ 1),
            Self::Cell { cell, from, to } => Self::Cell { cell, from: to, to: from },
        }
    }
}

/// Nodes, the hops that lead from each, and routes.
///
/// A route is a tree towards its destination: from every node the way of the fewest hops, and of equal ones that whose first hop was
/// joined first. It is computed once for each destination that is asked for, in time proportional to nodes and hops.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// By node, the hops from it and where they lead, in the order in which they were joined.
    hops: Vec<Vec<(Hop, NodeId)>>,
    /// By destination, the place among its hops of each node's next one; empty if nobody has asked.
    routes: Vec<Vec<u32>>,
}

/// No hop leads there.
const NO_HOP: u32 = u32::MAX;

impl Map {
    /// A map of so many nodes, between which no hop leads yet.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self { hops: vec![Vec::new(); nodes], routes: vec![Vec::new(); nodes] }
    }

    /// How many nodes there are.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.hops.len()
    }

    /// `hop` leads from one node to another, and the same reversed leads back. Routes are forgotten.
    pub fn join(&mut self, from: NodeId, to: NodeId, hop: Hop) {
        self.hops[from.index()].push((hop, to));
        self.hops[to.index()].push((hop.reversed(), from));
        self.routes.iter_mut().for_each(Vec::clear);
    }

    /// The hops from a node and where they lead.
    #[must_use]
    pub fn hops(&self, from: NodeId) -> &[(Hop, NodeId)] {
        &self.hops[from.index()]
    }

    /// Makes sure that there is a route from everywhere to `destination`.
    pub fn route_to(&mut self, destination: NodeId) {
        if !self.routes[destination.index()].is_empty() {
            return;
        }
        let mut distances = vec![u32::MAX; self.hops.len()];
        distances[destination.index()] = 0;
        let mut frontier = VecDeque::from([destination]);
        while let Some(node) = frontier.pop_front() {
            for (_, next) in &self.hops[node.index()] {
                if distances[next.index()] == u32::MAX {
                    distances[next.index()] = distances[node.index()] + 1;
                    frontier.push_back(*next);
                }
            }
        }
        let next_hop = |(hops, distance): (&Vec<(Hop, NodeId)>, &u32)| {
            let leads_on = |(_, next): &(Hop, NodeId)| distances[next.index()].checked_add(1) == Some(*distance);
            hops.iter().position(leads_on).map_or(NO_HOP, |place| place as u32)
        };
        self.routes[destination.index()] = self.hops.iter().zip(&distances).map(next_hop).collect();
    }

    /// The next hop from a node to `destination`, and where it leads. Returns `None` if there is no way, or nobody has
    /// [asked for the route](Self::route_to).
    #[must_use]
    #[inline]
    pub fn next(&self, from: NodeId, destination: NodeId) -> Option<(Hop, NodeId)> {
        let place = *self.routes.get(destination.index())?.get(from.index())?;
        self.hops[from.index()].get(place as usize).copied()
    }

    /// All hops from a node to `destination`, if there is a way. From station to station through one cell is one hop: the access point
    /// passes it on.
    pub fn way(&mut self, from: NodeId, destination: NodeId) -> Option<Vec<Hop>> {
        self.route_to(destination);
        let mut way: Vec<Hop> = Vec::new();
        let mut node = from;
        while node != destination {
            let (hop, next) = self.next(node, destination)?;
            match (hop, way.last_mut()) {
                (Hop::Cell { cell, to, .. }, Some(Hop::Cell { cell: last, to: onward, .. })) if cell == *last => {
                    *onward = to
                }
                _ => way.push(hop),
            }
            node = next;
        }
        Some(way)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_hops_win_and_of_equals_the_first_that_was_joined() {
        let mut map = Map::new(5);
        for (link, (from, to)) in [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (0, 1)].into_iter().enumerate() {
            map.join(NodeId(from), NodeId(to), Hop::Link(2 * link));
        }
        assert_eq!(map.way(NodeId(0), NodeId(4)), Some(vec![Hop::Link(0), Hop::Link(2), Hop::Link(8)]));
        assert_eq!(
            map.way(NodeId(4), NodeId(0)),
            Some(vec![Hop::Link(9), Hop::Link(3), Hop::Link(1)]),
            "and back alike"
        );
    }

    #[test]
    fn what_is_not_connected_has_no_way() {
        let mut map = Map::new(3);
        map.join(NodeId(0), NodeId(1), Hop::Link(0));
        assert_eq!(map.way(NodeId(0), NodeId(2)), None);
        assert_eq!(map.next(NodeId(0), NodeId(1)), None, "nobody has asked for this route");
        assert_eq!(map.next(NodeId(0), NodeId::NOWHERE), None);
    }

    #[test]
    fn station_to_station_is_one_hop() {
        let mut map = Map::new(4);
        for station in 1..3 {
            map.join(NodeId(0), NodeId(station), Hop::Cell { cell: 0, from: 0, to: station as usize });
        }
        map.join(NodeId(2), NodeId(3), Hop::Link(0));
        let through = Hop::Cell { cell: 0, from: 1, to: 2 };
        assert_eq!(map.way(NodeId(1), NodeId(3)), Some(vec![through, Hop::Link(0)]));
    }

    /// Thousands of links and destinations: a chain of 3,000 nodes with a route to each of 300.
    #[test]
    fn large_networks_have_routes() {
        let mut map = Map::new(3_000);
        for node in 1..3_000 {
            map.join(NodeId(node - 1), NodeId(node), Hop::Link(2 * node as usize));
        }
        (0..3_000).step_by(10).for_each(|node| map.route_to(NodeId(node)));
        assert_eq!(map.next(NodeId(1_500), NodeId(2_990)), Some((Hop::Link(3_002), NodeId(1_501))));
    }
}
