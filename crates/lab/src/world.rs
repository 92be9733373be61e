//! A scenario as machines and wires.

use crate::packet::{Body, Packet, Pool};
use crate::probe::FlowProbe;
use crate::taps::Taps;
use acklab_base::{Datagram, Instant, Machine};
use acklab_path::Link;
use acklab_sim::{MachineId, Step, World as SimWorld};
use acklab_transport::event::Event;
use acklab_transport::tcp::{Receiver, Sender};
use acklab_wire::tcp::Flags;
use std::collections::BTreeSet;

/// Where a flow goes that does not pass a link.
const UNUSED: MachineId = MachineId(u32::MAX);

/// Both ends of one flow, and what is measured of it.
pub(crate) struct Ends {
    pub(crate) sender: Sender,
    pub(crate) receiver: Receiver,
    pub(crate) probe: FlowProbe,
    /// Data beyond this offset is new; below it, it is sent again.
    sent: u64,
}

impl Ends {
    pub(crate) fn new(sender: Sender, receiver: Receiver, probe: FlowProbe) -> Self {
        Self { sender, receiver, probe, sent: 0 }
    }
}

/// Machines: first the link directions, then for each flow its sender and its receiver.
pub(crate) struct World {
    pub(crate) links: Vec<Link<Packet>>,
    pub(crate) flows: Vec<Ends>,
    /// By link direction and directed flow, the machine at its far end.
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

impl World {
    /// `routes` holds for each flow the link directions of its data; ACKs take the same links back.
    pub(crate) fn new(links: Vec<Link<Packet>>, flows: Vec<Ends>, routes: &[Vec<usize>], taps: Taps) -> Self {
        let first_flow = links.len();
        let mut far_end = vec![UNUSED; links.len() * flows.len() * 2];
        let mut first_hop = Vec::with_capacity(flows.len() * 2);
        for (flow, route) in routes.iter().enumerate() {
            let back = crate::topology::reversed(route);
            let (sender, receiver) = (first_flow + 2 * flow, first_flow + 2 * flow + 1);
            for (directed, path, end) in [(2 * flow, route, receiver), (2 * flow + 1, &back, sender)] {
                let hops: Vec<MachineId> =
                    path.iter().chain([&end]).map(|machine| MachineId(*machine as u32)).collect();
                first_hop.push(hops[0]);
                for (direction, next) in path.iter().zip(&hops[1..]) {
                    far_end[direction * flows.len() * 2 + directed] = *next;
                }
            }
        }
        let feeds = only_feeds(&links, &far_end, &first_hop, flows.len() * 2);
        Self { links, flows, far_end, first_hop, feeds, taps, pool: Pool::default() }
    }

    /// The link direction that `machine` is, if it is one.
    fn link(&self, machine: MachineId) -> Option<usize> {
        Some(machine.0 as usize).filter(|index| *index < self.links.len())
    }

    /// The flow at whose end `machine` is, which is no link, and whether it is the sender.
    fn end(&self, machine: MachineId) -> (usize, bool) {
        let end = machine.0 as usize - self.links.len();
        (end / 2, end.is_multiple_of(2))
    }

    /// Begin to measure.
    pub(crate) fn open(&mut self, now: Instant) {
        self.flows.iter_mut().for_each(|ends| ends.probe.open(now, &ends.sender, &ends.receiver));
    }

    /// A packet enters a link, and with it every link that it will reach through no other. Returns the last of them, unless it will only
    /// deliver, later on, what it was to deliver first anyway.
    fn enter_links(&mut self, first: usize, now: Instant, packet: Packet) -> Option<MachineId> {
        let (mut index, mut at, mut packet) = (first, now, packet);
        loop {
            self.taps.enters(index, at, &packet.body().segment);
            let link = &mut self.links[index];
            let before = link.deadline();
            link.accept(at, packet);
            let is_as_before = before.is_some_and(|before| before > now) && link.deadline() == before;
            let ahead = self.feeds[index].and_then(|next| Some((next, link.take_ahead()?)));
            self.note_drops(index);
            let Some((next, (arrival, ahead))) = ahead else {
                return (!is_as_before).then_some(MachineId(index as u32));
            };
            self.taps.leaves(index, arrival, &ahead.body().segment);
            (index, at, packet) = (next, arrival, ahead);
        }
    }

    /// Tells flows which of their packets a link has turned away.
    pub(crate) fn note_drops(&mut self, index: usize) {
        while let Some(flow) = self.links[index].take_drop() {
            let probe = &mut self.flows[flow.connection() as usize].probe;
            *(if flow.is_data() { &mut probe.drops } else { &mut probe.ack_drops }) += 1;
        }
    }

