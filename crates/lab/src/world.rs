//! A scenario as machines and wires.

use crate::air::Air;
use crate::ends::Ends;
use crate::packet::{Body, Packet, Pool};
use crate::taps::Taps;
use crate::topology::{self, Hop};
use acklab_base::{Datagram, Instant, Machine};
use acklab_path::Link;
use acklab_sim::{MachineId, Step, World as SimWorld};
use acklab_wifi::Cell;
use std::collections::BTreeSet;

/// Where a flow goes that does not pass a box.
const UNUSED: MachineId = MachineId(u32::MAX);

/// Machines: first the boxes, which are link directions and then cells, then for each flow its sender and its receiver.
pub(crate) struct World {
    pub(crate) links: Vec<Link<Packet>>,
    pub(crate) cells: Vec<Cell<Packet>>,
    pub(crate) flows: Vec<Ends>,
    /// What is kept of the air, by cell.
    pub(crate) air: Vec<Air>,
    /// By box and directed flow, the machine at its far end.
    far_end: Vec<MachineId>,
    /// By directed flow, the first machine on its way.
    first_hop: Vec<MachineId>,
    /// By link direction, the one that it feeds, if it feeds no other machine and that one has no other feeder. Packets then pass from
    /// one to the next ahead of time, and a chain of links costs one wake-up.
    feeds: Vec<Option<usize>>,
    pub(crate) taps: Taps,
    pool: Pool,
}

/// By link direction, the one link that it feeds and that nothing else feeds.
fn only_feeds(
    links: &[Link<Packet>],
    far_end: &[MachineId],
    first_hop: &[MachineId],
    directed: usize,
) -> Vec<Option<usize>> {
    let is_link = |machine: &MachineId| (machine.0 as usize) < links.len();
    let fed_by_endpoints: BTreeSet<MachineId> = first_hop.iter().copied().filter(is_link).collect();
    let fed: Vec<BTreeSet<MachineId>> = (0..links.len())
        .map(|index| far_end[index * directed..][..directed].iter().copied().filter(|next| *next != UNUSED).collect())
        .collect();
    let sole = |index: usize| {
        let next = fed[index].first().copied().filter(|next| fed[index].len() == 1 && is_link(next))?;
        let feeders = fed.iter().filter(|fed| fed.contains(&next)).count();
        (feeders == 1 && !fed_by_endpoints.contains(&next)).then_some(next.0 as usize)
    };
    (0..links.len()).map(sole).collect()
}

/// Which of a world's machines an id stands for.
enum Element {
    Link(usize),
    Cell(usize),
    Sender(usize),
    Receiver(usize),
}

impl World {
    /// `routes` holds for each flow the hops of its data; ACKs take the same ones back.
    pub(crate) fn new(
        links: Vec<Link<Packet>>,
        cells: Vec<Cell<Packet>>,
        flows: Vec<Ends>,
        routes: &[Vec<Hop>],
        air: Vec<Air>,
        taps: Taps,
    ) -> Self {
        let boxes = links.len() + cells.len();
        let machine_of = |hop: &Hop| match *hop {
            Hop::Link(direction) => MachineId(direction as u32),
            Hop::Cell { cell, .. } => MachineId((links.len() + cell) as u32),
        };
        let mut far_end = vec![UNUSED; boxes * flows.len() * 2];
        let mut first_hop = Vec::with_capacity(flows.len() * 2);
        for (flow, route) in routes.iter().enumerate() {
            let back = topology::reversed(route);
            let (sender, receiver) = (boxes + 2 * flow, boxes + 2 * flow + 1);
            for (directed, way, end) in [(2 * flow, route, receiver), (2 * flow + 1, &back, sender)] {
                let hops: Vec<MachineId> = way.iter().map(machine_of).chain([MachineId(end as u32)]).collect();
                first_hop.push(hops[0]);
                for (passed, next) in hops.iter().zip(&hops[1..]) {
                    far_end[passed.0 as usize * flows.len() * 2 + directed] = *next;
                }
            }
        }
        let feeds = only_feeds(&links, &far_end, &first_hop, flows.len() * 2);
        Self { links, cells, flows, air, far_end, first_hop, feeds, taps, pool: Pool::default() }
    }

    /// Which machine an id stands for.
    fn element(&self, machine: MachineId) -> Element {
        let index = machine.0 as usize;
        if index < self.links.len() {
            return Element::Link(index);
        }
        match index.checked_sub(self.links.len() + self.cells.len()) {
            None => Element::Cell(index - self.links.len()),
            Some(end) if end % 2 == 0 => Element::Sender(end / 2),
            Some(end) => Element::Receiver(end / 2),
        }
    }

    /// Takes from a cell what it tells of packets that it has dropped and of PPDUs that it has kept.
    pub(crate) fn note_cell(&mut self, index: usize) {
        self.note_cell_drops(index);
        if self.air[index].listens() {
            let settled = self.cells[index].settled();
            self.air[index].note(self.cells[index].take_log(), settled);
        }
    }

    fn note_cell_drops(&mut self, index: usize) {
        while let Some(flow) = self.cells[index].take_drop() {
            self.flows[flow.connection() as usize].probe.dropped(flow);
        }
    }

    /// A packet joins a queue of a cell. Returns the cell, unless it has nothing to do by that before it was to be woken anyway.
    fn enter_cell(&mut self, index: usize, now: Instant, packet: Packet) -> Option<MachineId> {
        let cell = &mut self.cells[index];
        let before = cell.deadline();
        cell.accept(now, packet);
        let is_as_before = cell.deadline() == before && !cell.has_delivered();
        self.note_cell_drops(index);
        (!is_as_before).then_some(MachineId((self.links.len() + index) as u32))
    }

