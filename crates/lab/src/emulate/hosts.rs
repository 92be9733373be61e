//! The hosts of a network in real time: the kernel's stacks behind TUN devices, and acklab's
//! endpoints.

use super::addresses;
use super::end::{HostEnd, KernelEnd};
use super::host_error;
use super::live::Real;
use super::packet::{Note, RealPacket};
use super::programs::{Found, Programs};
use crate::assemble::World;
use crate::error::Error;
use crate::packet::{Packet, Pool};
use crate::socket::{Pattern, Socket};
use acklab_base::{Datagram, FlowKey, FlowTable, Instant, MachineId, NodeId, PortId};
use acklab_live::realtime::Privileges;
use acklab_live::{Driver, Lateness, Outlet, WallClock};
use acklab_measure::flow::{Flow, Measured};
use acklab_measure::{FlowInfo, Observed, Probes};
use acklab_net::{Departure, Hosts};
use acklab_wire::IpPacket;
use std::io;

/// The maximum number of packets that may enter the network from a host at the instant of one
/// delivery. It exceeds the number of immediate answers of a kernel. If processes also flood the
/// device, the driver reads their packets later.
const MAX_ANSWERS: u32 = 64;

/// The network of an emulation.
pub(super) type RealWorld = World<RealPacket, RealHosts>;

/// The hosts. Port `i` is TUN device `i`. The following ports are acklab's endpoints.
///
/// When a delivery returns, the kernel's answer is already queued in the device. It enters the
/// network at the instant of the delivery, like the answer of a simulated host. The driver would
/// read the device later.
pub(super) struct RealHosts {
    pub(super) outlet: Outlet,
    /// The number of nodes of the network.
    nodes: usize,
    /// The node that connects to all other networks.
    internet: Option<NodeId>,
    /// The maximum size of a packet that a device returns, in bytes.
    mtu: usize,
    /// For each port, the packet that was read and has not entered the network.
    inbox: Vec<Option<RealPacket>>,
    /// For each port, the number of packets that may still be read as answers to the last delivered
    /// packet.
    answers: Vec<u32>,
    flows: Vec<Flow<HostEnd>>,
    /// For each port after the devices' ports, its flow and end.
    own: Vec<(u32, u8)>,
    /// For each flow, the bytes that its two ends write.
    patterns: Vec<[Pattern; 2]>,
    /// The packets of acklab's endpoints, not encoded as bytes.
    pool: Pool,
    /// The number of packets that arrived with changed bytes, or could not be sent.
    corrupted: u64,
    /// The flow and the sending end, by the flow key of packets.
    ends: FlowTable<(u32, u8)>,
    /// The connections of programs, and the node of each device.
    programs: Option<(Programs, Vec<NodeId>)>,
    /// The number of measured flows. All flows are measured until the measurement window ends.
    measured: usize,
    /// Delivered packets without their bytes, for reuse of the memory.
    spare: Vec<RealPacket>,
    /// The memory of the bytes of delivered packets, for reuse.
    memory: Vec<Vec<u8>>,
    /// The number of packets whose destination is not a node, such as the kernel's multicast
    /// packets.
    pub(super) ignored: u64,
}

impl RealHosts {
    /// Creates the hosts of a network of `nodes` nodes. The devices of `outlet` yield packets of at
    /// most `mtu` bytes.
    ///
    /// Packets to other addresses are routed to the node `internet`, if it is set.
    pub(super) fn new(outlet: Outlet, nodes: usize, mtu: usize, internet: Option<NodeId>) -> Self {
        let inbox = outlet.devices().iter().map(|_| None).collect();
        let answers = vec![0; outlet.devices().len()];
        let ends = FlowTable::new();
        Self {
            outlet,
            nodes,
            internet,
            mtu,
            inbox,
            answers,
            flows: Vec::new(),
            own: Vec::new(),
            patterns: Vec::new(),
            pool: Pool::default(),
            corrupted: 0,
            ends,
            programs: None,
            measured: usize::MAX,
            spare: Vec::new(),
            memory: Vec::new(),
            ignored: 0,
        }
    }

    /// Measures the connections of programs from now on. The devices are at these nodes.
    pub(super) fn observe(&mut self, programs: Programs, devices_at: Vec<NodeId>) {
        self.programs = Some((programs, devices_at));
    }

    /// Ends the measurement of programs. Returns the facts about the directions that carried data,
    /// for the results tables.
    pub(super) fn settle(&mut self, now: Instant) -> Vec<FlowInfo> {
        let Some((mut programs, _)) = self.programs.take() else { return Vec::new() };
        let (infos, measured) = programs.settle(now, &mut self.flows);
        self.measured = measured;
        infos
    }

    /// Adds a flow of the kernel, measured by its packets.
    pub(super) fn add_kernel(&mut self, ends: [KernelEnd; 2], keys: [FlowKey; 2], probes: Probes) {
        self.register(keys);
        self.add(ends.map(HostEnd::Kernel), keys, probes, [Pattern::default(); 2]);
    }

