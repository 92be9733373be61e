//! Links, cells and ports as one world of machines.

use crate::hosts::{Departure, Hosts};
use crate::map::{Hop, Map};
use crate::taps::Taps;
use acklab_base::{FlowKey, FlowTable, Instant, Machine, MachineId, NodeId, PortId, Step, World};
use acklab_path::Link;
use acklab_wifi::{Cell, Packet};

/// Why a port cannot join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The node was not named among those that have ports when the network was built.
    #[error("node {0} has no ports")]
    NoHost(u32),
    /// There is a port for this flow already.
    #[error("a port takes this flow already")]
    Taken,
}

/// Machines: first the boxes, which are link directions and then cells, then the ports in the order in which they joined.
pub struct Network<D, H, T> {
    links: Vec<Link<D>>,
    cells: Vec<Cell<D>>,
    /// By destination and node, where packets go next; empty for nodes without ports.
    next: Vec<Box<[Entrance]>>,
    /// By link direction, the node at its far end.
    ends: Vec<NodeId>,
    /// By cell, the nodes of the map that its own nodes are.
    cell_nodes: Vec<Vec<NodeId>>,
    /// Nodes that have ports, or may get some.
    hosts_at: Vec<bool>,
    /// By link direction, the one that it feeds, if it feeds no other machine and that one has no other feeder. Packets then pass from
    /// one to the next ahead of time, and a chain of links costs one wake-up.
    feeds: Vec<Option<usize>>,
    /// By port, its node.
    ports: Vec<NodeId>,
    /// By the flow of what arrives, the port that takes it.
    doors: FlowTable<PortId>,
    /// Datagrams for which there was no next hop or no port.
    unplaced: u64,
    /// What lies behind the ports.
    pub hosts: H,
    /// Who watches.
    pub taps: T,
}

/// Where a packet enters a machine.
#[derive(Clone, Copy, Debug)]
struct Entrance {
    machine: MachineId,
    /// The machine's own node, if it is a cell.
    node: u32,
}

impl Entrance {
    const NOWHERE: Self = Self { machine: MachineId(u32::MAX), node: 0 };

    /// The next one on the way from a node to `destination`, in a network of so many link directions.
    fn to(map: &Map, links: usize, from: NodeId, destination: NodeId) -> Self {
        match map.next(from, destination) {
            None => Self::NOWHERE,
            Some((Hop::Link(direction), _)) => Self { machine: MachineId(direction as u32), node: 0 },
            Some((Hop::Cell { cell, from, .. }, _)) => {
                Self { machine: MachineId((links + cell) as u32), node: from as u32 }
            }
        }
    }
}

