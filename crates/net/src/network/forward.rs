//! Forwards packets from machine to machine.
//!
//! A packet is forwarded as far as possible at one instant before the next packet is sent. The last
//! packet that a machine sends is forwarded in a loop, and earlier packets by a function call. So
//! two machines that respond to each other at one instant do not use up the stack.

use super::Network;
use super::ids::Element;
use super::next_hops::NextHop;
use crate::hosts::{Departure, Hosts};
use crate::taps::Taps;
use acklab_base::{Alarms, Instant, Machine, MachineId, NodeId, PortId, World};
use acklab_wifi::Packet;

/// The machine that must be polled next.
enum Turn<D> {
    Link(usize),
    Cell(usize),
    /// A port, with the packet that has arrived there, if any.
    Port(PortId, Option<D>),
}

impl<D> Turn<D> {
    #[inline]
    const fn of(element: Element) -> Self {
        match element {
            Element::Link(index) => Self::Link(index),
            Element::Cell(index) => Self::Cell(index),
            Element::Port(port) => Self::Port(port, None),
        }
    }
}

/// The result when a packet has entered a link direction.
enum Entered<D> {
    /// A packet will leave it. Contains the next direction, the time at which the packet arrives
    /// there, and the packet.
    Leaves(usize, Instant, D),
    /// No packet can be forwarded yet. Contains the index of the direction if its deadline has
    /// changed or is not in the future.
    Stays(Option<usize>),
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> Network<D, H, T> {
    /// Passes on a packet that has left a machine at `node`. Returns the machine that must be
    /// polled as a result.
    #[inline(always)]
    fn pass_on(&mut self, node: NodeId, now: Instant, packet: D) -> Option<Turn<D>> {
        let destination = packet.destination();
        if destination == node {
            let Some(port) = self.ports_by_flow.get(packet.flow()).copied().or(self.node_ports[node.index()]) else {
                self.drop_undeliverable(&packet);
                return None;
            };
            if self.taps.is_watching() {
                self.taps.enters_port(port, now, &packet);
            }
            return Some(Turn::Port(port, Some(packet)));
        }
        let from_nodes = self.next_hops.get(destination.index());
        match from_nodes.and_then(|hops| *hops.get(node.index())?) {
            Some(NextHop::Link(index)) => self.enter_links(index as usize, now, packet).map(Turn::Link),
            Some(NextHop::Cell(index, entry)) => self.enter_cell(index as usize, now, entry, packet).map(Turn::Cell),
            None => {
                self.drop_undeliverable(&packet);
                None
            }
        }
    }

    #[cold]
    fn drop_undeliverable(&mut self, packet: &D) {
        self.undeliverable += 1;
        self.taps.dropped(packet.flow());
    }

    /// Passes a packet to a cell at the cell's node `entry`. Returns the index of the cell, or
    /// `None` if its deadline is unchanged and it has delivered no packet.
    #[inline(never)]
    fn enter_cell(&mut self, index: usize, now: Instant, entry: u32, packet: D) -> Option<usize> {
        let cell = &mut self.cells[index];
        let before = cell.deadline();
        cell.accept(now, (entry as usize, packet));
        let is_unchanged = cell.deadline() == before && !cell.has_delivered();
        self.report_cell_drops(index);
        (!is_unchanged).then_some(index)
    }

    /// Passes a packet to a link direction, and then to each direction that is the sole successor
    /// of the previous direction. Returns the index of the last direction, or `None` if the
    /// deadline of that direction is in the future and unchanged.
    #[inline(never)]
    fn enter_links(&mut self, first: usize, now: Instant, packet: D) -> Option<usize> {
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
                    return link.carry(now, arrival, passed).then_some(index);
                };
                (next, arrival, passed)
            } else {
                match self.enter_link(index, at, now, packet) {
                    Entered::Leaves(next, arrival, ahead) => (next, arrival, ahead),
                    Entered::Stays(polled) => return polled,
                }
            };
            if is_watched {
                self.taps.leaves_link(index, arrival, &ahead);
            }
            (index, at, packet) = (next, arrival, ahead);
        }
    }

    /// Passes a packet that arrives at `at` to a link direction that is not
    /// [plain](acklab_path::Link::is_plain).
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
            None => Entered::Stays((!is_unchanged).then_some(index)),
        }
    }

    /// Wakes a link direction whose deadline has passed. A [plain](acklab_path::Link::is_plain)
    /// direction only delivers packets.
    #[inline]
    fn wake_link(&mut self, index: usize, now: Instant) {
        let link = &mut self.links[index];
        if !link.is_plain() {
            link.wake(now);
            self.report_link_drops(index);
        }
    }

    #[inline]
    fn wake_cell(&mut self, index: usize, now: Instant) {
        self.cells[index].wake(now);
        self.report_cell_drops(index);
        self.taps.cell_woke(index, &mut self.cells[index]);
    }

    /// Polls `turn` and the machines that must be polled as a result, until they have nothing more
    /// to send at `now`.
    ///
    /// It is inlined into the loop of wake-ups. A call would pass `turn` through memory, written in
    /// halves and read as a whole.
    #[inline(always)]
    fn follow(&mut self, turn: Turn<D>, now: Instant, alarms: &mut impl Alarms) {
        let mut next = Some(turn);
        while let Some(turn) = next {
            next = match turn {
                Turn::Link(index) => self.drain_link(index, now, alarms),
                Turn::Cell(index) => self.drain_cell(index, now, alarms),
                Turn::Port(port, arrived) => self.drain_port(port, arrived, now, alarms),
            };
        }
    }

    /// [Follows](Self::follow) a packet that is not the last one to leave its machine, which is
    /// rare.
    #[inline(never)]
    fn follow_before_last(&mut self, turn: Turn<D>, now: Instant, alarms: &mut impl Alarms) {
        self.follow(turn, now, alarms);
    }

    /// Polls a link direction until it has sent its last packet. Returns the machine that must be
    /// polled as a result.
    #[inline(always)]
    fn drain_link(&mut self, index: usize, now: Instant, alarms: &mut impl Alarms) -> Option<Turn<D>> {
        let machine = self.ids.of(Element::Link(index));
        while alarms.may_poll(machine) {
            let link = &mut self.links[index];
            let packet = link.poll(now);
            let deadline = link.deadline();
            let is_last = packet.is_none() || deadline.is_none_or(|deadline| deadline > now);
            if is_last {
                alarms.set(machine, deadline);
            }
            let packet = packet?;
            if self.taps.is_watching() {
                self.taps.leaves_link(index, now, &packet);
            }
            let turn = self.pass_on(self.link_ends[index], now, packet);
            if is_last {
                return turn;
            }
            if let Some(turn) = turn {
                self.follow_before_last(turn, now, alarms);
            }
        }
        None
    }

    /// Polls a cell until it has sent its last packet. Returns the machine that must be polled as a
    /// result.
    #[inline(never)]
    fn drain_cell(&mut self, index: usize, now: Instant, alarms: &mut impl Alarms) -> Option<Turn<D>> {
        let machine = self.ids.of(Element::Cell(index));
        while alarms.may_poll(machine) {
            let cell = &mut self.cells[index];
            let packet = cell.poll(now);
            let is_last = packet.is_none() || !cell.has_delivered();
            if is_last {
                alarms.set(machine, cell.deadline());
            }
            let (at, packet) = packet?;
            let turn = self.pass_on(self.cell_nodes[index][at], now, packet);
            if is_last {
                return turn;
            }
            if let Some(turn) = turn {
                self.follow_before_last(turn, now, alarms);
            }
        }
        None
    }

    /// Passes `arrived`, if any, to a port, and polls the port until it has sent its last packet.
    /// Returns the machine that must be polled as a result.
    #[inline(always)]
    fn drain_port(
        &mut self,
        port: PortId,
        mut arrived: Option<D>,
        now: Instant,
        alarms: &mut impl Alarms,
    ) -> Option<Turn<D>> {
        let machine = self.ids.of(Element::Port(port));
        while alarms.may_poll(machine) {
            let departure = match arrived.take() {
                Some(packet) => self.hosts.exchange(port, now, packet),
                None => self.hosts.depart(port, now),
            };
            let (packet, is_last) = match departure {
                Departure::One(packet) => (packet, false),
                Departure::Last(packet, deadline) => {
                    // The deadline is set first, because the packet may lead back to this port and
                    // change it.
                    alarms.set(machine, deadline);
                    (packet, true)
                }
                Departure::None(deadline) => {
                    alarms.set(machine, deadline);
                    return None;
                }
            };
            if self.taps.is_watching() {
                self.taps.leaves_port(port, now, &packet);
            }
            let turn = self.pass_on(self.port_nodes[port.index()], now, packet);
            if is_last {
                return turn;
            }
            if let Some(turn) = turn {
                self.follow_before_last(turn, now, alarms);
            }
        }
        None
    }
}

impl<D: Packet, H: Hosts<D>, T: Taps<D>> World for Network<D, H, T> {
    fn machines(&self) -> usize {
        self.links.len() + self.cells.len() + self.port_nodes.len()
    }

    #[inline]
    fn wake(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms) {
        let element = self.ids.element(machine);
        match element {
            Element::Link(index) => self.wake_link(index, now),
            Element::Cell(index) => self.wake_cell(index, now),
            Element::Port(port) => self.hosts.wake(port, now),
        }
        self.follow(Turn::of(element), now, alarms);
    }

    fn drain(&mut self, machine: MachineId, now: Instant, alarms: &mut impl Alarms) {
        self.follow(Turn::of(self.ids.element(machine)), now, alarms);
    }
}
