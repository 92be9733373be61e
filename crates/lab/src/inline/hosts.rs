//! Connects the two interfaces with the ports of the network.

use crate::assemble::World;
use crate::emulate::end::HostEnd;
use crate::emulate::live::Real;
use crate::emulate::packet::RealPacket;
use crate::scenario::Scenario;
use acklab_base::{Datagram, Duration, Instant, MachineId, NodeId, PortId};
use acklab_live::diversion::{self, Diversion, LinkHeader, Method};
use acklab_live::netlink::Interface;
use acklab_live::{Devices, Exit, Lateness, Outlet, WallClock};
use acklab_measure::flow::{Flow, Measured};
use acklab_measure::{Observed, Table};
use acklab_net::{Departure, Hosts};
use acklab_wire::IpPacket;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// The time after which a diversion ends if this process does not extend it. It is five times the
/// maximum interval between flushes of a driver's devices. It does not exceed the minimum
/// retransmission timeout of common stacks (200 ms in Linux).
const GRACE: Duration = Duration::from_millis(100);
/// The interval at which the diversion is extended and its losses are counted.
const BEAT: Duration = Duration::from_millis(10);
/// The divisor that yields the tolerated losses in front of the path from the packets of one
/// second. With more losses, traffic bypasses the path. Otherwise these losses, not the path, would
/// determine congestion control.
const LOST_SHARE: u64 = 100;
/// The time for which traffic bypasses an overloaded path.
const RELIEF: Duration = Duration::from_secs(1);
/// The time after the suspension of the diversion at which all earlier forwarding decisions of
/// processors have taken effect.
const LAST_DECISIONS: std::time::Duration = std::time::Duration::from_millis(2);

/// The network of a path between interfaces.
pub(super) type InlineWorld = World<RealPacket, InlineHosts>;

/// One interface. Packets that arrive there enter the path, and packets that leave the path are
/// sent through the interface's output.
#[derive(Debug)]
pub(super) struct Boundary {
    diversion: Diversion,
    exit: Exit,
    counts: Counts,
}

/// The counters of an interface.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Packets that arrived at the interface and entered the path.
    entered: u64,
    /// Bytes of the packets that entered the path.
    octets: u64,
    /// Packets that arrived at the interface and are not well-formed IP. They bypass the path.
    untouched: u64,
    /// Discarded packets that the interface should have sent. Later packets of their flows may have
    /// bypassed the path.
    discarded: u64,
    /// Packets that arrived at the interface and were lost in front of the path.
    overruns: u64,
}

impl Boundary {
    pub(super) fn new(here: &Interface, other: &Interface, method: Option<Method>) -> Result<Self, diversion::Error> {
        // A device's name has at most fifteen letters. Ten of these are the name of the interface.
        let name: String = here.name.chars().take(10).chain("-ack%d".chars()).collect();
        let name = if name.len() > 15 { "acklab-tap%d".to_owned() } else { name };
        let diversion = Diversion::new(here.index, other.index, &name, here.mtu.max(other.mtu), method)?;
        let exit = Exit::new(here.index).map_err(diversion::Error::Exit)?;
        Ok(Self { diversion, exit, counts: Counts::default() })
    }
}

impl AsFd for Boundary {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.diversion.as_fd()
    }
}

/// The interfaces. Port `i` is interface `i`.
pub(super) struct InlineHosts {
    pub(super) outlet: Outlet<Boundary>,
    nodes: [NodeId; 2],
    clock: WallClock,
    /// For each port, the packet that was read and has not entered the network.
    inbox: [Option<RealPacket>; 2],
    /// Packets read before this instant are discarded. Later packets of their flows may have
    /// bypassed the path.
    discards_before: Instant,
    next_beat: Instant,
    /// If traffic bypasses an overloaded path: when it takes the path again.
    relieved_until: Option<Instant>,
    /// The start of the present second. Then, at that time, the total of packets that entered, and
    /// the total of packets lost in front of the path.
    at_second: (Instant, u64, u64),
    /// The number of stalls of this process that exceeded the grace period.
    stalls: u64,
    /// The number of times that the path was bypassed because of overload.
    overloads: u64,
    /// Delivered packets without their bytes, for reuse of the memory.
    spare: Vec<RealPacket>,
    /// The memory of the bytes of delivered packets, for reuse.
    memory: Vec<Vec<u8>>,
}

