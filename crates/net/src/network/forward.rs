//! Forwarding: packets pass from machine to machine.

use super::Network;
use super::ids::Element;
use super::next_hops::NextHop;
use crate::hosts::{Departure, Hosts};
use crate::taps::Taps;
use acklab_base::{Instant, Machine, MachineId, NodeId, PortId, Step, World};
use acklab_wifi::Packet;

/// What follows when a packet has entered a link direction.
enum Entered<D> {
    /// A packet leaves it ahead of time, to this direction and at this instant.
    Leaves(usize, Instant, D),
    /// No packet leaves it yet. If its deadline is not in the future or has changed, its id.
    Stays(Option<MachineId>),
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> Network<D, H, T> {
    /// The next hop of a packet at `node`, or `None` if there is no route or no port.
    #[inline]
    fn next_hop(&self, node: NodeId, packet: &D) -> Option<NextHop> {
        let destination = packet.destination();
        if destination == node {
            let port = self.ports_by_flow.get(packet.flow()).copied().or(self.node_ports[node.index()])?;
            return Some(NextHop { machine: self.machine_of(port), node: 0 });
        }
        let next = *self.next_hops.get(destination.index())?.get(node.index())?;
        (next.machine != NextHop::NONE.machine).then_some(next)
    }

    #[cold]
    fn drop_undeliverable(&mut self, packet: &D) {
        self.undeliverable += 1;
        self.taps.dropped(packet.flow());
    }

    /// Passes a packet to a cell. Returns the id of the cell, or `None` if its deadline is unchanged and it has delivered nothing.
    #[inline(never)]
    fn enter_cell(&mut self, index: usize, now: Instant, node: u32, packet: D) -> Option<MachineId> {
        let cell = &mut self.cells[index];
        let before = cell.deadline();
        cell.accept(now, (node as usize, packet));
        let is_unchanged = cell.deadline() == before && !cell.has_delivered();
        self.report_cell_drops(index);
        (!is_unchanged).then(|| self.ids.of(Element::Cell(index)))
    }

    /// Passes a packet to a link direction, and on to each direction that is the sole successor of the one before. Returns the id of the
    /// last one, or `None` if its deadline is in the future and unchanged.
    #[inline(never)]
    fn enter_links(&mut self, first: usize, now: Instant, packet: D) -> Option<MachineId> {
        let is_watched = self.taps.is_watching();
        let (mut index, mut at, mut packet) = (first, now, packet);
        loop {
            if is_watched {
                self.taps.enters_link(index, at, &packet);
            }
            let (link, successor) = (&mut self.links[index], self.successors[index]);
            let (next, arrival, ahead) = if link.is_plain() {
                let Some((arrival, passed)) = link.pass(at, packet) else {
                    self.report_link_drops(index);
                    return None;
                };
                let Some(next) = successor else {
                    return link.carry(now, arrival, passed).then(|| self.ids.of(Element::Link(index)));
                };
                (next, arrival, passed)
            } else {
                match self.enter_link(index, at, now, packet) {
                    Entered::Leaves(next, arrival, ahead) => (next, arrival, ahead),
                    Entered::Stays(machine) => return machine,
                }
            };
            if is_watched {
                self.taps.leaves_link(index, arrival, &ahead);
            }
            (index, at, packet) = (next, arrival, ahead);
        }
    }

    /// Passes a packet that arrives at `at` to a link direction that is not plain.
    #[inline(never)]
    fn enter_link(&mut self, index: usize, at: Instant, now: Instant, packet: D) -> Entered<D> {
        let link = &mut self.links[index];
        let before = link.deadline();
        link.accept(at, packet);
        let is_unchanged = before.is_some_and(|before| before > now) && link.deadline() == before;
        let ahead = self.successors[index].and_then(|next| Some((next, link.take_ahead()?)));
        self.report_link_drops(index);
        match ahead {
            Some((next, (arrival, ahead))) => Entered::Leaves(next, arrival, ahead),
            None => Entered::Stays((!is_unchanged).then(|| self.ids.of(Element::Link(index)))),
        }
    }

    /// Wakes a link direction whose deadline has come. One that is plain only delivers.
    #[inline]
    fn wake_link(&mut self, index: usize, now: Instant) {
        let link = &mut self.links[index];
        if !link.is_plain() {
            link.wake(now);
            self.report_link_drops(index);
        }
    }

    /// Polls a link direction. Undeliverable packets are counted and dropped.
    fn step_link(&mut self, index: usize, now: Instant) -> Step<(u32, D)> {
        loop {
            let link = &mut self.links[index];
            let packet = link.poll(now);
            let deadline = link.deadline();
            let Some(packet) = packet else { return Step::Idle(deadline) };
            if self.taps.is_watching() {
                self.taps.leaves_link(index, now, &packet);
            }
            let Some(NextHop { machine: to, node }) = self.next_hop(self.link_ends[index], &packet) else {
                self.drop_undeliverable(&packet);
                continue;
            };
            return if deadline.is_some_and(|deadline| deadline <= now) {
                Step::Send(to, (node, packet))
            } else {
                Step::SendLast(to, (node, packet), deadline)
            };
        }
    }

    /// Polls a cell. Undeliverable packets are counted and dropped.
    #[inline(never)]
    fn step_cell(&mut self, index: usize, now: Instant) -> Step<(u32, D)> {
        loop {
            let cell = &mut self.cells[index];
            let packet = cell.poll(now);
            let (deadline, is_last) = (cell.deadline(), !cell.has_delivered());
            let Some((at, packet)) = packet else { return Step::Idle(deadline) };
            let Some(NextHop { machine: to, node }) = self.next_hop(self.cell_nodes[index][at], &packet) else {
                self.drop_undeliverable(&packet);
                continue;
            };
            return if is_last { Step::SendLast(to, (node, packet), deadline) } else { Step::Send(to, (node, packet)) };
        }
    }

    /// Hands the packet that has just arrived to a port, if one has, and polls the port. Undeliverable packets are counted and dropped.
    fn step_port(&mut self, port: PortId, now: Instant) -> Step<(u32, D)> {
        loop {
            let departure = match self.arriving.take() {
                Some(packet) => self.hosts.exchange(port, now, packet),
                None => self.hosts.depart(port, now),
            };
            let (packet, last) = match departure {
                Departure::One(packet) => (packet, None),
                Departure::Last(packet, deadline) => (packet, Some(deadline)),
                Departure::None(deadline) => return Step::Idle(deadline),
            };
            if self.taps.is_watching() {
                self.taps.leaves_port(port, now, &packet);
            }
            match (self.next_hop(self.port_nodes[port.index()], &packet), last) {
                (Some(to), None) => return Step::Send(to.machine, (to.node, packet)),
                (Some(to), Some(deadline)) => return Step::SendLast(to.machine, (to.node, packet), deadline),
                (None, last) => {
                    self.drop_undeliverable(&packet);
                    if let Some(deadline) = last {
                        return Step::Idle(deadline);
                    }
                }
            }
        }
    }
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> World for Network<D, H, T> {
    /// A packet, with the cell's node at which it enters if it goes to a cell.
    type Datagram = (u32, D);

    fn machines(&self) -> usize {
        self.links.len() + self.cells.len() + self.port_nodes.len()
    }

    #[inline]
    fn accept(&mut self, machine: MachineId, now: Instant, (node, packet): (u32, D)) -> Option<MachineId> {
        match self.ids.element(machine) {
            Element::Link(index) => self.enter_links(index, now, packet),
            Element::Cell(index) => self.enter_cell(index, now, node, packet),
            Element::Port(port) => {
                if self.taps.is_watching() {
                    self.taps.enters_port(port, now, &packet);
                }
                self.arriving = Some(packet);
                Some(machine)
            }
        }
    }

    fn wake(&mut self, machine: MachineId, now: Instant) {
        match self.ids.element(machine) {
            Element::Link(index) => self.wake_link(index, now),
            Element::Cell(index) => {
                self.cells[index].wake(now);
                self.report_cell_drops(index);
                self.taps.cell_woke(index, &mut self.cells[index]);
            }
            Element::Port(port) => self.hosts.wake(port, now),
        }
    }

    #[inline]
    fn step(&mut self, machine: MachineId, now: Instant) -> Step<(u32, D)> {
        match self.ids.element(machine) {
            Element::Link(index) => self.step_link(index, now),
            Element::Cell(index) => self.step_cell(index, now),
            Element::Port(port) => self.step_port(port, now),
        }
    }
}