/// Which of a network's machines an id stands for.
enum Element {
    Link(usize),
    Cell(usize),
    Port(PortId),
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> Network<D, H, T> {
    /// A network of these boxes, which lie where `map` says. Only `hosts_at` may have ports; through other nodes, packets only pass.
    #[must_use]
    pub fn new(
        links: Vec<Link<D>>,
        mut cells: Vec<Cell<D>>,
        mut map: Map,
        hosts_at: impl IntoIterator<Item = NodeId>,
        hosts: H,
        taps: T,
    ) -> Self {
        let mut ends = vec![NodeId::NOWHERE; links.len()];
        let mut cell_nodes: Vec<Vec<NodeId>> = vec![Vec::new(); cells.len()];
        for node in (0..map.nodes() as u32).map(NodeId) {
            for (hop, to) in map.hops(node) {
                match *hop {
                    Hop::Link(direction) => ends[direction] = *to,
                    Hop::Cell { cell, to: end, .. } => {
                        let nodes = &mut cell_nodes[cell];
                        nodes.resize(nodes.len().max(end + 1), NodeId::NOWHERE);
                        nodes[end] = *to;
                    }
                }
            }
        }
        let mut is_host = vec![false; map.nodes()];
        let mut next: Vec<Box<[Entrance]>> = vec![Box::default(); map.nodes()];
        for host in hosts_at {
            is_host[host.index()] = true;
            map.route_to(host);
            let nodes = (0..map.nodes() as u32).map(NodeId);
            next[host.index()] = nodes.map(|node| Entrance::to(&map, links.len(), node, host)).collect();
            for (index, (cell, nodes)) in cells.iter_mut().zip(&cell_nodes).enumerate() {
                if let Some(exit) = exit(&map, index, nodes, host) {
                    cell.attach(host, exit);
                }
            }
        }
        let feeds =
            (0..links.len()).map(|direction| sole_successor(&map, &is_host, direction, ends[direction])).collect();
        Self {
            links,
            cells,
            next,
            ends,
            cell_nodes,
            hosts_at: is_host,
            feeds,
            ports: Vec::new(),
            doors: FlowTable::new(),
            unplaced: 0,
            hosts,
            taps,
        }
    }

    /// A port joins at `node`, for what arrives there of the flow `takes`. Its endpoint in [`Hosts`] has the same id. A clock that drives
    /// the network must [admit](acklab_base::World::machines) it if it runs already.
    ///
    /// # Errors
    /// If the node has no ports, or the flow has one.
    pub fn attach(&mut self, node: NodeId, takes: FlowKey) -> Result<PortId, Refusal> {
        if !self.hosts_at.get(node.index()).copied().unwrap_or_default() {
            return Err(Refusal::NoHost(node.0));
        }
        if self.doors.get(takes).is_some() {
            return Err(Refusal::Taken);
        }
        let port = PortId(self.ports.len() as u32);
        self.ports.push(node);
        self.doors.insert(takes, port);
        Ok(port)
    }

    /// The machine that a port is.
    #[must_use]
    pub const fn machine_of(&self, port: PortId) -> MachineId {
        MachineId((self.links.len() + self.cells.len()) as u32 + port.0)
    }

    /// The link directions: of link `i`, `2i` is forward and `2i + 1` reverse.
    #[must_use]
    pub fn links(&self) -> &[Link<D>] {
        &self.links
    }

    /// The cells.
    #[must_use]
    pub fn cells(&self) -> &[Cell<D>] {
        &self.cells
    }

    /// The boxes, to be asked for what they have counted.
    pub fn boxes(&mut self) -> (&mut [Link<D>], &mut [Cell<D>]) {
        (&mut self.links, &mut self.cells)
    }

    /// Datagrams that were dropped because there was no way to their destination or no port for their flow.
    #[must_use]
    pub fn unplaced(&self) -> u64 {
        self.unplaced + self.cells.iter().map(Cell::unplaced).sum::<u64>()
    }

    /// Tells the taps which packets boxes have turned away, and what was on the air.
    pub fn tell_taps(&mut self) {
        (0..self.links.len()).for_each(|index| self.tell_link_drops(index));
        for index in 0..self.cells.len() {
            self.tell_cell_drops(index);
            self.taps.cell_woke(index, &mut self.cells[index]);
        }
    }

    /// Which machine an id stands for.
    #[inline]
    fn element(&self, machine: MachineId) -> Element {
        let index = machine.0 as usize;
        if index < self.links.len() {
            return Element::Link(index);
        }
        match index.checked_sub(self.links.len() + self.cells.len()) {
            None => Element::Cell(index - self.links.len()),
            Some(port) => Element::Port(PortId(port as u32)),
        }
    }

    /// Where a packet that is at `node` goes next, if there is a way.
    #[inline]
    fn onwards(&self, node: NodeId, packet: &D) -> Option<Entrance> {
        let destination = packet.destination();
        if destination == node {
            let port = self.doors.get(packet.flow())?;
            return Some(Entrance { machine: self.machine_of(*port), node: 0 });
        }
        let next = *self.next.get(destination.index())?.get(node.index())?;
        (next.machine != Entrance::NOWHERE.machine).then_some(next)
    }

    #[cold]
    fn misplace(&mut self, packet: &D) {
        self.unplaced += 1;
        self.taps.dropped(packet.flow());
    }

    /// A packet joins a queue of a cell. Returns the cell, unless it has nothing to do by that before it was to be woken anyway.
    fn enter_cell(&mut self, index: usize, now: Instant, node: u32, packet: D) -> Option<MachineId> {
        let cell = &mut self.cells[index];
        let before = cell.deadline();
        cell.accept(now, (node as usize, packet));
        let is_as_before = cell.deadline() == before && !cell.has_delivered();
        self.tell_cell_drops(index);
        (!is_as_before).then_some(MachineId((self.links.len() + index) as u32))
    }

    /// A packet enters a link, and with it every link that it will reach through no other. Returns the last of them, unless it will only
    /// deliver, later on, what it was to deliver first anyway.
    fn enter_links(&mut self, first: usize, now: Instant, packet: D) -> Option<MachineId> {
        let (mut index, mut at, mut packet) = (first, now, packet);
        loop {
            self.taps.enters_link(index, at, &packet);
            let link = &mut self.links[index];
            let before = link.deadline();
            link.accept(at, packet);
            let is_as_before = before.is_some_and(|before| before > now) && link.deadline() == before;
            let ahead = self.feeds[index].and_then(|next| Some((next, link.take_ahead()?)));
            self.tell_link_drops(index);
            let Some((next, (arrival, ahead))) = ahead else {
                return (!is_as_before).then_some(MachineId(index as u32));
            };
            self.taps.leaves_link(index, arrival, &ahead);
            (index, at, packet) = (next, arrival, ahead);
        }
    }

    fn tell_link_drops(&mut self, index: usize) {
        while let Some(flow) = self.links[index].take_drop() {
            self.taps.dropped(flow);
        }
    }

    fn tell_cell_drops(&mut self, index: usize) {
        while let Some(flow) = self.cells[index].take_drop() {
            self.taps.dropped(flow);
        }
    }

    /// What leaves a link next. What has nowhere to go is counted, and the next is taken instead.
    fn step_link(&mut self, index: usize, now: Instant) -> Step<(u32, D)> {
        loop {
            let link = &mut self.links[index];
            let packet = link.poll(now);
            let deadline = link.deadline();
            let Some(packet) = packet else { return Step::Idle(deadline) };
            self.taps.leaves_link(index, now, &packet);
            let Some(Entrance { machine: to, node }) = self.onwards(self.ends[index], &packet) else {
                self.misplace(&packet);
                continue;
            };
            return if deadline.is_some_and(|deadline| deadline <= now) {
                Step::Send(to, (node, packet))
            } else {
                Step::SendLast(to, (node, packet), deadline)
            };
        }
    }

    fn step_cell(&mut self, index: usize, now: Instant) -> Step<(u32, D)> {
        loop {
            let cell = &mut self.cells[index];
            let packet = cell.poll(now);
            let (deadline, is_last) = (cell.deadline(), !cell.has_delivered());
            let Some((at, packet)) = packet else { return Step::Idle(deadline) };
            let Some(Entrance { machine: to, node }) = self.onwards(self.cell_nodes[index][at], &packet) else {
                self.misplace(&packet);
                continue;
            };
            return if is_last { Step::SendLast(to, (node, packet), deadline) } else { Step::Send(to, (node, packet)) };
        }
    }

    fn step_port(&mut self, port: PortId, now: Instant) -> Step<(u32, D)> {
        loop {
            let (packet, last) = match self.hosts.depart(port, now) {
                Departure::One(packet) => (packet, None),
                Departure::Last(packet, deadline) => (packet, Some(deadline)),
                Departure::None(deadline) => return Step::Idle(deadline),
            };
            self.taps.leaves_port(port, now, &packet);
            match (self.onwards(self.ports[port.index()], &packet), last) {
                (Some(to), None) => return Step::Send(to.machine, (to.node, packet)),
                (Some(to), Some(deadline)) => return Step::SendLast(to.machine, (to.node, packet), deadline),
                (None, last) => {
                    self.misplace(&packet);
                    if let Some(deadline) = last {
                        return Step::Idle(deadline);
                    }
                }
            }
        }
    }
}

/// The node of cell `index`, whose nodes are these of the map, at which packets to `destination` leave it: the one from which the way there
/// does not lead through the cell.
fn exit(map: &Map, index: usize, nodes: &[NodeId], destination: NodeId) -> Option<usize> {
    let leads_away = |node: &NodeId| match map.next(*node, destination) {
        None => *node == destination,
        Some((Hop::Cell { cell, .. }, _)) => cell != index,
        Some((Hop::Link(_), _)) => true,
    };
    nodes.iter().position(leads_away)
}

/// The link direction that alone follows `direction`, which ends at `end`, and that nothing else feeds.
fn sole_successor(map: &Map, is_host: &[bool], direction: usize, end: NodeId) -> Option<usize> {
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

impl<D: Packet, H: Hosts<D>, T: Taps<D>> World for Network<D, H, T> {
    /// A packet, with the node of a cell where it enters.
    type Datagram = (u32, D);

    fn machines(&self) -> usize {
        self.links.len() + self.cells.len() + self.ports.len()
    }

    #[inline]
    fn accept(&mut self, machine: MachineId, now: Instant, (node, packet): (u32, D)) -> Option<MachineId> {
        match self.element(machine) {
            Element::Link(index) => self.enter_links(index, now, packet),
            Element::Cell(index) => self.enter_cell(index, now, node, packet),
            Element::Port(port) => {
                self.taps.enters_port(port, now, &packet);
                self.hosts.accept(port, now, packet);
                Some(machine)
            }
        }
    }

    fn wake(&mut self, machine: MachineId, now: Instant) {
        match self.element(machine) {
            Element::Link(index) => {
                self.links[index].wake(now);
                self.tell_link_drops(index);
            }
            Element::Cell(index) => {
                self.cells[index].wake(now);
                self.tell_cell_drops(index);
                self.taps.cell_woke(index, &mut self.cells[index]);
            }
            Element::Port(port) => self.hosts.wake(port, now),
        }
    }

    #[inline]
    fn step(&mut self, machine: MachineId, now: Instant) -> Step<(u32, D)> {
        match self.element(machine) {
            Element::Link(index) => self.step_link(index, now),
            Element::Cell(index) => self.step_cell(index, now),
            Element::Port(port) => self.step_port(port, now),
        }
    }
}