impl InlineHosts {
    pub(super) fn new(outlet: Outlet<Boundary>, nodes: [NodeId; 2], clock: WallClock) -> Self {
        Self {
            outlet,
            nodes,
            clock,
            inbox: [None, None],
            discards_before: Instant::ZERO,
            next_beat: Instant::ZERO,
            relieved_until: None,
            at_second: (Instant::ZERO, 0, 0),
            stalls: 0,
            overloads: 0,
            spare: Vec::new(),
            memory: Vec::new(),
        }
    }

    /// Returns the method by which frames reach this process.
    pub(super) fn method(&self) -> Method {
        self.outlet.devices()[0].diversion.method()
    }

    /// Returns the number of packets lost in front of the path.
    pub(super) fn overruns(&self) -> u64 {
        self.outlet.devices().iter().map(|boundary| boundary.counts.overruns).sum()
    }

    /// Reads the next frame that arrived at an interface into the inbox of its port. A frame
    /// without a complete IP packet is forwarded unchanged. Returns `false` if no frame is queued.
    fn read(&mut self, side: usize, now: Instant) -> io::Result<bool> {
        let mut octets = self.memory.pop().unwrap_or_default();
        let mut header = LinkHeader::new();
        let destination = self.nodes[1 - side];
        let here = &mut self.outlet.devices_mut()[side];
        let Some(length) = here.diversion.take(&mut header, &mut octets)? else {
            self.memory.push(octets);
            return Ok(false);
        };
        if length > octets.len() {
            // The frame is longer than the interfaces' MTU was when the path was created.
            here.counts.overruns += 1;
            self.memory.push(octets);
            return Ok(true);
        }
        match IpPacket::parse_whole(octets, |_| destination) {
            Ok(packet) => {
                here.counts.entered += 1;
                here.counts.octets += packet.wire_len().get();
                let mut packet = RealPacket::new(packet, now, self.spare.pop());
                packet.set_link_header(&header);
                self.inbox[side] = Some(packet);
            }
            Err(octets) => {
                here.counts.untouched += 1;
                self.outlet.devices_mut()[1 - side].exit.push(header, octets);
            }
        }
        Ok(true)
    }

    /// Sends delivered packets, and extends the diversion.
    fn flush(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        if let Some(until) = self.relieved_until {
            self.discard(now)?;
            if now < until {
                return Ok(());
            }
            self.relieved_until = None;
            self.next_beat = now;
        } else if self.next_beat > Instant::ZERO && !self.is_in_force() {
            // Traffic bypassed the path while this process stalled.
            self.stalls += 1;
            self.discard(now)?;
            self.next_beat = now;
        } else {
            for boundary in self.outlet.devices_mut() {
                boundary.exit.flush(&mut self.memory);
            }
        }
        if now >= self.next_beat {
            self.beat(now)?;
        }
        Ok(())
    }

    fn is_in_force(&self) -> bool {
        self.outlet.devices().iter().all(|boundary| boundary.diversion.is_in_force())
    }

    /// Extends the diversion, unless too many packets are lost in front of the path.
    fn beat(&mut self, now: Instant) -> io::Result<()> {
        self.next_beat = now + BEAT;
        for Boundary { diversion, counts, .. } in self.outlet.devices_mut() {
            counts.overruns = diversion.overruns()?;
        }
        let (second, entered_before, lost_before) = self.at_second;
        if now >= second + Duration::from_secs(1) {
            let entered: u64 = self.outlet.devices().iter().map(|boundary| boundary.counts.entered).sum();
            let lost = self.overruns();
            self.at_second = (now, entered, lost);
            let (entered, lost) = (entered - entered_before, lost - lost_before);
            if lost * LOST_SHARE > entered + lost {
                self.overloads += 1;
                self.relieved_until = Some(now + RELIEF);
                self.outlet.devices().iter().for_each(|boundary| boundary.diversion.suspend());
                return self.discard(now);
            }
        }
        self.outlet.devices().iter().for_each(|boundary| boundary.diversion.prolong(GRACE));
        Ok(())
    }

    /// Discards all queued packets. Later packets of their flows may have left already.
    fn discard(&mut self, now: Instant) -> io::Result<()> {
        self.discards_before = now;
        let mut octets = Vec::new();
        for side in [0, 1] {
            let mut discarded = self.inbox[side].take().into_iter().count() as u64;
            while self.outlet.devices_mut()[side].diversion.take(&mut LinkHeader::new(), &mut octets)?.is_some() {
                discarded += 1;
            }
            let leaves = &mut self.outlet.devices_mut()[1 - side];
            leaves.counts.discarded += discarded;
            let batch = leaves.exit.discard();
            leaves.counts.discarded += batch;
        }
        Ok(())
    }