    /// Begin to measure.
    pub(crate) fn open(&mut self, now: Instant) {
        self.flows.iter_mut().for_each(|ends| ends.open(now));
    }

    /// A packet enters a link, and with it every link that it will reach through no other. Returns the last of them, unless it will only
    /// deliver, later on, what it was to deliver first anyway.
    fn enter_links(&mut self, first: usize, now: Instant, packet: Packet) -> Option<MachineId> {
        let (mut index, mut at, mut packet) = (first, now, packet);
        loop {
            self.taps.enters(index, at, &packet.body().pdu);
            let link = &mut self.links[index];
            let before = link.deadline();
            link.accept(at, packet);
            let is_as_before = before.is_some_and(|before| before > now) && link.deadline() == before;
            let ahead = self.feeds[index].and_then(|next| Some((next, link.take_ahead()?)));
            self.note_drops(index);
            let Some((next, (arrival, ahead))) = ahead else {
                return (!is_as_before).then_some(MachineId(index as u32));
            };
            self.taps.leaves(index, arrival, &ahead.body().pdu);
            (index, at, packet) = (next, arrival, ahead);
        }
    }

    /// Tells flows which of their packets a link has turned away.
    pub(crate) fn note_drops(&mut self, index: usize) {
        while let Some(flow) = self.links[index].take_drop() {
            self.flows[flow.connection() as usize].probe.dropped(flow);
        }
    }

    fn enter_sender(&mut self, index: usize, now: Instant, packet: &Body) {
        self.taps.at_sender(index, now, &packet.pdu);
        self.flows[index].enter_sender(now, packet);
    }

    fn enter_receiver(&mut self, index: usize, now: Instant, packet: &Body) {
        self.taps.at_receiver(index, now, &packet.pdu);
        self.flows[index].enter_receiver(now, packet);
    }

    /// The machine that a packet of this flow comes to behind a box.
    fn behind(&self, passed: usize, packet: &Packet) -> MachineId {
        self.far_end[passed * self.flows.len() * 2 + packet.flow().0 as usize]
    }

    fn step_link(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let link = &mut self.links[index];
        let packet = link.poll(now);
        let deadline = link.deadline();
        let Some(packet) = packet else { return Step::Rest(deadline) };
        self.taps.leaves(index, now, &packet.body().pdu);
        let to = self.behind(index, &packet);
        if deadline.is_some_and(|deadline| deadline <= now) {
            Step::Send(to, packet)
        } else {
            Step::SendLast(to, packet, deadline)
        }
    }

    fn step_cell(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let cell = &mut self.cells[index];
        let packet = cell.poll(now);
        let (deadline, is_last) = (cell.deadline(), !cell.has_delivered());
        let Some(packet) = packet else { return Step::Rest(deadline) };
        let to = self.behind(self.links.len() + index, &packet);
        if is_last { Step::SendLast(to, packet, deadline) } else { Step::Send(to, packet) }
    }

    fn step_sender(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let ends = &mut self.flows[index];
        let Some(packet) = ends.poll_sender(now, &mut self.pool) else { return Step::Rest(ends.sender_deadline()) };
        self.taps.at_sender(index, now, &packet.body().pdu);
        Step::Send(self.first_hop[2 * index], packet)
    }

    fn step_receiver(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let ends = &mut self.flows[index];
        if !ends.owes_now() {
            return Step::Rest(ends.receiver_deadline());
        }
        let Some(packet) = ends.poll_receiver(now, &mut self.pool) else { return Step::Rest(ends.receiver_deadline()) };
        let to = self.first_hop[2 * index + 1];
        self.taps.at_receiver(index, now, &packet.body().pdu);
        if ends.owes_now() { Step::Send(to, packet) } else { Step::SendLast(to, packet, ends.receiver_deadline()) }
    }
}

impl SimWorld for World {
    type Datagram = Packet;

    fn machines(&self) -> usize {
        self.links.len() + self.cells.len() + 2 * self.flows.len()
    }

    fn accept(&mut self, machine: MachineId, now: Instant, packet: Packet) -> Option<MachineId> {
        match self.element(machine) {
            Element::Link(index) => return self.enter_links(index, now, packet),
            Element::Cell(index) => return self.enter_cell(index, now, packet),
            Element::Sender(index) => self.enter_sender(index, now, packet.body()),
            Element::Receiver(index) => self.enter_receiver(index, now, packet.body()),
        }
        self.pool.take_back(packet);
        Some(machine)
    }

    fn wake(&mut self, machine: MachineId, now: Instant) {
        match self.element(machine) {
            Element::Link(index) => {
                self.links[index].wake(now);
                self.note_drops(index);
            }
            Element::Cell(index) => {
                self.cells[index].wake(now);
                self.note_cell(index);
            }
            Element::Sender(index) => self.flows[index].wake_sender(now),
            Element::Receiver(index) => self.flows[index].wake_receiver(now),
        }
    }

    fn step(&mut self, machine: MachineId, now: Instant) -> Step<Packet> {
        match self.element(machine) {
            Element::Link(index) => self.step_link(index, now),
            Element::Cell(index) => self.step_cell(index, now),
            Element::Sender(index) => self.step_sender(index, now),
            Element::Receiver(index) => self.step_receiver(index, now),
        }
    }
}