    fn enter_sender(&mut self, index: usize, now: Instant, packet: &Body) {
        self.taps.at_sender(index, now, &packet.segment);
        let ends = &mut self.flows[index];
        ends.sender.accept(now, packet.segment);
        if packet.segment.flags.contains(Flags::SYN) {
            ends.probe.application_delay.written(now, ends.sender.written());
        } else {
            ends.probe.ack_arrived(now, packet.born, packet.wire_len.get(), &ends.sender);
        }
        ends.note_events(now);
    }

    fn enter_receiver(&mut self, index: usize, now: Instant, packet: &Body) {
        self.taps.at_receiver(index, now, &packet.segment);
        let ends = &mut self.flows[index];
        let before = ends.receiver.received();
        ends.receiver.accept(now, packet.segment);
        if packet.segment.payload > 0 {
            let fresh = ends.receiver.received() - before;
            ends.probe.data_arrived(now, packet.born, packet.segment.seq, fresh, &ends.receiver);
        }
    }

    fn step_link(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let link = &mut self.links[index];
        let packet = link.poll(now);
        let deadline = link.deadline();
        let Some(packet) = packet else { return Step::Rest(deadline) };
        self.taps.leaves(index, now, &packet.body().segment);
        let to = self.far_end[index * self.flows.len() * 2 + packet.flow().0 as usize];
        if deadline.is_some_and(|deadline| deadline <= now) {
            Step::Send(to, packet)
        } else {
            Step::SendLast(to, packet, deadline)
        }
    }

    fn step_sender(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let ends = &mut self.flows[index];
        let Some(segment) = ends.sender.poll(now) else { return Step::Rest(ends.sender.deadline()) };
        if segment.payload > 0 {
            let offset = ends.sender.offset_of(segment.seq);
            let end = offset + u64::from(segment.payload);
            ends.probe.departs(now, offset, end <= ends.sent, &ends.sender);
            ends.sent = ends.sent.max(end);
        }
        self.taps.at_sender(index, now, &segment);
        Step::Send(self.first_hop[2 * index], self.pool.packet(&segment, now))
    }

    fn step_receiver(&mut self, index: usize, now: Instant) -> Step<Packet> {
        let receiver = &mut self.flows[index].receiver;
        let Some(segment) = receiver.poll(now) else { return Step::Rest(receiver.deadline()) };
        let (to, packet) = (self.first_hop[2 * index + 1], self.pool.packet(&segment, receiver.newest_arrival()));
        self.taps.at_receiver(index, now, &segment);
        if receiver.owes_now() { Step::Send(to, packet) } else { Step::SendLast(to, packet, receiver.deadline()) }
    }
}

impl Ends {
    fn note_events(&mut self, now: Instant) {
        if !self.sender.has_events() {
            return;
        }
        for event in self.sender.drain_events() {
            if event == Event::Finished {
                self.probe.completed = Some(now);
            }
            if let Some(events) = &mut self.probe.records.events {
                events.push((now, event));
            }
        }
    }
}

impl SimWorld for World {
    type Datagram = Packet;

    fn machines(&self) -> usize {
        self.links.len() + 2 * self.flows.len()
    }

    fn accept(&mut self, machine: MachineId, now: Instant, packet: Packet) -> Option<MachineId> {
        if let Some(index) = self.link(machine) {
            return self.enter_links(index, now, packet);
        }
        match self.end(machine) {
            (flow, true) => self.enter_sender(flow, now, packet.body()),
            (flow, false) => self.enter_receiver(flow, now, packet.body()),
        }
        self.pool.take_back(packet);
        Some(machine)
    }

    fn wake(&mut self, machine: MachineId, now: Instant) {
        if let Some(index) = self.link(machine) {
            self.links[index].wake(now);
            return self.note_drops(index);
        }
        match self.end(machine) {
            (flow, true) => {
                let ends = &mut self.flows[flow];
                ends.sender.wake(now);
                ends.probe.application_delay.written(now, ends.sender.written());
                ends.note_events(now);
            }
            (flow, false) => self.flows[flow].receiver.wake(now),
        }
    }

    fn step(&mut self, machine: MachineId, now: Instant) -> Step<Packet> {
        if let Some(index) = self.link(machine) {
            return self.step_link(index, now);
        }
        match self.end(machine) {
            (flow, true) => self.step_sender(flow, now),
            (flow, false) => {
                let receiver = &self.flows[flow].receiver;
                if receiver.owes_now() { self.step_receiver(flow, now) } else { Step::Rest(receiver.deadline()) }
            }
        }
    }
}