    /// Lets the kernel forward traffic directly. At this time, the path is empty. Packets that are
    /// queued in front of the path leave first.
    pub(super) fn step_aside(&mut self) -> io::Result<()> {
        self.flush()?;
        let mut waits = self.relieved_until.is_none() && self.is_in_force();
        while waits {
            waits = false;
            for side in [0, 1] {
                let mut octets = self.memory.pop().unwrap_or_default();
                let mut header = LinkHeader::new();
                while self.outlet.devices_mut()[side].diversion.take(&mut header, &mut octets)?.is_some() {
                    waits = true;
                    let frame = (header.take(), std::mem::replace(&mut octets, self.memory.pop().unwrap_or_default()));
                    self.outlet.devices_mut()[1 - side].exit.push(frame.0, frame.1);
                }
            }
            self.flush()?;
        }
        self.outlet.devices().iter().for_each(|boundary| boundary.diversion.suspend());
        std::thread::sleep(LAST_DECISIONS);
        self.discard(self.clock.now())
    }

    /// Returns the tables `interfaces`, which covers the whole run, and `inline`.
    pub(super) fn tables(&self, scenario: &Scenario, forwarding: &str) -> [Table; 2] {
        let boundaries = self.outlet.devices();
        let counts = |count: fn(&Boundary) -> u64| boundaries.iter().map(count).map(Some);
        let interfaces = Table::new("interfaces")
            .text("interface", scenario.interface.iter().map(|interface| interface.device.clone()))
            .text("node", scenario.interface.iter().map(|interface| interface.node.clone()))
            .count("entered", "packets", counts(|boundary| boundary.counts.entered))
            .count("entered_octets", "bytes", counts(|boundary| boundary.counts.octets))
            .count("left", "packets", counts(|boundary| boundary.exit.sent()))
            .count("untouched", "packets", counts(|boundary| boundary.counts.untouched))
            .count("bypassed", "packets", counts(|boundary| boundary.diversion.passed()))
            .count("overruns", "packets", counts(|boundary| boundary.counts.overruns))
            .count("refused", "packets", counts(|boundary| boundary.exit.refused()))
            .count("discarded", "packets", counts(|boundary| boundary.counts.discarded));
        let inline = Table::new("inline")
            .text("forwarding", [forwarding.to_owned()])
            .text("method", [self.method().name().to_owned()])
            .count("stalls", "", [self.stalls])
            .count("overloads", "", [self.overloads]);
        [interfaces, inline]
    }
}

/// The devices of the driver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interfaces;

impl Devices<InlineWorld> for Interfaces {
    fn read(&mut self, world: &mut InlineWorld, device: usize, now: Instant) -> io::Result<Option<MachineId>> {
        let is_read = world.hosts.read(device, now)?;
        Ok(is_read.then(|| world.machine_of(PortId(device as u32))))
    }

    fn flush(&mut self, world: &mut InlineWorld) -> io::Result<()> {
        world.hosts.flush()
    }
}

impl Hosts<RealPacket> for InlineHosts {
    fn accept(&mut self, port: PortId, now: Instant, mut packet: RealPacket) {
        self.outlet.note(port.index(), now);
        let Boundary { exit, counts, .. } = &mut self.outlet.devices_mut()[port.index()];
        let octets = packet.take_octets();
        if packet.origin() < self.discards_before {
            counts.discarded += 1;
            self.memory.push(octets);
        } else {
            exit.push(packet.link_header().clone(), octets);
        }
        self.spare.push(packet);
    }

    fn wake(&mut self, _: PortId, _: Instant) {}

    fn depart(&mut self, port: PortId, _: Instant) -> Departure<RealPacket> {
        match self.inbox[port.index()].take() {
            Some(packet) => Departure::Last(packet, None),
            None => Departure::None(None),
        }
    }
}

impl Real for InlineHosts {
    fn lateness(&self) -> &Lateness {
        self.outlet.lateness()
    }
}

/// The flows belong to other hosts and are not measured.
impl Measured for InlineHosts {
    type End = HostEnd;

    fn flows(&self) -> &[Flow<HostEnd>] {
        &[]
    }

    fn flows_mut(&mut self) -> &mut [Flow<HostEnd>] {
        &mut []
    }
}
