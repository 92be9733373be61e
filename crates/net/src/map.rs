//! Nodes, the hops between them, and routes.

use acklab_base::NodeId;
use std::collections::VecDeque;

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A link direction: `2i` is link `i` forward, `2i + 1` is link `i` reverse.
    Link(usize),
    /// From one node of a cell to another. The access point is node 0 of its cell.
    Cell {
        /// The index of the cell.
        cell: usize,
        /// The cell's node at which the hop begins.
        from: usize,
        /// The cell's node at which the hop ends.
        to: usize,
    },
}

impl Hop {
    /// Returns the hop in the opposite direction.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Link(direction) => Self::Link(direction ^ 1),
            Self::Cell { cell, from, to } => Self::Cell { cell, from: to, to: from },
        }
    }
}

/// Nodes, the hops from each node, and routes.
///
/// The routes to a destination form a tree: from each node, the path with the fewest hops. Among
/// paths with equally many hops, the path whose first hop was added first is chosen. The tree is
/// computed on the first request for its destination, in time proportional to the number of nodes
/// and hops.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// The hops from each node and the nodes to which they lead, in the order in which they were
    /// added.
    hops: Vec<Vec<(Hop, NodeId)>>,
    /// For each destination and node, the index of the next hop among the hops of the node. Empty
    /// until the route is requested.
    routes: Vec<Vec<u32>>,
}

/// The index of a missing next hop.
const NO_HOP: u32 = u32::MAX;

impl Map {
    /// Returns a map of `nodes` nodes without hops.
    #[must_use]
    pub fn new(nodes: usize) -> Self {
        Self { hops: vec![Vec::new(); nodes], routes: vec![Vec::new(); nodes] }
    }

    /// Returns the number of nodes.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.hops.len()
    }

    /// Adds `hop` from one node to another, and the reversed hop back. Discards the routes computed
    /// so far.
    pub fn join(&mut self, from: NodeId, to: NodeId, hop: Hop) {
        self.hops[from.index()].push((hop, to));
        self.hops[to.index()].push((hop.reversed(), from));
        self.routes.iter_mut().for_each(Vec::clear);
    }

    /// Returns the hops from a node, with the nodes to which they lead.
    #[must_use]
    pub fn hops(&self, from: NodeId) -> &[(Hop, NodeId)] {
        &self.hops[from.index()]
    }

    /// Computes the routes from all nodes to `destination`, unless they have been computed.
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
            hops.iter().position(leads_on).map_or(NO_HOP, |index| index as u32)
        };
        self.routes[destination.index()] = self.hops.iter().zip(&distances).map(next_hop).collect();
    }

    /// Returns the next hop from a node to `destination`, and the node to which it leads. Returns
    /// `None` if there is no route, or if the route has not been [computed](Self::route_to).
    #[must_use]
    #[inline]
    pub fn next(&self, from: NodeId, destination: NodeId) -> Option<(Hop, NodeId)> {
        let index = *self.routes.get(destination.index())?.get(from.index())?;
        self.hops[from.index()].get(index as usize).copied()
    }

    /// Returns all hops from a node to `destination`, or `None` if there is no route. The path
    /// between two stations of one cell is one hop, because the access point relays the packet
    /// inside the cell.
    pub fn path(&mut self, from: NodeId, destination: NodeId) -> Option<Vec<Hop>> {
        self.route_to(destination);
        let mut path: Vec<Hop> = Vec::new();
        let mut node = from;
        while node != destination {
            let (hop, next) = self.next(node, destination)?;
            match (hop, path.last_mut()) {
                (Hop::Cell { cell, to, .. }, Some(Hop::Cell { cell: last, to: onward, .. })) if cell == *last => {
                    *onward = to
                }
                _ => path.push(hop),
            }
            node = next;
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_fewest_hops_wins_and_of_equal_ones_the_first_added() {
        let mut map = Map::new(5);
        for (link, (from, to)) in [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4), (0, 1)].into_iter().enumerate() {
            map.join(NodeId(from), NodeId(to), Hop::Link(2 * link));
        }
        assert_eq!(map.path(NodeId(0), NodeId(4)), Some(vec![Hop::Link(0), Hop::Link(2), Hop::Link(8)]));
        assert_eq!(
            map.path(NodeId(4), NodeId(0)),
            Some(vec![Hop::Link(9), Hop::Link(3), Hop::Link(1)]),
            "and the same in reverse"
        );
    }

    #[test]
    fn disconnected_nodes_have_no_route() {
        let mut map = Map::new(3);
        map.join(NodeId(0), NodeId(1), Hop::Link(0));
        assert_eq!(map.path(NodeId(0), NodeId(2)), None);
        assert_eq!(map.next(NodeId(0), NodeId(1)), None, "the route has not been requested");
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
        assert_eq!(map.path(NodeId(1), NodeId(3)), Some(vec![through, Hop::Link(0)]));
    }

    /// A chain of 3,000 nodes, with routes to 300 of them.
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
