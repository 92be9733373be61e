//! The kernel's stacks behind TUN devices, as the hosts of a network.

use super::addresses;
use super::end::KernelEnd;
use super::host_error;
use super::packet::{Note, RealPacket};
use crate::assemble::World;
use crate::error::Error;
use acklab_base::{Datagram, FlowTable, Instant, MachineId, PortId};
use acklab_live::realtime::Granted;
use acklab_live::{Driver, Outlet, WallClock};
use acklab_measure::flow::{Flow, Measured};
use acklab_net::{Departure, Hosts};
use acklab_wire::IpPacket;
use std::io;

/// The packets that may leave a host at the instant of one delivery. More than a kernel answers at once, unless processes flood the device
/// as well, and these have their turn when the driver reads it.
const MOST_ANSWERS: u32 = 64;

/// The network of an emulation.
pub(super) type RealWorld = World<RealPacket, KernelHosts>;

/// The kernel's stacks. Port `i` is TUN device `i`.
///
/// What a kernel sends in answer to a packet waits in the device when the delivery returns. It enters the network at the instant of the
/// delivery, as the answer of a simulated host does, and not at the later time at which the driver would read the device.
pub(super) struct KernelHosts {
    pub(super) outlet: Outlet,
    /// The number of nodes of the network.
    nodes: usize,
    /// The longest packet that a device yields.
    mtu: usize,
    /// By port, the packet that was read and has not entered the network yet.
    inbox: Vec<Option<RealPacket>>,
    /// By port, how many packets may be read as answers to the packet that was delivered last.
    answers: Vec<u32>,
    flows: Vec<Flow<KernelEnd>>,
    /// By flow of packets, the flow of the scenario and the end that sends them.
    ends: FlowTable<(u32, u8)>,
    /// Delivered packets without octets, whose memory the next ones take.
    spare: Vec<RealPacket>,
    /// The memory of their octets.
    memory: Vec<Vec<u8>>,
    /// Packets without a node as their destination, such as multicast of the kernel's own.
    pub(super) ignored: u64,
}

impl KernelHosts {
    /// Hosts in a network of `nodes` nodes. The devices of `outlet` yield packets of at most `mtu` octets.
    pub(super) fn new(outlet: Outlet, nodes: usize, mtu: usize) -> Self {
        let inbox = outlet.tuns().iter().map(|_| None).collect();
        let answers = vec![0; outlet.tuns().len()];
        let ends = FlowTable::new();
        Self {
            outlet,
            nodes,
            mtu,
            inbox,
            answers,
            flows: Vec::new(),
            ends,
            spare: Vec::new(),
            memory: Vec::new(),
            ignored: 0,
        }
    }

    /// Adds a flow that is measured.
    pub(super) fn add(&mut self, flow: Flow<KernelEnd>) {
        let number = self.flows.len() as u32;
        for (end, key) in (0..).zip(flow.keys) {
            self.ends.insert(key, (number, end));
        }
        self.flows.push(flow);
    }

    /// Keeps the memory of a delivered packet, unless it is too small for the next one, as that of a decompressed ACK is.
    fn keep(&mut self, mut packet: RealPacket) {
        let octets = packet.take_octets();
        if octets.capacity() >= self.mtu {
            self.memory.push(octets);
            self.spare.push(packet);
        }
    }

    /// Reads a packet from a device into the inbox of its port. Returns `false` if none waits.
    fn read(&mut self, device: usize, now: Instant) -> io::Result<bool> {
        let mut octets = self.memory.pop().unwrap_or_else(|| Vec::with_capacity(self.mtu));
        octets.clear();
        if !self.outlet.tuns()[device].read(&mut octets)? {
            self.memory.push(octets);
            return Ok(false);
        }
        let nodes = self.nodes;
        let packet = IpPacket::parse(octets, |address| addresses::node_of(address, nodes));
        match packet.ok().filter(|packet| packet.destination().index() < nodes) {
            Some(packet) => {
                let mut packet = RealPacket::new(packet, now, self.spare.pop());
                self.note_departure(now, &mut packet);
                self.inbox[device] = Some(packet);
            }
            None => self.ignored += 1,
        }
        Ok(true)
    }

    /// Informs the measurement of a packet's flow that the packet leaves its host.
    fn note_departure(&mut self, now: Instant, packet: &mut RealPacket) {
        let Some((number, end)) = self.ends.get(packet.flow()).copied() else { return };
        let Flow { ends, probes, .. } = &mut self.flows[number as usize];
        let (data, origin) = ends[usize::from(end)].departs(now, packet, probes);
        packet.annotate(Note { flow: number, end, data }, origin);
    }
}

impl Hosts<RealPacket> for KernelHosts {
    fn accept(&mut self, port: PortId, now: Instant, packet: RealPacket) {
        self.outlet.deliver(port.index(), now, packet.octets());
        self.answers[port.index()] = if packet.is_answered_by_kernel() { MOST_ANSWERS } else { 0 };
        if let Some(note) = packet.note() {
            let Flow { ends, probes, .. } = &mut self.flows[note.flow as usize];
            ends[usize::from(1 - note.end)].arrives(now, &packet, &note, probes);
        }
        self.keep(packet);
    }

    fn wake(&mut self, _: PortId, _: Instant) {}

    fn depart(&mut self, port: PortId, now: Instant) -> Departure<RealPacket> {
        let device = port.index();
        if let Some(packet) = self.inbox[device].take() {
            return Departure::Last(packet, None);
        }
        while self.answers[device] > 0 {
            // A device that fails does so again when the driver reads it.
            self.answers[device] = match self.read(device, now) {
                Ok(true) => self.answers[device] - 1,
                Ok(false) | Err(_) => 0,
            };
            if let Some(packet) = self.inbox[device].take() {
                return Departure::One(packet);
            }
        }
        Departure::None(None)
    }
}

impl Measured for KernelHosts {
    type End = KernelEnd;

    fn flows(&self) -> &[Flow<KernelEnd>] {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut [Flow<KernelEnd>] {
        &mut self.flows
    }
}

/// The driver of `world`, which watches all of its devices.
pub(super) fn driver_of(world: &mut RealWorld, clock: WallClock, granted: Granted) -> Result<Driver, Error> {
    let watching = |world: &mut RealWorld| -> io::Result<Driver> {
        let mut driver = Driver::new(world, clock)?;
        world.hosts.outlet.tuns().iter().try_for_each(|tun| driver.watch(tun))?;
        if granted.is_awake {
            driver.wake_early();
        }
        Ok(driver)
    };
    watching(world).map_err(host_error("cannot wait for packets"))
}

/// Reads a packet from a device at `now`. Returns the machine of its port, or `None` if no packet waits.
pub(super) fn read(world: &mut RealWorld, device: usize, now: Instant) -> io::Result<Option<MachineId>> {
    let is_read = world.hosts.read(device, now)?;
    Ok(is_read.then(|| world.machine_of(PortId(device as u32))))
}