    /// Registers the keys of the packets of the next flow.
    fn register(&mut self, keys: [FlowKey; 2]) {
        let number = self.flows.len() as u32;
        for (end, key) in (0..).zip(keys) {
            self.ends.insert(key, (number, end));
        }
    }

    /// Adds a flow between acklab's endpoints, which `bind` creates. The flow's two ports are the
    /// next free ones. The applications write the bytes of `patterns`.
    pub(super) fn add_own(
        &mut self,
        bind: impl FnOnce(&mut Pool) -> [Box<dyn Socket>; 2],
        keys: [FlowKey; 2],
        probes: Probes,
        patterns: [Pattern; 2],
    ) -> &mut Flow<HostEnd> {
        let number = self.flows.len() as u32;
        self.own.extend([(number, 0), (number, 1)]);
        let ends = bind(&mut self.pool).map(HostEnd::Own);
        self.add(ends, keys, probes, patterns)
    }

    fn add(
        &mut self,
        ends: [HostEnd; 2],
        keys: [FlowKey; 2],
        probes: Probes,
        patterns: [Pattern; 2],
    ) -> &mut Flow<HostEnd> {
        self.patterns.push(patterns);
        self.flows.push(Flow::new(ends.map(Box::new), keys, probes));
        let last = self.flows.len() - 1;
        &mut self.flows[last]
    }

    /// Describes the failures at acklab's endpoints, for messages.
    pub(super) fn failures(&self) -> Option<String> {
        let count = self.corrupted;
        (count > 0)
            .then(|| format!("{count} packets of acklab's own stack did not arrive with the octets that were sent"))
    }

    /// Returns acklab's endpoint at `port`, with the probes of its flow and the bytes that the
    /// endpoint writes and reads.
    fn own(&mut self, port: PortId) -> Option<Own<'_>> {
        let (flow, end) = *self.own.get(port.index().checked_sub(self.outlet.devices().len())?)?;
        let (flow, end) = (flow as usize, usize::from(end));
        let Flow { ends, probes, .. } = &mut self.flows[flow];
        let HostEnd::Own(socket) = &mut *ends[end] else { return None };
        let [writes, reads] = [self.patterns[flow][end], self.patterns[flow][1 - end]];
        Some(Own { socket: &mut **socket, probes, pool: &mut self.pool, writes, reads })
    }

    /// Encodes `packet`, which acklab's endpoint at `port` sends.
    fn encoded(&mut self, port: PortId, packet: Packet) -> Option<RealPacket> {
        let mut octets = self.memory.pop().unwrap_or_else(|| Vec::with_capacity(self.mtu));
        let origin = packet.origin();
        let Own { socket, pool, writes, .. } = self.own(port)?;
        let is_encoded = socket.encode(packet, writes, pool, &mut octets).is_ok();
        let (nodes, internet) = (self.nodes, self.internet);
        let packet = IpPacket::parse(octets, |address| addresses::node_of(address, nodes, internet));
        let packet = packet.ok().filter(|_| is_encoded).map(|packet| RealPacket::new(packet, origin, self.spare.pop()));
        self.corrupted += u64::from(packet.is_none());
        packet
    }

    /// Keeps the memory of a delivered packet for reuse. Memory that is too small for the next
    /// packet, such as the memory of a decompressed ACK, is not kept.
    fn keep(&mut self, mut packet: RealPacket) {
        let octets = packet.take_octets();
        if octets.capacity() >= self.mtu {
            self.memory.push(octets);
            self.spare.push(packet);
        }
    }

    /// Reads a packet from a device into the inbox of its port. Returns `false` if no packet is
    /// queued.
    fn read(&mut self, device: usize, now: Instant) -> io::Result<bool> {
        let mut octets = self.memory.pop().unwrap_or_else(|| Vec::with_capacity(self.mtu));
        octets.clear();
        if !self.outlet.devices()[device].read(&mut octets)? {
            self.memory.push(octets);
            return Ok(false);
        }
        let (nodes, internet) = (self.nodes, self.internet);
        let packet = IpPacket::parse(octets, |address| addresses::node_of(address, nodes, internet));
        match packet.ok().filter(|packet| packet.destination().index() < nodes) {
            Some(packet) => {
                let mut packet = RealPacket::new(packet, now, self.spare.pop());
                self.note_departure(now, device, &mut packet);
                self.inbox[device] = Some(packet);
            }
            None => self.ignored += 1,
        }
        Ok(true)
    }

    /// Reports to the measurement of a packet's flow that the host sends the packet.
    fn note_departure(&mut self, now: Instant, device: usize, packet: &mut RealPacket) {
        let known = self.ends.get(packet.flow()).copied();
        let Some((number, end)) = known.or_else(|| self.find_program(now, device, packet)) else { return };
        if number as usize >= self.measured {
            return;
        }
        let Flow { ends, probes, .. } = &mut self.flows[number as usize];
        let HostEnd::Kernel(sender) = &mut *ends[usize::from(end)] else { return };
        let (data, origin) = sender.departs(now, packet, probes);
        if let Some((programs, _)) = self.programs.as_mut().filter(|_| data.is_some()) {
            programs.note_data(now, number as usize, end);
        }
        packet.annotate(Note { flow: number, end, data }, origin);
    }

    /// Returns the number and the end of the program's connection that `packet` begins. Returns
    /// `None` if the packet begins no connection.
    #[cold]
    fn find_program(&mut self, now: Instant, device: usize, packet: &RealPacket) -> Option<(u32, u8)> {
        let (programs, devices_at) = self.programs.as_mut()?;
        let Found { ends, keys, probes } = programs.find(now, devices_at[device], packet, self.flows.len())?;
        let number = self.flows.len() as u32;
        self.register(keys);
        self.add(ends, keys, probes, [Pattern::default(); 2]);
        Some((number, 0))
    }
}

