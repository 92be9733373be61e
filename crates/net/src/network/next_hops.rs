//! Tables that a network computes from its map when it is built.

use crate::map::{Hop, Map};
use acklab_base::NodeId;

/// The next hop of a packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum NextHop {
    /// A link direction.
    Link(u32),
    /// A cell, and the cell's node at which the packet enters.
    Cell(u32, u32),
}

impl NextHop {
    /// Returns the next hop on the route from `from` to `destination`, if there is one.
    pub(super) fn on_route(map: &Map, from: NodeId, destination: NodeId) -> Option<Self> {
        let (hop, _) = map.next(from, destination)?;
        Some(match hop {
            Hop::Link(direction) => Self::Link(direction as u32),
            Hop::Cell { cell, from, .. } => Self::Cell(cell as u32, from as u32),
        })
    }
}

/// Returns the node at the far end of each link direction, and the nodes of `map` that correspond
/// to the nodes of each cell.
pub(super) fn far_ends(map: &Map, links: usize, cells: usize) -> (Vec<NodeId>, Vec<Vec<NodeId>>) {
    let mut link_ends = vec![NodeId::NOWHERE; links];
    let mut cell_nodes: Vec<Vec<NodeId>> = vec![Vec::new(); cells];
    for node in (0..map.nodes() as u32).map(NodeId) {
        for (hop, to) in map.hops(node) {
            match *hop {
                Hop::Link(direction) => link_ends[direction] = *to,
                Hop::Cell { cell, to: end, .. } => {
                    let nodes = &mut cell_nodes[cell];
                    nodes.resize(nodes.len().max(end + 1), NodeId::NOWHERE);
                    nodes[end] = *to;
                }
            }
        }
    }
    (link_ends, cell_nodes)
}

/// Returns the cell's node at which packets to `destination` leave cell `index`: the node from
/// which the route does not lead through this cell. `nodes` are the nodes of the map for the nodes
/// of the cell.
pub(super) fn exit(map: &Map, index: usize, nodes: &[NodeId], destination: NodeId) -> Option<usize> {
    let leads_away = |node: &NodeId| match map.next(*node, destination) {
        None => *node == destination,
        Some((Hop::Cell { cell, .. }, _)) => cell != index,
        Some((Hop::Link(_), _)) => true,
    };
    nodes.iter().position(leads_away)
}

/// Returns the sole successor of `direction`, whose far end is `end`: the link direction that
/// receives all of its packets, and no packets of other machines. Returns `None` if there is none.
pub(super) fn sole_successor(map: &Map, is_host: &[bool], direction: usize, end: NodeId) -> Option<usize> {
    if end == NodeId::NOWHERE || is_host[end.index()] {
        return None;
    }
    let [(Hop::Link(one), _), (Hop::Link(other), _)] = map.hops(end) else { return None };
    match direction ^ 1 {
        back if back == *one => Some(*other),
        back if back == *other => Some(*one),
        _ => None,
    }
}
