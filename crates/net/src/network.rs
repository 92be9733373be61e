//! Links, cells and ports as one world of machines.

mod forward;
mod ids;
mod next_hops;

use crate::hosts::Hosts;
use crate::map::Map;
use crate::taps::Taps;
use acklab_base::{FlowKey, FlowTable, MachineId, NodeId, PortId};
use acklab_path::Link;
use acklab_wifi::{Cell, Packet};
use ids::{Element, Ids};
use next_hops::NextHop;

/// The reasons why a port cannot be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachError {
    /// The node is not in the list of nodes that may have ports.
    #[error("node {0} has no ports")]
    NoPorts(u32),
    /// Another port receives this flow.
    #[error("another port receives this flow")]
    FlowTaken,
    /// Another port receives all packets of the node.
    #[error("another port receives all packets of node {0}")]
    NodeTaken(u32),
}

/// A network of links and cells, with ports for endpoints.
///
/// Its machines are the link directions, the cells and the ports, numbered in this order.
pub struct Network<D, H, T> {
    links: Vec<Link<D>>,
    cells: Vec<Cell<D>>,
    ids: Ids,
    /// For each destination and node, the next hop, if there is one. Empty for destinations without
    /// ports.
    next_hops: Vec<Box<[Option<NextHop>]>>,
    /// The node at the far end of each link direction.
    link_ends: Vec<NodeId>,
    /// The nodes of the map that correspond to the nodes of each cell.
    cell_nodes: Vec<Vec<NodeId>>,
    /// For each node, `true` if it may have ports.
    is_host: Vec<bool>,
    /// The [sole successor](next_hops::sole_successor) of each link direction. A packet is passed
    /// from a direction to its successor before it arrives there. So a chain of links needs only
    /// one wake-up.
    successors: Vec<Option<usize>>,
    /// The node of each port.
    port_nodes: Vec<NodeId>,
    /// The port that receives the packets of each flow.
    ports_by_flow: FlowTable<PortId>,
    /// The port of each node that receives all packets whose flow has no port.
    node_ports: Vec<Option<PortId>>,
    /// The number of datagrams without a next hop or a port.
    undeliverable: u64,
    /// The endpoints behind the ports.
    pub hosts: H,
    /// The observers.
    pub taps: T,
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> Network<D, H, T> {
    /// Returns a network of these links and cells, connected according to `map`. Only the nodes in
    /// `hosts_at` may have ports; the others only forward packets.
    #[must_use]
    pub fn new(
        links: Vec<Link<D>>,
        mut cells: Vec<Cell<D>>,
        mut map: Map,
        hosts_at: impl IntoIterator<Item = NodeId>,
        hosts: H,
        taps: T,
    ) -> Self {
        let ids = Ids::new(links.len(), cells.len());
        let (link_ends, cell_nodes) = next_hops::far_ends(&map, links.len(), cells.len());
        let mut is_host = vec![false; map.nodes()];
        let node_ports = vec![None; map.nodes()];
        let mut next_hops: Vec<Box<[Option<NextHop>]>> = vec![Box::default(); map.nodes()];
        for host in hosts_at {
            is_host[host.index()] = true;
            map.route_to(host);
            let nodes = (0..map.nodes() as u32).map(NodeId);
            next_hops[host.index()] = nodes.map(|node| NextHop::on_route(&map, node, host)).collect();
            for (index, (cell, nodes)) in cells.iter_mut().zip(&cell_nodes).enumerate() {
                if let Some(exit) = next_hops::exit(&map, index, nodes, host) {
                    cell.attach(host, exit);
                }
            }
        }
        let successors = link_ends
            .iter()
            .enumerate()
            .map(|(direction, end)| next_hops::sole_successor(&map, &is_host, direction, *end))
            .collect();
        Self {
            links,
            cells,
            ids,
            next_hops,
            link_ends,
            cell_nodes,
            is_host,
            successors,
            port_nodes: Vec::new(),
            ports_by_flow: FlowTable::new(),
            node_ports,
            undeliverable: 0,
            hosts,
            taps,
        }
    }

    /// Attaches a port to `node`. The port receives the packets of `flow` that arrive at the node.
    /// The endpoint in [`Hosts`] has the ID of the port. If a driver already runs the network, it
    /// must [admit](acklab_base::World::machines) the port.
    ///
    /// # Errors
    /// If the node may not have ports, or if another port receives the flow.
    pub fn attach(&mut self, node: NodeId, flow: FlowKey) -> Result<PortId, AttachError> {
        if !self.is_host.get(node.index()).copied().unwrap_or_default() {
            return Err(AttachError::NoPorts(node.0));
        }
        if self.ports_by_flow.get(flow).is_some() {
            return Err(AttachError::FlowTaken);
        }
        let port = PortId(self.port_nodes.len() as u32);
        self.port_nodes.push(node);
        self.ports_by_flow.insert(flow, port);
        Ok(port)
    }

    /// Attaches another flow to `port`, which then also receives the packets of this flow at its
    /// node.
    ///
    /// # Errors
    /// If another port receives the flow.
    pub fn attach_also(&mut self, port: PortId, flow: FlowKey) -> Result<(), AttachError> {
        if self.ports_by_flow.get(flow).is_some() {
            return Err(AttachError::FlowTaken);
        }
        self.ports_by_flow.insert(flow, port);
        Ok(())
    }

    /// Attaches a port to `node`. The port receives the packets of all flows for which no port is
    /// attached, as the stack of a real host does.
    ///
    /// # Errors
    /// If the node may not have ports, or if it has such a port already.
    pub fn attach_host(&mut self, node: NodeId) -> Result<PortId, AttachError> {
        if !self.is_host.get(node.index()).copied().unwrap_or_default() {
            return Err(AttachError::NoPorts(node.0));
        }
        if self.node_ports[node.index()].is_some() {
            return Err(AttachError::NodeTaken(node.0));
        }
        let port = PortId(self.port_nodes.len() as u32);
        self.port_nodes.push(node);
        self.node_ports[node.index()] = Some(port);
        Ok(port)
    }

    /// Returns the machine ID of a port.
    #[must_use]
    pub const fn machine_of(&self, port: PortId) -> MachineId {
        self.ids.of(Element::Port(port))
    }

    /// Returns the port with this machine ID, or `None` if the machine is a link or a cell.
    #[must_use]
    pub const fn port_of(&self, machine: MachineId) -> Option<PortId> {
        match self.ids.element(machine) {
            Element::Port(port) => Some(port),
            Element::Link(_) | Element::Cell(_) => None,
        }
    }

    /// Returns the link directions. Link `i` has the directions `2i` (forward) and `2i + 1`
    /// (reverse).
    #[must_use]
    pub fn links(&self) -> &[Link<D>] {
        &self.links
    }

    /// Returns the cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell<D>] {
        &self.cells
    }

    /// Returns mutable references to the link directions and cells, because reading their counters
    /// updates them.
    pub fn links_and_cells(&mut self) -> (&mut [Link<D>], &mut [Cell<D>]) {
        (&mut self.links, &mut self.cells)
    }

    /// Returns the number of datagrams that were dropped because there was no route to their
    /// destination or no port for their flow.
    #[must_use]
    pub fn undeliverable(&self) -> u64 {
        self.undeliverable + self.cells.iter().map(Cell::unplaced).sum::<u64>()
    }

    /// Reports pending drops of links and cells and pending records of transmissions to the taps.
    pub fn flush_taps(&mut self) {
        (0..self.links.len()).for_each(|index| self.report_link_drops(index));
        for index in 0..self.cells.len() {
            self.report_cell_drops(index);
            self.taps.cell_woke(index, &mut self.cells[index]);
        }
    }

    fn report_link_drops(&mut self, index: usize) {
        while let Some(flow) = self.links[index].take_drop() {
            self.taps.dropped(flow);
        }
    }

    fn report_cell_drops(&mut self, index: usize) {
        while let Some(flow) = self.cells[index].take_drop() {
            self.taps.dropped(flow);
        }
    }
}