/// An endpoint of acklab, while it is in use.
struct Own<'a> {
    socket: &'a mut dyn Socket,
    probes: &'a mut Probes,
    pool: &'a mut Pool,
    writes: Pattern,
    reads: Pattern,
}

impl Hosts<RealPacket> for RealHosts {
    fn accept(&mut self, port: PortId, now: Instant, packet: RealPacket) {
        if port.index() >= self.outlet.devices().len() {
            self.outlet.note(port.index(), now);
            if let Some(Own { socket, probes, pool, reads, .. }) = self.own(port)
                && !socket.accept_octets(now, packet.parts(), reads, pool, probes)
            {
                self.corrupted += 1;
            }
            return self.keep(packet);
        }
        self.outlet.deliver(port.index(), now, packet.octets());
        self.answers[port.index()] = if packet.is_answered_by_kernel() { MAX_ANSWERS } else { 0 };
        if let Some(note) = packet.note().filter(|note| (note.flow as usize) < self.measured) {
            let Flow { ends, probes, .. } = &mut self.flows[note.flow as usize];
            if let HostEnd::Kernel(receiver) = &mut *ends[usize::from(1 - note.end)] {
                receiver.arrives(now, &packet, &note, probes);
            }
        }
        self.keep(packet);
    }

    fn wake(&mut self, port: PortId, now: Instant) {
        if let Some(Own { socket, probes, .. }) = self.own(port) {
            socket.wake(now, probes);
        }
    }

    fn depart(&mut self, port: PortId, now: Instant) -> Departure<RealPacket> {
        while let Some(Own { socket, probes, pool, .. }) = self.own(port) {
            match socket.depart(now, pool, probes) {
                Departure::None(deadline) => return Departure::None(deadline),
                Departure::One(packet) => {
                    if let Some(packet) = self.encoded(port, packet) {
                        return Departure::One(packet);
                    }
                }
                Departure::Last(packet, deadline) => {
                    let packet = self.encoded(port, packet);
                    return packet.map_or(Departure::None(deadline), |packet| Departure::Last(packet, deadline));
                }
            }
        }
        let device = port.index();
        if let Some(packet) = self.inbox[device].take() {
            return Departure::Last(packet, None);
        }
        while self.answers[device] > 0 {
            // If a read fails here, it fails again when the driver reads the device.
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

impl Real for RealHosts {
    fn lateness(&self) -> &Lateness {
        self.outlet.lateness()
    }

    fn infos_after(&self, known: usize) -> &[FlowInfo] {
        self.programs.as_ref().map_or(&[], |(programs, _)| programs.infos_after(known))
    }
}

impl Measured for RealHosts {
    type End = HostEnd;

    fn flows(&self) -> &[Flow<HostEnd>] {
        &self.flows
    }

    fn flows_mut(&mut self) -> &mut [Flow<HostEnd>] {
        &mut self.flows
    }
}

/// Returns the driver of `world`, which watches all of its devices.
pub(super) fn driver_of(world: &mut RealWorld, clock: WallClock, privileges: &Privileges) -> Result<Driver, Error> {
    let watching = |world: &mut RealWorld| -> io::Result<Driver> {
        let mut driver = Driver::new(world, clock)?;
        world.hosts.outlet.devices().iter().try_for_each(|tun| driver.watch(tun))?;
        driver.wake_early_while(privileges.wakefulness().is_awake());
        Ok(driver)
    };
    watching(world).map_err(host_error("cannot wait for packets"))
}

/// Reads a packet from a device at `now`. Returns the machine of the device's port, or `None` if no
/// packet is queued.
pub(super) fn read(world: &mut RealWorld, device: usize, now: Instant) -> io::Result<Option<MachineId>> {
    let is_read = world.hosts.read(device, now)?;
    Ok(is_read.then(|| world.machine_of(PortId(device as u32))))
}
